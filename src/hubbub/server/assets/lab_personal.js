// The page Personal: a town, the cut in it, what is sent, and what the server knows.
import { ask } from "./lab_ask.js";

const $ = (id) => document.getElementById(id);
const SPACE = "http://www.w3.org/2000/svg";
const per = (part) => `${(100 * part).toLocaleString("en", { maximumFractionDigits: 1 })} %`;
const asked = { here: "2,5", sensitive: ["2,5"], leaves: 16, k: 5, floor: 0 };
let found = null, cursor = [2, 5], turn = 0;

function shape(name, facts, kind = "", inside = []) {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(facts)) made.setAttribute(key, value);
  if (kind) made.setAttribute("class", kind);
  made.append(...inside);
  return made;
}

const box = (one, kind) => shape("rect", { x: one.x, y: found.side - one.y - one.size, width: one.size, height: one.size }, kind);
const cell = (name) => { const [x, y] = name.split(",").map(Number); return { x, y, size: 1 }; };
const spot = (name) => name.replace(/^(\d),(\d)$/, "column $1, row $2").replace(/^(\d),(\d) x(\d)$/, "the $3 by $3 block from column $1, row $2");

function draw() {
  const map = $("map"), side = found.side;
  map.setAttribute("viewBox", `0 0 ${side} ${side}`);
  const pattern = shape("pattern", { id: "hatching", width: 0.25, height: 0.25, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, "", [shape("line", { x1: 0, y1: 0, x2: 0, y2: 0.25 }, "hatch")]);
  const rows = Array.from({ length: side }, (_, row) => shape("g", { role: "row" }, "", Array.from({ length: side }, (_, column) => {
    const name = `${column},${side - 1 - row}`, made = box(cell(name), "cell");
    made.id = `cell-${column}-${side - 1 - row}`;
    made.setAttribute("role", "gridcell");
    const said = [spot(name), name === found.here ? "you are here" : "", found.sensitive.includes(name) ? "sensitive" : ""].filter(Boolean).join(", ");
    made.setAttribute("aria-label", said);
    made.setAttribute("aria-selected", String(name === found.here));
    made.addEventListener("click", () => choose(name));
    return made;
  })));
  const you = cell(found.here), y = (one) => side - one.y;
  map.replaceChildren(
    shape("defs", {}, "", [pattern]), ...rows, box(found.told, "told"),
    ...found.sensitive.map((name) => box(cell(name), "secret")),
    ...found.nodes.filter((node) => node.size > 1).map((node) => box(node, "node")),
    shape("circle", { cx: you.x + 0.5, cy: side - you.y - 0.5, r: 0.17 }, "you"),
    ...found.results.map((one, i) => shape("g", { "aria-hidden": "true" }, `result${one.shown ? " shown" : ""}`, [
      shape("circle", { cx: one.x, cy: y(one), r: 0.22 }),
      Object.assign(shape("text", { x: one.x, y: y(one) }), { textContent: String(i + 1) }),
    ])),
    shape("rect", { width: 1, height: 1 }, "cursor"),
  );
  move();
}

function move(speak = false) {
  const [x, y] = cursor, mark = $("map").querySelector(".cursor"), at = $(`cell-${x}-${y}`);
  mark.setAttribute("x", x);
  mark.setAttribute("y", found.side - y - 1);
  $("map").setAttribute("aria-activedescendant", at.id);
  if (speak) $("spoken").textContent = at.getAttribute("aria-label");
}

function row(heads, name = "") {
  const made = document.createElement("tr");
  made.className = name;
  heads.forEach((text, i) => {
    const part = Object.assign(document.createElement(i ? "td" : "th"), { textContent: text, className: i ? "right" : "" });
    if (!i) part.scope = "row";
    made.append(part);
  });
  return made;
}

function tell() {
  const { told, precision } = found;
  $("knows").textContent = told.contexts === 1 ? "Exactly where you are: this place is not hidden." : `You are in one of ${told.contexts} places: ${spot(told.name)}.`;
  $("request").textContent = found.request;
  $("results").replaceChildren(...found.results.map((one, i) => row([`${i + 1}. ${one.name}`, per(one.here), per(one.adds)], one.shown ? "shown" : "")));
  $("precision").textContent = found.shown ? `Shown: ${found.shown}. Of people in your place ${per(precision.here)} click it; the best of all results would have ${per(precision.best_here)}.` : "Nothing is worth showing here.";
  const both = (who) => ["told", "town"].flatMap((where) => [`${who}_${where}`, `${who}_${where}_coverage`]).map((name) => (precision[name] === null ? "nothing shown" : per(precision[name])));
  $("ends").replaceChildren(
    row(["The server alone, with what it is told (k = 1, shown to all)", ...both("one")]),
    row([`Both: ${asked.k} sent, the device shows the best`, ...both("sent")]),
    row(["The device alone, with all results", ...both("all")]),
  );
  $("beliefs").replaceChildren(...found.beliefs.map((one) => row([spot(one.name), per(one.before), per(one.after), spot(one.told)])));
  if (!found.beliefs.length) $("beliefs").replaceChildren(row(["nothing is called sensitive", "", "", ""]));
  $("uncovered").replaceChildren(...found.not_covered.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
}

async function update() {
  asked.leaves = 2 ** Number($("leaves").value);
  asked.k = Number($("k").value);
  asked.floor = Number($("floor").value);
  $("leaves-out").textContent = asked.leaves;
  $("k-out").textContent = asked.k;
  $("floor-out").textContent = asked.floor;
  const mine = (turn += 1);
  try {
    const answer = await ask("/lab/personal", asked);
    if (mine !== turn) return;
    found = answer;
    $("refused").hidden = true;
    draw();
    tell();
    $("map").dataset.turn = String(mine);
  } catch (error) {
    if (mine !== turn) return;
    $("refused").textContent = `${error.message} ${error.hint ?? ""}`;
    $("refused").hidden = false;
  }
}

function choose(name) {
  cursor = name.split(",").map(Number);
  if (document.querySelector('[name="mode"]:checked').value === "here") asked.here = name;
  else asked.sensitive = asked.sensitive.includes(name) ? asked.sensitive.filter((one) => one !== name) : [...asked.sensitive, name];
  update();
}

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
$("map").addEventListener("keydown", (event) => {
  const step = STEPS[event.key];
  if (step) {
    cursor = cursor.map((at, i) => Math.max(0, Math.min(found.side - 1, at + step[i])));
    move(true);
  } else if (event.key === "Enter" || event.key === " ") choose(cursor.join(","));
  else return;
  event.preventDefault();
});
$("controls").addEventListener("input", (event) => { if (event.target.type === "range") update(); });
$("controls").addEventListener("submit", (event) => event.preventDefault());
update();
