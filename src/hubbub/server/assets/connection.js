// The live connection and what a viewer is told about it.
const $ = (id) => document.getElementById(id);
export const page = JSON.parse($("page").textContent);

const ago = (seconds) => {
  if (seconds < 1) return "now";
  if (seconds < 90) return `${Math.round(seconds)} s ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} minutes ago`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} hours ago`;
  return `${Math.round(seconds / 86400)} days ago`;
};

/** Calls `onRelease` with each new release; keeps the status line true. */
export function connect(onRelease) {
  let arrived = null, lost = false, stale = page.stale, moment = $("moment")?.textContent ?? "";
  let every = page.every, tick = page.tick;

  const tell = () => {
    const age = arrived === null ? null : (performance.now() - arrived) / 1000;
    if (every !== null && age !== null) stale = age > 3 * every + 2;
    const state = lost ? "lost" : stale ? "stale" : "live";
    const pill = $("pill");
    if (pill) {
      if (pill.textContent !== state) { pill.textContent = state === "lost" ? "connection lost" : state; pill.className = `pill ${state}`; }
      const text = age === null ? moment : `updated ${ago(age)}`;
      if ($("updated").textContent !== text) $("updated").textContent = text;
      $("updated").title = moment;
    }
    $("lost").hidden = !lost;
    $("stale").hidden = lost || !stale;
    document.body.classList.toggle("dimmed", lost || stale);
  };

  const source = new EventSource(`/v1/streams/${encodeURIComponent(page.stream)}/live`);
  source.addEventListener("open", () => { lost = false; tell(); });
  source.addEventListener("error", () => {
    lost = true;
    tell();
    // After a refusal (a full house, a restart half-way) a browser does not come back by itself.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => { connect(onRelease); }, 3000 + 2000 * Math.random());
  });
  source.addEventListener("release", (event) => {
    const release = JSON.parse(event.data);
    lost = false;
    if (tick !== null && release.tick <= tick) { tell(); return; }  // the page itself has it already
    tick = release.tick;
    every = release.length_seconds;
    arrived = performance.now();
    moment = release.moment;
    for (const place of document.querySelectorAll("[data-moment]")) place.textContent = moment;
    const notice = $("predicted");
    if (notice.textContent !== release.notice) notice.textContent = release.notice;
    notice.hidden = !release.notice || $("empty") !== null;  // an empty page says itself why
    onRelease(release);
    tell();
  });
  setInterval(tell, 1000);
  return source;
}

const has = (row) => row.state !== "withheld" && row.state !== "unknown";

/** For a page that was empty: shows it anew if there is something to show now, or something else to say. */
export function fill(release) {
  if (page.tick === null || has(release.total) || release.keys.some(has)) location.reload();
}

/** The page as the server would draw it now. */
export async function redrawn() {
  const answer = await fetch(location.href);
  if (!answer.ok) throw new Error(answer.statusText);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

/** Sets a number and its state; touches the page only where something is different. */
export function setNumber(place, row, predicted) {
  const span = place.querySelector(".number");
  const number = has(row);
  const kind = `number ${row.state}${predicted && number ? " predicted" : ""}`;
  const title = (predicted && number ? "predicted, not measured; " : "") + row.interval;
  if (span.className !== kind) span.className = kind;
  if (span.title !== title) span.title = title;
  if (span.textContent !== row.text) {
    span.textContent = row.text;
    return true;
  }
  return false;
}
