"""What is measured tells how noisy it is, in the shape that the noise has."""

from fractions import Fraction

import numpy as np
import pytest

from hubbub.errors import InvalidParameter
from hubbub.mechanism import Measurement
from hubbub.noise import DiscreteGaussian, DiscreteLaplace
from hubbub.released import Cost, Keys, Tick

KEYS = Keys(["front", "news"])
COST = Cost(epsilon=Fraction(1))


def measurement(**changed):
    facts = {"values": np.array([812, 240]), "variance": 800.0, "cost": COST, **changed}
    return Measurement(Tick(0), KEYS, **facts)


@pytest.mark.parametrize("scale", [Fraction(1, 3), 1, Fraction(7, 2), 20, 1000, 10**6])
def test_laplace_noise_is_told_by_its_variance_alone(scale):
    noise = DiscreteLaplace(scale)
    one = measurement(variance=noise.variance)
    assert one.scale == pytest.approx(float(scale), rel=1e-9)
    assert one.reach == noise.quantile(0.975)


@pytest.mark.parametrize("variance", [0.0, 5e-324, np.array([0.0, 5e-324])])
def test_noise_too_small_ever_to_be_drawn_divides_nothing_by_zero(variance):
    """As it was: under a very weak promise a tick was charged and drawn, and then lost to a division."""
    one = measurement(variance=variance)
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        assert np.all(np.asarray(one.reach) == DiscreteLaplace(Fraction(1, 1000)).quantile(0.975))
        assert np.all((np.asarray(one.scale) > 0) & (np.asarray(one.scale) < 0.002))


@pytest.mark.parametrize("variance", [Fraction(1, 2), 1, 3, 20, 10_000])
def test_the_reach_of_gaussian_noise_is_never_too_short(variance):
    noise = DiscreteGaussian(variance)
    one = measurement(variance=noise.variance, noise="gaussian")
    exact = noise.quantile(0.975)
    assert exact <= one.reach <= exact + 1


def test_every_key_may_have_its_own_noise():
    noises = DiscreteLaplace(3), DiscreteLaplace(50)
    one = measurement(variance=np.array([noise.variance for noise in noises]))
    assert one.scale == pytest.approx([3.0, 50.0])
    assert one.reach.tolist() == [noise.quantile(0.975) for noise in noises]
    deviations = measurement(variance=np.array([4.0, 9.0]), noise="gaussian").scale
    assert deviations.tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"values": None}, "whole numbers"),
        ({"values": np.array([1.0, 2.0])}, "whole numbers"),
        ({"values": np.array([1])}, "whole numbers"),
        ({"values": np.array([2**62 + 1, 0])}, "whole numbers"),
        ({"variance": 0.0}, "variance"),
        ({"variance": np.inf}, "variance"),
        ({"variance": np.array([1.0, -1.0])}, "variance"),
        ({"variance": np.ones(3)}, "variance"),
        ({"cost": Cost.nothing()}, "cannot be free"),
        ({"noise": "uniform"}, "laplace or gaussian"),
    ],
)
def test_what_cannot_be_a_measurement(changed, words):
    with pytest.raises(InvalidParameter, match=words):
        measurement(**changed).checked()
    assert measurement().checked().values.tolist() == [812, 240]
