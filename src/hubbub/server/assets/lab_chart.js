// The Lab's picture: one panel a method, all on one scale, and what each has spent. Drawn anew as a whole.
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
export const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid", "dash", "dot"];
export const colourOf = (index) => colour(`--m${index % 9}`);

// The chart library is large, so it is fetched only here.
let loading = null;
export const library = () => (loading ??= new Promise((resolve, reject) => {
  const script = document.createElement("script");
  script.src = "/assets/plotly.min.js";
  script.addEventListener("load", () => resolve(globalThis.Plotly));
  script.addEventListener("error", () => { loading = null; reject({ message: "The charts could not be loaded.", hint: "Reload the page." }); });
  document.head.append(script);
}));

const GAP = 46, BUDGET = 74, EDGE = 44;
const largest = (numbers) => numbers.reduce((most, n) => (n !== null && n > most ? n : most), 0);
const middle = (numbers, share) => {
  const sorted = numbers.filter((n) => n !== null).sort((a, b) => a - b);
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] : 0;
};

/** The value at the upper edge: all of the original, and nearly all of the first method's numbers. */
function topOf(values, runs) {
  const first = runs[0] ? Math.min(middle(runs[0].value, 0.98), 2.5 * (largest(values) || Infinity)) : 0;
  return 1.15 * Math.max(largest(values), first, 4);
}

/** Bands as outlines, with gaps where no interval was stated; an interval that stands alone is a bar. */
function intervals(run, most, x) {
  const band = { x: [], y: [] }, alone = { x: [], y: [] };
  for (let i = 0; i < run.value.length; i += 1) {
    if (run.upper[i] === null) continue;
    let end = i;
    while (end + 1 < run.value.length && run.upper[end + 1] !== null) end += 1;
    const up = run.upper.slice(i, end + 1).map((n) => Math.min(n, most)), down = run.lower.slice(i, end + 1);
    if (end === i) {
      alone.x.push(x[i], x[i], null);
      alone.y.push(down[0], up[0], null);
    } else {
      const ticks = x.slice(i, end + 1);
      band.x.push(...ticks, ...ticks.toReversed(), null);
      band.y.push(...up, ...down.toReversed(), null);
    }
    i = end;
  }
  return { band, alone };
}

function panel(traces, run, at, values, top, x) {
  const axis = at ? `y${at + 1}` : "y", tint = colourOf(run.index);
  const on = { xaxis: "x", yaxis: axis };
  const n = run.value.length, here = x.slice(0, n), { band, alone } = intervals(run, 20 * top, x);
  const text = run.measurement.map((m) => (m === null ? "worked out" : "measured"));
  traces.push(
    { ...on, ...band, mode: "lines", line: { width: 0 }, fill: "toself", fillcolor: tint + "33", hoverinfo: "skip", showlegend: false },
    { ...on, ...alone, mode: "lines", line: { color: tint, width: 5 }, opacity: 0.35, hoverinfo: "skip", showlegend: false },
    { ...on, x, y: values, mode: "lines", line: { color: colour("--ink"), width: 1.5, dash: "dot" }, name: "original", hovertemplate: "original %{y:,}<extra></extra>", showlegend: false },
    { ...on, x: here, y: run.value, mode: n < 60 ? "lines+markers" : "lines", marker: { size: 5 }, line: { color: tint, width: 2 }, name: run.method, text, hovertemplate: "%{text}: %{y:,.0f}<extra></extra>", showlegend: false },
    { ...on, x: here.filter((_, i) => run.measurement[i] !== null), y: run.measurement.filter((m) => m !== null).map(() => -0.045 * top), mode: "markers", marker: { symbol: "line-ns-open", size: 6, color: tint, line: { width: 1 } }, hoverinfo: "skip", showlegend: false },
  );
}

const note = (text, y) => ({ text, x: 0, xref: "paper", xanchor: "left", y, yref: "paper", yanchor: "bottom", yshift: 4, showarrow: false, font: { size: 13, color: colour("--ink") } });

/** `runs`: {method, index, value[], lower[], upper[], measurement[], spent[], budget, title}; arrays may still grow. */
export async function picture(place, values, runs, ticks, { times, budget }) {
  const Plotly = await library();
  const wide = place.clientWidth > 560, each = wide ? (runs.length > 1 ? 168 : 260) : 140;
  const height = EDGE + runs.length * (each + GAP) + GAP + BUDGET + 30;
  const inner = height - EDGE - 30, share = (pixels) => 1 - pixels / inner;
  const top = topOf(values, runs), x = times ?? Array.from({ length: ticks }, (_, i) => i);
  const traces = [], notes = [], rule = colour("--rule");
  const layout = {
    height, margin: { l: wide ? 56 : 44, r: 8, t: EDGE, b: 30 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: colour("--faint"), family: "system-ui, sans-serif", size: 12 }, hovermode: "x", dragmode: false,
    hoverlabel: { bgcolor: colour("--card"), bordercolor: rule, font: { color: colour("--ink") } },
    xaxis: { gridcolor: "rgba(0,0,0,0)", zeroline: false, fixedrange: true, range: times ? [times[0], times[times.length - 1]] : [-0.5, Math.max(ticks, 10) - 0.5], anchor: "free", position: 0, ...(times ? { nticks: wide ? 8 : 4 } : { tickformat: ",d" }) },
  };
  runs.forEach((run, at) => {
    panel(traces, run, at, values, top, x);
    const from = at * (each + GAP);
    layout[at ? `yaxis${at + 1}` : "yaxis"] = { domain: [Math.max(share(from + each), 0), share(from)], gridcolor: rule, zerolinecolor: rule, fixedrange: true, range: [-0.1 * top, top], tickformat: ",d", nticks: 4, anchor: "x" };
    const off = run.value.filter((n) => n > top).length;
    notes.push(note(`<b>${run.method}</b>${run.title ? ` · ${run.title}` : ""}${off > 0.05 * run.value.length && wide ? ` · ${Math.round((100 * off) / run.value.length)} % lie above this panel` : ""}`, share(from)));
  });
  const last = runs.length, from = last * (each + GAP), axis = last ? `y${last + 1}` : "y";
  for (const run of runs) traces.push({ x: x.slice(0, run.spent.length), y: run.spent.map((s) => (100 * s) / run.budget), xaxis: "x", yaxis: axis, mode: "lines", line: { color: colourOf(run.index), width: 2, dash: DASHES[run.index], shape: "hv" }, name: run.method, hovertemplate: `${run.method}: %{y:.0f} % spent<extra></extra>`, showlegend: false });
  layout[last ? `yaxis${last + 1}` : "yaxis"] = { domain: [0, share(from)], gridcolor: rule, zerolinecolor: rule, fixedrange: true, range: [0, 108], tickvals: [0, 50, 100], ticktext: ["0", "50 %", "100 %"], anchor: "x" };
  notes.push(note(wide ? `<b>Budget spent</b> · ${budget}` : "<b>Budget spent</b>", share(from)));
  if (values.length) notes.push({ ...note("··· original, confidential", 1), x: 1, xanchor: "right", yshift: wide ? 4 : 20 });
  layout.annotations = notes;
  await Plotly.react(place, traces, layout, { displayModeBar: false, responsive: true });
}
