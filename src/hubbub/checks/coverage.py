"""Intervals cover as often as they say."""

from __future__ import annotations

import numpy as np
from scipy import stats

from hubbub.checks.failure import expect
from hubbub.checks.subject import Subject
from hubbub.noise import simulation

NOMINAL, WIDEST = 0.95, 0.99
ERROR_RATE = 1e-6
_TICKS = 9


def intervals_cover(subject: Subject) -> None:
    """One interval from each of many independent streams, so that hits are binomial: no more than chance too few.

    An honest releaser fails with a chance of 1e-6. Intervals that cover nearly always are refused as well: they say
    95 % and are wider than that. Infinite intervals (predictions without a model) count neither way.
    """
    generator = np.random.default_rng(95)  # simulated truth, not for privacy
    hits = seen = 0
    with simulation(95) as source:
        for _ in range(subject.coverage_runs):
            truth = subject.simulate(generator, _TICKS, len(subject.keys))
            releaser = subject.make(source=source)
            last = int(generator.integers(2, _TICKS))
            for tick in range(last + 1):
                release = releaser.release(subject.counts(tick, truth[tick]))
                expect(bool((release.standard_errors >= 0).all()), "A standard error is negative or no number.")
                expect(bool((release.lower <= release.upper).all()), "An interval ends before it begins.")
            key = int(generator.integers(len(subject.keys)))
            if np.isfinite(release.upper[key]):
                seen += 1
                hits += bool(release.lower[key] <= truth[last, key] <= release.upper[key])
    if not seen:
        return
    too_few = stats.binom.cdf(hits, seen, NOMINAL)
    expect(too_few > ERROR_RATE, f"Intervals said to cover 95 % covered {hits / seen:.1%} of {seen:,}.")
    too_many = stats.binom.sf(hits - 1, seen, WIDEST)
    expect(
        too_many > ERROR_RATE, f"Intervals said to cover 95 % covered {hits / seen:.2%} of {seen:,}: they are too wide."
    )
