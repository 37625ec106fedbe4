// A live run: the mechanism in the process sees one value after another, and nothing of what comes later.
import { picture } from "./lab_chart.js";
import { ask } from "./lab_ask.js";

const $ = (id) => document.getElementById(id);
const empty = () => ({ value: [], lower: [], upper: [], measurement: [], spent: [] });

export class Live {
  constructor(desk) {
    Object.assign(this, { desk, name: null, typed: [], run: empty(), playing: null, busy: false, drawing: null });
    $("play").addEventListener("click", () => (this.playing === null ? this.play() : this.pause()));
    $("step").addEventListener("click", () => { this.pause(); this.step(); });
    $("restart").addEventListener("click", () => this.restart());
    $("speed").addEventListener("input", () => { if (this.playing !== null) { this.pause(); this.play(); } });
    addEventListener("pagehide", () => this.stop());
    $("typing").addEventListener("submit", (event) => { event.preventDefault(); this.type(); });
    for (const id of ["horizon", "live-method"]) $(id).addEventListener("change", () => this.restart());
  }

  /** Forget the run, here and in the process. */
  stop() {
    this.pause();
    if (this.name) fetch(`/lab/live/${this.name}`, { method: "DELETE", keepalive: true });
    Object.assign(this, { name: null, typed: [], run: empty() });
  }

  async restart() {
    this.stop();
    this.desk.refuse(null);
    const asked = this.desk.asked();
    try {
      const made = await ask("/lab/live", asked);
      Object.assign(this, { name: made.run, method: asked.method, whole: made.budget });
      $("bound").textContent = made.guarantee.split(". ").slice(1).join(". ");
    } catch (error) { this.desk.refuse(error); return; }
    $("last-released").textContent = this.desk.values() ? "Play, or step through: the method never sees what comes later." : "Type a count and press Enter.";
    this.budget(0);
    await this.draw();
    if (!this.desk.values()) $("value").focus({ preventScroll: true });
  }

  play() {
    $("play").textContent = "Pause";
    $("play").setAttribute("aria-pressed", "true");
    this.playing = setInterval(() => this.step(), 1000 / Number($("speed").value));
  }

  pause() {
    clearInterval(this.playing);
    this.playing = null;
    $("play").textContent = "Play";
    $("play").setAttribute("aria-pressed", "false");
  }

  async step() {
    const values = this.desk.values() ?? [], at = this.run.value.length;
    if (this.busy) return;
    if (at >= values.length) {
      this.pause();
      $("last-released").textContent = "That was the whole series.";
      return;
    }
    await this.give(values[at]);
  }

  async type() {
    const text = $("value").value.trim();
    if (!/^\d+$/.test(text)) { this.desk.refuse({ message: "A count is a whole number from 0 on.", hint: "Give 0 where nothing was counted." }); return; }
    if (await this.give(Number(text))) { this.typed.push(Number(text)); $("value").value = ""; this.draw(); }
  }

  async give(value) {
    if (!this.name) return false;
    this.busy = true;
    const name = this.name;
    try {
      const got = await ask(`/lab/live/${name}`, { value });
      if (name !== this.name) return false;
      this.desk.refuse(null);
      for (const part of ["value", "lower", "upper", "measurement", "spent"]) this.run[part].push(got[part]);
      const how = got.measurement === null ? "not measured, worked out from before" : "measured";
      const shown = got.standard_error === null ? Math.round(got.value).toLocaleString("en") : got.text;
      $("last-released").textContent = `Tick ${got.tick}: ${shown} (${how})`;
      this.budget(got.spent / got.budget);
      this.draw();
      return true;
    } catch (error) {
      this.pause();
      this.desk.refuse(error);
      return false;
    } finally { this.busy = false; }
  }

  budget(spent) {
    const left = Math.max(0, 1 - spent);
    $("budget-fill").setAttribute("width", 100 * left);
    $("budget-words").textContent = `${Math.round(100 * left)} % of the budget left`;
  }

  /** Drawn once a frame at most, however fast values come. */
  async draw() {
    if (this.drawing) { this.again = true; return; }
    const values = this.desk.values() ? this.desk.values().slice(0, this.run.value.length) : this.typed;
    this.drawing = picture($("plot"), values, [{ ...this.run, method: this.method, index: this.desk.index(this.method), budget: this.whole, title: "as it would be published" }], this.desk.ticks() || Math.max(values.length, 20), { times: this.desk.times(), budget: this.desk.budget() });
    try { await this.drawing; } finally { this.drawing = null; }
    if (this.again) { this.again = false; await this.draw(); }
  }
}
