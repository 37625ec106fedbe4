"""The fast Prio3 beside the slow one, on drawn kinds, sizes, measurements, randomness and damage."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.prio3_vectors import KINDS
from tests.support.slow_prio3 import FIELD64, FIELD128, Shake, slow

from hubbub.errors import HubbubError, InvalidInput, ReportRejected
from hubbub.gather.prio3 import Field64, Field128, ReportShare, XofTurboShake128

SLOW_FIELDS = {Field64: FIELD64, Field128: FIELD128}
fields = st.sampled_from([Field64, Field128])


def elements(field: Any) -> st.SearchStrategy[int]:
    """Any number of so many bytes, near the edges above all: also those that are no element."""
    p, full = field.modulus, 256**field.encoded_size
    edges = [0, 1, p - 1, p, p + 1, full - 1, 2**32, 2**32 - 1, 2**64 - 1, 2**64, 2**96 - 1, p - 2**32, full - 2**32]
    return st.one_of(st.sampled_from([value % full for value in edges]), st.integers(0, full - 1))


def loose(field: Any, values: list[int]) -> Any:
    import numpy as np

    data = b"".join(value.to_bytes(field.encoded_size, "little") for value in values)
    return field.from_words(np.frombuffer(data, dtype=np.uint8).reshape(-1, field.encoded_size))


@given(data=st.data(), field=fields)
def test_arithmetic_of_loose_elements(data, field):
    p = field.modulus
    size = data.draw(st.integers(1, 20))
    xs, ys = (data.draw(st.lists(elements(field), min_size=size, max_size=size)) for _ in "xy")
    x, y = loose(field, xs), loose(field, ys)
    pairs = list(zip(xs, ys, strict=True))
    assert field.to_ints(field.mul(x, y)) == [a * b % p for a, b in pairs]
    assert field.to_ints(field.add(x, y)) == [(a + b) % p for a, b in pairs]
    assert field.to_ints(field.sub(x, y)) == [(a - b) % p for a, b in pairs]
    assert field.to_ints(field.neg(x)) == [-a % p for a in xs]
    assert field.to_ints(field.sum(x)[:, None]) == [sum(xs) % p]
    assert field.to_ints(field.dot(x, y)[:, None]) == [sum(a * b for a, b in pairs) % p]
    assert field.is_zero(x).tolist() == [a % p == 0 for a in xs]
    assert field.equal(x, y).tolist() == [(a - b) % p == 0 for a, b in pairs]
    assert field.to_ints(field.powers(x[:, 0], 9)) == [pow(xs[0], k, p) for k in range(1, 10)]
    # What the next operation gets is as good as what this one got.
    again = field.mul(field.sub(field.add(x, y), x), field.mul(x, x))
    assert field.to_ints(again) == [a * a * b % p for a, b in pairs]


@given(data=st.data(), field=fields, log=st.integers(1, 5))
def test_polynomials(data, field, log):
    p, n = field.modulus, 1 << log
    coefficients = data.draw(st.lists(elements(field), min_size=n, max_size=n))
    t = data.draw(elements(field)) % p

    def at(x: int) -> int:
        return sum(c * pow(x, k, p) for k, c in enumerate(coefficients)) % p

    root, half = field.root(n), field.root(2 * n)
    assert half * half % p == root
    assert pow(root, n // 2, p) == p - 1
    values = field.transform(loose(field, coefficients))
    assert field.to_ints(values) == [at(pow(root, k, p)) for k in range(n)]
    assert field.to_ints(field.between(values)) == [at(pow(half, 2 * k + 1, p)) for k in range(n)]
    assert field.to_ints(field.dot(field.lagrange(field.constant(t), n), values)[:, None]) == [at(t)]


@given(message=st.binary(max_size=700), lengths=st.lists(st.integers(1, 400), min_size=1, max_size=4))
@settings(max_examples=30)
def test_streams_of_bytes(message, lengths):
    ours = XofTurboShake128(b"", b"", message)
    plain = Shake(b"\x00\x00\x00" + message)
    for length in lengths:
        assert ours.next(length) == plain.next(length)


@given(data=st.data(), field=fields, chance=st.sampled_from([0.1, 0.5, 0.9]))
def test_what_encodes_no_element_is_passed_over(data, field, chance):
    """In nature once in 2^32 or 2^59: here the stream is made of such words."""
    random = Random(data.draw(st.integers(0, 2**32)))
    size, full = field.encoded_size, 256**field.encoded_size
    words = [random.randrange(field.modulus, full) if random.random() < chance else random.randrange(field.modulus)
             for _ in range(400)]  # fmt: skip
    stream = b"".join(word.to_bytes(size, "little") for word in words)

    class Canned:
        def __init__(self) -> None:
            self.at = 0

        def next(self, length: int) -> bytes:
            self.at += length
            return stream[self.at - length : self.at]

    good = [word for word in words if word < field.modulus]
    plain = Canned()
    ours = XofTurboShake128(b"", b"", b"")
    ours.next = Canned().next  # type: ignore[method-assign]
    for length in (1, 5, 9):
        assert field.to_ints(ours.next_vector(field, length)) == good[:length]
        assert SLOW_FIELDS[field].next_vector(plain, length) == good[:length]
        good = good[length:]


def _cut(numbers: list[int], bound: int) -> list[int]:
    """What fits of them, one after the other."""
    kept = []
    for number in numbers:
        kept.append(min(number, bound))
        bound -= kept[-1]
    return kept


@st.composite
def kinds(draw: Any) -> tuple[str, int, dict[str, int], Any]:
    """A kind of Prio3, its number of servers and parameters, and a strategy for measurements."""
    name = draw(st.sampled_from(sorted(KINDS)))
    shares = draw(st.integers(2, 4))
    length, chunk = draw(st.integers(1, 9)), draw(st.integers(1, 10))
    largest = draw(st.one_of(st.integers(1, 20), st.sampled_from([2**40, 2**62 + 1, 2**63 - 1])))
    if name == "Prio3Count":
        return name, shares, {}, st.integers(0, 1)
    if name == "Prio3Sum":
        return name, shares, {"max_measurement": largest}, st.integers(0, largest)
    if name == "Prio3Histogram":
        return name, shares, {"length": length, "chunk_length": chunk}, st.integers(0, length - 1)
    if name == "Prio3MultihotCountVec":
        most = draw(st.integers(1, length))
        some = st.lists(st.booleans(), min_size=length, max_size=length).filter(lambda bits: sum(bits) <= most)
        return name, shares, {"length": length, "max_weight": most, "chunk_length": chunk}, some
    if name == "Prio3L1BoundSum":
        bound = min(largest, 20)
        vector = st.lists(st.integers(0, bound), min_size=length, max_size=length).map(lambda given: _cut(given, bound))
        return name, shares, {"length": length, "max_value": bound, "chunk_length": chunk}, vector
    largest = min(largest, 20)
    params = {"length": length, "max_measurement": largest, "chunk_length": chunk}
    if name == "Prio3SumVecWithMultiproof":
        params["proofs"] = draw(st.integers(3, 5))
    return name, shares, params, st.lists(st.integers(0, largest), min_size=length, max_size=length)


@given(data=st.data(), kind=kinds(), seed=st.integers(0, 2**64))
@settings(max_examples=60)
def test_every_message_of_a_whole_round(data, kind, seed):
    name, shares, params, measurements = kind
    fast, plain = KINDS[name](shares, **params), slow(name, shares, **params)
    random = Random(seed)
    key, context = random.randbytes(32), random.randbytes(random.randrange(9))
    sums, plain_sums = [fast.aggregate([])] * shares, [[0] * fast.circuit.output_length] * shares
    for measurement in data.draw(st.lists(measurements, min_size=1, max_size=2)):
        nonce, rand = random.randbytes(16), random.randbytes(fast.randomness_size)
        public, inputs = fast.shard(context, measurement, nonce, rand)
        assert (public, inputs) == plain.shard(context, measurement, nonce, rand)
        begun = [fast.verify_init(key, context, k, ReportShare(nonce, public, inputs[k])) for k in range(shares)]
        plainly = [plain.verify_init(key, context, k, nonce, public, inputs[k]) for k in range(shares)]
        assert [share for _, share in begun] == [share for _, share in plainly]
        told = [share for _, share in begun]
        message = fast.verifier_shares_to_message(context, told)
        assert message == plain.verifier_shares_to_message(context, told)
        outputs = [fast.verify_next(state, message) for state, _ in begun]
        plain_outputs = [plain.verify_next(state, message) for state, _ in plainly]
        assert [fast.encode_share(output) for output in outputs] == [plain.field.encode(o) for o in plain_outputs]
        sums = [fast.aggregate([output], total) for total, output in zip(sums, outputs, strict=True)]
        plain_sums = [plain.add([total, output]) for total, output in zip(plain_sums, plain_outputs, strict=True)]
    assert fast.unshard(sums) == plain.unshard(plain_sums)


@given(data=st.data(), kind=kinds(), seed=st.integers(0, 2**64))
@settings(max_examples=60)
def test_damage_is_refused_by_both_at_the_same_step(data, kind, seed):
    name, shares, params, measurements = kind
    fast, plain = KINDS[name](shares, **params), slow(name, shares, **params)
    random = Random(seed)
    key, context, nonce = random.randbytes(32), b"c", random.randbytes(16)
    public, inputs = fast.shard(context, data.draw(measurements), nonce, random.randbytes(fast.randomness_size))
    parts = [public, *inputs]
    which = data.draw(st.integers(0 if public else 1, shares))
    spoilt = bytearray(parts[which])
    spoilt[data.draw(st.integers(0, len(spoilt) - 1))] ^= data.draw(st.integers(1, 255))
    parts[which] = bytes(spoilt)

    def fast_way() -> str:
        try:
            begun = [
                fast.verify_init(key, context, k, ReportShare(nonce, parts[0], parts[k + 1])) for k in range(shares)
            ]
        except InvalidInput:
            return "init"
        try:
            message = fast.verifier_shares_to_message(context, [share for _, share in begun])
        except ReportRejected:
            return "message"
        for state, _ in begun:
            with pytest.raises(ReportRejected):
                fast.verify_next(state, message)
        return "next"

    def plain_way() -> str:
        try:
            begun = [plain.verify_init(key, context, k, nonce, parts[0], parts[k + 1]) for k in range(shares)]
        except AssertionError:
            return "init"
        try:
            message = plain.verifier_shares_to_message(context, [share for _, share in begun])
        except ValueError:
            return "message"
        return "next" if all(state[1] != message for state, _ in begun) else "accepted"

    assert fast_way() == plain_way() != "accepted"


@given(kind=kinds(), seed=st.integers(0, 2**64), data=st.data())
@settings(max_examples=40)
def test_many_at_once_answer_as_one_by_one(kind, seed, data):
    name, shares, params, measurements = kind
    fast = KINDS[name](shares, **params)
    random = Random(seed)
    key, context = random.randbytes(32), b"c"
    reports: list[list[ReportShare]] = []
    for measurement in data.draw(st.lists(measurements, min_size=1, max_size=6)):
        nonce = random.randbytes(16)
        public, inputs = fast.shard(context, measurement, nonce, random.randbytes(fast.randomness_size))
        if random.random() < 0.3:
            inputs[0] = bytes([inputs[0][0] ^ 1]) + inputs[0][1:]
        if random.random() < 0.2:
            inputs[0] = inputs[0][:-1]
        reports.append([ReportShare(nonce, public, share) for share in inputs])

    def one(what: Any, *arguments: Any) -> Any:
        try:
            return what(*arguments)
        except HubbubError as error:
            return type(error)

    def plain(answer: Any) -> Any:
        return type(answer) if isinstance(answer, HubbubError) else answer

    many = [fast.verify_init_many(key, context, k, [report[k] for report in reports]) for k in range(shares)]
    told = []
    for at, report in enumerate(reports):
        for k in range(shares):
            alone, together = one(fast.verify_init, key, context, k, report[k]), plain(many[k][at])
            if isinstance(alone, type):
                assert alone is together
            else:
                assert alone[1] == together[1]
                assert alone[0].joint_seed == together[0].joint_seed
                assert fast.encode_share(alone[0].output_share) == fast.encode_share(together[0].output_share)
        told.append([b"" if isinstance(many[k][at], HubbubError) else many[k][at][1] for k in range(shares)])
    messages = fast.verifier_shares_to_message_many(context, told)
    assert [plain(message) for message in messages] == [one(fast.verifier_shares_to_message, context, t) for t in told]
