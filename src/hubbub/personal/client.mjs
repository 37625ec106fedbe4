// The person's half in JavaScript: says a generalised context, and picks the best result for the true one.
// One module, no dependencies. docs/personal.md describes what is read and sent.

const VERSION = 2; // of plans and of answers
const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const NOTHING = "-";
const GRAIN = 1e-6;
const NUMBER = /^ *[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)? *$/;
const MILLISECONDS = 10000;
const MOST = 65536;
const STATUS = {
  404: "The server knows no such node: client and server have different hierarchies.",
  409: "The server refuses requests that leave so few contexts open: plan a coarser cut.",
  422: "The server does not send so many results: ask for a smaller k.",
};

const hex = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const digest = async (text) => hex(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
const product = (numbers) => numbers.reduce((one, other) => one * other, 1);
const unknown = () => new ClientRefusal("A context is not among the plan's; nothing was sent.");

const unfit = () => new ClientRefusal("The answer does not fit what was asked.");

export class ClientRefusal extends Error {}

// A node is [name, its first context, how many it has]; a path leads from the root down to a context.
class Categories {
  #names;
  #parents;
  #sizes;
  #firsts = [];
  #contexts = new Map();

  constructor(facts) {
    [this.#names, this.#parents] = [facts.names, facts.parents];
    const inner = new Set(this.#parents);
    this.#sizes = this.#names.map((_, i) => (inner.has(i) ? 0 : 1));
    let number = 0;
    this.#sizes.forEach((size, i) => {
      this.#firsts.push(number);
      number += size;
      if (size) this.#contexts.set(this.#names[i], i);
    });
    for (let i = this.#names.length - 1; i > 0; i--) this.#sizes[this.#parents[i]] += this.#sizes[i];
  }

  path(context) {
    let at = this.#contexts.get(context) ?? -1;
    if (at < 0) throw unknown();
    const found = [];
    for (; at >= 0; at = this.#parents[at]) found.unshift([this.#names[at], this.#firsts[at], this.#sizes[at]]);
    return found;
  }
}

function text(number, level) {
  const digits = String(Math.abs(number)).padStart(level + 1, "0");
  const whole = digits.slice(0, digits.length - level);
  return (number < 0 ? "-" : "") + (level ? `${whole}.${digits.slice(-level)}` : whole);
}

// Two numbers, or texts of numbers: nothing else, since a device that does not know its place may say null.
function position(context) {
  const given = typeof context === "string" ? context.split(",") : context;
  if (!Array.isArray(given) || given.length !== 2) throw unknown();
  if (!given.every((one) => typeof one === "number" || (typeof one === "string" && NUMBER.test(one)))) throw unknown();
  return given.map(Number);
}

class Decimals {
  #box;

  constructor(facts) {
    this.#box = facts;
  }

  path(context) {
    const { south, west, north, east, digits } = this.#box;
    const [latitude, longitude] = position(context);
    if (!(latitude >= south && latitude <= north && longitude >= west && longitude <= east)) throw unknown();
    const unit = 10 ** digits;
    const up = Math.min(Math.floor(latitude * unit + GRAIN), north * unit - 1); // the last cells hold the border
    const across = Math.min(Math.floor(longitude * unit + GRAIN), east * unit - 1);
    const [y, x] = [up - south * unit, across - west * unit];
    let first = Math.floor(y / unit) * (east - west) + Math.floor(x / unit);
    const found = [["*", 0, (north - south) * (east - west) * 100 ** digits]];
    for (let level = 0; level <= digits; level++) {
      const size = 10 ** (digits - level);
      if (level) first = first * 100 + (Math.floor(y / size) % 10) * 10 + (Math.floor(x / size) % 10);
      const name = `${text(Math.floor(up / size), level)},${text(Math.floor(across / size), level)}`;
      found.push([name, first * size * size, size * size]);
    }
    return found;
  }
}

class Combined {
  #parts;
  #order;

  constructor(facts) {
    this.#parts = facts.attributes.map(([name, part]) => [name, treeOf(part)]);
    this.#order = facts.order.map((name) => this.#parts.findIndex(([known]) => known === name));
  }

  path(context) {
    const names = this.#parts.map(([name]) => name);
    const fits = context !== null && typeof context === "object" && Object.keys(context).length === names.length;
    if (!fits || !names.every((name) => Object.hasOwn(context, name))) throw unknown();
    const ways = this.#parts.map(([name, part]) => part.path(context[name]));
    const at = ways.map(() => 0);
    const joined = (first) => {
      const steps = ways.map((way, i) => way[at[i]]);
      return [JSON.stringify(steps.map(([name]) => name)), first, product(steps.map((step) => step[2]))];
    };
    let first = 0;
    const found = [joined(first)];
    const rest = ways.flatMap((way, i) => way.map(() => i));
    for (const place of [...this.#order, ...rest]) {
      if (at[place] + 1 >= ways[place].length) continue;
      const [before, after] = [ways[place][at[place]], ways[place][at[place] + 1]];
      first += (after[1] - before[1]) * product(ways.map((way, i) => (i === place ? 1 : way[at[i]][2])));
      at[place] += 1;
      found.push(joined(first));
    }
    return found;
  }
}

const KINDS = { categories: Categories, decimals: Decimals, combined: Combined };
const treeOf = (facts) => new KINDS[facts.kind](facts);

// Results, lengths of runs, and the letter of each: all of them sound, whatever the context is. As in client.py.
function judged(answer, tree, name, leaves, k) {
  let facts;
  try {
    facts = JSON.parse(answer);
  } catch {
    throw unfit();
  }
  if (facts === null || typeof facts !== "object" || Array.isArray(facts)) throw unfit();
  if (facts.version !== VERSION)
    throw new ClientRefusal(`The answer is not of version ${VERSION}, which this client reads.`);
  if (facts.hierarchy !== tree)
    throw new ClientRefusal("Client and server have different hierarchies; the answer was not used.");
  const { results, lengths, best } = facts;
  if (facts.node !== name || typeof best !== "string") throw unfit();
  const named = (one) => typeof one === "string" && one !== "" && !/\p{Surrogate}/u.test(one);
  if (!Array.isArray(results) || results.length > k || !results.every(named)) throw unfit();
  if (new Set(results).size !== results.length) throw unfit();
  const letters = NOTHING + LETTERS.slice(0, results.length);
  if (!Array.isArray(lengths) || lengths.length !== best.length) throw unfit();
  if (![...best].every((letter) => letters.includes(letter))) throw unfit();
  let left = leaves;
  for (const length of lengths) {
    if (!Number.isInteger(length) || length < 1 || length > left) throw unfit();
    left -= length;
  }
  if (left !== 0) throw unfit();
  return facts;
}

// Sends a body and nothing else: no cookie, no referrer.
async function post(address, body) {
  const answer = await fetch(address, {
    method: "POST",
    body,
    headers: { "Content-Type": "application/json" },
    credentials: "omit",
    referrerPolicy: "no-referrer",
    cache: "no-store",
    redirect: "error",
    signal: AbortSignal.timeout(MILLISECONDS),
  });
  if (answer.status !== 200)
    throw new ClientRefusal(STATUS[answer.status] ?? `The server refused, with status ${answer.status}.`);
  const parts = [];
  let size = 0;
  for (const reader = answer.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    if ((size += value.length) > MOST) {
      await reader.cancel();
      throw unfit();
    }
  }
  const whole = new Uint8Array(size);
  parts.reduce((at, part) => (whole.set(part, at), at + part.length), 0);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(whole);
  } catch {
    throw unfit();
  }
}

export class Client {
  #tree;
  #stops;
  #finest;
  #digestOfTree;
  #send;
  digest;

  // `plan`: the text that `Cut.save` wrote. `pin`: where to remember which plan a person uses, such as localStorage.
  static async read(plan, { pin = null, send = post } = {}) {
    const client = new Client();
    try {
      const file = JSON.parse(plan);
      if (file.format !== "hubbub-personal-plan" || typeof file.plan !== "string") throw new Error();
      if (file.version !== VERSION)
        throw new ClientRefusal(
          `The plan is not of version ${VERSION}, which this client reads; make it anew. Nothing was sent.`,
        );
      if ((await digest(file.plan)) !== file.digest) throw new Error();
      const facts = JSON.parse(file.plan);
      client.#tree = treeOf(facts.hierarchy);
      if (!Array.isArray(facts.stops) || facts.stops.some((stop) => typeof stop !== "string")) throw new Error("stops");
      client.#stops = new Set(facts.stops);
      client.#finest = facts.finest;
      client.#digestOfTree = facts.tree;
      if (typeof facts.tree !== "string") throw new Error("tree");
      client.digest = file.digest;
    } catch (error) {
      if (error instanceof ClientRefusal) throw error;
      throw new ClientRefusal("The plan is not whole, or was changed; nothing was sent.");
    }
    client.#send = send;
    if (pin !== null) client.#keep(pin);
    return client;
  }

  // Remember this plan, or refuse another one.
  #keep(pin) {
    const name = "hubbub-personal-plan";
    let known;
    try {
      if (pin.getItem(name) === null) pin.setItem(name, this.digest);
      known = pin.getItem(name);
    } catch {
      throw new ClientRefusal("Which plan a person uses cannot be kept, or not be read; nothing was sent.");
    }
    if (!/^[0-9a-f]{64}$/.test(known))
      throw new ClientRefusal(
        "The pin is not whole, so which plan this person uses is not known; nothing was sent. Delete it only if this plan is the one that was used.",
      );
    if (known !== this.digest)
      throw new ClientRefusal(
        "This person uses another plan. Two plans may tell together what neither tells alone; who changes it all the same deletes the pin.",
      );
  }

  #chosen(path) {
    return path.find(([name], depth) => this.#stops.has(name) || depth === this.#finest) ?? path.at(-1);
  }

  // What is told of a context: the name of the node that stands for it.
  generalise(context) {
    return this.#chosen(this.#tree.path(context))[0];
  }

  // The body of a request: the same for all contexts below a node.
  request(context, k) {
    if (!Number.isInteger(k) || k < 1 || k > LETTERS.length)
      throw new ClientRefusal(`k is a whole number from 1 to ${LETTERS.length}.`);
    return JSON.stringify({ node: this.generalise(context), k });
  }

  // The best of the results that were sent, for the true context; null where none is worth showing. The whole answer is
  // judged before the context is looked up in it: it is refused for all contexts below a node or for none.
  pick(context, answer, k = LETTERS.length) {
    const path = this.#tree.path(context);
    const [name, first, leaves] = this.#chosen(path);
    const { results, lengths, best } = judged(answer, this.#digestOfTree, name, leaves, k);
    let at = path.at(-1)[1] - first;
    let run = 0;
    for (; at >= lengths[run]; run++) at -= lengths[run];
    return best[run] === NOTHING ? null : results[LETTERS.indexOf(best[run])];
  }

  // Ask a server, and pick.
  async ask(context, address, k = 10) {
    const body = this.request(context, k);
    let answer;
    try {
      answer = await this.#send(address, body);
    } catch (error) {
      if (error instanceof ClientRefusal) throw error;
      throw new ClientRefusal("The server does not answer, or not as one does.");
    }
    return { result: this.pick(context, answer, k), sent: this.generalise(context) };
  }
}
