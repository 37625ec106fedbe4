import { append, draw, niceTop, show, topOf } from "./chart.js";
import { connect, fill, page, redrawn, setNumber } from "./connection.js";

const $ = (id) => document.getElementById(id);
const data = $("data") && JSON.parse($("data").textContent);
const linesOf = (body) => new Map([...body.querySelectorAll("#rows tr")].map((row) => [row.dataset.key, row]));
let rows = linesOf(document);
let renewing = false;
const truth = { on: false, keys: {}, first: null, last: null };

// A short history fills the chart, once it has thirty ticks.
const leftEdge = (tick) => Math.max(tick - data.window + 1, Math.min(data.begin, tick - data.fewest + 1));

function point(release, row) {
  const known = row.state !== "withheld" && row.state !== "unknown";
  return known ? [release.tick, row.value, row.lower, row.upper, Number(release.predicted)] : [release.tick, null, null, null, Number(release.predicted)];
}

// Keys were found, or have retired: their rows come from the server, and everything else stays where it is.
async function renew() {
  if (renewing) return;
  renewing = true;
  try {
    const drawn = await redrawn();
    const found = drawn.getElementById("data");
    if (!found) return;
    Object.assign(data, JSON.parse(found.textContent));
    $("rows").replaceWith(drawn.getElementById("rows"));
    rows = linesOf(document);
  } catch {
    // The server is away for a moment: the next tick tries again.
  } finally {
    renewing = false;
  }
}

function update(release) {
  if (!data) { fill(release); return; }
  if (release.tick <= data.tick) return;  // rows that were renewed may be ahead
  if (release.decision !== data.decision) { renew(); return; }
  const first = leftEdge(release.tick);
  setNumber($("total"), release.total, release.predicted);
  const words = release.total.words;
  $("total-words").textContent = words && release.total.state !== "withheld" && release.total.state !== "unknown" ? ` · ${words}` : "";
  $("trend-text").textContent = release.trend?.text ?? "";
  $("trend-words").textContent = release.trend?.words ?? "";
  $("trend").dataset.beyond = release.trend?.beyond_noise ? "yes" : "no";
  append(data.total, point(release, release.total), data.totalStep, data.window);
  data.tick = release.tick;
  const top = niceTop(data.total);
  if (top !== data.top) { data.top = top; $("axis-top").textContent = top.toLocaleString("en"); }
  show(document.querySelector("#curve svg"), draw(data.total, first, release.tick, top));
  for (const row of release.keys) {
    const line = rows.get(row.key);
    if (!line) continue;
    const now = line.querySelector(".now");
    if (setNumber(now, row, release.predicted)) restart(now.firstElementChild);
    const mark = line.querySelector(".mark");
    mark.hidden = !row.change;
    if (row.change) { mark.textContent = row.change.kind === "surge" ? "⚡ surge" : "▽ drop"; mark.title = row.change.reason; }
    const words = line.querySelector(".words");
    const said = row.state === "withheld" || row.state === "unknown" ? "" : row.words;
    if (words.textContent !== said) words.textContent = said;
    const share = line.querySelector(".share-text");
    if (share.textContent !== (row.share_text ?? "")) share.textContent = row.share_text ?? "";
    line.querySelector(".fill").setAttribute("width", row.share ?? 0);
    line.querySelector(".share svg").classList.toggle("none", row.share === null);  // no share is not a share of zero
    const points = data.keys[row.key];
    append(points, point(release, row), data.step, data.window);
    show(line.querySelector(".spark svg"), draw(points, first, release.tick, topOf(points)));
  }
  if (truth.on) overlay();
}

function restart(place) {
  place.classList.remove("fresh");
  requestAnimationFrame(() => place.classList.add("fresh"));
}

// The demo's switch: the true counts of a simulated site, marked as what they are.
async function overlay() {
  const first = Math.max(0, data.tick - data.window + 1);
  const from = truth.last === null ? first : truth.last + 1;
  if (from <= data.tick) {
    const answer = await fetch(`/v1/streams/${encodeURIComponent(page.stream)}/truth?first=${from}&last=${data.tick}`);
    if (!answer.ok) return;
    const got = await answer.json();
    for (const [key, counts] of Object.entries(got.keys)) {
      (truth.keys[key] ??= []).push(...counts.map((count, i) => [got.first + i, count]));
    }
    truth.last = data.tick;
  }
  const totals = new Map();
  for (const [key, counts] of Object.entries(truth.keys)) {
    while (counts.length && counts[0][0] < first) counts.shift();
    for (const [tick, count] of counts) totals.set(tick, totals.has(tick) && (count === null || totals.get(tick) === null) ? null : (totals.get(tick) ?? 0) + count);
    const svg = rows.get(key)?.querySelector(".spark svg");
    if (svg) svg.querySelector(".truth").setAttribute("d", line(counts, topOf(data.keys[key])));
  }
  document.querySelector("#curve .truth").setAttribute("d", line([...totals], data.top));
}

const line = (counts, top) => draw(counts.map(([tick, count]) => [tick, count, null, null, 0]), leftEdge(data.tick), data.tick, top).line;

$("truth")?.addEventListener("change", (event) => {
  truth.on = event.target.checked;
  $("ribbon").hidden = !truth.on;
  if (truth.on) overlay();
  else for (const path of document.querySelectorAll(".truth")) path.setAttribute("d", "");
});

connect(update);
