import { connect, fill, page } from "./connection.js";

const $ = (id) => document.getElementById(id);
const data = $("data") && JSON.parse($("data").textContent);
const route = `/v1/streams/${encodeURIComponent(page.stream)}/range`;
let dragging = null;  // the tick where a drag began
let drawn = performance.now();
let latest = 0;  // number of the newest question: answers to older ones come too late to be shown
let waiting = null;
let hint = $("hint")?.textContent;  // what stands between the curve's edges while nobody drags

// A tick's name in a form: its time where that is whole seconds, so that no rounding leads into the tick before. Times are
// UTC, as everywhere on the pages.
const hasTime = data && data.start !== null && data.seconds !== null;
const isWhole = hasTime && /:\d\d(\.0+)?(Z|\+00:00)$/.test(data.start) && Number.isInteger(data.seconds);
const moment = (tick) => new Date(Date.parse(data.start) + (tick - data.tick) * 1000 * data.seconds).toISOString();
const named = (tick) => (isWhole ? moment(tick).replace(".000Z", "Z") : String(tick));
const short = (tick) => (hasTime ? moment(tick).slice(11, 19) : `tick ${tick.toLocaleString("en")}`);

/** Marks the stretch from tick `a` to `b` on the curve and on the handles. */
function mark(a, b) {
  const [from, to] = a <= b ? [a, b] : [b, a];
  const span = Math.max(1, data.last - data.first);
  const x = Math.max(0, (600 * (from - data.first)) / span), end = Math.min(600, (600 * (to - data.first)) / span);
  $("picked").setAttribute("x", x.toFixed(1));
  $("picked").setAttribute("width", Math.max(end > 0 ? 2 : 0, end - x).toFixed(1));
  for (const [handle, tick] of [[$("from-handle"), from], [$("to-handle"), to]]) {
    handle.value = tick;
    handle.setAttribute("aria-valuetext", short(tick));
  }
  return [from, to];
}

const link = (place, more) => {
  const query = new URLSearchParams(more);
  if (data.key !== null) query.set("key", data.key);
  return `${place}?${query}`;
};

/** Asks the server for the total and shows it; the last one stays where there is no answer. */
async function ask(from, to) {
  let answer, got;
  const mine = ++latest;
  try {
    answer = await fetch(link(route, { from, to, ...(data.key === null ? { each: "true" } : {}) }));
    got = await answer.json();
  } catch {
    if (mine === latest) refuse("The server did not answer; the total of the last range stays. Try again when the connection is back.");
    return;
  }
  if (mine !== latest) return;
  if (!answer.ok) { refuse(`${got.error.message} ${got.error.hint}`); return; }
  $("wrong").hidden = true;
  data.from = got.from;
  data.to = got.to;
  mark(got.from, got.to);
  $("from").value = named(got.from);
  $("to").value = named(got.to);
  const number = document.createElement("span");
  number.className = `number ${got.sum.state}`;
  number.title = got.sum.interval;
  number.textContent = got.sum.text;
  $("sum").replaceChildren(number);
  $("caption").hidden = false;
  $("when").textContent = got.words;
  $("interval").textContent = got.error_words;
  if (got.each) rows(got);
  const ends = { from: got.from, to: got.to };
  $("csv").href = link(route, { ...ends, format: "csv" });
  $("json").href = link(route, { ...ends, each: "true", format: "json" });
  const address = new URL(location);
  for (const [name, value] of Object.entries(ends)) address.searchParams.set(name, value);
  globalThis.history.replaceState(null, "", address);
  $("here").href = address;
}

function refuse(words) {
  $("wrong").textContent = words;
  $("wrong").hidden = false;
  restore();
}

/** The table of keys, largest first; lines that are there are kept. */
function rows(got) {
  const body = $("rows"), lines = new Map([...body.children].map((line) => [line.dataset.key, line]));
  for (const row of got.each.sort((a, b) => (b.value ?? 0) - (a.value ?? 0)).slice(0, data.most)) {
    const line = lines.get(row.key) ?? fresh(row.key);
    lines.delete(row.key);
    const number = line.querySelector(".number");
    number.className = `number ${row.state}`;
    number.textContent = row.text;
    number.title = row.interval;
    const address = new URL(location);
    for (const [name, value] of Object.entries({ key: row.key, from: got.from, to: got.to })) address.searchParams.set(name, value);
    line.querySelector("a").href = address;
    body.append(line);
  }
  for (const line of lines.values()) line.remove();
  $("each").hidden = false;
}

function fresh(key) {
  const line = document.createElement("tr"), head = document.createElement("th"), cell = document.createElement("td");
  line.dataset.key = key;
  head.scope = "row";
  head.append(Object.assign(document.createElement("a"), { textContent: key }));
  cell.className = "right now";
  cell.append(document.createElement("span"));
  cell.firstChild.className = "number";
  line.append(head, cell);
  return line;
}

function drags() {
  const frame = $("frame");
  const tickAt = (event) => {
    const box = frame.getBoundingClientRect();
    const part = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    return Math.round(data.first + part * (data.last - data.first));
  };
  const tell = ([from, to]) => { $("hint").textContent = `${short(from)} to ${short(to)}`; };
  frame.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    dragging = { tick: tickAt(event), x: event.clientX };
    frame.setPointerCapture(event.pointerId);
  });
  frame.addEventListener("pointermove", (event) => {
    if (dragging !== null && Math.abs(event.clientX - dragging.x) > 3) tell(mark(dragging.tick, tickAt(event)));
  });
  frame.addEventListener("pointerup", (event) => {
    if (dragging === null) return;
    const { tick, x } = dragging;
    dragging = null;
    $("hint").textContent = hint;
    if (Math.abs(event.clientX - x) > 3) ask(...mark(tick, tickAt(event)));
    else restore();
  });
  frame.addEventListener("pointercancel", () => { dragging = null; $("hint").textContent = hint; restore(); });
  for (const id of ["from-handle", "to-handle"]) {
    $(id).addEventListener("input", () => {
      latest += 1;
      const [from, to] = [Number($("from-handle").value), Number($("to-handle").value)];
      // A handle that is pushed beyond the other takes it along.
      tell(from <= to ? mark(from, to) : id === "from-handle" ? mark(from, from) : mark(to, to));
    });
    // Each press of an arrow key is a change: the question is asked when they pause.
    $(id).addEventListener("change", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => { $("hint").textContent = hint; ask(Number($("from-handle").value), Number($("to-handle").value)); }, 250);
    });
  }
}

function restore() {
  if (data.from !== null) { mark(data.from, data.to); return; }
  $("picked").setAttribute("width", "0");
  $("from-handle").value = data.first;
  $("to-handle").value = data.last;
}

/** Takes curve, tree and lengths out of a fresh copy of this page; the range that was chosen stays. */
async function refresh() {
  drawn = performance.now();
  const address = new URL(location);
  for (const name of ["from", "to"]) address.searchParams.delete(name);
  const answer = await fetch(address);
  if (!answer.ok || dragging !== null) return;
  const newer = new DOMParser().parseFromString(await answer.text(), "text/html");
  const facts = newer.getElementById("data");
  if (!facts) return;
  const { first, last, start, tick } = JSON.parse(facts.textContent);
  Object.assign(data, { first, last, start, tick });
  for (const id of ["curve", "inside", "axis-top", "edge-first", "edge-last"]) $(id).replaceChildren(...newer.getElementById(id).childNodes);
  for (const id of ["from-handle", "to-handle"]) { $(id).min = first; $(id).max = last; }
  hint = newer.getElementById("hint").textContent;
  $("hint").textContent = hint;
  restore();
}

function update(release) {
  if (!data) { fill(release); return; }
  if (dragging === null && performance.now() - drawn > 5000) refresh().catch(() => { /* the status line tells */ });
}

if (data) {
  $("handles").hidden = false;
  $("how").hidden = false;
  restore();
  drags();
  if (data.from !== null) { $("from").value = named(data.from); $("to").value = named(data.to); }
  $("range").addEventListener("submit", (event) => { event.preventDefault(); ask($("from").value, $("to").value); });
  $("key").addEventListener("change", () => {
    if (data.from !== null) { $("from").value = data.from; $("to").value = data.to; }
    $("range").submit();
  });
}
connect(update);
