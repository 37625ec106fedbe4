// Draws a map on a canvas: cells as pixels of one picture, borders as paths; and says which place lies where.
import { STATES } from "./map_data.js";

const STEPS = 65535;
const NOISE = STATES.indexOf("within_noise"), ZERO = STATES.indexOf("zero");
const NEAR = 7;  // pixels a cell must have until its hatching can be seen

// Yellow, orange and vermillion of the Okabe-Ito set: brighter or darker all the way, so that grey paper shows it too.
const RAMPS = {
  light: ["#f5df6b", "#f0c000", "#e69f00", "#d97800", "#c75000", "#9c3300", "#5e1c00"],
  dark: ["#7a3a06", "#a64b00", "#d55e00", "#e68a00", "#efb000", "#f5d750", "#fff6c4"],
};
const GREYS = { light: { noise: "#d3d9e0", hatch: "#97a2af", unknown: "#8f99a6" }, dark: { noise: "#333c47", hatch: "#5f6b79", unknown: "#77828f" } };

const pixel = (hex, alpha = 255) => {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  return ((alpha << 24) | (b << 16) | (g << 8) | r) >>> 0;
};

const nice = (number) => {
  const power = 10 ** Math.floor(Math.log10(number));
  return Number(([1, 2, 5, 10].find((r) => r * power >= number * 0.999) * power).toPrecision(6));
};

/** Round numbers between the colours: each about twice the one before where cells differ much, in even steps otherwise. */
export function breaksFor(values, classes = 7) {
  const some = Float64Array.from(values).sort();
  if (!some.length) return [1];
  const most = Math.max(some[Math.floor(0.999 * (some.length - 1))], 1e-6), least = Math.max(some[Math.floor(0.01 * (some.length - 1))], 1e-9);
  if (most / least < 20) {
    const step = nice((most - least) / (classes - 1) || most / 4), breaks = [];
    for (let at = Math.ceil(least / step); breaks.length < classes - 1 && at * step < most; at++) breaks.push(Number((at * step).toPrecision(6)));
    return breaks.length ? breaks : [nice(most)];
  }
  const breaks = [];
  for (let top = nice(most / 1.5); breaks.length < classes - 1 && (breaks.length < 2 || top > least); top = nice(top / 2.6)) breaks.unshift(top);
  return breaks;
}

export class MapView {
  constructor(canvas, over, shape) {
    this.canvas = canvas; this.over = over; this.shape = shape;
    this.paper = canvas.getContext("2d"); this.ink = over.getContext("2d");
    this.frame = null; this.breaks = null;
    this.zoom = 1; this.x = 0.5; this.y = shape.aspect / 2;
    this.cursor = -1; this.area = null; this.drawing = null;
    if (shape.kind === "raster") this.#makeRaster(); else this.#makeBorders();
    this.#makeRoads();
    this.retheme();
  }

  // ── what is drawn once ──────────────────────────────────────────────────────────────────────────────────────────

  #makeRaster() {
    const { columns, rows, codes } = this.shape, size = columns * rows;
    this.picture = new OffscreenCanvas(columns, rows);
    this.pen = this.picture.getContext("2d");
    this.image = this.pen.createImageData(columns, rows);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.to = new Uint32Array(this.shape.cells);  // the northernmost row comes first in a picture
    this.at = codes ? new Int32Array(size).fill(-1) : null;
    for (let i = 0; i < this.to.length; i++) {
      const code = codes ? codes[i] : i, column = code % columns;
      this.to[i] = (rows - 1 - (code - column) / columns) * columns + column;
      if (this.at) this.at[code] = i;
    }
  }

  #makeBorders() {
    const { rings, corners, x, y, cells } = this.shape;
    this.starts = new Int32Array(cells + 1);
    this.boxes = new Float64Array(4 * cells);
    this.buckets = Array.from({ length: 64 * 64 }, () => []);
    let ring = 0, point = 0;
    this.ringAt = new Int32Array(corners.length + 1);
    for (let i = 0; i < corners.length; i++) this.ringAt[i + 1] = this.ringAt[i] + corners[i];
    for (let i = 0; i < cells; i++) {
      this.starts[i] = ring;
      let [west, south, east, north] = [STEPS, STEPS, 0, 0];
      for (const end = ring + rings[i]; ring < end; ring++) {
        for (const last = this.ringAt[ring + 1]; point < last; point++) {
          west = Math.min(west, x[point]); east = Math.max(east, x[point]);
          south = Math.min(south, y[point]); north = Math.max(north, y[point]);
        }
      }
      this.boxes.set([west, south, east, north], 4 * i);
      for (let row = south >> 10; row <= north >> 10; row++) for (let column = west >> 10; column <= east >> 10; column++) this.buckets[row * 64 + column].push(i);
    }
    this.starts[cells] = ring;
    this.outlines = new Path2D();
    for (let i = 0; i < cells; i++) this.#trace(this.outlines, i);
  }

  #trace(path, cell) {
    const { x, y, aspect } = this.shape;
    for (let ring = this.starts[cell]; ring < this.starts[cell + 1]; ring++) {
      for (let at = this.ringAt[ring]; at < this.ringAt[ring + 1]; at++) {
        const u = x[at] / STEPS, v = (1 - y[at] / STEPS) * aspect;
        if (at === this.ringAt[ring]) path.moveTo(u, v); else path.lineTo(u, v);
      }
      path.closePath();
    }
  }

  #makeRoads() {
    const lines = this.shape.lines, { aspect } = this.shape;
    this.roads = [];
    if (!lines) return;
    for (let i = 0; i < lines.many; i++) {
      const kind = lines.kind[i], path = (this.roads[kind] ??= new Path2D());
      path.moveTo(lines.x[i] / STEPS, (1 - lines.y[i] / STEPS) * aspect);
      path.lineTo((lines.x[i] + lines.dx[i]) / STEPS, (1 - (lines.y[i] + lines.dy[i]) / STEPS) * aspect);
    }
  }

  retheme() {
    const root = document.documentElement.dataset.theme;
    const dark = root ? root === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    this.ramp = RAMPS[dark ? "dark" : "light"];
    this.grey = GREYS[dark ? "dark" : "light"];
    this.road = dark ? "#4b5663" : "#b4bdc8";
    this.roadAbove = dark ? "#0b0e12" : "#39424d";
    this.mark = dark ? "#7cc6f0" : "#00598c";
    const tile = new OffscreenCanvas(6, 6), pen = tile.getContext("2d");
    pen.strokeStyle = this.grey.hatch; pen.lineWidth = 1.2;
    pen.beginPath();
    for (const off of [-6, 0, 6]) { pen.moveTo(off - 1, 7); pen.lineTo(off + 7, -1); }
    pen.stroke();
    this.hatch = this.paper.createPattern(tile, "repeat");
    if (this.frame) this.paint();
  }

  // ── a tick ──────────────────────────────────────────────────────────────────────────────────────────────────────

  show(frame) {
    this.frame = frame;
    const { codes, states, step } = frame;
    let many = 0, most = 0;
    for (let i = 0; i < codes.length; i++) if (states[i] === 0) { many++; if (codes[i] > most) most = codes[i]; }
    // Colours keep their meaning from tick to tick, until most of them would say nothing.
    if (!this.breaks || this.guessed || most * step > 4 * this.breaks.at(-1)) {
      const values = new Float64Array(many);
      for (let i = 0, n = 0; i < codes.length; i++) if (states[i] === 0) values[n++] = codes[i] * step;
      this.breaks = breaksFor(values);
      this.guessed = many === 0;  // nothing was measured: the next tick says what colours mean
    }
    this.paint();
  }

  /** One colour for each class, from the palest to the strongest. */
  colours() {
    const many = this.breaks.length + 1;
    return Array.from({ length: many }, (_, i) => this.ramp[Math.round((i * (this.ramp.length - 1)) / Math.max(many - 1, 1))]);
  }

  /** The colour class of every whole number of steps, up to the last break. */
  #classes() {
    const last = Math.min(Math.ceil(this.breaks.at(-1) / this.frame.step) + 1, 1 << 20);
    const table = new Uint8Array(last + 1);
    for (let code = 0, now = 0; code <= last; code++) {
      while (now < this.breaks.length && code * this.frame.step > this.breaks[now]) now++;
      table[code] = now;
    }
    return table;
  }

  paint() {
    const begun = performance.now();
    const classes = this.#classes(), top = classes.length - 1, { codes, states } = this.frame;
    const ramp = this.colours();
    if (this.shape.kind === "raster") {
      const colours = Uint32Array.from(ramp, (hex) => pixel(hex)), { pixels, to } = this;
      const grey = [0, pixel(this.grey.noise, this.shape.all ? 150 : 255), 0, pixel(this.grey.unknown), pixel(this.grey.unknown)];
      for (let i = 0; i < codes.length; i++) {
        const state = states[i];
        pixels[to[i]] = state === 0 ? colours[classes[codes[i] < top ? Math.max(codes[i], 0) : top]] : grey[state];
      }
      this.pen.putImageData(this.image, 0, 0);
    } else {
      this.paths = [...ramp, 0, 0].map(() => new Path2D());
      for (let i = 0; i < codes.length; i++) {
        if (states[i] === ZERO) continue;
        const kind = states[i] === 0 ? classes[codes[i] < top ? Math.max(codes[i], 0) : top] : ramp.length + (states[i] === NOISE ? 0 : 1);
        this.#trace(this.paths[kind], i);
      }
    }
    this.draw();
    performance.measure("map:paint", { start: begun, end: performance.now() });
  }

  // ── on the screen ───────────────────────────────────────────────────────────────────────────────────────────────

  resize() {
    const box = this.canvas.getBoundingClientRect(), ratio = Math.min(devicePixelRatio || 1, 2);
    this.width = box.width; this.height = box.height; this.ratio = ratio;
    for (const canvas of [this.canvas, this.over]) { canvas.width = Math.round(box.width * ratio); canvas.height = Math.round(box.height * ratio); }
    if (this.frame) this.draw(); else this.drawBare();
  }

  get scale() { return this.zoom * Math.min(this.width, this.height / this.shape.aspect) * 0.98; }
  get cellSize() { return this.shape.kind === "raster" ? this.scale / this.shape.columns : 40; }

  #onPaper(pen) {
    const s = this.scale * this.ratio;
    pen.setTransform(s, 0, 0, s, (this.width / 2) * this.ratio - this.x * s, (this.height / 2) * this.ratio - this.y * s);
    return 1 / this.scale;
  }

  drawBare() {
    const pen = this.paper;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const hair = this.#onPaper(pen);
    this.#strokeRoads(pen, hair, 1);
    if (this.outlines) { pen.strokeStyle = this.road; pen.lineWidth = hair; pen.stroke(this.outlines); }
  }

  #strokeRoads(pen, hair, strength, colour = this.road) {
    pen.globalAlpha = strength; pen.strokeStyle = colour; pen.lineCap = "round";
    this.roads.forEach((path, kind) => { pen.lineWidth = hair * (kind === 0 ? 1.8 : kind === 1 ? 1.3 : 0.8); pen.stroke(path); });
    pen.globalAlpha = 1;
  }

  draw() {
    const pen = this.paper, near = this.cellSize >= NEAR, ramp = this.colours();
    this.drawBare();
    const hair = this.#onPaper(pen);
    if (this.shape.kind === "raster") {
      pen.imageSmoothingEnabled = this.cellSize < 1.5;
      pen.imageSmoothingQuality = "high";
      pen.drawImage(this.picture, 0, 0, 1, this.shape.aspect);
      if (near) this.#hatchCells(pen);
    } else {
      this.paths.forEach((path, kind) => {
        pen.fillStyle = ramp[kind] ?? (kind === ramp.length ? this.grey.noise : this.grey.unknown);
        pen.fill(path, "evenodd");
      });
      for (const path of this.paths.slice(ramp.length)) this.#fillHatched(pen, path);
      pen.strokeStyle = this.road; pen.lineWidth = hair * 0.8;
      pen.stroke(this.outlines);
    }
    if (near || this.shape.all) this.#strokeRoads(pen, hair, near ? 0.6 : 0.35, this.roadAbove);
    pen.strokeStyle = this.road; pen.lineWidth = hair;
    pen.strokeRect(0, 0, 1, this.shape.aspect);
    this.drawOver();
  }

  #fillHatched(pen, path) {
    // A pattern is scaled with what it fills: this keeps its lines as wide as they are everywhere.
    const s = this.scale * this.ratio;
    this.hatch.setTransform(new DOMMatrix().scale(this.ratio / s, this.ratio / s));
    pen.fillStyle = this.hatch;
    pen.fill(path, "evenodd");
  }

  #hatchCells(pen) {
    const { columns, rows, aspect } = this.shape, path = new Path2D();
    const [west, north] = this.toPaper(0, 0), [east, south] = this.toPaper(this.width, this.height);
    const within = (number, most) => Math.max(0, Math.min(most, number));
    const left = within(Math.floor(west * columns), columns), right = within(Math.ceil(east * columns), columns);
    const top = within(Math.floor((north / aspect) * rows), rows), bottom = within(Math.ceil((south / aspect) * rows), rows);
    for (let row = top; row < bottom; row++) {
      for (let column = left; column < right; column++) {
        const cell = this.cellOf(column, rows - 1 - row);
        if (cell >= 0 && this.frame.states[cell] !== 0 && this.frame.states[cell] !== ZERO) path.rect(column / columns, (row / rows) * aspect, 1 / columns, aspect / rows);
      }
    }
    this.#fillHatched(pen, path);
  }

  /** What lies over the cells and changes with the pointer: the cursor, an area that was chosen, one that is drawn. */
  drawOver() {
    const pen = this.ink;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.over.width, this.over.height);
    const hair = this.#onPaper(pen);
    for (const [corners, closed] of [[this.area, true], [this.drawing, false]]) {
      if (!corners?.length) continue;
      pen.beginPath();
      corners.forEach(([u, v], i) => (i ? pen.lineTo(u, v) : pen.moveTo(u, v)));
      if (closed) { pen.closePath(); pen.fillStyle = this.mark; pen.globalAlpha = 0.14; pen.fill(); pen.globalAlpha = 1; }
      pen.strokeStyle = this.mark; pen.lineWidth = 2 * hair; pen.setLineDash(closed ? [] : [6 * hair, 4 * hair]);
      pen.stroke(); pen.setLineDash([]);
      if (!closed) for (const [u, v] of corners) { pen.fillStyle = this.mark; pen.beginPath(); pen.arc(u, v, 4 * hair, 0, 7); pen.fill(); }
    }
    if (this.marked) { pen.strokeStyle = this.mark; pen.lineWidth = 2 * hair; pen.stroke(this.marked); }
    if (this.cursor >= 0) {
      const path = this.cellPath(this.cursor);
      pen.lineWidth = 5 * hair; pen.strokeStyle = "#ffffff"; pen.stroke(path);
      pen.lineWidth = 2.5 * hair; pen.strokeStyle = "#000000"; pen.stroke(path);
    }
  }

  // ── where is what ───────────────────────────────────────────────────────────────────────────────────────────────

  toPaper(px, py) { return [this.x + (px - this.width / 2) / this.scale, this.y + (py - this.height / 2) / this.scale]; }
  toScreen(u, v) { return [(u - this.x) * this.scale + this.width / 2, (v - this.y) * this.scale + this.height / 2]; }

  /** A point of the paper in the coordinates of the map, and back. */
  toWorld([u, v]) {
    const [west, south, east, north] = this.shape.bounds;
    return [west + u * (east - west), north - (v / this.shape.aspect) * (north - south)];
  }
  fromWorld([x, y]) {
    const [west, south, east, north] = this.shape.bounds;
    return [(x - west) / (east - west), ((north - y) / (north - south)) * this.shape.aspect];
  }

  cellOf(column, row) {
    const { columns, rows } = this.shape;
    if (column < 0 || row < 0 || column >= columns || row >= rows) return -1;
    const code = row * columns + column;
    return this.at ? this.at[code] : code;
  }

  cellAt([u, v]) {
    const { columns, rows, aspect, kind } = this.shape;
    if (u < 0 || v < 0 || u >= 1 || v >= aspect) return -1;
    if (kind === "raster") return this.cellOf(Math.floor(u * columns), rows - 1 - Math.floor((v / aspect) * rows));
    const px = u * STEPS, py = (1 - v / aspect) * STEPS;
    for (const cell of this.buckets[(py >> 10) * 64 + (px >> 10)]) if (this.#holds(cell, px, py)) return cell;
    return -1;
  }

  #holds(cell, px, py) {
    const { x, y } = this.shape;
    let inside = false;
    for (let ring = this.starts[cell]; ring < this.starts[cell + 1]; ring++) {
      const first = this.ringAt[ring], last = this.ringAt[ring + 1];
      for (let i = first, j = last - 1; i < last; j = i++) {
        if (y[i] > py !== y[j] > py && px < ((x[j] - x[i]) * (py - y[i])) / (y[j] - y[i]) + x[i]) inside = !inside;
      }
    }
    return inside;
  }

  centre(cell) {
    const { columns, rows, aspect, codes } = this.shape;
    if (this.shape.kind === "raster") {
      const code = codes ? codes[cell] : cell, column = code % columns;
      return [(column + 0.5) / columns, (1 - ((code - column) / columns + 0.5) / rows) * aspect];
    }
    const [west, south, east, north] = this.boxes.subarray(4 * cell, 4 * cell + 4);
    return [(west + east) / 2 / STEPS, (1 - (south + north) / 2 / STEPS) * aspect];
  }

  /** Outlines some places; none, if null. */
  markPlaces(cells) {
    this.marked = cells ? new Path2D() : null;
    if (cells && this.shape.kind !== "raster") for (const cell of cells) this.#trace(this.marked, cell);
    this.drawOver();
  }

  cellPath(cell) {
    const path = new Path2D();
    if (this.shape.kind === "raster") {
      const { columns, rows, aspect } = this.shape, [u, v] = this.centre(cell), grow = Math.max(1, 9 / this.cellSize);
      const wide = grow / columns, high = (grow * aspect) / rows;  // a cell of less than a pixel is shown by a frame around it
      path.rect(u - wide / 2, v - high / 2, wide, high);
    } else this.#trace(path, cell);
    return path;
  }

  /** The next place in a direction: the neighbour in the raster, or the nearest one that lies that way. */
  beside(cell, right, up, far = 1) {
    if (this.shape.kind === "raster") {
      const { columns, codes } = this.shape, code = codes ? codes[cell] : cell;
      let column = code % columns, row = (code - column) / columns;
      for (let walked = 0, found = 0; walked < columns + this.shape.rows; walked++) {
        column += right; row += up;
        if (column < 0 || row < 0 || column >= columns || row >= this.shape.rows) break;
        const there = this.cellOf(column, row);
        if (there >= 0) { cell = there; if (++found >= far) break; }
      }
      return cell;
    }
    const [u, v] = this.centre(cell);
    let best = cell, least = Infinity;
    for (let i = 0; i < this.shape.cells; i++) {
      const [a, b] = this.centre(i), along = (a - u) * right - (b - v) * up, aside = Math.abs((a - u) * up + (b - v) * right);
      if (i !== cell && along > 1e-9 && aside <= along && along + 2 * aside < least) { best = i; least = along + 2 * aside; }
    }
    return best;
  }

  name(cell) {
    if (this.shape.kind !== "raster") return null;
    const { columns, codes } = this.shape, code = codes ? codes[cell] : cell, column = code % columns;
    return `${column},${(code - column) / columns}`;
  }

  // ── moving about ────────────────────────────────────────────────────────────────────────────────────────────────

  zoomBy(factor, px = this.width / 2, py = this.height / 2) {
    const [u, v] = this.toPaper(px, py);
    const most = this.shape.kind === "raster" ? Math.max(8, (this.shape.columns * 48) / Math.max(this.width, 1)) : 60;
    this.zoom = Math.min(Math.max(this.zoom * factor, 1), most);
    this.x = u - (px - this.width / 2) / this.scale;
    this.y = v - (py - this.height / 2) / this.scale;
    this.#keepInside();
  }

  panBy(dx, dy) { this.x -= dx / this.scale; this.y -= dy / this.scale; this.#keepInside(); }
  whole() { this.zoom = 1; this.x = 0.5; this.y = this.shape.aspect / 2; this.draw(); }

  lookAt([u, v]) {
    const [px, py] = this.toScreen(u, v), edge = 24;
    if (px > edge && py > edge && px < this.width - edge && py < this.height - edge) { this.drawOver(); return; }
    this.x = u; this.y = v;
    this.#keepInside();
  }

  #keepInside() {
    const wide = this.width / this.scale, high = this.height / this.scale, { aspect } = this.shape;
    const held = (at, size, most) => (size >= most ? most / 2 : Math.min(Math.max(at, size / 2), most - size / 2));
    this.x = held(this.x, wide, 1); this.y = held(this.y, high, aspect);
    this.draw();
  }
}
