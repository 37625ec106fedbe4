"""The stated variance of ranges against the measured one, and how often intervals hold the truth.

Error rate: at most 1e-6 for this file. Each comparison takes N = 420,000 independent copies (as keys). The sample
variance of a noise with kurtosis k has a relative standard error of sqrt((k - 1)/N): at most sqrt(5/N) = 0.345 % (a
single Laplace has k = 6, sums less). There are fewer than 60 comparisons; two-sided at 1e-8 each is 5.73 standard
errors, 1.98 %: so "within 2 %" can be asked, and fails by chance in fewer than one of a million runs. Coverage: the
share of N copies outside a 95 % interval has a standard error of 0.034 %; 5.73 of them are 0.2 %.
"""

from fractions import Fraction

import numpy as np
import pytest

from hubbub.noise import simulation
from hubbub.privacy import Event, Guarantee, Session
from hubbub.ranges import Fenwick, Toeplitz, Tree
from hubbub.ranges.calibration import Calibration
from hubbub.ranges.toeplitz_filter import ToeplitzFilter
from hubbub.ranges.window import CONTINUITY, GAUSSIAN_REACH, LAPLACE_REACH

N = 420_000
PURE = Guarantee.pure(Event(), 1)
RHO = Guarantee.zcdp(Session(max_ticks=3), "1/2")
CASES = [
    (Fenwick(1), PURE),
    (Fenwick(3, (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))), PURE),
    (Tree((5,), subtracts=True), PURE),
    (Tree((6,), trust=Fraction(3, 4)), PURE),
    (Tree((2, 3), shares=(Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))), PURE),
    (Tree((6,)), RHO),
    (Toeplitz(16), RHO),
]
RANGES = [(0, 1), (2, 3), (1, 7), (4, 9)]


def errors(strategy, guarantee, ticks=9, scale=Fraction(1)):
    """The error of each prefix, one row a tick, one column a copy."""
    calibration = Calibration(guarantee)
    with simulation(20260102) as source:
        drawn = Calibration(guarantee, source)
        if scale != 1:
            drawn.parameters = lambda s: [p * scale for p in calibration.parameters(s)]
        walk = drawn.prepare(strategy).walk(N)
        zeros = np.zeros(N, dtype=np.int64)
        paths = np.cumsum([walk.measure(zeros) for _ in range(ticks)], axis=0, dtype=np.int32)
    return np.vstack([np.zeros((1, N), dtype=np.int32), paths]), calibration.prepare(strategy).variances


@pytest.mark.parametrize(("strategy", "guarantee"), CASES, ids=lambda x: getattr(x, "title", getattr(x, "kind", "")))
def test_stated_variances_and_intervals(strategy, guarantee):
    paths, variances = errors(strategy, guarantee)
    reach = LAPLACE_REACH if guarantee.kind == "pure" else GAUSSIAN_REACH
    for a, b in RANGES:
        error = (paths[b] - paths[a]).astype(np.float64)
        stated = strategy.variance(a, b, variances)
        assert np.mean(error**2) == pytest.approx(stated, rel=0.02)
        covered = np.mean(np.abs(error) <= reach * np.sqrt(stated) + CONTINUITY)
        assert covered >= 0.95 - 0.002


@pytest.mark.parametrize("strategy", [Toeplitz(16), Toeplitz(32, reach=16)], ids=str)
def test_ranges_across_trees_in_a_row(strategy):
    """A tree ends at 16 and at 32: before, one memory for all gave up to 1.83 times the stated variance."""
    paths, variances = errors(strategy, RHO, ticks=40)
    for a, b in [(12, 20), (15, 17), (3, 36), (30, 40)]:
        error = (paths[b] - paths[a]).astype(np.float64)
        stated = strategy.variance(a, b, variances)
        assert np.mean(error**2) == pytest.approx(stated, rel=0.02)
        assert np.mean(np.abs(error) <= GAUSSIAN_REACH * np.sqrt(stated) + CONTINUITY) >= 0.95 - 0.002


def test_control_one_memory_for_trees_in_a_row_is_noticed(monkeypatch):
    monkeypatch.setattr(ToeplitzFilter, "_begin_tree", lambda self: setattr(self, "_left", self._size))
    strategy = Toeplitz(16)
    paths, variances = errors(strategy, RHO, ticks=20)
    error = (paths[20] - paths[12]).astype(np.float64)
    assert np.mean(error**2) != pytest.approx(strategy.variance(12, 20, variances), rel=0.02)


def test_control_noise_at_70_percent_is_noticed():
    paths, variances = errors(Tree((6,)), PURE, scale=Fraction(7, 10))
    stated = Tree((6,)).variance(1, 7, variances)
    error = (paths[7] - paths[1]).astype(np.float64)
    assert np.mean(error**2) != pytest.approx(stated, rel=0.02)


def test_control_forgetting_that_noises_cancel_is_noticed():
    """Adding the variances of single ticks would be wrong by far more than 2 %."""
    tree = Tree((6,))
    paths, variances = errors(tree, PURE)
    added = sum(tree.variance(p, p + 1, variances) for p in range(1, 7))
    assert np.mean((paths[7] - paths[1]).astype(np.float64) ** 2) != pytest.approx(added, rel=0.02)
