"""Intervals of areas cover, on traffic as the model says; error rate 1e-6, and a control that must fail."""

import numpy as np
from scipy import stats

from hubbub.confidential import Counts
from hubbub.noise import simulation
from hubbub.privacy import Guarantee, User
from hubbub.released import Tick
from hubbub.spatial import RoadCells, RoadGrid, Roads, made_up
from hubbub.spatial.road_units import RoadUnits

ROADS = RoadCells(RoadGrid.over(made_up(150, seed=1), 48, 48))
RUNS, TICKS, ERROR_RATE = 400, 6, 1e-6
LEAST = 0.90
"""A model's intervals are not exact: 95 % are told, and this much is held."""


def hits():
    """For each of many streams: does the interval of one random area hold the truth; and one without what is common?"""
    generator = np.random.default_rng(12)
    units = RoadUnits.of(ROADS)
    told, naive = [], []
    with simulation(12) as source:
        for _ in range(RUNS):
            factor = generator.lognormal(-0.18, 0.6, len(units.group))
            expected = (units.stretch_share * factor)[units.stretches.of] * units.cell_share
            rate = 60_000 * expected / expected.sum()
            stream = Roads(ROADS, Guarantee.pure(User(horizon=40), "0.3"), source=source)
            last = int(generator.integers(1, TICKS))
            for tick in range(last + 1):
                truth = generator.poisson(rate)
                release = stream.release(Counts.of(ROADS, Tick(tick), truth))
            row, column = np.divmod(ROADS.codes, 48)
            low, left = generator.integers(0, 30, 2)
            area = np.flatnonzero((row >= low) & (row < low + 18) & (column >= left) & (column < left + 18))
            answer = stream.area(area)
            told.append(answer.lower <= truth[area].sum() <= answer.upper)
            # The control: cells as if they were wrong by their vehicles coming and going alone.
            narrow = 1.96 * np.sqrt(release.values[area].sum())
            naive.append(abs(release.values[area].sum() - truth[area].sum()) <= narrow)
    return sum(told), sum(naive)


def test_intervals_of_areas_cover():
    covered, control = hits()
    assert stats.binom.cdf(covered, RUNS, LEAST) > ERROR_RATE, covered
    assert stats.binom.cdf(control, RUNS, LEAST) < ERROR_RATE, "the control covers: this test could not fail"
