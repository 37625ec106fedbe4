// The device's half in JavaScript: reads a compiled policy and decides. One module, no dependencies.
// A file that cannot be read, or is of another version, suppresses everything. docs/contexts.md describes the format.

const VERSION = 1;
const NEVER = 0xffff;
const KINDS = ["coins", "schedule", "pieces"];
const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const digest = async (bytes) => hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
const text = (bytes) => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);

function need(condition) {
  if (!condition) throw new Error("not a policy of this version, or changed");
}

const whole = (number, low, high) => Number.isInteger(number) && low <= number && number <= high;
const every = (list, check, most = NEVER) => Array.isArray(list) && list.length <= most && list.every(check);

// Strict: whatever is not as the format has it is refused, so that all readers judge a file alike.
async function parse(data) {
  let table;
  const plain = data[0] === 0x7b;
  if (plain) {
    need(text(data.subarray(0, 13)) === '{"checksum":"' && text(data.subarray(13, 77)) === (await digest(data.subarray(79))));
    // Numbers are whole and written as digits: after JSON.parse 1.0 cannot be told from 1.
    need(/^[[\]{},: \t\r\n0-9]*$/.test(text(data).replace(/"(?:[^"\\]|\\.)*"/g, "")));
    table = JSON.parse(text(data));
    need(table.format === "hubbub-context-policy" && table.version === VERSION);
  } else {
    need(data.length > 48 && hex(data.subarray(-32)) === (await digest(data.subarray(0, -32))));
    table = binary(data.subarray(0, -32));
  }
  const { contexts, ticks, parts, delta, levels } = table;
  const kind = KINDS.indexOf(table.kind);
  const names = [["levels"], ["following", "expected"], ["levels", "pieces"]][kind];
  const fields = ["contexts", "ticks", "parts", "kind", "delta", ...names, ...(plain ? ["checksum", "format", "version"] : [])];
  need(Object.keys(table).length === fields.length && fields.every((name) => Object.hasOwn(table, name)));
  need(every(contexts, (name) => typeof name === "string" && name !== "") && new Set(contexts).size === contexts.length);
  const size = contexts.length;
  need(whole(size, 1, NEVER - 1) && whole(ticks, 1, NEVER - 1) && whole(parts, 1, kind === 2 ? 255 : NEVER));
  need(typeof delta === "string" && /^[1-9][0-9]{0,999}(?:\/[1-9][0-9]{0,999})?$/.test(delta));
  const [over, under = "1"] = delta.split("/");
  need(BigInt(over) <= BigInt(under));
  const allowed = {
    levels: (level) => whole(level, 0, parts),
    following: (tick) => whole(tick, 0, NEVER),
    expected: (flags) => typeof flags === "string" && /^[0-9a-f]+$/.test(flags) && BigInt("0x" + flags) >> BigInt(size) === 0n,
    pieces: (piece, at) => every(piece, (number) => whole(number, 0, levels.length - 1), ticks - at),
  };
  for (const name of names) {
    need(every(table[name], (row, at) => Array.isArray(row) && row.length === size && row.every((cell) => allowed[name](cell, at))));
    need(table[name].length === ticks + (kind ? 1 : 0) || (kind === 2 && name === "levels"));
  }
  if (kind === 1) table.expected = table.expected.map((row) => row.map((flags) => BigInt("0x" + flags)));
  return table;
}

function binary(data) {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const [kind, ticks, size, parts, names, delta] = [view.getUint8(5), ...[6, 8, 10, 12, 14].map((at) => view.getUint16(at))];
  need(text(data.subarray(0, 4)) === "HBCP" && view.getUint8(4) === VERSION && kind < KINDS.length);
  const found = { kind: KINDS[kind], ticks, parts, contexts: JSON.parse(text(data.subarray(16, 16 + names))) };
  let at = 16 + names + delta;
  found.delta = text(data.subarray(16 + names, at));
  const short = () => view.getUint16((at += 2) - 2);
  const list = (length, read) => Array.from({ length }, read);
  const table = (read) => list(ticks + (kind ? 1 : 0), () => list(size, read));
  const width = Math.ceil(size / 8);
  if (kind === 0) found.levels = table(short);
  if (kind === 1) {
    found.following = table(short);
    found.expected = table(() => BigInt("0x0" + hex(data.subarray(at, (at += width)))).toString(16));
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

  // The context, or null if it is suppressed; it never throws. A tick is decided once. Ticks may be missed; in a
  // policy of pieces what follows a missed one is suppressed. A coin that cannot be tossed suppresses.
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
      try {
        shown = level < table.parts && (level === 0 || this.#below(table.parts) >= level);
      } catch {
        shown = false;
      }
    }
    if (!shown) return null;
    [this.lastTick, this.lastContext] = [tick, number];
    return context;
  }
}
