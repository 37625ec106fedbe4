// Hands on the map: pointer, touch and keyboard. Everything that can be pointed at can be reached by keys.
const FAR = 10;

export class Hand {
  constructor(view, told) {
    this.view = view; this.told = told; this.cell = -1; this.pinned = false; this.mode = "move";
    this.fingers = new Map(); this.first = null; this.corners = [];
    this.box = document.getElementById("map");
    for (const button of document.querySelectorAll("[data-mode]")) button.addEventListener("click", () => this.setMode(button.dataset.mode));
    for (const button of document.querySelectorAll("[data-zoom]")) button.addEventListener("click", () => (button.dataset.zoom === "whole" ? view.whole() : view.zoomBy(Number(button.dataset.zoom))));
    this.box.addEventListener("pointerdown", (event) => this.#down(event));
    this.box.addEventListener("pointermove", (event) => this.#move(event));
    this.box.addEventListener("pointerup", (event) => this.#up(event));
    this.box.addEventListener("pointercancel", (event) => this.#forget(event));
    this.box.addEventListener("pointerleave", () => { if (!this.pinned) this.#look(-1, false); });
    this.box.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.box.addEventListener("dblclick", () => this.#closePolygon());
    this.box.addEventListener("keydown", (event) => this.#key(event));
  }

  setMode(mode) {
    this.mode = mode;
    this.#drop();
    this.box.dataset.tool = mode;
    for (const button of document.querySelectorAll("[data-mode]")) button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
    const words = { move: "", rectangle: "Drag over the map. By keys: Enter at one corner, Enter at the other.", polygon: "Click each corner, and the first one again to close it. By keys: Enter at each corner, C closes." };
    document.getElementById("how").textContent = words[mode];
  }

  clear() {
    this.#drop();
    this.#look(-1, false);
    this.told.area(null);
  }

  #drop() {
    this.first = null; this.corners = []; this.view.drawing = null;
    this.view.drawOver();
  }

  #at(event) {
    const box = this.box.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  #look(cell, pinned) {
    if (cell < 0 && this.cell < 0) return;
    this.cell = cell; this.pinned = pinned && cell >= 0; this.view.cursor = cell;
    this.view.drawOver();
    this.told.cell(cell, this.pinned);
  }

  // ── pointer and touch ───────────────────────────────────────────────────────────────────────────────────────────

  #down(event) {
    if (event.button > 0 || event.target.closest("button")) return;
    const at = this.#at(event);
    this.box.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, { at, from: at, walked: 0 });
    if (this.mode === "rectangle" && this.fingers.size === 1) this.first = this.view.toPaper(...at);
    if (this.fingers.size === 2) { this.first = null; this.view.drawing = null; }
  }

  #move(event) {
    const at = this.#at(event), finger = this.fingers.get(event.pointerId);
    if (!finger) {
      if (event.pointerType === "mouse" && !this.pinned) this.#look(this.view.cellAt(this.view.toPaper(...at)), false);
      if (this.mode === "polygon" && this.corners.length) this.#sketch([...this.corners, this.view.toPaper(...at)]);
      return;
    }
    const [dx, dy] = [at[0] - finger.at[0], at[1] - finger.at[1]];
    if (this.fingers.size === 2) {
      const other = [...this.fingers].find(([id]) => id !== event.pointerId)[1].at;
      const apart = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]) || 1;
      this.view.zoomBy(apart(at) / apart(finger.at), (at[0] + other[0]) / 2, (at[1] + other[1]) / 2);
      this.view.panBy(dx / 2, dy / 2);
    } else if (this.mode === "rectangle" && this.first) {
      this.#sketch(rectangle(this.first, this.view.toPaper(...at)));
    } else if (this.mode === "move" || this.mode === "polygon") this.view.panBy(dx, dy);
    finger.walked += Math.hypot(dx, dy);
    finger.at = at;
  }

  #up(event) {
    const finger = this.fingers.get(event.pointerId), several = this.fingers.size > 1;
    this.#forget(event);
    if (!finger || several) return;
    const point = this.view.toPaper(...finger.at), tapped = finger.walked < 5;
    if (this.mode === "rectangle" && this.first && !tapped) { this.#rectangle(this.first, point); return; }
    this.first = null;
    if (!tapped) return;
    if (this.mode === "polygon") this.#corner(point, finger.at);
    else {
      const cell = this.view.cellAt(point);
      this.#look(cell === this.cell && this.pinned ? -1 : cell, true);
    }
  }

  #forget(event) { this.fingers.delete(event.pointerId); }

  #wheel(event) {
    event.preventDefault();
    this.view.zoomBy(Math.exp(-event.deltaY / 400), ...this.#at(event));
  }

  // ── areas ───────────────────────────────────────────────────────────────────────────────────────────────────────

  #sketch(corners) {
    this.view.drawing = corners;
    this.view.drawOver();
  }

  #rectangle(one, two) {
    this.#drop();
    const [a, b] = [this.view.toWorld(one), this.view.toWorld(two)];
    this.told.area({ bounds: [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[0], b[0]), Math.max(a[1], b[1])] });
  }

  #corner(point, screen = null) {
    if (this.corners.length >= 3 && screen) {
      const [px, py] = this.view.toScreen(...this.corners[0]);
      if (Math.hypot(px - screen[0], py - screen[1]) < 12) { this.#closePolygon(); return; }
    }
    this.corners.push(point);
    this.#sketch(this.corners);
  }

  #closePolygon() {
    // A double click has set its place twice.
    const corners = this.corners.filter(([u, v], i, all) => !i || Math.hypot(u - all[i - 1][0], v - all[i - 1][1]) * this.view.scale > 3);
    if (this.mode !== "polygon" || corners.length < 3) return;
    this.#drop();
    this.told.area({ corners: corners.map((corner) => this.view.toWorld(corner)) });
  }

  // ── keyboard ────────────────────────────────────────────────────────────────────────────────────────────────────

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.box) return;
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const { key } = event, view = this.view;
    if (ways[key]) this.#walk(...ways[key], event.shiftKey ? FAR : 1);
    else if (key === "+" || key === "=") this.#zoom(1.5);
    else if (key === "-") this.#zoom(1 / 1.5);
    else if (key === "0") view.whole();
    else if (key === " ") this.told.play();
    else if (key === "," || key === ".") this.told.step(key === "." ? 1 : -1);
    else if (key === "Escape") this.clear();
    else if (key === "Enter") this.#enter();
    else if (key === "c" || key === "C") this.#closePolygon();
    else if (key === "m" || key === "r" || key === "p") this.setMode({ m: "move", r: "rectangle", p: "polygon" }[key]);
    else return;
    event.preventDefault();
  }

  #walk(right, up, far) {
    const view = this.view;
    let next = this.cell;
    if (next < 0) next = this.#middle();
    else next = view.beside(next, right, up, far);
    this.#look(next, true);
    if (next >= 0) view.lookAt(view.centre(next));
    if (this.mode === "rectangle" && this.first && next >= 0) this.#sketch(rectangle(this.first, view.centre(next)));
  }

  /** The place nearest to the middle of what is seen. */
  #middle() {
    const view = this.view;
    let best = -1, least = Infinity;
    const stride = Math.max(1, Math.floor(view.shape.cells / 50_000));
    for (let i = 0; i < view.shape.cells; i += stride) {
      const [u, v] = view.centre(i), far = (u - view.x) ** 2 + (v - view.y) ** 2;
      if (far < least) { best = i; least = far; }
    }
    return best;
  }

  #zoom(factor) {
    const centre = this.cell >= 0 ? this.view.toScreen(...this.view.centre(this.cell)) : [];
    this.view.zoomBy(factor, ...centre);
  }

  #enter() {
    if (this.cell < 0) return;
    const here = this.view.centre(this.cell);
    if (this.mode === "polygon") this.#corner(here);
    else if (this.mode === "rectangle" && this.first) this.#rectangle(this.first, here);
    else if (this.mode === "rectangle") { this.first = here; this.#sketch([here]); }
    else this.#look(this.cell, true);
  }
}

const rectangle = ([a, b], [c, d]) => [[a, b], [c, b], [c, d], [a, d], [a, b]];
