"""The noise of `dft` against what a person does to the numbers it is added to, read off the running program."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from hubbub.confidential import Counts
from hubbub.privacy import Guarantee, User
from hubbub.release import Dft
from hubbub.release.dft import _floating_error, _product
from hubbub.released import Keys, Tick


class Silence:
    """In place of the noise: zeros, and what they were asked for."""

    variance = 0.0

    def sample(self, n):
        return np.zeros(n, dtype=np.int64)


def steps(dft, table):
    """What gets the noise."""
    return dft._measure([Counts.of(dft.keys, Tick(t), row) for t, row in enumerate(table)], dft.cost).values


@pytest.mark.parametrize(("most", "keys"), [(9, 1), (3, 1), (2, 2)])
def test_every_set_of_ticks_moves_the_steps_by_less_than_the_noise_is_for(most, keys):
    """All 511 sets of nine ticks (two keys: all sets of two ticks on either), where counts are rounded as they are."""
    dft = Dft(Keys(["a", "b"][:keys]), Guarantee.pure(User(most, horizon=9), 1), coefficients=4)
    covered = float(dft._noise.scale)
    dft._noise = Silence()
    rng = np.random.default_rng(3)
    worst = 0.0
    for base in (1000, 100_000):
        table = rng.integers(base, 2 * base, (9, keys))
        before = steps(dft, table)
        for chosen in product([0, 1], repeat=9):
            if 0 < sum(chosen) <= most:
                present = np.zeros((9, keys), dtype=np.int64)
                present[:, rng.integers(keys)] = chosen
                worst = max(worst, float(np.abs(steps(dft, table + present) - before).sum()))
    assert worst <= covered
    assert worst > 0.4 * covered


@pytest.mark.parametrize("ticks", [50, 478, 3000])
def test_the_transforms_floating_point_error_is_within_its_bound(ticks):
    dft = Dft(Keys(["a"]), Guarantee.pure(User(horizon=ticks), 1), coefficients=5)
    rng = np.random.default_rng(4)
    counted = rng.integers(0, 2**30, (ticks, 1)).astype(np.float64)
    exact = [sum(Fraction(b) * int(x) for b, x in zip(row, counted[:, 0], strict=True)) for row in dft._basis.tolist()]
    found = _product(dft._basis, counted)[:, 0]
    assert max(abs(float(Fraction(a) - b)) for a, b in zip(found.tolist(), exact, strict=True)) <= _floating_error(
        ticks
    )


@pytest.mark.parametrize(("ticks", "keys"), [(478, 1), (478, 1000), (20_000, 40)])
def test_the_noise_covers_both_neighbours_floating_point_error(ticks, keys):
    """The proof once lacked a factor T here, and many keys, whose grid is finer, were not covered by one step."""
    dft = Dft(Keys([str(i) for i in range(keys)]), Guarantee.pure(User(horizon=ticks), 1))
    coordinates = 39 * keys
    roundings = 64 + math.ceil(math.log2(ticks / 64)) + 2
    error = roundings * 2**-53 * math.sqrt(2 * ticks) * 2**30
    wanted = dft.sensitivity / dft._grid + coordinates * (1 + 2 * error / dft._grid)
    assert float(dft._noise.scale) >= wanted
