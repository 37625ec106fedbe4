"""The paper's way: clients encrypt to a key server, an aggregator adds what it cannot read, the key server opens sums.

Goetz 2012, chapter 5, with BFV in place of Paillier: thousands of counters in one ciphertext.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from hubbub.errors import HubbubError, InvalidInput, InvalidParameter, QueryMismatch
from hubbub.extras import missing
from hubbub.gather.opened import Opened
from hubbub.gather.query import Query
from hubbub.gather.scheme import FIRST, SECOND, Part, Scheme, Started, Total
from hubbub.noise import ByteSource, require_secure
from hubbub.noise.system import DEFAULT

SLOTS = 4096
"""The degree of the ring: so many counters are in one ciphertext. SEAL takes no weaker parameters than 128 bits."""
MODULUS_BITS = 72
"""Of SEAL's default for this degree and 128 bits of security: 36 + 36 (and 37 that never carry data)."""
FRESH_NOISE_BITS = 5 + math.log2(2 * SLOTS + 1)
"""A fresh ciphertext's error is below 2^5 (2 x 4096 + 1): SEAL cuts errors at 6 x 3.2 < 2^5, and keys are -1, 0, 1."""
LARGEST_PART = 1 << 17
"""Bytes of one ciphertext; 88,600 are usual."""
NONCE_SIZE = 16
KEYS = b"hubbub gather keys 1\n"
UNCHECKED = "Nobody could check that a client added no more than one honest answer, or that it added its noise."


class HomomorphicScheme(Scheme):
    """E(b + r) under the key server's key; the first server adds, the second opens sums of enough reports.

    `keys(query)` makes the key server's pair once. Clients and the aggregator get the public half.

    Guarantee
        Protected: each client's answer, as the query's noise says, from a key server that sees sums alone and from an
        aggregator that sees ciphertexts and the result. Both follow the protocol, and do not work together.
        Not covered: clients that lie about what they count or about their noise (`Prio3Scheme` proves the former); what
        a key server could read out of the errors of a ciphertext; both servers together; who answers; time.
        Proof: docs/proofs/gather.md, sections 4 to 6 (proved, given that BFV hides what it encrypts).
    """

    name = "homomorphic"

    def __init__(
        self,
        query: Query,
        *,
        public: bytes | None = None,
        secret: bytes | None = None,
        source: ByteSource | None = None,
    ) -> None:
        super().__init__(query)
        if (public is None) == (secret is None):
            raise InvalidParameter("Give the `public` half of the keys, or, for the key server, the `secret` one.")
        require_secure(source)
        self._source: ByteSource = DEFAULT if source is None else source
        self._keys = _context(query, secret if public is None else public)
        self._opens = secret is not None
        if self._opens != self._keys.is_private():
            raise InvalidParameter("The secret half of the keys is for the key server alone, and it needs it.")
        self._tag = _tag(query, self._keys)

    def encode(self, measurement: Any) -> tuple[Part, Part]:
        query = self.query
        circuit = query.circuit
        values = np.array(circuit.field.to_ints(circuit.truncate(circuit.encode(measurement)[:, None])[:, 0]))
        if query.noise.from_clients:
            values = values + query.noise.draw(circuit.output_length)
        vectors = [_tenseal().bfv_vector(self._keys, part.tolist()) for part in self._slots(values)]
        nonce = bytes(self._source.take(NONCE_SIZE))
        return Part(nonce, self._tag + _packed(vectors)), Part(nonce, b"")

    def start(self, server: int, parts: Sequence[Part]) -> list[Started | HubbubError]:
        answers: list[Started | HubbubError] = []
        for part in parts:
            try:
                answers.append(Started(part.nonce, told=b"", kept=self._unpacked(server, part.body)))
            except (InvalidInput, QueryMismatch) as error:
                answers.append(error)
        return answers

    def check(self, server: int, started: Sequence[Started], told: Sequence[bytes]) -> list[Any | HubbubError]:  # noqa: ARG002
        """A ciphertext tells nothing about what is in it: whatever is well formed is accepted."""
        return [one.kept for one in started]

    def add(self, server: int, accepted: Sequence[Any], before: Total | None = None) -> Total:
        reports = (before.reports if before else 0) + len(accepted)
        if server == SECOND:
            return Total(reports, None)
        total = None if before is None else before.share
        for vectors in accepted:
            total = vectors if total is None else [a + b for a, b in zip(total, vectors, strict=True)]
        return Total(reports, total)

    def noisy(self, server: int, total: Total) -> bytes:
        self.enough(total.reports)
        if server == SECOND:
            return b""
        vectors = total.share
        if not self.query.noise.from_clients:
            noise = self._slots(self.query.noise.draw(self.query.circuit.output_length))
            vectors = [vector + part.tolist() for vector, part in zip(vectors, noise, strict=True)]
        return self._tag + _packed(vectors)

    def open(self, shares: Sequence[bytes], reports: int) -> Opened:
        self.enough(reports)
        if not self._opens:
            raise InvalidParameter("Only the key server opens sums, and it needs the secret half of the keys.")
        vectors = self._unpacked(FIRST, shares[FIRST])
        sums = [int(value) for vector in vectors for value in vector.decrypt()]
        if not self.query.noise.from_clients:
            drawn = self.query.noise.draw(len(sums))
            sums = [value + int(noise) for value, noise in zip(sums, drawn, strict=True)]
        return self.opened(sums, reports, UNCHECKED)

    def encode_total(self, server: int, total: Total) -> bytes:  # noqa: ARG002
        count = total.reports.to_bytes(8, "big")
        return count if total.share is None else count + self._tag + _packed(total.share)

    def decode_total(self, server: int, data: bytes) -> Total:
        share = self._unpacked(server, data[8:]) if len(data) > 8 else None
        return Total(int.from_bytes(data[:8], "big"), share)

    def _slots(self, values: Any) -> list[Any]:
        return [values[at : at + SLOTS] for at in range(0, len(values), SLOTS)]

    def _unpacked(self, server: int, body: bytes) -> list[Any]:
        if server == SECOND:
            if body:
                raise InvalidInput("The key server gets nothing from clients.", "Was this the aggregator's part?")
            return []
        if not body.startswith(self._tag):
            raise QueryMismatch("This ciphertext is for another query or under another key.")
        vectors, rest = [], body[len(self._tag) :]
        for size in self._sizes():
            length = int.from_bytes(rest[:4], "big")
            data, rest = rest[4 : 4 + length], rest[4 + length :]
            if not 0 < length <= LARGEST_PART or len(data) != length:
                raise InvalidInput("This ciphertext is cut, or longer than any can be.")
            vectors.append(_vector(self._keys, data, size))
        if rest:
            raise InvalidInput("There is more behind the last ciphertext.")
        return vectors

    def _sizes(self) -> list[int]:
        length = self.query.circuit.output_length
        return [min(SLOTS, length - at) for at in range(0, length, SLOTS)]


def keys(query: Query) -> tuple[bytes, bytes]:
    """A new pair for one query, public and secret half. Sums that might not fit are refused here."""
    seal = _tenseal()
    context = seal.context(seal.SCHEME_TYPE.BFV, poly_modulus_degree=SLOTS, plain_modulus=plain_modulus(query))
    kept = {"save_public_key": True, "save_galois_keys": False, "save_relin_keys": False}
    halves = [context.serialize(save_secret_key=secret, **kept) for secret in (False, True)]
    begin = KEYS + query.digest
    return begin + halves[0], begin + halves[1]


def plain_modulus(query: Query) -> int:
    """The smallest prime in which all counters of a ciphertext add up on their own, and no sum overflows.

    Sums must lie within half of it around zero; so many ciphertexts added up must still be readable.
    """
    modulus = next_prime(2 * query.largest_sum + 1, 2 * SLOTS)
    used = math.log2(modulus) + math.log2(query.clients + 1) + FRESH_NOISE_BITS + 1
    if used > MODULUS_BITS:
        raise InvalidParameter(
            f"Sums of {query.clients:,} reports up to {query.circuit.largest:,} each need {used:.0f} bits; a "
            f"ciphertext has {MODULUS_BITS}.",
            "Plan for fewer clients or smaller numbers, or use Prio3.",
        )
    return modulus


@lru_cache(maxsize=64)
def next_prime(above: int, step: int) -> int:
    """The first prime from `above` on that leaves 1 when divided by `step`.

    >>> next_prime(10_000, 8192)
    40961
    """
    candidate = -(-(above - 1) // step) * step + 1
    while not is_prime(candidate):
        candidate += step
    return candidate


def is_prime(number: int) -> bool:
    """For numbers below 3 x 10^24, by Miller and Rabin with the first 13 primes (Sorenson & Webster 2015)."""
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
    if number < 2 or any(number % base == 0 for base in bases):
        return number in bases
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return all(_seems_prime(number, base, odd, twos) for base in bases)


def _seems_prime(number: int, base: int, odd: int, twos: int) -> bool:
    power = pow(base, odd, number)
    if power in (1, number - 1):
        return True
    for _ in range(twos - 1):
        power = power * power % number
        if power == number - 1:
            return True
    return False


@lru_cache(maxsize=1)
def _tenseal() -> Any:
    try:
        import tenseal
    except ModuleNotFoundError as error:
        raise missing(error) or error from None
    return tenseal


def _context(query: Query, data: bytes | None) -> Any:
    begin = KEYS + query.digest
    if not isinstance(data, bytes) or not data.startswith(KEYS):
        raise InvalidInput("These are no keys of this scheme.", "Were they made by another version?")
    if not data.startswith(begin):
        raise QueryMismatch("These keys were made for another query, whose sums may be larger or smaller.")
    try:
        return _tenseal().context_from(data[len(begin) :])
    except (RuntimeError, ValueError):
        raise InvalidInput("These keys are damaged.", "Were they cut?") from None


def _tag(query: Query, context: Any) -> bytes:
    """Names the query and the public key: a ciphertext for another one is told before it is added."""
    public = context.copy()
    if public.is_private():
        public.make_context_public()
    data = public.serialize(save_public_key=True, save_secret_key=False, save_galois_keys=False, save_relin_keys=False)
    return hashlib.sha256(query.digest + hashlib.sha256(data).digest()).digest()[:16]


def _packed(vectors: Sequence[Any]) -> bytes:
    parts = [vector.serialize() for vector in vectors]
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def _vector(context: Any, data: bytes, size: int) -> Any:
    try:
        vector = _tenseal().bfv_vector_from(context, data)
    except (RuntimeError, ValueError):
        raise InvalidInput("This is no ciphertext of this scheme.") from None
    if vector.size() != size or len(vector.ciphertext()) != 1:
        raise InvalidInput(f"A ciphertext here holds {size:,} counters; this one does not.")
    return vector
