// The device's half in JavaScript: reads a compiled policy and decides. One module, no dependencies.
// A file that cannot be read, or is of another version, suppresses everything. docs/contexts.md describes the format.

const VERSION = 1;
const KINDS = ["coins", "schedule", "pieces"];
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
  const kind = KINDS.indexOf(table.kind);
  const size = table.contexts.length;
  const wide = (list) => list.every((row) => row.length === size);
  const fits = (list) => list.length === table.ticks + (kind ? 1 : 0) && wide(list);
  need(kind >= 0 && [["levels"], ["following", "expected"], ["pieces"]][kind].every((name) => fits(table[name])));
  need(kind === 1 || (wide(table.levels) && table.levels.every((row) => row.every((level) => level >= 0 && level <= table.parts))));
  need(kind < 2 || table.pieces.every((row) => row.every((piece) => piece.every((k) => k in table.levels))));
  return table;
}

function binary(data) {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const [kind, ticks, size, parts, names, delta] = [view.getUint8(5), ...[6, 8, 10, 12, 14].map((at) => view.getUint16(at))];
  need(text(data.subarray(0, 4)) === "HBCP" && view.getUint8(4) === VERSION && kind < KINDS.length);
  const found = { kind: KINDS[kind], ticks, parts, contexts: JSON.parse(text(data.subarray(16, 16 + names))) };
  let at = 16 + names + delta;
  const short = () => view.getUint16((at += 2) - 2);
  const list = (length, read) => Array.from({ length }, read);
  const table = (read) => list(ticks + (kind ? 1 : 0), () => list(size, read));
  const width = Math.ceil(size / 8);
  if (kind === 0) found.levels = table(short);
  if (kind === 1) {
    found.following = table(short);
    found.expected = table(() => BigInt("0x0" + hex(data.subarray(at, (at += width)))));
  }
  if (kind === 2) {
    found.levels = list(short(), () => list(size, () => view.getUint8(at++)));
    found.pieces = table(() => list(short(), short));
  }
  need(at === data.length);
  return found;
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
  silent = false;

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

  // The context, or null if it is suppressed. A tick is decided once. Ticks may be missed; in a
  // policy of pieces what follows a missed one is suppressed.
  offer(tick, context) {
    const table = this.#table;
    if (table === null || !Number.isInteger(tick) || tick <= this.tick || tick >= table.ticks) return null;
    if (table.kind === "pieces" && tick > this.tick + 1) this.silent = true;
    this.tick = tick;
    const number = this.#numbers.get(context);
    if (number === undefined || this.silent) return null;
    const [row, last] = [this.lastTick + 1, Math.max(this.lastContext, 0)];
    let shown;
    if (table.kind === "schedule") {
      shown = table.following[row][last] === tick && ((table.expected[row][last] >> BigInt(number)) & 1n) === 1n;
    } else {
      const chances = table.levels[table.kind === "coins" ? tick : table.pieces[row][last][tick - row]];
      const level = chances === undefined ? table.parts : chances[number];
      shown = level < table.parts && (level === 0 || this.#below(table.parts) >= level);
    }
    if (!shown) return null;
    [this.lastTick, this.lastContext] = [tick, number];
    return context;
  }
}
