// A client in JavaScript: reads what two servers announce, and makes of one answer one sealed report.
// Needs `prio3.mjs` beside it and nothing else. docs/gather.md describes what is read and sent.

import { ClientRefusal, NONCE, Prio3, big, fill, hex, joined, refuse, text, whole } from "./prio3.mjs";

export { ClientRefusal };

const VERSION = 1;
const [ANNOUNCEMENT, REPORT] = [0, 1];
const KEY = 32;
const LONGEST = 2 ** 16; // bytes of an announcement: a query is a few hundred
const WEAKEST = "20"; // an epsilon above it promises practically nothing
const FACTS = "circuit,clients,field,key,minimum,name,noise,parameters,protects,version";

const random = (size) => crypto.getRandomValues(new Uint8Array(size));
const sized = (bytes) => joined(big(bytes.length, 4), bytes);

// ── exact numbers: fractions as [numerator, denominator] ──────────────────────────────────────────────────────────

const divisor = (a, b) => (b ? divisor(b, a % b) : a);

// Of "1/3", "2" or "0.25", in lowest terms.
function fraction(given) {
  const found = /^(\d{1,300})(?:\/(\d{1,300})|\.(\d{1,300}))?$/.exec(given);
  if (!found) return null;
  const tail = found[3] ?? "";
  const [top, bottom] = [BigInt(found[1] + tail), BigInt(found[2] ?? 1n) * 10n ** BigInt(tail.length)];
  if (!top || !bottom) return null;
  const common = divisor(top, bottom);
  return [top / common, bottom / common];
}

// Of a number of the machine, exactly.
function dyadic(value) {
  let bottom = 1n;
  for (; !Number.isInteger(value); value *= 2) bottom *= 2n;
  return [BigInt(value), bottom];
}

// A quotient for a reader, never too small: exact if that takes six digits, rounded up to four otherwise.
function atMost([top, bottom]) {
  let place = top.toString().length - bottom.toString().length; // of the first digit, or one above it
  const scaled = (power) => (power < 0 ? [top, bottom * 10n ** BigInt(-power)] : [top * 10n ** BigInt(power), bottom]);
  const [least, unit] = scaled(-place);
  if (least < unit) place -= 1;
  let digits = 6;
  let [over, under] = scaled(digits - 1 - place);
  if (over % under) [over, under] = scaled((digits = 4) - 1 - place);
  const shown = ((over + under - 1n) / under).toString();
  place += shown.length - digits; // 9999.5 becomes 10000
  const kept = shown.replace(/0+$/, "");
  if (place < -4 || place > 11) return `${kept[0]}${kept.length > 1 ? `.${kept.slice(1)}` : ""}e${place}`;
  if (place < 0) return `0.${"0".repeat(-place - 1)}${kept}`;
  const whole = kept.slice(0, place + 1).padEnd(place + 1, "0").replace(/\B(?=(\d{3})+$)/g, ",");
  return kept.length > place + 1 ? `${whole}.${kept.slice(place + 1)}` : whole;
}

// The epsilon that rho stands for at a delta of 1e-6, rounded up: `hubbub.privacy.zcdp` says why any order is sound.
function epsilonOf(rho) {
  const log = Math.log(1e6);
  const centre = Math.sqrt(log / Math.max(rho, 1e-300));
  const bounds = fill(385, (step) => {
    const above = centre * 2 ** ((step - 192) / 64);
    return rho * (1 + above) + (log + above * Math.log(above) - (above + 1) * Math.log1p(above)) / above;
  });
  return Math.max(Math.min(...bounds), 0) * (1 + 1e-9) + 1e-9;
}

// What the servers' noise promises, if it was made for what one client can move here. Clients add none: Prio3 proves
// that a report is one honest answer, and with noise in it, it would be none.
function noiseOf(noise, moves) {
  const power = ["servers' discrete Laplace", "servers' discrete Gaussian"].indexOf(noise.kind);
  if (power < 0) refuse("This client answers only where both servers add the noise.");
  const [name, bound] = [["epsilon", "sensitivity"], ["rho", "square_sensitivity"]][power];
  need(Object.keys(noise).sort().join() === [name, bound, "kind"].sort().join() && whole(noise[bound]));
  const [top, bottom] = need(typeof noise[name] === "string" && fraction(noise[name]));
  need(noise[name] === (bottom === 1n ? `${top}` : `${top}/${bottom}`));
  if (BigInt(noise[bound]) < moves[power])
    refuse("The noise of this query was made for a smaller change than one client can make.");
  // The scale, or the variance, lies between a thousandth and 2^40, or their squares: what can be drawn.
  const [over, under] = [BigInt(noise[bound]) * bottom, top << BigInt(power)];
  need(over * 1000n ** BigInt(power + 1) >= under && over <= under << BigInt(40 * (power + 1)));
  if (!power) return { strength: [top, bottom], promise: `by at most a factor e^${atMost([top, bottom])}` };
  const strength = dyadic(epsilonOf(Number(top) / Number(bottom)));
  const chance = `but for a chance of 1e-06 (rho ${atMost([top, bottom])})`;
  return { strength, promise: `by at most a factor e^${atMost(strength)} ${chance}` };
}

// ── what is read ──────────────────────────────────────────────────────────────────────────────────────────────────

const need = (given) => given || refuse("This is no announcement of a query, or it was changed on the way.");

class Reader {
  #data;
  #at = 0;

  constructor(data) {
    this.#data = data;
  }

  fixed(size) {
    const part = this.#data.subarray(this.#at, (this.#at += size));
    return part.length === size ? part : need(false);
  }

  sized() {
    return this.fixed(this.fixed(4).reduce((all, byte) => 256 * all + byte, 0));
  }

  get over() {
    return this.#at === this.#data.length;
  }
}

// JSON as `hubbub.gather` writes it, of which there is one text for each value: sorted, without spaces, in ASCII.
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (value === null || typeof value !== "object")
    return JSON.stringify(value).replace(/[^ -~]/g, (char) => `\\u${hex(big(char.charCodeAt(0), 2))}`);
  return `{${Object.keys(value).sort().map((key) => `${canonical(key)}:${canonical(value[key])}`).join()}}`;
}

function parsed(bytes) {
  let [said, facts] = ["", null];
  try {
    said = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    facts = JSON.parse(said);
  } catch {
    need(false);
  }
  need(facts !== null && typeof facts === "object" && !Array.isArray(facts));
  if (facts.version !== 1) refuse("The query is of another version; update this client.");
  need(Object.keys(facts).sort().join() === FACTS && canonical(facts) === said);
  const object = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
  need(object(facts.parameters) && object(facts.noise) && typeof facts.field === "string");
  need(typeof facts.name === "string" && /^(?:[^\p{C}\p{Z}]| ){1,200}$/u.test(facts.name));
  need(whole(facts.clients) && facts.clients < 2 ** 32 && whole(facts.minimum) && facts.minimum <= facts.clients);
  need(facts.protects === "answer" || facts.protects === "presence");
  // Without it, a server could choose a key that tells it more once it has seen reports.
  if (!/^[0-9a-f]{64}$/.test(facts.key)) refuse("The servers are not bound to a key of theirs.");
  return facts;
}

// ── sealing: HPKE (RFC 9180) with X25519, HKDF-SHA256 and AES-128-GCM ─────────────────────────────────────────────

const KEM = joined(text("KEM"), big(0x20, 2));
const SUITE = joined(text("HPKE"), big(0x20, 2), big(1, 2), big(1, 2));
const NOTHING = new Uint8Array(0);

async function hmac(key, ...parts) {
  const padded = key.length ? key : new Uint8Array(32); // the same to HMAC; browsers take no empty one
  const made = await crypto.subtle.importKey("raw", padded, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", made, joined(...parts)));
}

const extract = (suite, salt, label, data) => hmac(salt, text("HPKE-v1"), suite, text(label), data);

async function expand(suite, secret, label, info, size) {
  const about = [big(size, 2), text("HPKE-v1"), suite, text(label), info];
  return (await hmac(secret, ...about, Uint8Array.of(1))).subarray(0, size);
}

// `data` for whoever has the secret half of `key`; it opens with the same `info` alone.
async function seal(key, data, info) {
  const own = await crypto.subtle.generateKey("X25519", false, ["deriveBits"]);
  const theirs = await crypto.subtle.importKey("raw", key, "X25519", false, []);
  const met = new Uint8Array(await crypto.subtle.deriveBits({ name: "X25519", public: theirs }, own.privateKey, 256));
  const told = new Uint8Array(await crypto.subtle.exportKey("raw", own.publicKey));
  const shared = await expand(KEM, await extract(KEM, NOTHING, "eae_prk", met), "shared_secret", joined(told, key), 32);
  const none = await extract(SUITE, NOTHING, "psk_id_hash", NOTHING);
  const bound = await extract(SUITE, NOTHING, "info_hash", info);
  const context = joined(Uint8Array.of(0), none, bound);
  const secret = await extract(SUITE, shared, "secret", NOTHING);
  const raw = await expand(SUITE, secret, "key", context, 16);
  const once = await crypto.subtle.importKey("raw", raw, "AES-GCM", false, ["encrypt"]);
  const iv = await expand(SUITE, secret, "base_nonce", context, 12);
  return joined(told, new Uint8Array(await crypto.subtle.encrypt({ name: "AES-GCM", iv }, once, data)));
}

// Before anybody is asked: whether this browser can seal, and to these keys.
async function sealable(keys) {
  if (!globalThis.crypto?.subtle) refuse("This page cannot seal answers: it must come over https, or from localhost.");
  try {
    for (const key of keys) await seal(key, NOTHING, NOTHING);
  } catch (error) {
    if (error.name === "NotSupportedError") refuse("This browser cannot seal answers: it lacks X25519. Update it.");
    refuse("A server's key is none that can be sealed to.");
  }
}

// ── the way to the servers ────────────────────────────────────────────────────────────────────────────────────────

const MILLISECONDS = 30000;
const LONGEST_PLAN = 2 ** 23;
const BINARY = { "Content-Type": "application/octet-stream" };

// In the clear to this machine alone: whoever carried the message elsewhere would see who answers.
function addressOf(server) {
  const { protocol, hostname, origin } = URL.canParse(server) ? new URL(server) : {};
  const near = protocol === "http:" && /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
  return near || protocol === "https:" ? origin : refuse("A server's address begins with https.");
}

// Sends what is given and nothing else: no cookie, no referrer.
async function fetched(address, given = {}) {
  try {
    const answer = await fetch(address, {
      credentials: "omit",
      referrerPolicy: "no-referrer",
      cache: "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(MILLISECONDS),
      ...given,
    });
    return { status: answer.status, data: new Uint8Array(await answer.arrayBuffer()) };
  } catch {
    return { status: 0, data: NOTHING };
  }
}

// What both servers say: one alone could name keys of its own for both, and see the answer.
async function agreed(servers, path, longest) {
  const told = await Promise.all(servers.map((server) => fetched(server + path)));
  if (told.some(({ status, data }) => status !== 200 || data.length > longest))
    refuse("The servers do not tell what is asked. Come later.");
  if (hex(told[0].data) !== hex(told[1].data)) refuse("The two servers ask different things; answer neither.");
  return told[0].data;
}

// The round that takes answers now, and what the numbers of its result are called.
function roundOf(data, now) {
  try {
    const { opens, every, ticks, labels } = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data));
    const tick = Math.floor((now - Date.parse(opens)) / (1000 * every));
    const known = every > 0 && whole(ticks) && Number.isInteger(tick) && Array.isArray(labels);
    if (known && labels.every((label) => typeof label === "string"))
      return { labels, tick: tick >= 0 && tick < ticks ? tick : null };
  } catch {
    // refused below
  }
  return need(false);
}

function codeOf(data) {
  try {
    return /^[a-z_]{1,64}$/.exec(JSON.parse(new TextDecoder().decode(data)).error.code)[0];
  } catch {
    return "";
  }
}

// Makes reports for one query. One that `ask` made answers once; of one that `read` made the page sees to that.
export class Client {
  #prio3;
  #digest;
  #keys;
  #address = null;
  #pin = null;
  #report = null;
  query; // what is asked: name, circuit, parameters, clients, minimum, protects, ...
  promise; // in words, for whoever is asked
  labels = []; // what the numbers of the result are called, if `ask` was told

  // Asks both servers, the first one first, for the round of now. `pin`: where to remember which queries a person has
  // answered, such as localStorage; only their digests are written there.
  static async ask(servers, { epsilon = WEAKEST, pin = null, now = Date.now() } = {}) {
    const addresses = servers.map(addressOf);
    if (addresses.length !== 2 || addresses[0] === addresses[1]) refuse("Two servers are asked, each by its address.");
    const { tick, labels } = roundOf(await agreed(addresses, "/v1/gather", LONGEST_PLAN), now);
    if (tick === null) refuse("Nothing is asked now.");
    const round = `/v1/gather/rounds/${tick}`;
    const client = await Client.read(await agreed(addresses, `${round}/announcement`, LONGEST), { epsilon });
    if (pin !== null && pin.getItem(client.#remembered) !== null) refuse("This person has answered this query.");
    [client.#address, client.#pin, client.labels] = [`${addresses[0]}${round}/reports`, pin, labels];
    return client;
  }

  get #remembered() {
    return `hubbub-gather-${hex(this.#digest)}`;
  }

  // Makes a report and sends it. Done once: what may have arrived is only ever sent `again` as it is.
  async answer(answer, { ticket = "" } = {}) {
    if (this.#address === null) refuse("This client has no server to send to: make it with `ask`.");
    if (this.#report !== null) refuse("This was answered; `again` sends the same answer again.");
    const made = await this.report(answer);
    if (this.#report !== null) refuse("This was answered; `again` sends the same answer again.");
    this.#report = made;
    this.#pin?.setItem(this.#remembered, "answered"); // before it is sent: it may arrive without our knowing
    await this.#send(ticket, false);
  }

  // The same bytes, for when the first server did not say that it has them. They count once.
  async again({ ticket = "" } = {}) {
    if (this.#report === null) refuse("Nothing was answered yet.");
    await this.#send(ticket, true);
  }

  async #send(ticket, before) {
    const headers = ticket ? { ...BINARY, "hubbub-ticket": ticket } : BINARY;
    const { status, data } = await fetched(this.#address, { method: "POST", body: this.#report, headers });
    const code = codeOf(data);
    if (status === 200 || (before && code === "report_replayed")) return;
    if (status === 0 || status === 429 || status >= 500)
      refuse("The server did not say that it has the answer; `again` sends the same one again.");
    refuse(`The server refuses the answer (${code || status}).`);
  }

  // `announcement`: its bytes. An epsilon above the one that is given is refused.
  static async read(announcement, { epsilon = WEAKEST } = {}) {
    const data = new Uint8Array(announcement);
    const most = fraction(String(epsilon)) ?? refuse("`epsilon` must be a number such as 0.5 or '1/3'.");
    need(data.length <= LONGEST);
    const reader = new Reader(data);
    need(new TextDecoder().decode(reader.fixed(3)) === "HBG");
    const [version, kind] = reader.fixed(2);
    if (version !== VERSION) refuse(`The announcement has version ${version}; this client knows ${VERSION}.`);
    need(kind === ANNOUNCEMENT);
    const [said, scheme] = [reader.sized(), new TextDecoder().decode(reader.sized())];
    const keys = [reader.fixed(KEY), reader.fixed(KEY)];
    reader.sized(); // the public key of a scheme that encrypts
    need(reader.over);
    if (scheme !== "prio3") refuse("This client knows the scheme prio3 alone.");
    if (hex(keys[0]) === hex(keys[1])) refuse("Both servers have the same key: one alone would see the answer.");

    const facts = parsed(said);
    const client = new Client();
    client.#prio3 = new Prio3(facts.circuit, facts.parameters, facts.field);
    if (!client.#prio3.fits(facts.clients)) refuse("Sums of so many answers would not fit the field.");
    const { strength, promise } = noiseOf(facts.noise, client.#prio3.moves(facts.protects));
    if (strength[0] * most[1] > most[0] * strength[1])
      refuse(`The query promises an epsilon of ${atMost(strength)}; this client answers up to ${epsilon}.`);
    await sealable(keys);
    const bound = joined(text("hubbub gather query\n"), said);
    client.#digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bound));
    client.#keys = keys;
    client.query = facts;
    const [what, also] =
      facts.protects === "answer"
        ? ["What one client answers", " Who answers is not hidden."]
        : ["Whether and what one client answers", ""];
    client.promise = `${what} changes the probability of any result ${promise}.${also}`;
    return client;
  }

  // The bytes of a report, to be sent to the first server: new coins each time, though for the same answer.
  async report(answer) {
    const [nonce, prio3] = [random(NONCE), this.#prio3];
    const { told, inputs } = prio3.shard(this.#digest, answer, nonce, random(prio3.randomnessSize));
    const parts = [];
    for (const server of [0, 1]) {
      const info = joined(text("hubbub gather report 1"), Uint8Array.of(server), this.#digest, nonce);
      parts.push(sized(await seal(this.#keys[server], joined(told, inputs[server]), info)));
    }
    return joined(text("HBG"), Uint8Array.of(VERSION, REPORT), this.#digest, nonce, ...parts);
  }
}
