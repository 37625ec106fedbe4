// Pictures of a day: ribbons of contexts, and belief over the day. Plain SVG, drawn to the width it has.
const SPACE = "http://www.w3.org/2000/svg";
const COLOURS = 9, LEFT = 42, RIGHT = 4, HIGH = 34, BELIEF = 96, SECRET = 4;

export function make(kind, facts = {}, ...inside) {
  const made = document.createElementNS(SPACE, kind);
  for (const [name, value] of Object.entries(facts)) made.setAttribute(name, value);
  made.append(...inside);
  return made;
}

/** The colour of a context, and over it the pattern of those beyond the ninth. */
export function filled(context, box) {
  const over = Math.floor(context / COLOURS) % 7;
  return [make("rect", { ...box, class: `c${context % COLOURS}` }), ...(over ? [make("rect", { ...box, fill: `url(#over${over})` })] : [])];
}

/** Ticks that are alike and follow each other, as [first, one past the last, context]. */
export function runs(day) {
  const found = [];
  day.forEach((context, tick) => { if (found.length && found.at(-1)[2] === context) found.at(-1)[1] = tick + 1; else found.push([tick, tick + 1, context]); });
  return found;
}

function scale(place, ticks) {
  const width = Math.max(240, place.clientWidth);
  return { width, x: (tick) => LEFT + ((width - LEFT - RIGHT) * tick) / ticks };
}

/** A day, or what is shown of it (-1: suppressed). `say(tick)` is the time of a tick. */
export function ribbon(place, day, names, secret, say, hours = false) {
  const { width, x } = scale(place, day.length), high = HIGH + SECRET + (hours ? 18 : 0);
  const drawn = make("svg", { viewBox: `0 0 ${width} ${high}`, height: high, role: "img" });
  for (const [first, end, context] of runs(day)) {
    const box = { x: x(first), y: SECRET, width: x(end) - x(first), height: HIGH };
    const what = context < 0 ? "suppressed" : names[context];
    const part = make("g", {}, make("title", {}, `${say(first)} to ${say(end)}: ${what}${secret(context, first, end) ? ", sensitive" : ""}`));
    if (context < 0) part.append(make("rect", { ...box, fill: "url(#nothing)" }));
    else part.append(...filled(context, box));
    part.append(make("rect", { ...box, class: "edge" }));
    if (context >= 0 && secret(context, first, end)) part.append(make("rect", { ...box, y: 0, height: SECRET, class: "secret" }));
    const room = Math.floor((box.width - 8) / 7);
    if (context >= 0 && room >= Math.min(3, what.length)) part.append(make("text", { x: box.x + 5, y: SECRET + HIGH / 2 + 4, class: "name" }, what.length <= room ? what : `${what.slice(0, Math.max(1, room - 1))}…`));
    drawn.append(part);
  }
  if (hours) drawn.append(...axis(day.length, x, width, SECRET + HIGH, say));
  return put(place, drawn, `0 0 ${width} ${high}`);
}

function axis(ticks, x, width, top, say) {
  const most = Math.max(2, Math.floor((width - LEFT) / 52)), step = [1, 2, 3, 4, 6, 8, 12, 24, 48].map((part) => Math.ceil(ticks / 24) * part).find((size) => ticks / size <= most) ?? ticks;
  const found = [];
  for (let tick = 0; tick <= ticks; tick += step) {
    found.push(make("line", { x1: x(tick), x2: x(tick), y1: top, y2: top + 4, class: "notch" }));
    found.push(make("text", { x: x(tick), y: top + 15, class: "hour", "text-anchor": tick === 0 ? "start" : tick === ticks ? "end" : "middle" }, say(tick)));
  }
  return found;
}

/** Belief before and after, and how far it may rise; `bound.first` is the tick of the first number. */
export function beliefs(place, ticks, bound, posterior, delta, breaches) {
  const { width, x } = scale(place, ticks), top = 6, y = (share) => top + (BELIEF - top - 6) * (1 - share);
  const drawn = make("svg", { viewBox: `0 0 ${width} ${BELIEF}`, height: BELIEF, role: "img" });
  for (const share of [0, 0.5, 1]) {
    drawn.append(make("line", { x1: LEFT, x2: width - RIGHT, y1: y(share), y2: y(share), class: "grid" }));
    drawn.append(make("text", { x: LEFT - 4, y: y(share) + 4, class: "hour", "text-anchor": "end" }, share === 1 ? "100 %" : `${100 * share}`));
  }
  const places = bound.sometime ? [[bound.first, bound.last + 1]] : posterior.map((_, at) => [bound.first + at, bound.first + at + 1]);
  const steps = (of) => places.map(([first, end], at) => `${at ? "L" : "M"}${x(first).toFixed(1)} ${y(of(at)).toFixed(1)}L${x(end).toFixed(1)} ${y(of(at)).toFixed(1)}`).join("");
  const limit = (at) => Math.min(1, bound.prior[at] + delta);
  places.forEach(([first, end], at) => {
    if (!breaches.includes(bound.sometime ? bound.last : first)) return;
    drawn.append(make("rect", { x: x(first), width: x(end) - x(first), y: y(posterior[at]), height: Math.max(1, y(limit(at)) - y(posterior[at])), class: "above" }));
  });
  drawn.append(make("path", { d: steps(limit), class: "limit" }), make("path", { d: steps((at) => bound.prior[at]), class: "prior" }), make("path", { d: steps((at) => posterior[at]), class: "posterior" }));
  places.forEach(([first, end], at) => {
    if (!breaches.includes(bound.sometime ? bound.last : first)) return;
    const middle = (x(first) + x(end)) / 2, high = y(posterior[at]);
    drawn.append(make("path", { d: `M${middle - 5} ${high + 9}L${middle + 5} ${high + 9}L${middle} ${high}Z`, class: "breach" }));
  });
  return put(place, drawn);
}

function put(place, drawn) {
  drawn.append(make("line", { class: "now", y1: 0, y2: drawn.getAttribute("height"), visibility: "hidden" }));
  place.replaceChildren(drawn);
  return drawn;
}

/** The line of the tick that is looked at, in each picture. */
export function mark(places, tick, ticks) {
  for (const place of places) {
    const line = place.querySelector(".now");
    if (!line) continue;
    const at = scale(place, ticks).x(tick + 0.5);
    for (const side of ["x1", "x2"]) line.setAttribute(side, at);
    line.setAttribute("visibility", "visible");
  }
}

/** Which tick a pointer is over. */
export function tickAt(place, event, ticks) {
  const box = place.getBoundingClientRect(), { width } = scale(place, ticks);
  const share = (((event.clientX - box.left) * width) / box.width - LEFT) / (width - LEFT - RIGHT);
  return Math.min(ticks - 1, Math.max(0, Math.floor(share * ticks)));
}
