// Searches as one types: the server looks through the list, and sends one page of what it found.
const $ = (id) => document.getElementById(id);
const page = JSON.parse($("page").textContent);
const svg = "http://www.w3.org/2000/svg";

const element = (name, kind, text) => {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  if (text !== undefined) made.textContent = text;  // items are people's own words: text, never markup
  return made;
};

function rect(kind, x, y, width, height) {
  const made = document.createElementNS(svg, "rect");
  made.setAttribute("class", kind);
  for (const [name, value] of Object.entries({ x, y, width, height })) made.setAttribute(name, value);
  return made;
}

function bar(row, edge) {
  const drawn = document.createElementNS(svg, "svg");
  drawn.setAttribute("viewBox", "0 0 1000 20");
  drawn.setAttribute("preserveAspectRatio", "none");
  drawn.setAttribute("role", "img");
  drawn.setAttribute("aria-label", row.interval);
  const at = (number) => (1000 * number) / edge;
  drawn.append(
    rect("quietly", 0, 7, at(row.value).toFixed(1), 6),
    rect("reach", at(row.lower).toFixed(1), 5, Math.max(at(row.upper) - at(row.lower), 4).toFixed(1), 10),
    rect("point", at(row.value).toFixed(1), 2, 3, 16),
  );
  return drawn;
}

function line(row, answer) {
  const made = element("tr"), name = element("th");
  name.scope = "row";
  name.append(element("bdi", "", row.item));
  if (!answer.counted) { made.append(name); return made; }
  const now = element("td", "right now"), number = element("span", `number ${row.state}`, row.text);
  number.title = row.interval;
  now.append(number);
  const whisker = element("td", "whisker");
  whisker.append(row.words ? element("span", "words", row.words) : bar(row, answer.edge));
  made.append(element("td", "rank", row.rank), name, now, whisker);
  return made;
}

function address(q, at) {
  const parts = new URLSearchParams(page.several ? { stream: page.stream } : {});
  parts.set("list", page.list);
  if (q) parts.set("q", q);
  if (at > 1) parts.set("page", at);
  return `/items?${parts}`;
}

function show(answer, q) {
  $("rows").replaceChildren(...answer.rows.map((row) => line(row, answer)));
  document.querySelector(".items").hidden = !answer.found;
  $("none").hidden = answer.found > 0;
  $("said").textContent = answer.said;
  $("at").textContent = `page ${answer.page.toLocaleString("en")} of ${answer.pages.toLocaleString("en")}`;
  $("at").hidden = answer.pages === 1;
  $("before").hidden = answer.page === 1;
  $("after").hidden = answer.page === answer.pages;
  $("before").href = address(q, answer.page - 1);
  $("after").href = address(q, answer.page + 1);
  history.replaceState(null, "", address(q, answer.page));
}

let asked = 0, waiting = null, running = null;

async function search() {
  const q = $("q").value, turn = ++asked;
  running?.abort();
  running = new AbortController();
  const query = new URLSearchParams({ list: page.list, q, page: 1, format: "json" });
  try {
    const answer = await fetch(`/v1/streams/${encodeURIComponent(page.stream)}/items?${query}`, { signal: running.signal });
    if (turn !== asked) return;  // something newer was typed meanwhile
    if (!answer.ok) { $("said").textContent = (await answer.json()).error.message; return; }
    show(await answer.json(), q);
  } catch (error) {
    if (error.name !== "AbortError") $("said").textContent = "The server does not answer. What you see is what was found before.";
  }
}

$("search")?.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(search, 120);
});
$("search")?.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(waiting);
  search();
});
$("list")?.addEventListener("change", () => $("which").submit());

// A new list is said to be there; the one that somebody reads stays.
function listen() {
  const source = new EventSource(`/v1/streams/${encodeURIComponent(page.stream)}/live`);
  source.addEventListener("open", () => { $("lost").hidden = true; });
  source.addEventListener("error", () => {
    $("lost").hidden = false;
    if (source.readyState === EventSource.CLOSED) setTimeout(listen, 3000 + 2000 * Math.random());
  });
  source.addEventListener("release", (event) => {
    const release = JSON.parse(event.data);
    if (page.tick !== null && release.tick <= page.tick) return;
    if ($("empty") && page.list === null) location.reload();
    else $("news").hidden = release.predicted;
  });
}
listen();
