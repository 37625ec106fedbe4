// Reads what the server sends of a map: its shape once, then a frame for each tick. docs/formats.md describes both.
export const STATES = ["measured", "within_noise", "zero", "unknown", "withheld"];
export const UNKNOWN = 255;

async function open(mark, buffer) {
  const sent = new Uint8Array(buffer);
  if (sent.length < 8 || String.fromCharCode(...sent.subarray(0, 4)) !== mark) throw new Error("not an answer of a map");
  const stream = new Blob([sent.subarray(4)]).stream().pipeThrough(new DecompressionStream("deflate"));
  const content = new Uint8Array(await new Response(stream).arrayBuffer());
  const length = new DataView(content.buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(content.subarray(4, 4 + length)));
  return { head, content, at: 4 + length };
}

/** `many` numbers with a sign, seven bits a byte, written to `out`; where they end. */
function varints(content, at, many, out) {
  for (let i = 0; i < many; i++) {
    let byte = content[at++];
    if (byte < 128) { out[i] = (byte >>> 1) ^ -(byte & 1); continue; }  // nearly all are small
    let folded = byte & 127, factor = 128;
    do { byte = content[at++]; folded += (byte & 127) * factor; factor *= 128; } while (byte > 127);
    out[i] = folded % 2 ? -(folded + 1) / 2 : folded / 2;
  }
  if (at > content.length) throw new Error("numbers are missing");
  return at;
}

/** A frame; one that says what changed needs the frame that it changed from. */
export async function readFrame(buffer, base = null) {
  const begun = performance.now();
  const { head, content, at } = await open("HBF1", buffer);
  const many = head.cells, changed = head.base !== null;
  if (changed && (base === null || base.tick !== head.base)) throw new Error("the frame before is not at hand");
  const codes = new Int32Array(many);
  let end = varints(content, at, many, codes);
  const errors = content.slice(end, end + many), where = new Int32Array(head.others);
  if (changed) {
    // Codes count steps. Where the step is another one now, both sides reckon the old codes anew, in the same way.
    const ratio = base.step / head.step, before = base.codes, wrong = base.errors;
    if (ratio === 1) for (let i = 0; i < many; i++) codes[i] += before[i];
    else for (let i = 0; i < many; i++) codes[i] += Math.floor(before[i] * ratio + 0.5);
    for (let i = 0; i < many; i++) errors[i] += wrong[i];
  }
  // What a cell's state is likely to be follows from its code and its error; the others are listed.
  const limits = new Int32Array(256).fill(2 ** 31 - 1), states = new Uint8Array(many);
  for (const [error, limit] of head.limits) limits[error] = limit;
  for (let i = 0; i < many; i++) states[i] = codes[i] > limits[errors[i]] ? 0 : 1;
  end = varints(content, end + many, head.others, where);
  if (content.length !== end + head.others) throw new Error("cells are missing");
  for (let i = 0, cell = 0; i < head.others; i++) { cell += where[i]; states[cell] = content[end + i]; }
  performance.measure("map:read", { start: begun, end: performance.now() });
  return { ...head, codes, errors, states };
}

/** The standard error that a byte stands for. */
export const errorOf = (code) => (code === 0 ? 0 : code === UNKNOWN ? Infinity : 2 ** ((code - 1) / 8 - 10));

const summed = (numbers) => { for (let i = 1; i < numbers.length; i++) numbers[i] += numbers[i - 1]; return numbers; };

export async function readShape(buffer) {
  const { head, content, at } = await open("HBM1", buffer);
  const starts = {};
  let next = at;
  for (const [name, length] of Object.entries(head.parts)) { starts[name] = next; next += length; }
  const take = (name, many, Kind = Int32Array) => {
    const out = new Kind(many);
    varints(content, starts[name], many, out);
    return out;
  };
  const shape = { ...head, aspect: aspectOf(head) };
  if (head.kind === "raster" && !head.all) shape.codes = summed(take("codes", head.cells));
  if (head.kind === "borders") {
    shape.rings = take("rings", head.cells);
    const rings = shape.rings.reduce((a, b) => a + b, 0);
    shape.corners = take("corners", rings);
    const corners = shape.corners.reduce((a, b) => a + b, 0);
    const both = take("points", 2 * corners);
    shape.x = summed(both.subarray(0, corners));
    shape.y = summed(both.subarray(corners));
  }
  if (head.roads) {
    const all = take("roads", 5 * head.roads), part = (i) => all.subarray(i * head.roads, (i + 1) * head.roads);
    const x = summed(part(0)), y = summed(part(1));
    shape.lines = { x, y, dx: part(2), dy: part(3), kind: part(4), many: head.roads };
  }
  return shape;
}

/** How high the map is, if its width is 1: a degree of longitude is shorter the further from the equator it is. */
function aspectOf({ bounds: [west, south, east, north], degrees }) {
  const flat = (north - south) / (east - west);
  return degrees ? flat / Math.max(Math.cos(((south + north) / 2) * (Math.PI / 180)), 0.05) : flat;
}

/** A number with its plus-minus, by the rule of all pages: no more digits than the error allows. */
export function plusMinus(value, error) {
  if (!Number.isFinite(value) || !Number.isFinite(error)) return "not measured in this tick";
  const said = (number, digits) => {
    const power = 10 ** digits, cut = Math.round(number * power) / power + 0;
    return cut.toLocaleString("en", { minimumFractionDigits: Math.max(digits, 0), maximumFractionDigits: Math.max(digits, 0) });
  };
  if (error <= 0) return `${value.toLocaleString("en")} ± 0`;
  const exponent = Math.floor(Math.log10(error));
  const digits = -exponent + (Math.round(error / 10 ** (exponent - 2)) < 355 ? 1 : 0);
  return `${said(value, digits)} ± ${said(error, digits)}`;
}
