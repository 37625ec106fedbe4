"""Bounds and lazily drawn digits."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

import pytest

from hubbub.errors import InvalidParameter
from hubbub.noise import bernoulli_exp
from hubbub.noise.decay import Decay
from hubbub.noise.digits import Uniform, exp_bounds

# The alternating series is exact to 60!, about 270 binary digits.
ONE_OVER_E = sum(Fraction((-1) ** n, factorial(n)) for n in range(60))


@pytest.mark.parametrize("bits", [1, 8, 64, 200])
def test_bounds_enclose_one_over_e(bits):
    low, high = exp_bounds(Fraction(1), bits)
    assert low <= ONE_OVER_E * 2**bits <= high
    assert high - low <= 2


def test_the_ends_of_the_range():
    assert exp_bounds(Fraction(0), 64) == (2**64, 2**64)
    assert exp_bounds(Fraction(10**6), 64) == (0, 1)
    assert exp_bounds(Fraction(1, 10**30), 64) == (2**64 - 1, 2**64)


def test_a_number_draws_digits_only_while_in_doubt(script):
    half = Uniform(script(b"\xff" * 8))
    assert half.below(lambda bits: (2**bits, 2**bits))
    assert half.bits == 0  # everything is below 1
    source = script(b"\x00" * 8)
    tenth = Uniform(source)
    assert tenth.below(lambda bits: (2**bits // 10, 2**bits // 10 + 1))
    assert source.given == 8


def test_a_tie_is_broken_by_further_digits(script):
    low, _ = exp_bounds(Fraction(1), 192)
    first, second, third = (low >> 128, (low >> 64) % 2**64, low % 2**64)
    equal = first.to_bytes(8, "little") + second.to_bytes(8, "little")
    below = script(equal + (third - 1).to_bytes(8, "little"))
    assert bernoulli_exp(1, below) is True
    assert below.given == 24
    above = script(equal + (third + 2).to_bytes(8, "little"))
    assert bernoulli_exp(1, above) is False
    assert above.given == 24


def test_a_coin_that_nearly_never_shows_heads(script):
    assert bernoulli_exp(50, script()) is True  # exp(-50) > 2^-128: two words of zeros are enough
    assert bernoulli_exp(50, script(then=1)) is False


@pytest.mark.parametrize("x", [-1, "-1/3", float("nan"), float("inf"), True, None])
def test_a_wrong_rate_is_refused(x):
    with pytest.raises(InvalidParameter):
        bernoulli_exp(x)


@pytest.mark.parametrize("decay", [Decay(Fraction(1, 7), Fraction(0)), Decay(Fraction(0), Fraction(1, 50))])
def test_weights_enclose_the_same_values_as_single_bounds(decay):
    weights, after = decay.weights(160, 40)
    for k, (low, high) in enumerate(weights, start=1):
        exact_low, exact_high = decay.bounds(k, 300)
        assert low << 140 <= exact_high
        assert high << 140 >= exact_low
        assert high - low < 2**20
    rest = sum(decay.bounds(k, 160)[1] for k in range(len(weights) + 1, 10 * len(weights)))
    assert rest * 0.999 <= after <= 1.2 * rest + 2
