"""Promises of the exact arithmetic and of the tables, over drawn parameters."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hubbub.noise import DiscreteGaussian, DiscreteLaplace
from hubbub.noise.decay import Decay
from hubbub.noise.digits import Uniform, exp_bounds
from hubbub.noise.inversion import Inversion
from hubbub.noise.staircase import Staircase

rates = st.fractions(min_value=0, max_value=2000, max_denominator=10**12)
scales = st.one_of(
    st.fractions(min_value=Fraction(1, 1000), max_value=128, max_denominator=1000),
    st.integers(min_value=1, max_value=2**40).map(Fraction),
)


class Fixed:
    """A source of one digit pattern, 0101... for ever: no threshold here has such digits, so no tie lasts."""

    def take(self, count: int) -> bytes:
        return b"\x55" * count


@given(x=rates, bits=st.integers(min_value=1, max_value=400))
def test_bounds_of_exp_hold_and_are_tight(x, bits):
    low, high = exp_bounds(x, bits)
    assert 0 <= low <= high <= 2**bits
    assert high - low <= 2
    with localcontext() as context:
        context.prec = 400
        context.Emin = -(10**6)
        # The decimal library is an independent oracle; 10^-390 is far below what 400 binary digits can show.
        truth = (-(Decimal(x.numerator) / Decimal(x.denominator))).exp() * 2**bits
        error = Decimal(10) ** -250
        assert low <= truth + error
        assert high >= truth - error


@settings(max_examples=25, deadline=None)
@given(scale=scales, square=st.booleans(), words=st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=20))
def test_table_words_and_exact_arithmetic_agree(scale, square, words):
    scale = min(scale, Fraction(64))
    decay = Decay(Fraction(0), 1 / (2 * scale**2)) if square else Decay(1 / scale, Fraction(0))
    inversion = Inversion(decay, 1)
    placed = inversion._place(np.array(words, dtype=np.uint64))
    for word, place in zip(words, placed.tolist(), strict=True):
        truth = inversion.resolve_exactly(Uniform(Fixed(), word, 64))
        assert place in (truth, -1)
        assert inversion.buckets[word >> 48] in (truth, -1)


@settings(max_examples=15, deadline=None)
@given(
    scale=st.integers(min_value=200, max_value=2**40), square=st.booleans(), words=st.binary(min_size=160, max_size=160)
)
def test_the_cells_agree_with_exact_arithmetic(scale, square, words):
    noise = DiscreteGaussian(scale**2) if square else DiscreteLaplace(scale)
    stairs = Staircase(noise._decay, noise._shift)

    class Script:
        def take(self, count):
            return words if count == 160 else Fixed().take(count)

    values, accepted = stairs._wedge(10, Script())
    heights = np.frombuffer(words, dtype="<u8")
    for at in range(10):
        low = int(heights[10 + at]) & ((1 << noise._shift) - 1)
        value, kept = stairs.wedge_exactly(Uniform(Fixed(), int(heights[at]), 64), low, int(heights[10 + at]) >> 63)
        assert kept == accepted[at]
        if kept:
            assert value == values[at]


@given(scale=scales, square=st.booleans(), p=st.floats(min_value=1e-12, max_value=0.5))
def test_quantiles_mirror_each_other(scale, square, p):
    noise = DiscreteGaussian(scale**2) if square else DiscreteLaplace(scale)
    k = noise.quantile(p)
    assert k <= 0
    assert noise.cdf(k - 1) < p <= noise.cdf(k)
    assume(noise.cdf(k) != p)
    assert noise.quantile(1 - Fraction(p)) == -k
