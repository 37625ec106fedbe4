"""Intervals of areas and spans cover, on a city as the model says; error rate 1e-6, and controls that must fail."""

import numpy as np
from scipy import stats

from hubbub.confidential import Counts
from hubbub.noise import simulation
from hubbub.privacy import Guarantee, User
from hubbub.released import Grid, Tick, total, total_over
from hubbub.spatial import Areas, area

CITY = Grid(20, 20, bounds=(0, 0, 20, 20))
RUNS, TICKS, ERROR_RATE = 400, 9, 1e-6
LEAST = 0.90
"""A model's intervals are not exact: 95 % are told, and this much is held."""


def hits():
    """For each of many streams, a random box in its last tick and over all ticks; and each as if errors were alone."""
    generator = np.random.default_rng(31)
    told, naive, spans, apart = 0, 0, 0, 0
    with simulation(31) as source:
        for _ in range(RUNS):
            rate = 40_000 * generator.dirichlet(np.full(len(CITY), 1.5))
            stream = Areas(CITY, Guarantee.pure(User(horizon=30), "0.5"), source=source)
            truth = [generator.poisson(rate) for _ in range(TICKS)]
            releases = [stream.release(Counts.of(CITY, Tick(tick), one)) for tick, one in enumerate(truth)]
            low, left, size = (float(one) for one in generator.integers(0, 12, 3))
            some = area(CITY, (left, low, left + size % 8 + 2, low + size % 8 + 2))
            answer, true = total(releases[-1], some), truth[-1][some].sum()
            told += answer.lower <= true <= answer.upper
            # The controls: who comes and goes alone; and ticks as if each were wrong in its own way.
            naive += abs(answer.value - true) <= 1.96 * np.sqrt(answer.value)
            span, true = total_over(releases, some).total, sum(int(one[some].sum()) for one in truth)
            spans += span.lower <= true <= span.upper
            alone = np.sqrt(sum(total(one, some).standard_error ** 2 for one in releases))
            apart += abs(span.value - true) <= 1.96 * alone
    return told, naive, spans, apart


def test_intervals_of_boxes_and_spans_cover():
    told, naive, spans, apart = hits()
    for covered in (told, spans):
        assert stats.binom.cdf(covered, RUNS, LEAST) > ERROR_RATE, (told, spans)
    for control in (naive, apart):
        assert stats.binom.cdf(control, RUNS, LEAST) < ERROR_RATE, "the control covers: this test could not fail"
