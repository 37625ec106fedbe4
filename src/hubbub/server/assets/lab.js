// The Playground. The original series lives in this tab; it travels to the process for each run and is not kept there.
import { DASHES, colourOf, picture } from "./lab_chart.js";
import { Live } from "./lab_live.js";
import { ask, askLines } from "./lab_ask.js";
import { link, readLink } from "./lab_link.js";

const $ = (id) => document.getElementById(id);
const choices = JSON.parse($("choices").textContent);
const names = Object.keys(choices.methods);
const state = { series: null, given: { sample: choices.samples[0].name }, unit: choices.units[0].name, ticks: null, kind: choices.kinds[0].name, delta: null, stop: choices.kinds[0].usual_stop, methods: new Set(), seed: 1, mode: "whole" };
let results = new Map(), working = null, own = null;

const unitOf = (name) => choices.units.find((unit) => unit.name === name);
const kindOf = () => choices.kinds.find((kind) => kind.name === state.kind);
const stopOf = () => kindOf().stops[state.stop];
/** The methods that take this unit and can promise this kind. */
const fitting = () => unitOf(state.unit).fitting[state.kind];
const promise = () => ({ unit: state.unit, ticks: unitOf(state.unit).ticks ? state.ticks : null, [kindOf().currency]: stopOf().amount, ...(state.delta && { delta: state.delta }) });
/** The usual method first, then the others in the page's order. */
const chosen = () => { const { fits, chosen: [usually] } = fitting(); return fits.filter((name) => state.methods.has(name)).sort((a, b) => (b === usually) - (a === usually)); };
const number = (value, digits = 3) => Number(value.toPrecision(digits)).toLocaleString("en");
const typical = () => { const known = state.series.values.filter((n) => n !== null); return known.reduce((a, b) => a + b, 0) / known.length; };
const per = (share) => `${Math.round(100 * share)} %`;

function refuse(error) {
  $("refused").hidden = !error;
  $("refused").textContent = error ? `${error.message} ${error.hint ?? ""}` : "";
}

// ── the series ─────────────────────────────────────────────────────────────────────────────────────────────────────
async function load(given) {
  refuse(null);
  let got;
  $("busy").textContent = "working …";
  try { got = await ask("/lab/series", given); } catch (error) {
    $("busy").textContent = "";
    const gaps = error.message.includes("has gaps");
    if (gaps) { $("about-series").textContent = "Not read yet."; own = given; $("own").hidden = false; $("sample").value = ""; $("gaps-label").hidden = false; }
    refuse(gaps ? { message: error.message, hint: "Say below what a gap means." } : error);
    if (gaps) $("gaps").focus();
    return false;
  }
  state.given = given;
  state.series = got;
  const mine = given.table !== undefined;
  if (mine) own = given;
  $("own").hidden = own === null;
  $("sample").value = mine ? "" : given.sample;
  $("gaps-label").hidden = !mine || !given.gaps;
  $("column-label").hidden = got.columns.length < 2;
  $("column").replaceChildren(...got.columns.map((name) => new Option(name, name, false, name === got.key)));
  $("about-series").textContent = `${got.ticks.toLocaleString("en")} ticks${got.gaps ? `, ${got.gaps} of them gaps` : ""}${mine ? ", from your table" : ""}`;
  results = new Map();
  live.stop();
  changed();
  return true;
}

async function take(text) {
  if (text.length > choices.limits.table) { refuse({ message: "This file is too large for the page.", hint: "Use `hubbub release` on the command line." }); return false; }
  // What protects nobody is never the first choice for somebody's own data.
  state.seed = null;
  $("gaps").value = "";
  return load({ table: text });
}

$("sample").addEventListener("change", () => {
  if ($("sample").value) { state.seed ??= 1; load({ sample: $("sample").value }); } else load(own);
});
$("column").addEventListener("change", () => load({ ...state.given, column: $("column").value }));
$("gaps").addEventListener("change", () => { if ($("gaps").value) load({ ...own, gaps: $("gaps").value }); });
$("file").addEventListener("change", async () => { const [file] = $("file").files; if (file) await take(await file.text()); $("file").value = ""; });
$("file-label").addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); $("file").click(); } });
$("paste-open").addEventListener("click", () => { const open = $("paste").hidden; $("paste").hidden = !open; $("paste-open").setAttribute("aria-expanded", open); if (open) $("pasted").focus(); });
$("paste-use").addEventListener("click", async () => {
  if (!(await take($("pasted").value))) return;
  $("pasted").value = "";
  $("paste-open").click();
});
for (const kind of ["dragover", "dragenter"]) addEventListener(kind, (event) => { if (event.dataTransfer?.types.includes("Files")) { event.preventDefault(); $("drop").classList.add("over"); } });
for (const kind of ["dragleave", "drop"]) addEventListener(kind, () => $("drop").classList.remove("over"));
addEventListener("drop", async (event) => { const [file] = event.dataTransfer?.files ?? []; if (file) { event.preventDefault(); await take(await file.text()); } });

// ── the choices ────────────────────────────────────────────────────────────────────────────────────────────────────
/** What the factor means; rho has none. */
function odds(unit, stop) {
  if (!stop.odds) return "";
  const added = state.delta ? `, plus a chance of ${state.delta}` : "";
  return `Whatever anyone concludes from the numbers, they conclude it ${stop.odds} than without ${unit.thing}${added}.`.replace("as often than", "as often as");
}

/** With a pure promise nobody is ever surer; otherwise that is an average. */
function sure(stop) {
  const who = "Who takes it for 50:50 beforehand";
  if (state.kind === "pure") return `${who} can be ${stop.sure ? `at most ${stop.sure}` : "practically"} sure afterwards.`;
  return stop.sure ? `${who} guesses right at most ${stop.sure} of the time.` : `${who} may guess right practically always.`;
}

function show() {
  const unit = unitOf(state.unit), kind = kindOf(), stop = stopOf(), { fits } = fitting();
  for (const radio of document.querySelectorAll('[name="unit"]')) radio.checked = radio.value === state.unit;
  $("unit-words").textContent = unit.explanation;
  $("ticks-label").hidden = !unit.ticks;
  $("ticks-words").textContent = unit.ticks;
  if (Number($("ticks").value) !== state.ticks) $("ticks").value = state.ticks ?? "";
  $("strength").max = kind.stops.length - 1;
  $("strength").value = state.stop;
  $("strength").setAttribute("aria-valuetext", `${stop.word}, ${kind.currency} ${stop.amount}`);
  $("strength-word").textContent = stop.word;
  $("currency").textContent = kind.currency;
  $("amount").textContent = stop.amount;
  $("odds").textContent = `${odds(unit, stop)} ${sure(stop)}`.trim();
  $("kind").value = state.kind;
  $("kind-words").textContent = kind.explanation;
  $("delta-label").hidden = !kind.deltas.length;
  $("delta").replaceChildren(...kind.deltas.map((delta) => new Option(delta, delta, false, delta === state.delta)));
  for (const label of document.querySelectorAll("[data-method]")) {
    label.hidden = !fits.includes(label.dataset.method);
    label.querySelector("input").checked = state.methods.has(label.dataset.method);
  }
  if ([...$("others").querySelectorAll("input")].some((box) => box.checked)) $("others").open = true;
  $("repeat").checked = state.seed !== null;
  $("repeat-words").textContent = state.seed !== null ? `(number ${state.seed}) such numbers protect nobody` : "";
  for (const radio of document.querySelectorAll('[name="mode"]')) radio.checked = radio.value === state.mode;
  const whole = state.mode === "whole";
  for (const id of ["scores", "zeros-words", "exports", "buys"]) $(id).hidden = !whole;
  $("live").hidden = whole;
  $("player").hidden = state.mode !== "step";
  $("typing").hidden = state.mode !== "type";
  $("horizon-label").hidden = state.unit !== "user";
  const before = $("live-method").value, offered = chosen().length ? chosen() : fits;
  $("live-method").replaceChildren(...offered.map((name) => new Option(name, name, false, name === before)));
}

function usual() {
  const unit = unitOf(state.unit);
  state.methods = new Set(fitting().chosen);
  state.ticks = unit.ticks ? unit.usual : null;
}

let waiting = null;
/** Something was chosen: show it, keep it in the address, and run again when the hand rests. */
function changed(rest = 0) {
  show();
  history.replaceState(null, "", link(state));
  clearTimeout(waiting);
  $("buys").classList.add("old");
  if (state.mode === "whole") $("busy").textContent = "working …";
  else calm();
  waiting = setTimeout(() => (state.mode === "whole" ? run() : live.restart()), rest);
}

for (const id of ["controls", "more"]) $(id).addEventListener("submit", (event) => event.preventDefault());
for (const radio of document.querySelectorAll('[name="unit"]')) radio.addEventListener("change", () => { state.unit = radio.value; usual(); results = new Map(); changed(); });
$("kind").addEventListener("change", () => { state.kind = $("kind").value; state.stop = kindOf().usual_stop; state.delta = kindOf().usual_delta || null; results = new Map(); changed(); });
$("delta").addEventListener("change", () => { state.delta = $("delta").value; changed(); });
$("ticks").addEventListener("input", () => { const n = Number($("ticks").value); if (Number.isInteger(n) && n >= 1) { state.ticks = n; changed(300); } });
$("strength").addEventListener("input", () => { state.stop = Number($("strength").value); changed(150); });
for (const label of document.querySelectorAll("[data-method]")) label.querySelector("input").addEventListener("change", (event) => { if (event.target.checked) state.methods.add(label.dataset.method); else state.methods.delete(label.dataset.method); changed(); });
$("repeat").addEventListener("change", () => { state.seed = $("repeat").checked ? 1 : null; changed(); });
$("again").addEventListener("click", () => { if (state.seed !== null) state.seed = (state.seed % 9999) + 1; changed(); });
for (const radio of document.querySelectorAll('[name="mode"]')) radio.addEventListener("change", () => { state.mode = radio.value; live.stop(); changed(); });

// ── a whole series ─────────────────────────────────────────────────────────────────────────────────────────────────
function calm() {
  working?.abort();
  working = null;
  $("busy").textContent = "";
  document.querySelector(".figure").classList.remove("busy-now");
}

async function run() {
  working?.abort();
  const mine = (working = new AbortController());
  refuse(null);
  if (!state.series) return;
  const wanted = chosen();
  // Until it is drawn anew a panel stays as it was, dimmed: nothing jumps while a hand is on the slider.
  results = new Map(wanted.map((method) => [method, results.get(method) ? { ...results.get(method), old: true } : null]));
  document.querySelector(".figure").classList.add("busy-now");
  try {
    for (const method of wanted) {
      $("busy").textContent = `${method} …`;
      const asked = { ...state.given, ...promise(), method, seed: state.seed };
      await askLines("/lab/run", asked, mine.signal, (line) => {
        if (line.result) results.set(method, line.result);
        else $("busy").textContent = `${method} ${per(line.done / line.of)}`;
      });
      if (mine.signal.aborted) return;
      await draw();
    }
    if (!wanted.length) { await draw(); $("buys").textContent = "Choose a method."; }
  } catch (error) {
    if (error.name !== "AbortError") refuse(error);
  }
  if (working !== mine) return;
  $("busy").textContent = "";
  document.querySelector(".figure").classList.remove("busy-now");
}

async function draw() {
  const runs = [...results.values()].filter(Boolean).map((result) => ({ ...result, index: names.indexOf(result.method), title: result.old ? "…" : `usually within ± ${result.scores.usual_words}` }));
  table(runs);
  const [first] = runs;
  if (first && !first.old) {
    $("buys").textContent = `Numbers are usually within ± ${first.scores.usual_words} of the true ones, which are about ${number(typical(), 2)}.`;
    $("buys").title = `Two of three numbers, with ${first.method}, in this run`;
    $("buys").classList.remove("old");
    $("bound").textContent = first.guarantee.split(". ").slice(1).join(". ");
  }
  await picture($("plot"), state.series.values, runs, state.series.ticks, { times: state.series.times, budget: unitOf(state.unit).paying });
}

function cell(text, kind = "td", name = "") {
  const made = document.createElement(kind);
  made.textContent = text;
  made.className = name;
  return made;
}

function table(runs) {
  const fresh = runs.every((run) => !run.old);
  // One run tells two methods apart only where they differ clearly.
  const [least, next] = runs.map((run) => run.scores.relative).sort((a, b) => a - b), clear = least < 0.9 * next;
  const rows = runs.map((run) => {
    const row = document.createElement("tr"), s = run.scores, head = cell("", "th");
    head.scope = "row";
    head.innerHTML = '<svg class="swatch" viewBox="0 0 28 10" aria-hidden="true"><line x1="0" y1="5" x2="28" y2="5"/></svg>';
    const line = head.querySelector("line");
    line.setAttribute("stroke", colourOf(run.index));
    line.setAttribute("stroke-dasharray", { solid: "none", dash: "7 4", dot: "2 3", dashdot: "7 3 2 3", longdash: "11 4", longdashdot: "11 3 2 3" }[DASHES[run.index]]);
    head.append(run.method);
    if (fresh && clear && s.relative === least) { row.className = "best"; head.append(" (closest)"); }
    row.append(head, cell(`${number(100 * s.relative, 2)} %`, "td", "right"), cell(number(s.absolute, 2), "td", "right"), cell(s.coverage === null ? "none stated" : `${per(s.coverage)}${s.stated < s.ticks ? ` of ${s.stated}` : ""}`, "td", "right"), cell(`${s.measured.toLocaleString("en")} of ${s.ticks.toLocaleString("en")}`, "td", "right"));
    return row;
  });
  if (runs.length) {
    const row = document.createElement("tr"), zeros = runs[0].scores.zeros;
    const head = cell("all zeros", "th", "faint");
    head.scope = "row";
    row.append(head, cell(`${number(100 * zeros, 2)} %`, "td", "right"), cell(number(typical(), 2), "td", "right"), cell("", "td"), cell("0", "td", "right"));
    rows.push(row);
    const worse = runs.filter((run) => run.scores.relative >= zeros).map((run) => run.method);
    $("zeros-words").textContent = worse.length ? `${worse.join(" and ")}: worse than publishing nothing but zeros. Protect less, or for fewer ticks.` : "Averages over all ticks of this one run.";
  }
  $("rows").replaceChildren(...rows);
  const before = $("export-method").value;
  $("export-method").replaceChildren(...runs.map((run) => new Option(run.method, run.method, false, run.method === before)));
}

// ── taking along ───────────────────────────────────────────────────────────────────────────────────────────────────
function save(text, name, type) {
  const address = URL.createObjectURL(new Blob([text], { type })), anchor = document.createElement("a");
  anchor.href = address;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

for (const button of document.querySelectorAll("[data-export]")) button.addEventListener("click", async () => {
  const result = results.get($("export-method").value);
  if (!result || result.old) return;
  const kind = button.dataset.export, name = `${result.seed === null ? "released" : "simulated"}-${result.method}`;
  if (kind === "csv") save(result.csv, `${name}.csv`, "text/csv");
  if (kind === "json") {
    const rows = result.value.map((value, tick) => ({ tick, value, standard_error: result.standard_error[tick], lower: result.lower[tick], upper: result.upper[tick], measurement: result.measurement[tick] }));
    save(JSON.stringify({ key: result.key, method: result.method, guarantee: result.guarantee, seed: result.seed, releases: rows }, null, 1), `${name}.json`, "application/json");
  }
  if (kind === "python") {
    try { save(await ask("/lab/script", { ...state.given, ...promise(), method: result.method, seed: state.seed }), `release-${result.method}.py`, "text/x-python"); } catch (error) { refuse(error); }
  }
});
$("copy").addEventListener("click", async () => {
  try { await navigator.clipboard.writeText(location.href); $("copied").textContent = "Copied: the settings, not the data."; } catch { $("copied").textContent = "Copy it from the address bar."; }
});

// ── step by step ───────────────────────────────────────────────────────────────────────────────────────────────────
const live = new Live({
  asked: () => ({ ...promise(), method: $("live-method").value, seed: state.seed, seconds: state.mode === "step" ? state.series?.seconds : null, horizon: state.mode === "type" ? Number($("horizon").value) || 20 : Math.max(state.series?.ticks ?? 1, 1) }),
  values: () => (state.mode === "step" ? state.series?.values ?? [] : null),
  ticks: () => (state.mode === "step" ? state.series?.ticks ?? 0 : state.unit === "user" ? Number($("horizon").value) || 20 : 0),
  times: () => (state.mode === "step" ? state.series?.times : null),
  budget: () => unitOf(state.unit).paying,
  index: (method) => names.indexOf(method),
  refuse,
});

const redraw = () => (state.mode === "whole" ? state.series && draw() : live.draw());
addEventListener("themechange", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

usual();
Object.assign(state, readLink(choices, state));
if (state.given.sample === undefined) state.given = { sample: choices.samples[0].name };
show();
load(state.given);
