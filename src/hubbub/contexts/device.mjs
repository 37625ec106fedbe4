// The device's half in JavaScript: reads a compiled policy and decides. One module, no dependencies.
// A file that cannot be read, or is of another version, suppresses everything. docs/contexts.md describes the format.

const VERSION = 1;
const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const digest = async (bytes) => hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
const text = (bytes) => new TextDecoder("utf-8", { fatal: true }).decode(bytes);

function need(condition) {
  if (!condition) throw new Error("not a policy of this version, or changed");
}

async function parse(data) {
  let table;
  if (data[0] === 0x7b) {
    need(text(data.subarray(0, 13)) === '{"checksum":"' && text(data.subarray(13, 77)) === (await digest(data.subarray(79))));
    table = JSON.parse(text(data));
    need(table.format === "hubbub-context-policy" && table.version === VERSION);
    if (table.kind === "schedule") table.expected = table.expected.map((row) => row.map((flags) => BigInt("0x" + flags)));
  } else {
    need(data.length > 48 && hex(data.subarray(-32)) === (await digest(data.subarray(0, -32))));
    table = binary(data.subarray(0, -32));
  }
  const coins = table.kind === "coins";
  const rows = coins ? table.levels : table.following;
  const fits = (list) => list.length === table.ticks + (coins ? 0 : 1) && list.every((row) => row.length === table.contexts.length);
  need((coins || table.kind === "schedule") && fits(rows) && (coins || fits(table.expected)));
  need(!coins || rows.every((row) => row.every((level) => level >= 0 && level <= table.parts)));
  return table;
}

function binary(data) {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const [kind, ticks, size, parts, names, delta] = [view.getUint8(5), ...[6, 8, 10, 12, 14].map((at) => view.getUint16(at))];
  need(text(data.subarray(0, 4)) === "HBCP" && view.getUint8(4) === VERSION && kind <= 1);
  const contexts = JSON.parse(text(data.subarray(16, 16 + names)));
  const rows = ticks + kind;
  const width = kind ? Math.ceil(size / 8) : 0;
  let at = 16 + names + delta;
  need(data.length === at + rows * size * (2 + width));
  const table = (read, step) =>
    Array.from({ length: rows }, () => Array.from({ length: size }, () => read((at += step) - step)));
  const numbers = table((place) => view.getUint16(place), 2);
  if (!kind) return { kind: "coins", contexts, ticks, parts, levels: numbers };
  const expected = table((place) => BigInt("0x0" + hex(data.subarray(place, place + width))), width);
  return { kind: "schedule", contexts, ticks, parts, following: numbers, expected };
}

// A whole number below `parts`, each as likely: 32 bits at a time, those of the last incomplete round drawn again.
function below(parts) {
  const word = new Uint32Array(1);
  const limit = 2 ** 32 - (2 ** 32 % parts);
  do crypto.getRandomValues(word);
  while (word[0] >= limit);
  return word[0] % parts;
}

export class Mask {
  #table = null;
  #numbers = new Map();
  #below;
  tick = -1;
  lastTick = -1;
  lastContext = -1;

  // `data`: a Uint8Array or ArrayBuffer. Never fails: what cannot be read shows nothing.
  static async read(data, coin = below) {
    const mask = new Mask();
    mask.#below = coin;
    try {
      mask.#table = await parse(new Uint8Array(data));
      mask.#table.contexts.forEach((name, number) => mask.#numbers.set(name, number));
    } catch {
      mask.#table = null;
    }
    return mask;
  }

  get readable() {
    return this.#table !== null;
  }

  // The context, or null if it is suppressed. A tick is decided once; ticks may be missed.
  offer(tick, context) {
    const table = this.#table;
    if (table === null || !Number.isInteger(tick) || tick <= this.tick || tick >= table.ticks) return null;
    this.tick = tick;
    const number = this.#numbers.get(context);
    if (number === undefined) return null;
    let shown;
    if (table.kind === "coins") {
      const level = table.levels[tick][number];
      shown = level < table.parts && (level === 0 || this.#below(table.parts) >= level);
    } else {
      const [row, last] = [this.lastTick + 1, Math.max(this.lastContext, 0)];
      shown = table.following[row][last] === tick && ((table.expected[row][last] >> BigInt(number)) & 1n) === 1n;
    }
    if (!shown) return null;
    [this.lastTick, this.lastContext] = [tick, number];
    return context;
  }
}
