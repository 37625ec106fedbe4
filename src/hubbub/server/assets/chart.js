// Path data for a box of 600 by 100: the same drawing as the server's, made anew when a tick comes.
const WIDTH = 600, HEIGHT = 100;
const short = (n) => (Math.round(n * 10) / 10).toString();

/** @param {Array} points [tick, value, lower, upper, predicted]; null where unknown */
export function draw(points, first, last, top) {
  const height = top || 1, span = Math.max(1, last - first);
  const x = (tick) => short((WIDTH * (tick - first)) / span);
  const y = (value) => short(HEIGHT * (1 - Math.min(Math.max(value / height, 0), 1)));
  let band = "", run = [], before = null;
  const paths = ["", ""], ends = [null, null];
  const close = () => {
    if (run.length > 1) {
      band += "M" + run.map((p) => p[0] + " " + p[1]).join("L") + "L" + run.reverse().map((p) => p[0] + " " + p[2]).join("L") + "Z";
    }
    run = [];
  };
  for (const [tick, value, lower, upper, predicted] of points) {
    if (tick < first) continue;
    if (value === null) { before = null; close(); continue; }
    const here = x(tick) + " " + y(value);
    if (before !== null) {
      paths[predicted] += (ends[predicted] === before ? "" : "M" + before) + "L" + here;
      ends[predicted] = here;
    }
    before = here;
    if (lower === null || upper === null) close();
    else run.push([x(tick), y(upper), y(lower)]);
  }
  close();
  return { band, line: paths[0], predicted: paths[1] };
}

export function show(svg, drawing) {
  const [band, line, dashed] = svg.children;
  band.setAttribute("d", drawing.band);
  line.setAttribute("d", drawing.line);
  dashed.setAttribute("d", drawing.predicted);
}

export const topOf = (points) => points.reduce((most, p) => Math.max(most, p[1] ?? 0, p[3] ?? 0), 0);

export function niceTop(points) {
  const largest = topOf(points);
  if (largest <= 0) return 1;
  const power = 10 ** String(Math.trunc(largest)).length;
  return [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1].map((part) => part * power).find((n) => n >= largest);
}

/** Adds a point to a curve of every `step`-th tick: the newest is always there, the others stay where they are. */
export function append(points, point, step, window) {
  const before = points[points.length - 2];
  if (points.length > 1 && point[0] - before[0] <= step) points[points.length - 1] = point;
  else points.push(point);
  while (points.length && points[0][0] <= point[0] - window) points.shift();
}
