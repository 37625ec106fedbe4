// Prio3 in JavaScript, the client's half: an answer in two shares, with a proof that it is well formed. `client.mjs`
// is what pages use. From draft-irtf-cfrg-vdaf, byte for byte what `hubbub.gather.prio3` makes; no dependencies.
// BigInt takes longer for some numbers than for others: docs/limits.md says who might learn of it.

export class ClientRefusal extends Error {}

export const refuse = (words) => {
  throw new ClientRefusal(words);
};
export const text = (string) => new TextEncoder().encode(string);
export const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
export const fill = (length, made) => Array.from({ length }, (_, i) => made(i));

// A whole number, big-endian.
export const big = (number, size) =>
  Uint8Array.from(fill(size, (i) => Math.floor(number / 256 ** (size - 1 - i)) % 256));

export function joined(...parts) {
  const found = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    found.set(part, at);
    at += part.length;
  }
  return found;
}

// ── what bytes are stretched with: TurboSHAKE128 ──────────────────────────────────────────────────────────────────

const RATE = 168;
const TURNS = [1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44];
const PLACES = [10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1];
// Of the last twelve rounds: low half, high half.
const ROUNDS = [
  [0x8000808b, 0], [0x8b, 1], [0x8089, 1], [0x8003, 1], [0x8002, 1], [0x80, 1], [0x800a, 0], [0x8000000a, 1],
  [0x80008081, 1], [0x8080, 1], [0x80000001, 0], [0x80008008, 1],
];

// Keccak-p[1600, 12] on 25 lanes, each as two words of 32 bits, the low one first.
function permute(lanes) {
  const columns = new Int32Array(10);
  for (const [constant, top] of ROUNDS) {
    for (let x = 0; x < 10; x++)
      columns[x] = lanes[x] ^ lanes[x + 10] ^ lanes[x + 20] ^ lanes[x + 30] ^ lanes[x + 40];
    for (let x = 0; x < 5; x++) {
      const [left, right] = [2 * ((x + 4) % 5), 2 * ((x + 1) % 5)];
      const low = columns[left] ^ ((columns[right] << 1) | (columns[right + 1] >>> 31));
      const high = columns[left + 1] ^ ((columns[right + 1] << 1) | (columns[right] >>> 31));
      for (let at = 2 * x; at < 50; at += 10) {
        lanes[at] ^= low;
        lanes[at + 1] ^= high;
      }
    }
    let [low, high] = [lanes[2], lanes[3]];
    for (let i = 0; i < 24; i++) {
      const [turn, at] = [TURNS[i], 2 * PLACES[i]];
      const [nextLow, nextHigh] = [lanes[at], lanes[at + 1]];
      if (turn >= 32) [low, high] = [high, low];
      const bits = turn % 32; // never 0
      lanes[at] = (low << bits) | (high >>> (32 - bits));
      lanes[at + 1] = (high << bits) | (low >>> (32 - bits));
      [low, high] = [nextLow, nextHigh];
    }
    for (let y = 0; y < 50; y += 10) {
      for (let x = 0; x < 10; x++) columns[x] = lanes[y + x];
      for (let x = 0; x < 10; x++) lanes[y + x] ^= ~columns[(x + 2) % 10] & columns[(x + 4) % 10];
    }
    lanes[0] ^= constant;
    if (top) lanes[1] ^= 0x80000000;
  }
}

export class Xof {
  #lanes = new Int32Array(50);
  #bytes = new Uint8Array(this.#lanes.buffer); // little-endian, as all machines with browsers
  #at = 0;

  constructor(seed, tag, ...binders) {
    this.#absorb(Uint8Array.of(tag.length % 256, tag.length >> 8));
    for (const part of [tag, Uint8Array.of(seed.length), seed, ...binders]) this.#absorb(part);
    this.#bytes[this.#at] ^= 1; // the domain
    this.#bytes[RATE - 1] ^= 0x80;
    this.#at = RATE;
  }

  #absorb(data) {
    for (const byte of data) {
      this.#bytes[this.#at++] ^= byte;
      if (this.#at === RATE) this.#turn();
    }
  }

  #turn() {
    permute(this.#lanes);
    this.#at = 0;
  }

  next(length) {
    const found = new Uint8Array(length);
    for (let done = 0; done < length; ) {
      if (this.#at === RATE) this.#turn();
      const part = this.#bytes.subarray(this.#at, Math.min(RATE, this.#at + length - done));
      found.set(part, done);
      done += part.length;
      this.#at += part.length;
    }
    return found;
  }

  // Elements: what encodes none is passed over, so that each is as likely as any other.
  vector(field, length) {
    const found = [];
    while (found.length < length)
      for (const value of field.read(this.next((length - found.length) * field.size)))
        if (value < field.modulus) found.push(value);
    return found;
  }
}

// ── fields: elements are BigInts below the modulus, vectors are arrays of them ────────────────────────────────────

class Field {
  #roots = new Map();

  constructor(name, modulus, size, oddPart) {
    [this.name, this.modulus, this.size, this.oddPart] = [name, modulus, size, oddPart];
  }

  mod(value) {
    const rest = value % this.modulus;
    return rest < 0n ? rest + this.modulus : rest;
  }

  power(base, exponent) {
    let found = 1n;
    for (; exponent; exponent >>= 1n, base = this.mod(base * base)) if (exponent & 1n) found = this.mod(found * base);
    return found;
  }

  // Without looking whether they are below the modulus.
  read(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const word = (at) => view.getBigUint64(at, true);
    return fill(bytes.length / this.size, (i) =>
      this.size === 8 ? word(8 * i) : word(16 * i) | (word(16 * i + 8) << 64n));
  }

  encode(vector) {
    const view = new DataView(new ArrayBuffer(vector.length * this.size));
    vector.forEach((value, i) => {
      view.setBigUint64(i * this.size, BigInt.asUintN(64, value), true);
      if (this.size === 16) view.setBigUint64(16 * i + 8, value >> 64n, true);
    });
    return new Uint8Array(view.buffer);
  }

  sub(left, right) {
    return left.map((value, i) => (value < right[i] ? value - right[i] + this.modulus : value - right[i]));
  }

  // The powers of the root of unity of this order (or of its inverse), each times `scale`.
  roots(order, count, inverse = false, scale = 1n) {
    const key = [order, count, inverse, scale].join();
    if (!this.#roots.has(key)) {
      let root = this.power(7n, this.oddPart * ((this.modulus - 1n) / this.oddPart / BigInt(order)));
      if (inverse) root = this.power(root, this.modulus - 2n);
      const found = [];
      for (let at = 0, value = scale; at < count; at++, value = this.mod(value * root)) found.push(value);
      this.#roots.set(key, found);
    }
    return this.#roots.get(key);
  }

  // Values, at all n-th roots of unity, of the polynomial with these coefficients.
  transform(vector, inverse = false) {
    const [n, half] = [vector.length, vector.length / 2];
    if (n === 1) return vector;
    const even = this.transform(vector.filter((_, i) => i % 2 === 0), inverse);
    const odd = this.transform(vector.filter((_, i) => i % 2 === 1), inverse);
    const roots = this.roots(n, half, inverse);
    const turned = odd.map((value, i) => this.mod(value * roots[i]));
    return [...even.map((value, i) => this.mod(value + turned[i])), ...this.sub(even, turned)];
  }

  // Values of a polynomial that is given at the n-th roots of unity, halfway between them.
  between(vector) {
    const n = vector.length;
    const shift = this.roots(2 * n, n, false, this.power(BigInt(n), this.modulus - 2n));
    return this.transform(this.transform(vector, true).map((value, i) => this.mod(value * shift[i])));
  }
}

const FIELDS = new Map(
  [
    new Field("Field64", 2n ** 64n - 2n ** 32n + 1n, 8, 4294967295n),
    new Field("Field128", 2n ** 128n - 28n * 2n ** 64n + 1n, 16, 4611686018427387897n),
  ].map((field) => [field.name, field]),
);

// ── circuits: how an answer is written, and what goes into the gadget ─────────────────────────────────────────────

const MOST = 2 ** 18; // elements that this client works on: with more a page would stand still
const cannot = (given) => given || refuse("The query cannot be, or is too large for this client.");
export const whole = (value) => Number.isSafeInteger(value) && value >= 1;

// An answer's number. It is confidential: no message repeats it.
function number(value, largest, what) {
  if (typeof value === "boolean") return BigInt(value);
  if (!Number.isSafeInteger(value) || value < 0 || value > largest)
    refuse(`${what} must be a whole number from 0 to ${largest}; nothing was sent.`);
  return BigInt(value);
}

function listed(values, length) {
  const fits = Array.isArray(values) && values.length === length;
  return fits ? values : refuse(`An answer here is a list of ${length}; nothing was sent.`);
}

const bitsOf = (largest) => BigInt(largest).toString(2).length;

// A number from 0 to `largest` as zeros and ones whose weights add up to it: powers of two, and one for the rest.
function written(value, largest) {
  const bits = bitsOf(largest);
  const rest = 2n ** BigInt(bits - 1) - 1n;
  const over = value > rest ? 1n : 0n;
  const left = value - over * (BigInt(largest) - rest);
  return [...fill(bits - 1, (bit) => (left >> BigInt(bit)) & 1n), over];
}

// What each circuit is by its parameters: `moves` is how far one client moves the sums, by what is protected, in all
// and in squares; `write` makes of an answer the vector that is shared.
const CIRCUITS = new Map([
  ["count", {
    number: 1, parameters: [],
    of: () => ({
      length: 1, calls: 1, arity: 2, largest: 1, answer: [1, 1], presence: [1, 1],
      write: (answer) => [number(answer, 1, "An answer to a count")],
      wires: ([value]) => [[value], [value]],
      gadget: (wires, at) => wires[0][at] * wires[1][at],
    }),
  }],
  ["sum", {
    number: 2, parameters: ["max_measurement"],
    of: ({ max_measurement: most }) => {
      const moves = [most, BigInt(most) ** 2n];
      return {
        length: bitsOf(most), calls: bitsOf(most), arity: 1, largest: most, answer: moves, presence: moves,
        write: (answer) => written(number(answer, most, "An answer to this sum"), most),
        wires: (encoded) => [encoded],
        gadget: ([wire], at) => wire[at] * wire[at] - wire[at],
      };
    },
  }],
  ["sum_vec", {
    number: 3, parameters: ["chunk_length", "length", "max_measurement"],
    of: ({ chunk_length: chunk, length, max_measurement: most }) => {
      const moves = [BigInt(length) * BigInt(most), BigInt(length) * BigInt(most) ** 2n];
      const write = (answer) =>
        listed(answer, length).flatMap((value) => written(number(value, most, "Each number here"), most));
      return { ...chunked(length * bitsOf(most), chunk), largest: most, answer: moves, presence: moves, write };
    },
  }],
  ["histogram", {
    number: 4, parameters: ["chunk_length", "length"],
    of: ({ chunk_length: chunk, length }) => {
      const change = length > 1 ? 2 : 1;
      const write = (answer) => {
        const bucket = Number(number(answer, length - 1, "The bucket"));
        return fill(length, (i) => (i === bucket ? 1n : 0n));
      };
      return { ...chunked(length, chunk), largest: 1, answer: [change, change], presence: [1, 1], write };
    },
  }],
  ["multihot_count_vec", {
    number: 5, parameters: ["chunk_length", "length", "max_weight"],
    of: ({ chunk_length: chunk, length, max_weight: most }) => {
      cannot(most <= length);
      const change = Math.min(2 * most, length);
      const write = (answer) => {
        const bits = listed(answer, length).map((value) => number(value, 1, "Each entry here"));
        const weight = bits.filter((bit) => bit).length;
        if (weight > most) refuse(`At most ${most} entries may be set; nothing was sent.`);
        return [...bits, ...written(BigInt(weight), most)];
      };
      const size = length + bitsOf(most);
      return { ...chunked(size, chunk), largest: 1, answer: [change, change], presence: [most, most], write };
    },
  }],
]);

// The check that all elements are 0 or 1, a chunk at a time: of each chunk the sum of r^j x_j (x_j - 1).
function chunked(length, chunk) {
  const calls = Math.ceil(length / chunk);
  return {
    length, calls, arity: 2 * chunk, joint: calls,
    wires(encoded, joint, field) {
      const rows = fill(2 * chunk, () => []);
      joint.forEach((random, call) => {
        for (let j = 0, power = random; j < chunk; j++, power = field.mod(power * random)) {
          const bit = encoded[call * chunk + j] ?? 0n;
          rows[2 * j].push(field.mod(power * bit));
          rows[2 * j + 1].push(field.mod(bit - 1n));
        }
      });
      return rows;
    },
    gadget(wires, at) {
      let sum = 0n;
      for (let j = 0; j < wires.length; j += 2) sum += wires[j][at] * wires[j + 1][at];
      return sum;
    },
  };
}

// ── shares, with a proof that they are well formed (draft-irtf-cfrg-vdaf, section 7.2) ────────────────────────────

const SEED = 32;
export const NONCE = 16;
const [MEASUREMENT_SHARE, PROOF_SHARE, JOINT, PROVE, , JOINT_SEED, JOINT_PART] = [1, 2, 3, 4, 5, 6, 7];

export class Prio3 {
  #circuit;
  #field;
  #number;

  constructor(name, parameters, field = null, shares = 2) {
    const kind = CIRCUITS.get(name) ?? refuse(`This client knows no circuit of that name; update it.`);
    const given = Object.keys(parameters).sort();
    cannot(given.join() === kind.parameters.join() && given.every((key) => whole(parameters[key])));
    cannot(given.every((key) => key === "max_measurement" || parameters[key] <= MOST));
    this.#circuit = { joint: 0, ...kind.of(parameters) };
    this.#field = cannot(FIELDS.get(field ?? (this.#circuit.joint ? "Field128" : "Field64")));
    // A client derives the joint randomness itself; in a small field it could search for one that it likes.
    cannot(!this.#circuit.joint || this.#field.size === 16);
    this.points = 2 ** bitsOf(this.#circuit.calls);
    this.proofLength = this.#circuit.arity + 2 * this.points - 1;
    cannot(this.#circuit.length <= MOST && this.proofLength <= 4 * MOST);
    this.randomnessSize = SEED * shares * (this.#circuit.joint ? 2 : 1);
    [this.#number, this.shares] = [kind.number, shares];
  }

  // How far one client moves the sums, in all and in squares, by what is protected.
  moves(protects) {
    return this.#circuit[protects].map(BigInt);
  }

  // Whether sums of so many answers fit the field, with a sign.
  fits(clients) {
    return 2n * BigInt(clients) * BigInt(this.#circuit.largest) < this.#field.modulus;
  }

  // The public share, and each server's share; `randomness` is as secret as the answer.
  shard(context, answer, nonce, randomness) {
    const [circuit, field] = [this.#circuit, this.#field];
    const encoded = circuit.write(answer);
    const seeds = fill(randomness.length / SEED, (i) => randomness.subarray(i * SEED, (i + 1) * SEED));
    const each = circuit.joint ? 2 : 1;
    const helpers = fill(this.shares - 1, (i) => seeds[each * i]);
    const blinds = circuit.joint ? [seeds.at(-2), ...helpers.map((_, i) => seeds[2 * i + 1])] : [];
    const stream = (use, seed, ...binders) => {
      const tag = joined(Uint8Array.of(18, 0), big(this.#number, 4), big(use, 2), context);
      return new Xof(seed, tag, ...binders);
    };
    const part = (server, bytes) =>
      circuit.joint ? stream(JOINT_PART, blinds[server], Uint8Array.of(server), nonce, bytes).next(SEED) : [];

    let leader = encoded;
    const parts = helpers.map((seed, i) => {
      const share = stream(MEASUREMENT_SHARE, seed, Uint8Array.of(i + 1)).vector(field, circuit.length);
      leader = field.sub(leader, share);
      return part(i + 1, circuit.joint ? field.encode(share) : []);
    });
    const first = field.encode(leader);
    const told = joined(part(0, first), ...parts);
    const jointSeed = stream(JOINT_SEED, new Uint8Array(SEED), told).next(SEED);
    const joint = stream(JOINT, jointSeed, Uint8Array.of(1)).vector(field, circuit.joint);
    const prove = stream(PROVE, seeds.at(-1), Uint8Array.of(1)).vector(field, circuit.arity);
    let proof = this.#prove(encoded, prove, joint);
    helpers.forEach((seed, i) => {
      proof = field.sub(proof, stream(PROOF_SHARE, seed, Uint8Array.of(1, i + 1)).vector(field, this.proofLength));
    });
    const inputs = [joined(first, field.encode(proof), blinds[0] ?? [])];
    helpers.forEach((seed, i) => inputs.push(joined(seed, blinds[i + 1] ?? [])));
    return { told, inputs };
  }

  // One polynomial through the values of each wire, from a random first one; what the gadget makes of them, at twice
  // as many points. (`hubbub.gather.prio3.proof` says why.)
  #prove(encoded, prove, joint) {
    const [circuit, field] = [this.#circuit, this.#field];
    const wires = circuit.wires(encoded, joint, field);
    const rows = wires.map((wire, i) => fill(this.points, (at) => (at ? wire[at - 1] ?? 0n : prove[i])));
    const halfway = rows.map((row) => field.between(row));
    const values = fill(2 * this.points - 1, (at) => circuit.gadget(at % 2 ? halfway : rows, at >> 1));
    return [...prove, ...values.map((value) => field.mod(value))];
  }
}
