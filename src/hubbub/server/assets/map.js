// The Map page: follows the live stream or a moment that someone chose, and asks the server for areas.
import { connect, fill, page } from "./connection.js";
import { errorOf, plusMinus, readFrame, readShape, STATES } from "./map_data.js";
import { MapView } from "./map_view.js";
import { Hand } from "./map_hand.js";

const $ = (id) => document.getElementById(id);
const base = `/v1/streams/${encodeURIComponent(page.stream)}`;
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const count = (number) => number.toLocaleString("en");
const WORDS = { within_noise: "within the noise: may be zero", zero: "none", unknown: "not measured in this tick", withheld: "withheld" };

let view = null, now = null, newest = page.tick, wanted = null, fetching = false, playing = null, chosen = null, turn = 0, hand = null;

async function get(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw Object.assign(new Error(answer.statusText), { told: (await answer.json().catch(() => null))?.error });
  return answer;
}

// ── which tick is shown ─────────────────────────────────────────────────────────────────────────────────────────────

/** Shows a tick. While one is on its way only the last wish is kept: who is slow skips ticks, and queues nothing. */
async function show(tick) {
  wanted = tick;
  if (fetching) return;
  fetching = true;
  try {
    while (wanted !== null) {
      const next = wanted;
      wanted = null;
      if (now?.tick === next) continue;
      const since = now && Math.abs(next - now.tick) === 1 ? `&base=${now.tick}` : "";
      const answer = await get(`${base}/map/frames/${next}?v=${page.version}${since}`);
      const frame = await readFrame(await answer.arrayBuffer(), now);
      if (frame.map !== page.map) { location.reload(); return; }  // what is counted was changed
      now = frame;
      view.show(frame);
      tell();
    }
    $("trouble").hidden = true;
  } catch (error) {
    $("trouble").textContent = error.told ? `${error.told.message} ${error.told.hint}` : "This tick could not be read. The last picture stays.";
    $("trouble").hidden = false;
    stop();
  }
  fetching = false;
  document.body.dataset.shown = now?.tick ?? "";
}

/** Everything on the page that belongs to the tick. */
function tell() {
  const live = now.tick === newest;
  setNumber($("total"), now.total, now.predicted);
  $("total-words").textContent = now.total.words && has(now.total) ? ` · ${now.total.words}` : "";
  $("tick").value = now.tick;
  $("tick").setAttribute("aria-valuetext", now.moment);
  $("when").textContent = now.moment;
  $("live").hidden = live;
  $("past").hidden = live;
  const notice = $("predicted");
  notice.textContent = now.notice; notice.hidden = !now.notice;
  $("step").textContent = ` to ${count(now.step)}`;
  for (const link of document.querySelectorAll("[data-tick]")) link.href = link.dataset.tick.replaceAll("TICK", now.tick);
  legend();
  table();
  if (hand?.cell >= 0) tellCell(hand.cell, hand.pinned);
  if (chosen) ask(chosen);
  remember();
}

const has = (value) => value.state !== "withheld" && value.state !== "unknown";

function setNumber(place, value, predicted) {
  const number = has(value), span = place.querySelector(".number");
  span.className = `number ${value.state}${predicted && number ? " predicted" : ""}`;
  span.title = (predicted && number ? "predicted, not measured; " : "") + value.interval;
  span.textContent = value.text;
}

function legend() {
  const { breaks } = view, ramp = view.colours(), list = $("classes");
  const words = breaks.map((top, i) => (i ? `${count(breaks[i - 1])} to ${count(top)}` : `up to ${count(top)}`));
  words.push(`over ${count(breaks.at(-1))}`);
  if (list.dataset.said === words.join() + ramp[0]) return;
  list.dataset.said = words.join() + ramp[0];
  list.replaceChildren(...words.map((text, i) => {
    const line = document.createElement("li"), box = swatch(ramp[i]);
    line.append(box, text);
    return line;
  }));
}

/** A square of the legend, drawn as the map draws: styles written into a page are refused here. */
function swatch(colour, hatched = false) {
  const box = document.createElement("canvas");
  box.width = 28; box.height = 20; box.className = "swatch"; box.setAttribute("aria-hidden", "true");
  const pen = box.getContext("2d");
  if (colour) { pen.fillStyle = colour; pen.fillRect(0, 0, 28, 20); }
  if (hatched) { view.hatch.setTransform(new DOMMatrix().scale(1.4)); pen.fillStyle = view.hatch; pen.fillRect(0, 0, 28, 20); }
  return box;
}

function greys() {
  for (const [name, colour, hatched] of [["noise", view.grey.noise, true], ["nothing", null, false], ["unmeasured", view.grey.unknown, true]]) {
    $(`swatch-${name}`).replaceChildren(swatch(colour, hatched));
  }
}

// ── the table ───────────────────────────────────────────────────────────────────────────────────────────────────────

function table() {
  const rows = now.areas.slice(0, page.rows);
  $("areas").replaceChildren(...rows.map((area) => {
    const line = document.createElement("tr"), name = document.createElement("th"), button = document.createElement("button");
    name.scope = "row"; button.type = "button"; button.className = "plain"; button.textContent = area.area;
    button.dataset.area = area.area;
    button.setAttribute("aria-pressed", String(chosen?.area === area.area));
    name.append(button);
    const cell = (kind, text) => { const made = document.createElement("td"); made.className = kind; made.textContent = text; return made; };
    const number = document.createElement("span"), held = cell("right now", "");
    number.className = "number"; held.append(number);
    line.append(cell("rank", area.place ?? ""), name, held, cell("between", area.interval.replace("95 of 100 times ", "")), cell("words", has(area) ? area.words : ""));
    setNumber(held, area, now.predicted);
    return line;
  }));
}

$("areas")?.addEventListener("click", (event) => {
  const name = event.target.dataset?.area;
  if (name) choose(chosen?.area === name ? null : { area: name });
});

// ── questions ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** Chooses an area: `{bounds}`, `{corners}` or `{area}`; null for none. */
function choose(area) {
  chosen = area;
  view.area = area?.bounds ? boxOf(area.bounds) : area?.corners ? area.corners.map((corner) => view.fromWorld(corner)) : area ? districtBox(area.area) : null;
  view.markPlaces(null);
  $("clear").hidden = area === null;
  $("answer").hidden = area === null;
  for (const button of $("areas").querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset.area === area?.area));
  if (area) ask(area);
  remember();
}

const boxOf = ([west, south, east, north]) => [[west, south], [east, south], [east, north], [west, north]].map((corner) => view.fromWorld(corner));

/** A block of the table on the map; other areas have borders of their own, which the answer tells in numbers alone. */
function districtBox(name) {
  const match = /^([A-H])([1-8])$/.exec(name);
  if (!match || view.shape.kind !== "raster") return null;
  const across = Math.min(8, view.shape.columns), down = Math.min(8, view.shape.rows);
  const column = match[1].charCodeAt(0) - 65, row = Number(match[2]) - 1, { aspect } = view.shape;
  return [[column, row], [column + 1, row], [column + 1, row + 1], [column, row + 1]].map(([a, b]) => [a / across, (b / down) * aspect]);
}

async function ask(area) {
  const mine = ++turn, query = new URLSearchParams({ tick: now.tick });
  if (area.bounds) query.set("bounds", area.bounds.map(short).join());
  else if (area.corners) query.set("polygon", area.corners.flat().map(short).join());
  else query.set("area", area.area);
  if ($("span")?.value) query.set("ticks", $("span").value);
  const place = $("answer");
  try {
    const answer = await (await get(`${base}/area?${query}`)).json();
    if (mine !== turn) return;
    const noun = answer.cells === 1 ? answer.noun : `${answer.noun}s`;
    if (area.area && !view.area) view.markPlaces(answer.places);
    const told = answer.mean ?? answer.total;
    setNumber($("sum"), told, answer.mean ? !answer.any_measured : answer.predicted);
    $("sum-between").textContent = told.interval;
    const when = answer.mean ? `on average over ${answer.span} up to ${answer.moment}` : answer.moment;
    $("sum-words").textContent = [has(told) ? told.words : "", `${count(answer.cells)} ${noun}`, when].filter(Boolean).join(" · ");
  } catch (error) {
    if (mine !== turn) return;
    setNumber($("sum"), { state: "unknown", text: "no answer", interval: "" }, false);
    $("sum-between").textContent = error.told ? `${error.told.message} ${error.told.hint}` : "The server does not answer.";
    $("sum-words").textContent = "";
  }
  place.hidden = false;
}

const short = (number) => Number(number.toPrecision(9));

let settling = null;
/** What is known of a cell: at once as it is drawn, and, where someone stays on it, exactly as it was published. */
function tellCell(cell, pinned) {
  clearTimeout(settling);
  const name = view.name(cell) ?? view.shape.names?.[cell] ?? "";
  const state = STATES[now.states[cell]], value = now.codes[cell] * now.step, error = errorOf(now.errors[cell]);
  const text = state === "unknown" || state === "withheld" ? WORDS[state] : plusMinus(value, error);
  $("cell-name").textContent = `${view.shape.noun} ${name}`;
  setNumber($("cell"), { state, text, interval: "" }, now.predicted);
  $("cell-words").textContent = [now.predicted ? "predicted, not measured" : "", text === WORDS[state] ? "" : WORDS[state] ?? ""].filter(Boolean).join("; ");
  $("cell-between").textContent = "rounded for the picture";
  if (!pinned) return;
  settling = setTimeout(async () => {
    try {
      const answer = await (await get(`${base}/area?${new URLSearchParams({ tick: now.tick, at: cell })}`)).json();
      if (hand.cell !== cell || answer.tick !== now.tick) return;
      setNumber($("cell"), answer.total, answer.predicted);
      $("cell-between").textContent = answer.total.interval;
      $("cell-words").textContent = has(answer.total) ? answer.total.words : "";
    } catch { /* what is drawn stays */ }
  }, 200);
}

function noCell() {
  clearTimeout(settling);
  $("cell-name").textContent = "Point at the map";
  $("cell").querySelector(".number").textContent = "";
  $("cell-between").textContent = ""; $("cell-words").textContent = "";
}

// ── time ────────────────────────────────────────────────────────────────────────────────────────────────────────────

function stop() {
  clearTimeout(playing);
  playing = null;
  $("play").setAttribute("aria-pressed", "false");
  $("play-words").textContent = "Play";
}

function play() {
  if (playing !== null) { stop(); return; }
  $("play").setAttribute("aria-pressed", "true");
  $("play-words").textContent = "Pause";
  let at = now.tick >= newest ? Number($("tick").min) : now.tick;
  const step = async () => {
    await show(at);
    if (playing === null) return;
    if (at >= newest) { stop(); return; }
    at += 1;
    playing = setTimeout(step, calm.matches ? 1200 : 250);
  };
  playing = setTimeout(step, 0);
}

/** The address restores what is seen. */
function remember() {
  const query = new URLSearchParams(page.several ? { stream: page.stream } : {});
  if (now && now.tick !== newest) query.set("tick", now.tick);
  if (chosen?.bounds) query.set("bounds", chosen.bounds.map(short).join());
  if (chosen?.corners) query.set("polygon", chosen.corners.flat().map(short).join());
  if (chosen?.area) query.set("area", chosen.area);
  if (chosen && $("span")?.value) query.set("ticks", $("span").value);
  const text = String(query);
  history.replaceState(null, "", text ? `/map?${text}` : location.pathname);
}

function recall(query) {
  if ($("span")) $("span").value = [...$("span").options].some((one) => one.value === query.get("ticks")) ? query.get("ticks") : "";
  const list = (name) => query.get(name)?.split(",").map(Number);
  const bounds = list("bounds"), corners = list("polygon");
  if (bounds?.length === 4 && bounds.every(Number.isFinite)) choose({ bounds });
  else if (corners?.length >= 6 && corners.every(Number.isFinite)) choose({ corners: corners.flatMap((x, i) => (i % 2 ? [] : [[x, corners[i + 1]]])) });
  else if (query.get("area")) choose({ area: query.get("area") });
}

async function start() {
  const shape = await readShape(await (await get(`${base}/map/shape?map=${page.map}`)).arrayBuffer());
  view = new MapView($("cells"), $("over"), shape);
  new ResizeObserver(() => view.resize()).observe($("map"));
  view.resize();
  hand = new Hand(view, { cell: (cell, pinned) => (cell < 0 ? noCell() : now && tellCell(cell, pinned)), area: choose, play, step: (by) => show(Math.min(newest, Math.max(Number($("tick").min), now.tick + by))) });
  const query = new URLSearchParams(location.search);  // read now: what is shown is written into the address
  const asked = Number(query.get("tick") ?? NaN);
  greys();
  await show(Number.isInteger(asked) && asked <= newest ? asked : newest);
  if (now) recall(query);
  $("tick").addEventListener("input", () => { stop(); show(Number($("tick").value)); });
  $("span")?.addEventListener("change", () => { if (chosen) { ask(chosen); remember(); } });
  $("play").addEventListener("click", play);
  $("live").addEventListener("click", () => { stop(); show(newest); });
  $("clear").addEventListener("click", () => { hand.clear(); });
  const themed = () => { view.retheme(); greys(); if (now) legend(); };
  addEventListener("themechange", themed);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themed);
  document.body.dataset.ready = "yes";
}

if ($("map")) {
  connect((release) => {
    const follow = now !== null && now.tick === newest && playing === null;
    newest = release.tick;
    $("tick").max = newest;
    if (follow) show(newest);
    else if (now) { $("live").hidden = false; $("past").hidden = false; }
    // Notices are about the tick that is shown.
    if (now && !follow) { $("predicted").textContent = now.notice; $("predicted").hidden = !now.notice; }
  });
  start().catch(() => { $("trouble").textContent = "The map could not be read. Reload the page to try again; the table below is of the latest tick."; $("trouble").hidden = false; });
} else connect(fill);
