// The Contexts page: a person's day, what each policy shows of it, and what somebody believes then.
import { ask, askLines } from "./lab_ask.js";
import { beliefs, filled, make, mark, ribbon, tickAt } from "./contexts_draw.js";

const $ = (id) => document.getElementById(id);
const choices = JSON.parse($("choices").textContent);
const DELTAS = ["0.01", "0.02", "0.03", "0.05", "0.1", "0.15", "0.2", "0.3", "0.4", "0.5"];
const WORDS = {
  "mask-sensitive": ["MaskSensitive", "hides what is sensitive and nothing else: no promise"],
  simulatable: ["Simulatable", "decides by what was shown last, never by where you are"],
  probabilistic: ["Probabilistic", "tosses a coin for each context and tick"],
  remembering: ["Remembering", "tosses coins that know what was shown last"],
};
const html = (kind, text = "", name = "") => Object.assign(document.createElement(kind), { textContent: text, className: name });
const per = (share) => `${share > 0 && share < 0.001 ? "under 0.1" : Number((100 * share).toFixed(share < 0.1 || (share > 0.99 && share < 1) ? 1 : 0))} %`;
const points = (rise) => `${Number((100 * rise).toFixed(1))} points`;

let given = { person: choices.people[0].name }, about = null, scene = null, policies = [], result = null, day = 0, working = null, soon = null;

function refuse(error) {
  $("refused").textContent = error ? `${error.message} ${error.hint ?? ""}` : "";
  $("refused").hidden = !error;
  if (error) $("answer").textContent = scene ? "The picture below is of the choice before." : "Nothing to show yet.";
}

function say(tick) {
  if (!about?.minutes) return `tick ${tick}`;
  const minutes = tick * about.minutes;
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}`;
}

async function take(next, sensitive) {
  let read;
  working?.abort();
  clearTimeout(soon);
  try { read = await ask("/lab/days", next); } catch (error) { refuse(error); return false; }
  given = next;
  about = read;
  $("own").hidden = !next.table;
  $("person").value = next.person ?? "";
  $("about-days").textContent = `${read.days.toLocaleString("en")} ${read.days === 1 ? "day" : "days"} of ${read.ticks} ticks${read.minutes ? `, ${read.minutes} minutes each from midnight` : ""}; ${read.contexts.length} ${read.contexts.length === 1 ? "context" : "contexts"}.`;
  const picked = sensitive ?? [read.contexts.at(-1).name];
  $("sensitive").replaceChildren(...read.contexts.map(({ name, share }) => {
    const label = html("label", "", "choice"), box = Object.assign(html("input"), { type: "checkbox", name: "sensitive", value: name, checked: picked.includes(name) }), words = html("span", `${name} `);
    words.append(html("span", per(share), "faint small"));
    label.append(box, words);
    return label;
  }));
  const ticked = $("sensitive").querySelector("label:has(:checked)");
  if (ticked) $("sensitive").scrollTop = ticked.offsetTop;
  const times = [...Array(read.ticks).keys()];
  $("first").replaceChildren(...times.map((tick) => new Option(say(tick), tick, false, tick === 0)));
  $("last").replaceChildren(...times.map((tick) => new Option(read.minutes ? say(tick + 1) : say(tick), tick, false, tick === read.ticks - 1)));
  return plan();
}

const chosen = () => [...document.querySelectorAll('[name="sensitive"]:checked')].map((box) => box.value);

function words() {
  const delta = DELTAS[$("delta").value];
  $("points").textContent = `${Number((100 * delta).toFixed(2))} points`;
  $("delta").setAttribute("aria-valuetext", $("points").textContent);
  $("amount").textContent = delta;
  $("together-label").hidden = chosen().length < 2;
}

async function plan() {
  working?.abort();
  const mine = (working = new AbortController()), sensitive = chosen();
  words();
  if (!sensitive.length) { refuse({ message: "Nothing is sensitive, so everything may be shown.", hint: "Tick at least one context." }); return true; }
  $("answer").textContent = "Working…";
  $("scene").classList.add("old-scene");
  const whole = Number($("first").value) === 0 && Number($("last").value) === about.ticks - 1;
  const asked = { ...given, sensitive, delta: DELTAS[$("delta").value], together: sensitive.length > 1 && $("together").checked, sometime: $("sometime").checked, smoothing: Number(document.querySelector('[name="smoothing"]:checked').value), ...(whole ? {} : { first: Number($("first").value), last: Number($("last").value) }) };
  const made = [];
  try {
    await askLines("/lab/contexts", asked, mine.signal, (line) => {
      if (mine.signal.aborted) return;
      refuse(null);
      if (line.scene) begin(line.scene, asked);
      if (line.policy) { made.push(line.policy); policies = made; draw(); }
      if (line.result) result = line.result;
      $("answer").textContent = line.result ? sentence() : `Working: ${line.done} of ${line.of} policies planned.`;
    });
  } catch (error) {
    if (error.name !== "AbortError") refuse(error);
    return true;
  }
  draw();
  return true;
}

function begin(found, asked) {
  const same = scene && JSON.stringify(scene.days) === JSON.stringify(found.days);
  scene = { ...found, asked };
  policies = [];
  result = null;
  if (!same) day = 0;
  const names = scene.bounds.map((bound) => bound.contexts.map((context) => scene.contexts[context]).join(" or "));
  const before = $("about").value;
  $("about").replaceChildren(...names.map((name, at) => new Option(name, at)));
  $("about").value = before < names.length ? before : 0;
  $("about-label").hidden = names.length < 2;
  $("tick").max = scene.ticks - 1;
  if (!same) turn();
  $("scene").hidden = false;
  $("scene").classList.remove("old-scene");
  const secret = new Set(asked.sensitive);
  $("legend").replaceChildren(...[...scene.contexts.entries()].map(([context, name]) => {
    const line = html("li"), box = { x: 0, y: 0, width: 18, height: 14 };
    line.append(make("svg", { viewBox: "0 0 18 14", "aria-hidden": "true" }, ...filled(context, box), ...(secret.has(name) ? [make("rect", { ...box, height: 4, class: "secret" })] : [])));
    line.append(secret.has(name) ? html("strong", `${name} (sensitive)`) : html("span", name));
    line.title = name;
    return line;
  }), suppressedKey());
  const blocks = Object.entries(WORDS).map(([name, [title, what]]) => {
    const block = html("section", "", "policy"), head = html("header");
    block.dataset.policy = name;
    block.setAttribute("aria-label", title);
    head.append(html("h3", title), html("span", "working…", "here faint"));
    block.append(head, html("p", what, "small faint"), html("div", "", "strip shown"), html("div", "", "strip belief"));
    return block;
  });
  $("policies").replaceChildren(...blocks);
  draw();
}

function suppressedKey() {
  const line = html("li");
  line.append(make("svg", { viewBox: "0 0 18 14", "aria-hidden": "true" }, make("rect", { x: 0, y: 0, width: 18, height: 14, fill: "url(#nothing)" })), html("span", "suppressed"));
  return line;
}

const isSecret = (context, first, end) => scene.bounds.some((bound) => bound.contexts.includes(context) && first <= bound.last && end > bound.first);
const interesting = () => { const found = scene.days[day].findIndex((context, tick) => isSecret(context, tick, tick + 1)); return found < 0 ? Math.floor(scene.ticks / 2) : found; };
/** To the tick of the day that tells most, and to the belief that it is about. */
function turn() {
  const tick = interesting(), at = scene.bounds.findIndex((one) => one.contexts.includes(scene.days[day][tick]));
  $("tick").value = tick;
  if (at >= 0) $("about").value = at;
}
const bound = () => scene.bounds[$("about").value];
const blockOf = (policy) => document.querySelector(`[data-policy="${policy.name}"]`);
const shares = (policy) => policy.beliefs[day][$("about").value];
const breachesOf = (policy) => policy.breaches[day][$("about").value];
/** Where the belief about a tick stands among the numbers of a bound; null if it says nothing about it. */
const slot = (tick) => (tick < bound().first || tick > bound().last ? null : bound().sometime ? 0 : tick - bound().first);

function draw() {
  if (!scene) return;
  const today = scene.days[day], secret = isSecret;
  $("which-day").textContent = `Day ${day + 1} of ${scene.days.length}`;
  $("another").disabled = scene.days.length < 2;
  ribbon($("day"), today, scene.contexts, secret, say, true).setAttribute("aria-label", "The day as it was; the table below has every tick");
  for (const policy of policies) {
    const block = blockOf(policy);
    if (policy.left_out) { block.querySelector(".here").textContent = "left out: too large for a page; `hubbub mask plan` makes it"; continue; }
    block.classList.toggle("taken", result?.chosen === policy.name);
    const title = WORDS[policy.name][0];
    block.querySelector("h3").replaceChildren(title, ...(result?.chosen === policy.name ? [" ", html("span", "Hybrid takes this one", "pill good")] : []));
    ribbon(block.querySelector(".shown"), policy.outputs[day], scene.contexts, secret, say).setAttribute("aria-label", `What ${title} shows of the day`);
    beliefs(block.querySelector(".belief"), scene.ticks, bound(), shares(policy), scene.delta, breachesOf(policy)).setAttribute("aria-label", `Belief under ${title}, before and after`);
  }
  scores();
  look();
  commands();
  if ($("numbers").open) table();
  const name = $("about").selectedOptions[0]?.textContent ?? "";
  $("caption").textContent = `Lower panels: how likely somebody who knows the habits and the plan holds “${name}” ${bound().sometime ? "at any time of the span" : "at each tick"}. Dotted: before the day. Line: after it, having seen all that was shown. Dashed: before + delta, which the line may not exceed; ▲ marks where it does.`;
}

function look() {
  const tick = Number($("tick").value), places = document.querySelectorAll(".strip"), today = scene.days[day][tick], at = slot(tick);
  mark(places, tick, scene.ticks);
  const until = about.minutes ? `${say(tick)} to ${say(tick + 1)}` : say(tick);
  $("at").textContent = `${until}: ${scene.contexts[today]}${isSecret(today, tick, tick + 1) ? " (sensitive)" : ""}${at === null ? "" : `. Believed before the day: ${$("about").selectedOptions[0].textContent} with ${per(bound().prior[at])}.`}`;
  $("tick").setAttribute("aria-valuetext", $("at").textContent);
  for (const policy of policies) {
    if (policy.left_out) continue;
    const here = blockOf(policy).querySelector(".here"), output = policy.outputs[day][tick];
    const breached = at !== null && breachesOf(policy).includes(bound().sometime ? bound().last : tick);
    here.textContent = `${say(tick)}: ${output < 0 ? "suppressed" : `shown: ${scene.contexts[output]}`}${at === null ? "" : `; belief ${per(bound().prior[at])} → ${per(shares(policy)[at])}`}${breached ? ", a breach" : ""}`;
    here.classList.toggle("breached", breached);
    here.classList.toggle("faint", !breached);
  }
}

function scores() {
  const cell = (text, kind = "td", name = "right") => html(kind, text, name);
  $("rows").replaceChildren(...policies.filter((policy) => !policy.left_out).map((policy) => {
    const line = html("tr"), head = cell(WORDS[policy.name][0], "th", ""), output = policy.outputs[day];
    head.scope = "row";
    const rise = Math.max(...policy.beliefs[day].flatMap((shares, at) => shares.map((share, tick) => share - scene.bounds[at].prior[tick])));
    const breaches = policy.breaches[day].reduce((sum, ticks) => sum + ticks.length, 0);
    line.append(head, cell(per(policy.shows)), cell(per(output.filter((shown) => shown >= 0).length / scene.ticks)), cell(points(Math.max(0, rise))), cell(breaches || "none", "td", breaches ? "right breached" : "right"));
    if (result?.chosen === policy.name) line.className = "best";
    return line;
  }));
  $("ceiling").textContent = result?.ceiling == null ? "" : `No policy that keeps this promise shows more than ${per(result.ceiling)} of a day on average, whatever it does.`;
}

function sentence() {
  const naive = policies.find((policy) => policy.name === "mask-sensitive"), best = policies.find((policy) => policy.name === result.chosen);
  return `${result.words} Hybrid takes ${WORDS[result.chosen][0]} and shows ${per(best.shows)} of a day. MaskSensitive shows ${per(naive.shows)}, and belief may rise by up to ${points(naive.worst)}.`;
}

/** What a terminal needs for this plan; a name that the command's own signs are in cannot be said there. */
function commands() {
  const { sensitive, together, sometime, first, last, delta, smoothing } = scene.asked, quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
  $("commands").hidden = sensitive.some((name) => /[@~=+]/.test(name));
  const when = (first === undefined ? "" : `@${first}-${last}`) + (sometime ? "~" : "");
  const secrets = (together ? [sensitive.join("+")] : sensitive).map((name) => `--sensitive ${quoted(name + when)}`).join(" ");
  $("command").textContent = `hubbub mask fit days.csv --smoothing ${smoothing} --out chain.json\nhubbub mask plan chain.json ${secrets} --delta ${delta} --out policy.bin\nhubbub mask run policy.bin --day monday.day`;
}

function table() {
  const made = policies.filter((policy) => !policy.left_out), cell = (text, kind = "td") => html(kind, text);
  const head = (text) => Object.assign(cell(text, "th"), { scope: "col" });
  $("tick-heads").replaceChildren(head("time"), head("context"), head("believed before"), ...made.flatMap((policy) => [head(`${WORDS[policy.name][0]} shows`), head("believed after")]));
  $("tick-rows").replaceChildren(...scene.days[day].map((context, tick) => {
    const line = html("tr"), at = slot(tick), first = Object.assign(cell(say(tick), "th"), { scope: "row" });
    if (isSecret(context, tick, tick + 1)) line.className = "sensitive";
    line.append(first, cell(scene.contexts[context] + (line.className ? " (sensitive)" : "")), cell(at === null ? "" : per(bound().prior[at])));
    for (const policy of made) {
      const output = policy.outputs[day][tick], after = cell(at === null ? "" : per(shares(policy)[at]));
      if (at !== null && breachesOf(policy).includes(bound().sometime ? bound().last : tick)) { after.className = "breached"; after.append(" breach"); }
      line.append(cell(output < 0 ? "suppressed" : scene.contexts[output]), after);
    }
    return line;
  }));
}

async function takeText(text) {
  if (text.length > choices.limits.table) { refuse({ message: "This file is too large for the page.", hint: "Use `hubbub mask fit` on the command line." }); return false; }
  return take({ table: text });
}

$("person").addEventListener("change", () => { if ($("person").value) take({ person: $("person").value }, choices.people.find((one) => one.name === $("person").value).sensitive); });
$("file").addEventListener("change", async () => { const [file] = $("file").files; if (file) await takeText(await file.text()); $("file").value = ""; });
$("file-label").addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); $("file").click(); } });
$("paste-open").addEventListener("click", () => { const open = $("paste").hidden; $("paste").hidden = !open; $("paste-open").setAttribute("aria-expanded", open); if (open) $("pasted").focus(); });
$("paste-use").addEventListener("click", async () => { if (!(await takeText($("pasted").value))) return; $("pasted").value = ""; $("paste-open").click(); });
for (const kind of ["dragover", "dragenter"]) addEventListener(kind, (event) => { if (event.dataTransfer?.types.includes("Files")) { event.preventDefault(); $("drop").classList.add("over"); } });
for (const kind of ["dragleave", "drop"]) addEventListener(kind, () => $("drop").classList.remove("over"));
addEventListener("drop", async (event) => { const [file] = event.dataTransfer?.files ?? []; if (file) { event.preventDefault(); await takeText(await file.text()); } });
$("controls").addEventListener("submit", (event) => event.preventDefault());
$("controls").addEventListener("input", (event) => {
  if (!about || !event.target.matches('[name="sensitive"], [name="smoothing"], #together, #sometime, #first, #last, #delta')) return;
  words();
  clearTimeout(soon);
  soon = setTimeout(plan, 250);
});
$("another").addEventListener("click", () => { day = (day + 1) % scene.days.length; turn(); draw(); });
$("about").addEventListener("change", draw);
$("tick").addEventListener("input", look);
$("numbers").addEventListener("toggle", () => { if ($("numbers").open && scene) table(); });
for (const kind of ["pointermove", "pointerdown"]) $("scene").addEventListener(kind, (event) => {
  const place = event.target.closest?.(".strip");
  if (!place || (kind === "pointermove" && event.pointerType !== "mouse")) return;
  $("tick").value = tickAt(place, event, scene.ticks);
  look();
});
let width = 0;
new ResizeObserver(() => { if ($("day").clientWidth !== width) { width = $("day").clientWidth; draw(); } }).observe($("scene"));
words();
take(given, choices.people[0].sensitive);
