"""Shares of noise: the thresholds beside decimal arithmetic, and what shares sum to, to many digits."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.noise.digits import Uniform
from hubbub.noise.polya import NegativeBinomial, root_bounds

scales = st.one_of(st.fractions(Fraction(1, 50), 30, max_denominator=100), st.integers(1, 300).map(Fraction))
some_parts = st.one_of(st.integers(1, 20), st.sampled_from([1000, 12345, 10**6, 2**40]))


def exactly(scale: Fraction, parts: int, count: int) -> list[Decimal]:
    """P(X <= k) for k < count: an oracle that shares nothing with the code."""
    rate = Decimal(scale.denominator) / Decimal(scale.numerator)
    q, r = (-rate).exp(), 1 / Decimal(parts)
    chance = ((1 - q).ln() * r).exp()
    out, total = [], Decimal(0)
    for k in range(count):
        total += chance
        out.append(total)
        chance *= q * (k + r) / (k + 1)
    return out


@given(scale=scales, parts=some_parts, bits=st.sampled_from([16, 64, 128, 200]))
@settings(max_examples=60)
def test_thresholds_hold_and_are_tight(scale, parts, bits):
    lows, highs = NegativeBinomial(scale, parts).thresholds(bits, min(bits, 40))
    with localcontext() as context:
        context.prec = 150
        truths = exactly(scale, parts, len(lows))
        slack = Decimal(2) ** (bits - 400)
        for low, high, truth in zip(lows, highs, truths, strict=True):
            assert low <= truth * 2**bits + slack
            assert high >= truth * 2**bits - slack
            assert high - low <= 2
    assert lows == sorted(lows)


@given(scale=scales, parts=st.integers(1, 12))
@settings(max_examples=40)
def test_all_shares_together_are_discrete_laplace(scale, parts):
    """The characteristic function of a share, to the power of the number of shares, is that of the whole."""
    size = 1 << 15
    below = np.array([float(low) for low in NegativeBinomial(scale, parts).thresholds(200, 190)[0]][:size]) / 2.0**200
    chances = np.diff(below, prepend=0.0)
    share = np.zeros(size)
    share[: len(chances)] = chances
    spectrum = np.abs(np.fft.fft(share)) ** (2 * parts)
    q = np.exp(-float(1 / scale))
    turn = np.exp(-2j * np.pi * np.arange(size) / size)
    whole = np.abs((1 - q) / (1 - q * turn)) ** 2
    assert np.allclose(spectrum, whole, rtol=1e-7, atol=1e-9)


@given(value=st.integers(1, 2**60 - 1), degree=st.integers(1, 2**20), width=st.integers(0, 1000))
@settings(max_examples=60)
def test_roots_are_bounded(value, degree, width):
    work = 60
    low, high = root_bounds(max(0, value - width), min(2**work, value), degree, work)
    with localcontext() as context:
        context.prec = 60
        for end in {max(1, value - width), value}:
            truth = ((Decimal(end) / 2**work).ln() / degree).exp() * 2**work
            assert low - Decimal("1e-20") <= truth <= high + Decimal("1e-20")


class Pattern:
    def take(self, count: int) -> bytes:
        return b"\x55" * count


@given(scale=scales, parts=some_parts, words=st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=10))
@settings(max_examples=30)
def test_table_words_and_exact_arithmetic_agree(scale, parts, words):
    outcomes = NegativeBinomial(scale, parts)
    placed = outcomes._place(np.array(words, dtype=np.uint64))
    for word, place in zip(words, placed.tolist(), strict=True):
        truth = outcomes.resolve_exactly(Uniform(Pattern(), word, 64))
        assert place in (truth, -1)
        assert outcomes.buckets[word >> 48] in (truth, -1)
