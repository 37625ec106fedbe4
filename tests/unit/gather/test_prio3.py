"""What Prio3 refuses, and what it tells about itself."""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

import pytest

from hubbub.errors import InvalidInput, InvalidParameter, ReportRejected
from hubbub.gather.prio3 import (
    Count,
    Field64,
    Field128,
    Histogram,
    L1BoundSum,
    MultihotCountVec,
    Prio3,
    Prio3Count,
    Prio3Histogram,
    Prio3L1BoundSum,
    Prio3MultihotCountVec,
    Prio3Sum,
    Prio3SumVec,
    ReportShare,
    Sum,
    SumVec,
    XofTurboShake128,
    best_chunk_length,
)

KEY, CONTEXT, NONCE = bytes(range(32)), b"tests", bytes(16)


def sharded(prio3: Any, measurement: Any, seed: int = 1, nonce: bytes = NONCE) -> list[ReportShare]:
    public, inputs = prio3.shard(CONTEXT, measurement, nonce, Random(seed).randbytes(prio3.randomness_size))
    return [ReportShare(nonce, public, share) for share in inputs]


def checked(prio3: Any, reports: list[ReportShare]) -> list[Any]:
    begun = [prio3.verify_init(KEY, CONTEXT, k, report) for k, report in enumerate(reports)]
    message = prio3.verifier_shares_to_message(CONTEXT, [share for _, share in begun])
    return [prio3.verify_next(state, message) for state, _ in begun]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Prio3Count(shares=1), "shares"),
        (lambda: Prio3Count(shares=256), "shares"),
        (lambda: Prio3Count(shares=True), "shares"),
        (lambda: Prio3(Count(), 2, 1, proofs=0), "proofs"),
        (lambda: Prio3(SumVec(2, 1, 1, Field64), 2, 1, proofs=2), "proofs"),
        (lambda: Prio3Sum(max_measurement=0), "largest"),
        (lambda: Prio3Sum(max_measurement=Field64.modulus), "largest"),
        (lambda: Prio3Histogram(length=0), "encoded_length"),
        (lambda: Prio3Histogram(length=4, chunk_length=0), "chunk_length"),
        (lambda: Prio3Histogram(length=2**24 + 1, chunk_length=1), "length"),
        (lambda: Prio3MultihotCountVec(length=4, max_weight=5), "max_weight"),
        (lambda: Prio3SumVec(length=4, max_measurement=-1), "largest"),
        (lambda: Prio3L1BoundSum(length=0, max_value=2), "length"),
        (lambda: Prio3L1BoundSum(length=4, max_value=0), "max_value"),
    ],
)
def test_parameters_that_make_no_sense(make, words):
    with pytest.raises(InvalidParameter, match=words):
        make()


@pytest.mark.parametrize(
    ("prio3", "measurement"),
    [
        (Prio3Count(), 2),
        (Prio3Count(), -1),
        (Prio3Count(), 0.5),
        (Prio3Sum(max_measurement=9), 10),
        (Prio3Histogram(length=4), 4),
        (Prio3SumVec(length=2, max_measurement=3), [1]),
        (Prio3SumVec(length=2, max_measurement=3), [1, 4]),
        (Prio3MultihotCountVec(length=3, max_weight=1), [True, True, False]),
        (Prio3MultihotCountVec(length=3, max_weight=1), [True]),
        (Prio3MultihotCountVec(length=3, max_weight=1), [2, 0, 0]),
        (Prio3L1BoundSum(length=3, max_value=2), [3, 0, 0]),
        (Prio3L1BoundSum(length=3, max_value=2), [1, 1, 1]),
        (Prio3L1BoundSum(length=3, max_value=2), [1, 1]),
    ],
)
def test_a_measurement_that_is_not_allowed_is_refused_and_not_repeated(prio3, measurement):
    with pytest.raises(InvalidInput) as refused:
        sharded(prio3, measurement)
    told = str(refused.value).replace("whole number from 0 to", "")
    assert str(measurement) not in told.split()


def test_wrong_sizes():
    count, histogram = Prio3Count(), Prio3Histogram(length=3)
    with pytest.raises(InvalidParameter, match="nonce"):
        count.shard(CONTEXT, 1, b"short", bytes(64))
    with pytest.raises(InvalidParameter, match="randomness"):
        count.shard(CONTEXT, 1, NONCE, bytes(63))
    good = sharded(histogram, 1)
    with pytest.raises(InvalidParameter, match="verify_key"):
        histogram.verify_init(b"", CONTEXT, 0, good[0])
    for server in (-1, 2, True, "0"):
        with pytest.raises(InvalidParameter, match="server"):
            histogram.verify_init(KEY, CONTEXT, server, good[0])
    whole = good[0]
    for report, words in [
        (ReportShare(b"", whole.public_share, whole.input_share), "nonce"),
        (ReportShare(NONCE, b"", whole.input_share), "public share"),
        (ReportShare(NONCE, whole.public_share, whole.input_share[:-1]), "input share"),
        (ReportShare(NONCE, whole.public_share, b""), "input share"),
        (ReportShare(NONCE, whole.public_share, "text"), "input share"),
    ]:
        with pytest.raises(InvalidInput, match=words):
            histogram.verify_init(KEY, CONTEXT, 0, report)
    with pytest.raises(InvalidInput, match="input share"):
        histogram.verify_init(KEY, CONTEXT, 1, whole)  # the leader's share, given to the helper
    with pytest.raises(InvalidInput, match="all 2 servers"):
        histogram.verifier_shares_to_message(CONTEXT, [])
    with pytest.raises(InvalidInput, match="verifier share"):
        histogram.verifier_shares_to_message(CONTEXT, [b"", b""])
    state, _ = histogram.verify_init(KEY, CONTEXT, 0, whole)
    with pytest.raises(InvalidInput, match="verifier message"):
        histogram.verify_next(state, b"")
    with pytest.raises(InvalidParameter, match="all 2 servers"):
        histogram.unshard([state.output_share])
    with pytest.raises(InvalidInput, match="takes 48 bytes; got 47"):
        histogram.decode_share(bytes(47))
    with pytest.raises(InvalidParameter, match="context"):
        XofTurboShake128(bytes(32), bytes(2**16), b"")
    with pytest.raises(InvalidParameter, match="root of unity of order 3"):
        Field64.root(3)


@pytest.mark.parametrize("field", [Field64, Field128])
def test_a_number_beyond_the_modulus_is_no_element(field):
    size = field.encoded_size
    last = (field.modulus - 1).to_bytes(size, "little")
    assert field.to_ints(field.decode(last, 1)) == [field.modulus - 1]
    for wrong in (field.modulus, field.modulus + 1, 256**size - 1):
        with pytest.raises(InvalidInput, match="no element"):
            field.decode(last + wrong.to_bytes(size, "little"), 2)
    leader = sharded(Prio3Count(), 1)[0]
    if field is Field64:
        beyond = ReportShare(NONCE, b"", b"\xff" * 8 + leader.input_share[8:])
        with pytest.raises(InvalidInput, match="no element"):
            Prio3Count().verify_init(KEY, CONTEXT, 0, beyond)


@pytest.mark.parametrize("prio3", [Prio3Count(), Prio3Sum(max_measurement=5), Prio3Histogram(length=5)])
@pytest.mark.parametrize("which", [0, 1, -1])
def test_a_random_point_that_would_tell_a_wire_is_not_used(prio3, which, monkeypatch):
    reports = sharded(prio3, 1)
    roots = prio3.field.to_ints(prio3.field.roots(prio3.proof.points))
    real = prio3._expand

    def unlucky(context: bytes, usage: int, seed: bytes, binder: bytes, length: int) -> Any:
        drawn = real(context, usage, seed, binder, length)
        if usage == 5:
            drawn[..., -1] = prio3.field.constant(roots[which])
        return drawn

    monkeypatch.setattr(prio3, "_expand", unlucky)
    with pytest.raises(ReportRejected, match="random point"):
        prio3.verify_init(KEY, CONTEXT, 0, reports[0])


def test_servers_that_do_not_agree_reject():
    histogram = Prio3Histogram(length=4)
    reports = sharded(histogram, 2)
    for key, context in ((bytes(32), CONTEXT), (KEY, b"another query")):
        begun = [
            histogram.verify_init(KEY, CONTEXT, 0, reports[0]),
            histogram.verify_init(key, context, 1, reports[1]),
        ]
        with pytest.raises(ReportRejected):
            histogram.verifier_shares_to_message(CONTEXT, [share for _, share in begun])


def test_what_one_report_can_add():
    """Sensitivities, by trying all measurements of small circuits."""

    def all_of(circuit: Any, measurements: Any) -> None:
        encoded = [circuit.field.to_ints(circuit.truncate(circuit.encode(m)[:, None])[:, 0]) for m in measurements]
        assert max(sum(values) for values in encoded) == circuit.sensitivity
        assert max(sum(v * v for v in values) for values in encoded) == circuit.square_sensitivity
        assert max(max(values) for values in encoded) == circuit.largest

    all_of(Count(), range(2))
    all_of(Sum(5), range(6))
    all_of(SumVec(2, 3), itertools.product(range(4), repeat=2))
    all_of(Histogram(5), range(5))
    bits = [b for b in itertools.product([False, True], repeat=4) if sum(b) <= 3]
    all_of(MultihotCountVec(4, 3), bits)
    bounded = [numbers for numbers in itertools.product(range(4), repeat=3) if sum(numbers) <= 3]
    all_of(L1BoundSum(3, 3), bounded)
    differences = [[abs(x - y) for x, y in zip(*two, strict=True)] for two in itertools.product(bounded, repeat=2)]
    assert max(map(sum, differences)) == L1BoundSum(3, 3).change == 6
    assert max(sum(d * d for d in two) for two in differences) == L1BoundSum(3, 3).square_change == 18


def test_soundness_is_told():
    assert Prio3Count().soundness < 1e-18
    assert Prio3Histogram(length=4096).soundness < 1e-35
    several = Prio3(SumVec(10, 1, None, Field64), 2, 0xFFFFFFFF, 3)
    assert several.soundness < 1e-50


@pytest.mark.parametrize("length", [*range(1, 70), 1000, 4096, 5001])
def test_the_best_chunk_length_has_the_shortest_proof(length):
    def proof_length(chunk: int) -> int:
        return Prio3Histogram(length=length, chunk_length=chunk).proof.length

    candidates = range(1, length + 1) if length < 100 else range(1, 400)
    best = min((proof_length(chunk), chunk) for chunk in candidates)
    assert (proof_length(best_chunk_length(length)), best_chunk_length(length)) == best


def test_nothing_is_added_up_for_nobody():
    count = Prio3Count()
    assert count.unshard([count.aggregate([]), count.aggregate([])]) == 0


def test_shares_do_not_print():
    count = Prio3Count()
    report = sharded(count, 1)[0]
    state, _ = count.verify_init(KEY, CONTEXT, 0, report)
    assert "share" not in repr(report)
    assert "share" not in repr(state)


@pytest.mark.parametrize("field", [Field64, Field128])
def test_long_vectors_are_multiplied_as_short_ones_are(field):
    """Products are made in blocks; shapes that are broadcast must come out as they should."""
    random = Random(5)
    xs, ys = ([random.randrange(field.modulus) for _ in range(count)] for count in (3 * 3001, 3001))
    x, y = field.of(xs).reshape(field.limbs, 3, 3001), field.of(ys)
    found = field.to_ints(field.mul(x, y).reshape(field.limbs, -1))
    assert found == [a * ys[at % 3001] % field.modulus for at, a in enumerate(xs)]
    assert field.to_ints(field.mul(y, x)[:, 2]) == found[2 * 3001 :]


def test_what_encodes_no_element_is_passed_over():
    size = Field64.encoded_size
    words = [5, Field64.modulus, 2**64 - 1, 6, Field64.modulus + 1, 7, 8]
    stream = b"".join(word.to_bytes(size, "little") for word in words)
    xof = XofTurboShake128(b"", b"", b"")
    given = 0

    def canned(length: int) -> bytes:
        nonlocal given
        given += length
        return stream[given - length : given]

    xof.next = canned  # type: ignore[method-assign]
    assert Field64.to_ints(xof.next_vector(Field64, 3)) == [5, 6, 7]
    assert Field64.to_ints(xof.next_vector(Field64, 1)) == [8]
