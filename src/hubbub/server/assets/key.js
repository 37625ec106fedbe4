import { connect, fill, page, setNumber } from "./connection.js";

const $ = (id) => document.getElementById(id);
const data = $("data") && JSON.parse($("data").textContent);
const base = `/v1/streams/${encodeURIComponent(page.stream)}`;
let releases = [];
let chart = null;

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
// Times as text in UTC, as everywhere on the pages: given a Date the chart would show the viewer's own zone.
const end = (release) => (release.start === null ? release.tick : Date.parse(release.start) + 1000 * (release.length_seconds ?? 0));
const time = (release) => (release.start === null ? release.tick : new Date(end(release)).toISOString().slice(0, -1));

async function past() {
  let next = `${base}/releases?first=${data.first}&limit=1000&key=${encodeURIComponent(data.key)}`;
  const found = [];
  while (next) {
    const answer = await fetch(next);
    if (!answer.ok) throw new Error("no data");
    const got = await answer.json();
    found.push(...got.releases.map((r) => ({ ...r.keys[0], tick: r.tick, start: r.start, length_seconds: r.length_seconds, predicted: r.predicted })));
    next = got.next;
  }
  return found;
}

// The chart library is large, so it is fetched only here; until it is there the plain drawing stands.
const library = () => new Promise((resolve, reject) => {
  const script = document.createElement("script");
  script.src = "/assets/plotly.min.js";
  script.addEventListener("load", () => resolve(globalThis.Plotly));
  script.addEventListener("error", reject);
  document.head.append(script);
});

function traces() {
  const x = releases.map(time);
  const known = (r, n) => (r.standard_error === null ? null : n);
  const line = { color: colour("--line"), width: 2 };
  const reach = releases.map((r) => known(r, r.upper)), floor = releases.map((r) => known(r, r.lower));
  const text = releases.map((r) => (r.predicted ? "predicted, not measured" : "measured"));
  const marks = data.alerts.map((a) => releases.find((r) => r.tick === a.first_tick) && { ...releases.find((r) => r.tick === a.first_tick), reason: `${a.kind}: ${a.reason}` }).filter(Boolean);
  return [
    { x, y: floor, mode: "lines", line: { width: 0 }, hoverinfo: "skip", showlegend: false },
    { x, y: reach, mode: "lines", line: { width: 0 }, fill: "tonexty", fillcolor: colour("--band") + "55", name: "95 of 100 times in here", hoverinfo: "skip" },
    { x, y: releases.map((r) => r.measurement), mode: "markers", marker: { size: 4, color: colour("--faint"), opacity: 0.45 }, name: "measurement", hovertemplate: "measured %{y:,}<extra></extra>" },
    { x, y: releases.map((r, i) => (r.predicted && !(releases[i + 1] && !releases[i + 1].predicted) ? null : known(r, r.value))), mode: "lines", line, name: "estimate", hoverinfo: "skip" },
    { x, y: releases.map((r, i) => (r.predicted || releases[i + 1]?.predicted ? known(r, r.value) : null)), mode: "lines", line: { ...line, dash: "dot" }, name: "predicted, not measured", hoverinfo: "skip", showlegend: releases.some((r) => r.predicted) },
    { x, y: releases.map((r) => known(r, r.value)), mode: "lines", line: { width: 0, color: line.color }, showlegend: false, text, customdata: releases.map((r) => [r.lower, r.upper]), hovertemplate: "%{y:,.0f}, between %{customdata[0]:,.0f} and %{customdata[1]:,.0f} (%{text})<extra></extra>" },
    { x: marks.map(time), y: marks.map((m) => m.value), mode: "markers", marker: { size: 11, symbol: "diamond", color: colour("--mark"), line: { width: 1, color: colour("--ink") } }, text: marks.map((m) => m.reason), name: "change beyond the noise", hovertemplate: "%{text}<extra></extra>", showlegend: marks.length > 0 },
  ];
}

function layout() {
  const rule = colour("--rule"), ink = colour("--faint");
  return {
    margin: { l: 52, r: 8, t: 8, b: 36 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: ink, family: "system-ui, sans-serif", size: 13 },
    xaxis: { gridcolor: rule, zeroline: false, fixedrange: true }, yaxis: { gridcolor: rule, rangemode: "tozero", zerolinecolor: rule, fixedrange: true, tickformat: ",d" },
    dragmode: "select", selectdirection: "h", hovermode: "x", showlegend: $("plot").clientWidth > 560, legend: { orientation: "h", y: 1.12, x: 0, bgcolor: "rgba(0,0,0,0)" },
    hoverlabel: { bgcolor: colour("--card"), bordercolor: rule, font: { color: colour("--ink") } }, newselection: { line: { color: colour("--line") } },
  };
}

async function plot() {
  const [Plotly, found] = await Promise.all([library(), past()]);
  releases = found;
  chart = Plotly;
  $("plot").hidden = false;
  await Plotly.newPlot($("plot"), traces(), layout(), { displayModeBar: false, responsive: true });
  $("plain").hidden = true;
  $("plot").parentElement.classList.add("plotted");
  $("plot").on("plotly_selected", (event) => {
    if (!event?.range?.x) return;
    const [from, to] = event.range.x.map((edge) => (releases[0].start === null ? Number(edge) : Date.parse(`${String(edge).replace(" ", "T")}Z`)));
    const inside = releases.filter((r) => end(r) >= from && end(r) <= to);
    if (inside.length) add(inside[0].tick, inside[inside.length - 1].tick);
  });
  addEventListener("themechange", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

const redraw = () => chart && chart.react($("plot"), traces(), { ...layout(), selections: $("plot").layout.selections }, { displayModeBar: false, responsive: true });

async function add(from, to) {
  $("from").value = from;
  $("to").value = to;
  const answer = await fetch(`${base}/range?from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}&key=${encodeURIComponent(data.key)}`);
  const got = await answer.json();
  const place = $("answer");
  place.replaceChildren();
  if (!answer.ok) {
    const said = document.createElement("span");
    said.className = "notice";
    said.textContent = `${got.error.message} ${got.error.hint}`;
    place.append(said);
    return;
  }
  const number = document.createElement("span");
  number.className = `number ${got.sum.state}`;
  number.textContent = got.sum.text;
  const words = document.createElement("span");
  words.className = "faint";
  words.textContent = ` in ${got.ticks} ticks, ${got.error_words}`;
  place.append(number, words);
  const address = new URL(location);
  address.searchParams.set("from", from);
  address.searchParams.set("to", to);
  globalThis.history.replaceState(null, "", address);
}

function update(release) {
  if (!data) { fill(release); return; }
  const row = release.keys.find((one) => one.key === data.key);
  if (!row) return;
  setNumber($("total"), row, release.predicted);
  $("total-words").textContent = row.words && row.state !== "withheld" && row.state !== "unknown" ? ` · ${row.words}` : "";
  $("interval").textContent = row.interval;
  if ($("rank") && row.rank) $("rank").textContent = row.rank;
  if (row.change && !data.alerts.some((a) => a.active)) data.alerts.push({ ...row.change, active: true, first_tick: release.tick });
  if (!releases.length || releases[releases.length - 1].tick >= release.tick) return;
  releases.push({ ...row, tick: release.tick, start: release.start, length_seconds: release.length_seconds, predicted: release.predicted });
  while (releases[0].tick <= release.tick - data.window) releases.shift();
  redraw();
}

if (data) {
  $("range").addEventListener("submit", (event) => { event.preventDefault(); add($("from").value, $("to").value); });
  plot().catch(() => { /* the plain drawing stays */ });
}
connect(update);
