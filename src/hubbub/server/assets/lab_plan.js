// The Plan page: what accuracy each method buys, on a public or simulated series.
import { DASHES, colourOf, library } from "./lab_chart.js";
import { askLines } from "./lab_ask.js";

const $ = (id) => document.getElementById(id);
const choices = JSON.parse($("choices").textContent);
const names = Object.keys(choices.methods);
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const per = (share) => `${Number((100 * share).toPrecision(2)).toLocaleString("en")} %`;
const plain = (amount) => amount.toLocaleString("en", { maximumFractionDigits: 6 });
const unit = () => choices.units.find((one) => one.name === document.querySelector('[name="unit"]:checked').value);
const kind = () => choices.kinds.find((one) => one.name === $("kind").value);
let found = null, working = null;

function show() {
  $("described").hidden = $("sample").value !== "";
  $("unit-words").textContent = unit().explanation;
  $("ticks-label").hidden = !unit().ticks;
  $("ticks-words").textContent = unit().ticks;
  $("kind-words").textContent = kind().explanation;
  $("delta-label").hidden = !kind().deltas.length;
  if ($("delta").options.length !== kind().deltas.length) $("delta").replaceChildren(...kind().deltas.map((delta) => new Option(delta, delta, false, delta === kind().usual_delta)));
}

async function plan() {
  working?.abort();
  const mine = (working = new AbortController());
  $("refused").hidden = true;
  const whole = (id) => ($(id).value === "" ? null : Number($(id).value));
  const asked = { kind: kind().name, delta: kind().deltas.length ? $("delta").value : null, unit: unit().name, ticks: unit().ticks ? whole("ticks") : null, error: whole("wished") === null ? null : whole("wished") / 100, ...($("sample").value ? { sample: $("sample").value } : { level: whole("level"), length: whole("length") }) };
  try {
    await askLines("/lab/plan", asked, mine.signal, (line) => {
      if (line.result) found = line.result;
      else $("answer").textContent = `Working it out: ${line.done} of ${line.of}`;
    });
  } catch (error) {
    if (error.name === "AbortError") return;
    $("refused").textContent = `${error.message} ${error.hint ?? ""}`;
    $("refused").hidden = false;
    $("answer").textContent = "";
    return;
  }
  found.stops = kind().stops;
  answer(asked.error);
  await draw();
}

function answer(wished) {
  const cell = (text, kind = "td", name = "right") => Object.assign(document.createElement(kind), { textContent: text, className: name });
  const methods = [...new Set(found.rows.map((row) => row.method))], amounts = [...new Set(found.rows.map((row) => row.strength))];
  $("heads").replaceChildren(cell("protection", "th", ""), ...methods.map((name) => cell(name, "th")));
  $("rows").replaceChildren(...amounts.map((amount) => {
    const line = document.createElement("tr"), rows = methods.map((name) => found.rows.find((row) => row.method === name && row.strength === amount));
    const head = cell(rows[0].word, "th", "");
    head.append(" ", Object.assign(document.createElement("small"), { textContent: plain(amount), className: "faint" }));
    line.append(head, ...rows.map((row) => {
      const made = cell(per(row.error));
      made.append(Object.assign(document.createElement("small"), { textContent: `± ${row.absolute_words}` }));
      made.title = `${per(row.lucky)} in a lucky run, ${per(row.unlucky)} in an unlucky one; its 95 % intervals hold ${row.coverage === null ? "nothing, none is stated" : `${per(row.coverage)} of the counts`}`;
      return made;
    }));
    return line;
  }));
  $("basis").textContent = `The mean of ${found.runs} simulated releases of each, on ${found.ticks.toLocaleString("en")} ticks of about ${Number(found.typical.toPrecision(2)).toLocaleString("en")}. Bars: from a lucky run to an unlucky one. Nothing but zeros would be off by ${per(found.zeros)}.`;
  if (!found.needed) { $("answer").textContent = "Done."; return; }
  const reached = Object.entries(found.needed).filter(([, amount]) => amount !== null).sort((a, b) => a[1] - b[1]);
  if (!reached.length) { $("answer").textContent = `No method gets within ${per(wished)} here. Count more people per tick, publish fewer ticks, or promise less.`; return; }
  const [method, amount] = reached[0];
  const least = Math.min(...found.rows.map((row) => row.strength));
  const stop = found.stops.findLast((one) => Number(one.amount) <= amount * 1.0001) ?? found.stops[0];
  const what = `${found.currency === "rho" ? "a rho" : "an epsilon"} of ${amount <= least ? `${plain(least)} or less` : `about ${plain(Number(amount.toPrecision(2)))}`}${found.delta ? ` with a delta of ${found.delta}` : ""}`;
  $("answer").textContent = `To be off by ${per(wished)} on average, ${method} needs ${what}: ${stop.word} protection.`;
}

async function draw() {
  if (!found) return;
  const Plotly = await library(), methods = [...new Set(found.rows.map((row) => row.method))], rule = colour("--rule");
  const traces = methods.map((method) => {
    const rows = found.rows.filter((row) => row.method === method), index = names.indexOf(method);
    return { x: rows.map((r) => r.strength), y: rows.map((r) => 100 * r.error), name: method, mode: "lines+markers", marker: { symbol: index, size: 8 }, line: { color: colourOf(index), dash: DASHES[index], width: 2 }, hovertemplate: `${method}: %{y:.3~g} %<extra></extra>`, error_y: { type: "data", symmetric: false, array: rows.map((r) => 100 * (r.unlucky - r.error)), arrayminus: rows.map((r) => 100 * (r.error - r.lucky)), thickness: 1 } };
  });
  const axis = { type: "log", gridcolor: rule, fixedrange: true, zeroline: false };
  await Plotly.react($("plot"), traces, { height: 340, margin: { l: 62, r: 8, t: 10, b: 46 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: colour("--faint"), family: "system-ui, sans-serif", size: 12 }, dragmode: false, hovermode: "x", legend: { orientation: "h", y: 1.12, x: 0, bgcolor: "rgba(0,0,0,0)" }, hoverlabel: { bgcolor: colour("--card"), bordercolor: rule, font: { color: colour("--ink") } }, xaxis: { ...axis, title: { text: `${found.currency}: strong to weak protection` }, tickvals: found.rows.filter((r) => r.method === methods[0]).map((r) => r.strength), ticktext: found.rows.filter((r) => r.method === methods[0]).map((r) => plain(r.strength)) }, yaxis: { ...axis, tickvals: [0.1, 1, 10, 100, 1000, 10000], ticktext: ["0.1 %", "1 %", "10 %", "100 %", "1,000 %", "10,000 %"] } }, { displayModeBar: false, responsive: true });
}

$("controls").addEventListener("submit", (event) => { event.preventDefault(); plan(); });
$("controls").addEventListener("change", show);
addEventListener("themechange", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
show();
