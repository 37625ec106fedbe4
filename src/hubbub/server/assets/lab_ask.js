// Asking the process. Bodies may hold confidential values: they go by POST, never into an address.
async function answer(path, asked, signal) {
  let got;
  try {
    got = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(asked), signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw { message: "The process does not answer.", hint: "Is `hubbub lab` still running?" };
  }
  if (!got.ok) throw (await got.json().catch(() => ({}))).error ?? { message: "The process gave no answer.", hint: "" };
  return got;
}

export async function ask(path, asked) {
  const got = await answer(path, asked);
  return got.headers.get("content-type").startsWith("application/json") ? got.json() : got.text();
}

/** Calls `onLine` with each answer of a run, as it comes. */
export async function askLines(path, asked, signal, onLine) {
  let got;
  for (let patience = 20; ; patience -= 1) {
    try { got = await answer(path, asked, signal); break; } catch (error) {
      if (error.code !== "overloaded" || !patience) throw error;
      await new Promise((resolve) => setTimeout(resolve, 300));
      if (signal.aborted) throw new DOMException("stopped", "AbortError");
    }
  }
  const reader = got.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", whole = false;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const said = JSON.parse(line);
      if (said.error) throw said.error;
      whole ||= "result" in said;
      onLine(said);
    }
  }
  if (!whole && !signal.aborted) throw { message: "The run was cut off.", hint: "Try again." };
}
