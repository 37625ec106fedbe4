"""Prio3 once more, plainly: Python integers, one element at a time, nothing shared with `hubbub.gather`.

Written from draft-irtf-cfrg-vdaf to be read beside it. Where the fast code has a clever way this has the plain one:
polynomials are interpolated by Lagrange's formula, sums are loops, TurboSHAKE128 is Keccak with 12 rounds (RFC 9861).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

VERSION = 18
WORD = 2**64 - 1


# ── TurboSHAKE128 ────────────────────────────────────────────────────────────────────────────────────────────────────


def _rotated(word: int, by: int) -> int:
    by %= 64
    return (word << by | word >> (64 - by)) & WORD


def _round_constants() -> list[int]:
    """Of all 24 rounds, from the shift register of FIPS 202, 3.2.5."""
    register, constants = 1, []
    for _ in range(24):
        constant = 0
        for j in range(7):
            constant |= (register & 1) << (2**j - 1)
            register = register << 1 ^ (0x171 if register & 0x80 else 0)
        constants.append(constant)
    return constants


ROUND_CONSTANTS = _round_constants()


def keccak_12(lanes: list[list[int]]) -> list[list[int]]:
    """The last 12 rounds of Keccak-f[1600]; lanes[x][y]."""
    for constant in ROUND_CONSTANTS[12:]:
        columns = [lanes[x][0] ^ lanes[x][1] ^ lanes[x][2] ^ lanes[x][3] ^ lanes[x][4] for x in range(5)]
        lanes = [[lanes[x][y] ^ columns[x - 1] ^ _rotated(columns[(x + 1) % 5], 1) for y in range(5)] for x in range(5)]
        turned = [[0] * 5 for _ in range(5)]
        turned[0][0] = lanes[0][0]
        x, y = 1, 0
        for t in range(24):
            turned[y][(2 * x + 3 * y) % 5] = _rotated(lanes[x][y], (t + 1) * (t + 2) // 2)
            x, y = y, (2 * x + 3 * y) % 5
        lanes = [
            [turned[x][y] ^ (~turned[(x + 1) % 5][y] & turned[(x + 2) % 5][y] & WORD) for y in range(5)]
            for x in range(5)
        ]
        lanes[0][0] ^= constant
    return lanes


class Shake:
    """TurboSHAKE128 with domain 1: all of the message at once, output as it is asked for."""

    RATE = 168

    def __init__(self, message: bytes) -> None:
        padded = bytearray(message + b"\x01")
        padded += bytes(-len(padded) % self.RATE)
        padded[-1] ^= 0x80
        self.lanes = [[0] * 5 for _ in range(5)]
        for start in range(0, len(padded), self.RATE):
            block = padded[start : start + self.RATE]
            for i in range(self.RATE // 8):
                self.lanes[i % 5][i // 5] ^= int.from_bytes(block[8 * i : 8 * i + 8], "little")
            self.lanes = keccak_12(self.lanes)
        self.ready = self._block()

    def _block(self) -> bytes:
        return b"".join(self.lanes[i % 5][i // 5].to_bytes(8, "little") for i in range(self.RATE // 8))

    def next(self, length: int) -> bytes:
        parts = [self.ready]
        have = len(self.ready)
        while have < length:
            self.lanes = keccak_12(self.lanes)
            parts.append(self._block())
            have += self.RATE
        whole = b"".join(parts)
        self.ready = whole[length:]
        return whole[:length]


def xof(seed: bytes, tag: bytes, binder: bytes) -> Shake:
    return Shake(len(tag).to_bytes(2, "little") + tag + len(seed).to_bytes(1, "little") + seed + binder)


# ── fields and polynomials ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class SlowField:
    modulus: int
    size: int
    two_power: int

    def root(self, order: int) -> int:
        generator = pow(7, (self.modulus - 1) // self.two_power, self.modulus)
        return pow(generator, self.two_power // order, self.modulus)

    def next_vector(self, stream: Shake, length: int) -> list[int]:
        out: list[int] = []
        while len(out) < length:
            value = int.from_bytes(stream.next(self.size), "little")
            if value < self.modulus:
                out.append(value)
        return out

    def encode(self, values: list[int]) -> bytes:
        return b"".join(value.to_bytes(self.size, "little") for value in values)

    def decode(self, data: bytes) -> list[int]:
        assert len(data) % self.size == 0
        values = [int.from_bytes(data[at : at + self.size], "little") for at in range(0, len(data), self.size)]
        assert all(value < self.modulus for value in values)
        return values

    def basis(self, order: int, count: int, x: int) -> list[int]:
        """Lagrange's polynomials of the first `count` powers of the root of this order, all at x."""
        p = self.modulus
        nodes, below = denominators(self, order, count)
        if x in nodes:
            return [int(node == x) for node in nodes]
        above = 1
        for node in nodes:
            above = above * (x - node) % p
        return [above * pow((x - node) * under, -1, p) % p for node, under in zip(nodes, below, strict=True)]


@lru_cache
def denominators(field: SlowField, order: int, count: int) -> tuple[list[int], list[int]]:
    """The nodes, and for each the product of its differences to the others."""
    p = field.modulus
    nodes = [pow(field.root(order), i, p) for i in range(count)]
    below = []
    for node in nodes:
        product = 1
        for other in nodes:
            product = product * (node - other if other != node else 1) % p
        below.append(product)
    return nodes, below


FIELD64 = SlowField(2**32 * 4294967295 + 1, 8, 2**32)
FIELD128 = SlowField(2**66 * 4611686018427387897 + 1, 16, 2**66)


def dot(xs: list[int], ys: list[int], p: int) -> int:
    return sum(x * y for x, y in zip(xs, ys, strict=True)) % p


# ── circuits ─────────────────────────────────────────────────────────────────────────────────────────────────────────

Gadget = Callable[[list[int]], int]


class SlowCircuit:
    field: SlowField
    arity: int
    calls: int
    encoded_length: int
    joint_length = 0
    checks: int

    def gadget(self, wires: list[int]) -> int:
        """A sum of products of neighbours."""
        return sum(wires[j] * wires[j + 1] for j in range(0, len(wires), 2)) % self.field.modulus


class SlowCount(SlowCircuit):
    field, arity, calls, encoded_length, checks = FIELD64, 2, 1, 1, 1

    def encode(self, measurement: int) -> list[int]:
        return [int(measurement)]

    def evaluate(self, x: list[int], _joint: list[int], _shares: int, gadget: Gadget) -> list[int]:
        return [(gadget([x[0], x[0]]) - x[0]) % self.field.modulus]

    def truncate(self, x: list[int]) -> list[int]:
        return x

    def decode(self, total: list[int]) -> Any:
        return total[0]


def weights(largest: int) -> list[int]:
    bits = largest.bit_length()
    powers = [2**i for i in range(bits - 1)]
    return [*powers, largest - sum(powers)]


def write(value: int, largest: int) -> list[int]:
    assert 0 <= value <= largest
    bits = largest.bit_length()
    last = int(value > 2 ** (bits - 1) - 1)
    rest = value - last * weights(largest)[-1]
    return [rest // 2**i % 2 for i in range(bits - 1)] + [last]


class SlowSum(SlowCount):
    arity = 1

    def __init__(self, max_measurement: int) -> None:
        self.largest = max_measurement
        self.calls = self.encoded_length = self.checks = max_measurement.bit_length()

    def gadget(self, wires: list[int]) -> int:
        return (wires[0] ** 2 - wires[0]) % self.field.modulus

    def encode(self, measurement: int) -> list[int]:
        return write(measurement, self.largest)

    def evaluate(self, x: list[int], _joint: list[int], _shares: int, gadget: Gadget) -> list[int]:
        return [gadget([bit]) for bit in x]

    def truncate(self, x: list[int]) -> list[int]:
        return [dot(x, weights(self.largest), self.field.modulus)]


class SlowChunked(SlowCircuit):
    field = FIELD128

    def __init__(self, encoded_length: int, chunk_length: int, checks: int, field: SlowField = FIELD128) -> None:
        self.field = field
        self.encoded_length, self.chunk_length, self.checks = encoded_length, chunk_length, checks
        self.arity = 2 * chunk_length
        self.calls = self.joint_length = (encoded_length + chunk_length - 1) // chunk_length

    def in_range(self, x: list[int], joint: list[int], shares: int, gadget: Gadget) -> int:
        p = self.field.modulus
        part = pow(shares, -1, p)
        total = 0
        for i in range(self.calls):
            wires = []
            for j in range(self.chunk_length):
                at = i * self.chunk_length + j
                element = x[at] if at < len(x) else 0
                wires += [pow(joint[i], j + 1, p) * element % p, (element - part) % p]
            total += gadget(wires)
        return total % p

    def decode(self, total: list[int]) -> Any:
        return total


class SlowSumVec(SlowChunked):
    def __init__(self, length: int, max_measurement: int, chunk_length: int, field: SlowField = FIELD128) -> None:
        self.largest, self.bits = max_measurement, max_measurement.bit_length()
        super().__init__(length * self.bits, chunk_length, 1, field)

    def encode(self, measurement: list[int]) -> list[int]:
        return [bit for value in measurement for bit in write(value, self.largest)]

    def evaluate(self, x: list[int], joint: list[int], shares: int, gadget: Gadget) -> list[int]:
        return [self.in_range(x, joint, shares, gadget)]

    def truncate(self, x: list[int]) -> list[int]:
        parts = [x[at : at + self.bits] for at in range(0, len(x), self.bits)]
        return [dot(part, weights(self.largest), self.field.modulus) for part in parts]


class SlowHistogram(SlowChunked):
    def __init__(self, length: int, chunk_length: int) -> None:
        super().__init__(length, chunk_length, 2)

    def encode(self, measurement: int) -> list[int]:
        return [int(k == measurement) for k in range(self.encoded_length)]

    def evaluate(self, x: list[int], joint: list[int], shares: int, gadget: Gadget) -> list[int]:
        p = self.field.modulus
        return [self.in_range(x, joint, shares, gadget), (sum(x) - pow(shares, -1, p)) % p]

    def truncate(self, x: list[int]) -> list[int]:
        return x


class SlowMultihot(SlowChunked):
    def __init__(self, length: int, max_weight: int, chunk_length: int) -> None:
        self.length, self.largest = length, max_weight
        super().__init__(length + max_weight.bit_length(), chunk_length, 2)

    def encode(self, measurement: list[bool]) -> list[int]:
        return [int(bit) for bit in measurement] + write(sum(measurement), self.largest)

    def evaluate(self, x: list[int], joint: list[int], shares: int, gadget: Gadget) -> list[int]:
        p = self.field.modulus
        weight = sum(x[: self.length]) - dot(x[self.length :], weights(self.largest), p)
        return [self.in_range(x, joint, shares, gadget), weight % p]

    def truncate(self, x: list[int]) -> list[int]:
        return x[: self.length]


class SlowL1BoundSum(SlowChunked):
    """Beside draft-ietf-ppm-l1-bound-sum-02, section 3."""

    def __init__(self, length: int, max_value: int, chunk_length: int) -> None:
        self.length, self.largest, self.bits = length, max_value, max_value.bit_length()
        super().__init__((length + 1) * self.bits, chunk_length, 2)

    def encode(self, measurement: list[int]) -> list[int]:
        return [bit for value in [*measurement, sum(measurement)] for bit in write(value, self.largest)]

    def numbers(self, x: list[int]) -> list[int]:
        parts = [x[at : at + self.bits] for at in range(0, len(x), self.bits)]
        return [dot(part, weights(self.largest), self.field.modulus) for part in parts]

    def evaluate(self, x: list[int], joint: list[int], shares: int, gadget: Gadget) -> list[int]:
        *numbers, claimed = self.numbers(x)
        return [self.in_range(x, joint, shares, gadget), (sum(numbers) - claimed) % self.field.modulus]

    def truncate(self, x: list[int]) -> list[int]:
        return self.numbers(x)[: self.length]


# ── proofs ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class SlowProof:
    def __init__(self, circuit: Any) -> None:
        self.circuit = circuit
        self.points = 1
        while self.points < circuit.calls + 1:
            self.points *= 2
        self.polynomial = 2 * (self.points - 1) + 1
        self.length = circuit.arity + self.polynomial
        self.query_length = 1 + (circuit.checks if circuit.checks > 1 else 0)
        self.verifier_length = circuit.arity + 2

    def prove(self, x: list[int], prove: list[int], joint: list[int]) -> list[int]:
        circuit, field = self.circuit, self.circuit.field
        wires = [[seed] for seed in prove]

        def record(inputs: list[int]) -> int:
            for wire, value in zip(wires, inputs, strict=True):
                wire.append(value)
            return circuit.gadget(inputs)

        circuit.evaluate(x, joint, 1, record)
        wires = [wire + [0] * (self.points - len(wire)) for wire in wires]
        out = []
        for i in range(self.polynomial):
            at = pow(field.root(2 * self.points), i, field.modulus)
            basis = field.basis(self.points, self.points, at)
            out.append(circuit.gadget([dot(wire, basis, field.modulus) for wire in wires]))
        return prove + out

    def query(self, x: list[int], proof: list[int], query: list[int], joint: list[int], shares: int) -> list[int]:
        circuit, field = self.circuit, self.circuit.field
        wires = [[seed] for seed in proof[: circuit.arity]]
        polynomial = proof[circuit.arity :]

        def look_up(inputs: list[int]) -> int:
            for wire, value in zip(wires, inputs, strict=True):
                wire.append(value)
            return polynomial[2 * (len(wires[0]) - 1)]

        results = circuit.evaluate(x, joint, shares, look_up)
        point = query[-1]
        value = dot(query[:-1], results, field.modulus) if circuit.checks > 1 else results[0]
        if pow(point, self.points, field.modulus) == 1:
            raise ValueError("test point is a root of unity")
        basis = field.basis(self.points, self.points, point)
        checks = [dot(wire + [0] * (self.points - len(wire)), basis, field.modulus) for wire in wires]
        # The polynomial's degree is one less than the number of its values: they determine it without the last point.
        gadget = dot(polynomial, field.basis(2 * self.points, self.polynomial, point), field.modulus)
        return [value, *checks, gadget]

    def decide(self, verifier: list[int]) -> bool:
        return verifier[0] == 0 and self.circuit.gadget(verifier[1:-1]) == verifier[-1]


# ── Prio3 ────────────────────────────────────────────────────────────────────────────────────────────────────────────


class SlowPrio3:
    def __init__(self, circuit: Any, shares: int, algorithm: int, proofs: int = 1) -> None:
        self.circuit, self.shares, self.algorithm, self.proofs = circuit, shares, algorithm, proofs
        self.field = circuit.field
        self.proof = SlowProof(circuit)
        self.joint = circuit.joint_length > 0
        self.randomness_size = 32 * shares * (2 if self.joint else 1)

    def tag(self, usage: int, context: bytes) -> bytes:
        return bytes([VERSION, 0]) + self.algorithm.to_bytes(4, "big") + usage.to_bytes(2, "big") + context

    def vector(self, usage: int, context: bytes, seed: bytes, binder: bytes, length: int) -> list[int]:
        return self.field.next_vector(xof(seed, self.tag(usage, context), binder), length) if length else []

    def measurement_of(self, context: bytes, server: int, seed: bytes) -> list[int]:
        return self.vector(1, context, seed, bytes([server]), self.circuit.encoded_length)

    def proofs_of(self, context: bytes, server: int, seed: bytes) -> list[int]:
        return self.vector(2, context, seed, bytes([self.proofs, server]), self.proof.length * self.proofs)

    def part(self, context: bytes, server: int, blind: bytes, share: list[int], nonce: bytes) -> bytes:
        return xof(blind, self.tag(7, context), bytes([server]) + nonce + self.field.encode(share)).next(32)

    def joint_seed(self, context: bytes, parts: list[bytes]) -> bytes:
        return xof(bytes(32), self.tag(6, context), b"".join(parts)).next(32)

    def joint_rands(self, context: bytes, seed: bytes) -> list[int]:
        return self.vector(3, context, seed, bytes([self.proofs]), self.circuit.joint_length * self.proofs)

    def shard(self, context: bytes, measurement: Any, nonce: bytes, rand: bytes) -> tuple[bytes, list[bytes]]:
        p = self.field.modulus
        seeds = [rand[at : at + 32] for at in range(0, len(rand), 32)]
        x = self.circuit.encode(measurement)
        others = self.shares - 1
        if self.joint:
            helper_seeds = [seeds[2 * j] for j in range(others)]
            blinds = [seeds[2 * others]] + [seeds[2 * j + 1] for j in range(others)]
            prove_seed = seeds[2 * others + 1]
        else:
            helper_seeds, blinds, prove_seed = seeds[:others], [b""] * self.shares, seeds[others]
        helper_shares = [self.measurement_of(context, j + 1, helper_seeds[j]) for j in range(others)]
        leader = [(value - sum(share[i] for share in helper_shares)) % p for i, value in enumerate(x)]
        parts = []
        joint: list[int] = []
        if self.joint:
            every = [leader, *helper_shares]
            parts = [self.part(context, j, blinds[j], every[j], nonce) for j in range(self.shares)]
            joint = self.joint_rands(context, self.joint_seed(context, parts))
        prove = self.vector(4, context, prove_seed, bytes([self.proofs]), self.circuit.arity * self.proofs)
        proofs: list[int] = []
        for n in range(self.proofs):
            proofs += self.proof.prove(x, self.nth(prove, n), self.nth(joint, n))
        for j in range(others):
            masks = self.proofs_of(context, j + 1, helper_seeds[j])
            proofs = [(a - b) % p for a, b in zip(proofs, masks, strict=True)]
        inputs = [self.field.encode(leader) + self.field.encode(proofs) + blinds[0]]
        inputs += [helper_seeds[j] + blinds[j + 1] for j in range(others)]
        return b"".join(parts), inputs

    def nth(self, values: list[int], n: int) -> list[int]:
        each = len(values) // self.proofs
        return values[n * each : (n + 1) * each]

    def verify_init(
        self, key: bytes, context: bytes, server: int, nonce: bytes, public: bytes, share: bytes
    ) -> tuple[tuple[list[int], bytes], bytes]:
        blind = b""
        if self.joint:
            share, blind = share[:-32], share[-32:]
        if server == 0:
            values = self.field.decode(share)
            x, proofs = values[: self.circuit.encoded_length], values[self.circuit.encoded_length :]
        else:
            x, proofs = self.measurement_of(context, server, share), self.proofs_of(context, server, share)
        part = seed = b""
        joint: list[int] = []
        if self.joint:
            part = self.part(context, server, blind, x, nonce)
            parts = [public[at : at + 32] for at in range(0, len(public), 32)]
            parts[server] = part
            seed = self.joint_seed(context, parts)
            joint = self.joint_rands(context, seed)
        query = self.vector(5, context, key, bytes([self.proofs]) + nonce, self.proof.query_length * self.proofs)
        told: list[int] = []
        for n in range(self.proofs):
            told += self.proof.query(x, self.nth(proofs, n), self.nth(query, n), self.nth(joint, n), self.shares)
        return (self.circuit.truncate(x), seed), self.field.encode(told) + part

    def verifier_shares_to_message(self, context: bytes, shares: list[bytes]) -> bytes:
        length = self.proof.verifier_length * self.proofs
        cut = length * self.field.size
        decoded = [self.field.decode(share[:cut]) for share in shares]
        total = [sum(values) % self.field.modulus for values in zip(*decoded, strict=True)]
        if not all(self.proof.decide(self.nth(total, n)) for n in range(self.proofs)):
            raise ValueError("proof verifier check failed")
        return self.joint_seed(context, [share[cut:] for share in shares]) if self.joint else b""

    def verify_next(self, state: tuple[list[int], bytes], message: bytes) -> list[int]:
        if state[1] != message:
            raise ValueError("joint randomness check failed")
        return state[0]

    def add(self, shares: list[list[int]]) -> list[int]:
        return [sum(values) % self.field.modulus for values in zip(*shares, strict=True)]

    def unshard(self, sums: list[list[int]]) -> Any:
        return self.circuit.decode(self.add(sums))


def slow(name: str, shares: int, **given: int) -> SlowPrio3:
    """By the name of its kind, as files of test vectors are."""
    kinds: dict[str, tuple[Callable[..., Any], int]] = {
        "Prio3Count": (SlowCount, 1),
        "Prio3Sum": (SlowSum, 2),
        "Prio3SumVec": (SlowSumVec, 3),
        "Prio3Histogram": (SlowHistogram, 4),
        "Prio3MultihotCountVec": (SlowMultihot, 5),
        "Prio3L1BoundSum": (SlowL1BoundSum, 7),
    }
    if name == "Prio3SumVecWithMultiproof":
        proofs = given.pop("proofs", 3)
        return SlowPrio3(SlowSumVec(**given, field=FIELD64), shares, 0xFFFFFFFF, proofs)
    circuit, algorithm = kinds[name]
    return SlowPrio3(circuit(**given), shares, algorithm)
