"""Every path that a random test would never reach: ties, tails, points near the curve, overflow."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from hubbub.errors import NoiseOverflow
from hubbub.noise.decay import Decay
from hubbub.noise.digits import Uniform
from hubbub.noise.inversion import Inversion
from hubbub.noise.ladder import UNDECIDED, Ladder
from hubbub.noise.staircase import DOUBT, Staircase
from hubbub.noise.system import DEFAULT

NOTHING = Fraction(0)
LAPLACE = Decay(Fraction(1, 20), NOTHING)
GAUSSIAN = Decay(NOTHING, Fraction(1, 800))
WIDE_LAPLACE = Decay(Fraction(1, 10**6), NOTHING), 14
WIDE_GAUSSIAN = Decay(NOTHING, Fraction(1, 2 * 10**12)), 13


def word(value: int) -> bytes:
    return value.to_bytes(8, "little")


def split(value: int) -> tuple[np.ndarray, bytes]:
    """A 64-bit word as the 16 digits drawn first and the eight bytes of which 48 digits are used."""
    return np.array([value >> 48], dtype=np.uint16), word((value & (2**48 - 1)) << 16)


# ── the ladder ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_word_between_the_bounds_of_a_threshold_is_undecided():
    ladder = Ladder([100, 200, 2**64 - 1], [101, 203, 2**64])
    words = np.array([0, 99, 100, 101, 199, 200, 202, 203, 2**64 - 2, 2**64 - 1], dtype=np.uint64)
    no = UNDECIDED
    assert ladder.place(words).tolist() == [0, 0, no, 1, 1, no, no, 2, 2, no]


def test_the_short_table_agrees_with_the_long_words_at_both_ends_of_each_bucket():
    for decay in (LAPLACE, GAUSSIAN, Decay(Fraction(1000), NOTHING)):
        inversion = Inversion(decay, 1)
        firsts = np.arange(2**16, dtype=np.uint64) << np.uint64(48)
        low, high = inversion._place(firsts), inversion._place(firsts | np.uint64(2**48 - 1))
        known = inversion.buckets != UNDECIDED
        assert np.array_equal(inversion.buckets[known], low[known])
        assert np.array_equal(inversion.buckets[known], high[known])
        assert not np.any((low == high) & (low != UNDECIDED) & ~known)


# ── ties ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("decay", [LAPLACE, GAUSSIAN])
@pytest.mark.parametrize("outcome", [0, 1, 2, 17, 100])
@pytest.mark.parametrize("equal_words", [1, 2, 3])
def test_a_tie_with_a_threshold_goes_to_the_side_that_further_digits_tell(script, decay, outcome, equal_words):
    inversion = Inversion(decay, 1)
    lows, highs = inversion.thresholds(256, 256)
    digits = lows[outcome] >> (256 - 64 * equal_words)
    assert digits == highs[outcome] >> (256 - 64 * equal_words)
    words = [digits >> 64 * (equal_words - 1 - at) & (2**64 - 1) for at in range(equal_words)]
    short, more = split(words[0])
    text = more + b"".join(word(each) for each in words[1:])
    below, above = script(text, then=0x00), script(text, then=0xFF)
    assert inversion.resolve(short, below).tolist() == [outcome]
    assert inversion.resolve(short, above).tolist() == [outcome + 1]
    assert below.given == above.given == 8 * (equal_words + 1)


def test_a_short_tie_is_decided_by_the_long_word_alone(script):
    inversion = Inversion(LAPLACE, 1)
    threshold = inversion.thresholds(64, 40)[0][3]
    assert inversion.buckets[threshold >> 48] == UNDECIDED
    for value, outcome in ((threshold - 1, 3), (threshold + 1, 4)):
        short, more = split(value)
        source = script(more)
        assert inversion.resolve(short, source).tolist() == [outcome]
        assert source.given == 8


# ── the tail ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("words", [1, 2, 4, 7])
def test_beyond_the_table_the_laplace_tail_goes_on(script, words):
    source = script(b"\xff" * 8 * words, then=0x00)
    outcome = int(Inversion(LAPLACE, 1).resolve(np.array([0xFFFF], dtype=np.uint16), source)[0])
    # With r = 2^-(16 + 48 + 64 (words - 1)): 2 q^(j+1) / (1 + q) is at most r between +j and -(j+1).
    digits = 64 * words
    size = 20 * (digits * math.log(2) + math.log(2 / (1 + math.exp(-1 / 20))))
    assert abs((outcome + 1) // 2 - size) <= 1.5


@pytest.mark.parametrize("words", [1, 3])
def test_beyond_the_table_the_gaussian_tail_goes_on(script, words):
    source = script(b"\xff" * 8 * words, then=0x00)
    size = (int(Inversion(GAUSSIAN, 1).resolve(np.array([0xFFFF], dtype=np.uint16), source)[0]) + 1) // 2

    # The smallest k with P(|X| > k) <= 2^-(64 words), by plain sums of fractions of 400 digits.
    weights = [GAUSSIAN.bounds(k, 400)[0] for k in range(1200)]
    total = weights[0] + 2 * sum(weights[1:])
    left, k = total - weights[0], 0
    while left << 64 * words > total:
        k += 1
        left -= 2 * weights[k]
    assert abs(size - k) <= 1


def test_the_smallest_scale_needs_a_thousand_zeros_to_move(script):
    tiny = Staircase(Decay(Fraction(1000), NOTHING), 0)
    out = np.empty(1, dtype=np.int64)
    for zeros, moved in ((175, False), (190, True)):  # exp(-1000) is 2^-1442.7, and 1442.7 / 8 is 180.3
        source = script(b"\xff" * zeros)
        tiny.fill(out, source)
        assert (out[0] != 0) == moved


# ── cells ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("decay", "shift"), [WIDE_LAPLACE, WIDE_GAUSSIAN])
def test_floats_and_exact_arithmetic_agree_on_points_above_the_steps(decay, shift):
    stairs = Staircase(decay, shift)
    text = DEFAULT.take(16 * 400)

    class Once:
        def take(self, count):
            assert count == len(text)  # a doubtful point would ask for more
            return text

    values, accepted = stairs._wedge(400, Once())
    words = np.frombuffer(text, dtype="<u8")
    for at in range(400):
        height, place = int(words[at]), int(words[400 + at])
        uniform = Uniform(DEFAULT, height, 64)
        value, kept = stairs.wedge_exactly(uniform, place & ((1 << shift) - 1), place >> 63)
        assert kept == accepted[at]
        if kept:
            assert value == values[at]
    assert 100 < accepted.sum() < 300


@pytest.mark.parametrize(("decay", "shift"), [WIDE_LAPLACE, WIDE_GAUSSIAN])
@pytest.mark.parametrize("sign", [0, 1])
def test_a_height_at_the_edge_between_two_cells(script, decay, shift, sign):
    stairs = Staircase(decay, shift)
    edge = stairs._coarse.bounds(9, 64)[0]
    place = (sign << 63) | (0 if not sign else 5)
    # Just below g(9): cell 9, whose first place lies right under the curve. Just above: cell 8, first place, accepted.
    for then, cell in ((0x00, 9), (0xFF, 8)):
        source = script(word(edge) + word(place), then=then)
        values, accepted = stairs._wedge(1, source)
        assert source.given > 16
        assert accepted[0] == (cell == 8 or not sign)
        if accepted[0]:
            low = place & 0xFF
            assert values[0] == (-1 - (cell << shift) - low if sign else cell << shift)


@pytest.mark.parametrize(("decay", "shift"), [WIDE_LAPLACE, WIDE_GAUSSIAN])
@pytest.mark.parametrize("offset", [-3, 0, 1, 3])
def test_a_height_too_near_to_the_curve_for_floats(script, decay, shift, offset):
    stairs = Staircase(decay, shift)
    low = (1 << shift) // 3
    curve = decay.bounds((5 << shift) + low, 64)[0]
    source = script(word(curve + offset) + word(low), then=0xFF)
    values, accepted = stairs._wedge(1, source)
    assert accepted[0] == (offset < 0)
    assert (source.given > 16) == (offset == 0)  # 64 digits settle all but the tie itself
    if accepted[0]:
        assert values[0] == (5 << shift) + low


def test_the_float_curve_is_much_nearer_to_the_truth_than_the_doubt():
    for decay, shift in (WIDE_LAPLACE, WIDE_GAUSSIAN):
        stairs = Staircase(decay, shift)
        for cell in (0, 1, 50, len(stairs._heights) - 1):
            for low in (0, 1 << (shift - 1), (1 << shift) - 1):
                truth = Fraction(sum(decay.bounds((cell << shift) + low, 128)), 2**129)
                for side in (-1, 1):
                    height = int((truth + side * Fraction(DOUBT) * Fraction(11, 10)) * 2**64)
                    if not 0 < height < 2**64:
                        continue
                    if stairs._heights.place(np.array([height], dtype=np.uint64))[0] != len(stairs._heights) - cell:
                        continue

                    class Exactly:
                        def __init__(self, text):
                            self.text = text

                        def take(self, count):
                            assert count == 16
                            return self.text

                    accepted = stairs._wedge(1, Exactly(word(height) + word(low)))[1]
                    assert accepted[0] == (side < 0)


@pytest.mark.parametrize(("decay", "shift"), [WIDE_LAPLACE, WIDE_GAUSSIAN])
def test_a_height_below_the_table_is_found_exactly(script, decay, shift):
    stairs = Staircase(decay, shift)
    source = script(word(0) + word(0) + word(0) * 2 + word(12345))
    values, accepted = stairs._wedge(1, source)
    assert source.given > 16
    assert values[0] >> shift >= len(stairs._heights)
    assert accepted[0]


def test_whole_draws_through_wedge_and_rejection(script):
    decay, shift = WIDE_LAPLACE
    stairs = Staircase(decay, shift)
    out = np.empty(1, dtype=np.int64)
    # 16 zeros may be the wedge; 48 more say so. Then 2 bytes of place, a height near 1 in the last place of cell 0,
    # which is above the curve: rejected. The second attempt takes the same way to place 0: accepted.
    wedge = b"\x00\x00" + bytes(8) + b"\x00\x00"
    rejected = wedge + word(2**64 - 2**50) + word((1 << shift) - 1)
    accepted = wedge + word(2**64 - 2**50) + word(0)
    source = script(rejected + accepted)
    stairs.fill(out, source)
    assert out[0] == 0
    assert source.given == len(rejected + accepted)


# ── overflow ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_64_bits_cannot_hold_is_an_error_on_every_path(script):
    huge = Staircase(Decay(Fraction(1, 2**68), NOTHING), 62)  # 64 cells of 2^62: all but the first two are too far
    with pytest.raises(NoiseOverflow):
        huge.fill(np.empty(100, dtype=np.int64), DEFAULT)
    with pytest.raises(NoiseOverflow):
        huge.wedge_exactly(Uniform(DEFAULT, 1, 16), 0, 0)
    with pytest.raises(NoiseOverflow):
        huge._wedge(1, script(word(2**40) + word(0)))
    assert set(np.unique(huge._table)) <= {-(2**15), -2, -1, 0, 1}


@pytest.mark.parametrize(
    ("then", "values"),
    [(0x00, {0, 2**62, -(2**62), -(2**63)}), (0xFF, {2**62 - 1, 2**63 - 1, -1, -(2**62) - 1})],
)
def test_the_last_cell_that_fits_is_drawn(script, then, values):
    huge = Staircase(Decay(Fraction(1, 2**68), NOTHING), 62)
    seen = set()
    for short in np.flatnonzero(huge._table != -(2**15)):
        out = np.empty(1, dtype=np.int64)
        huge.fill(out, script(int(short).to_bytes(2, "little"), then=then))
        seen.add(int(out[0]))
    assert seen == values
