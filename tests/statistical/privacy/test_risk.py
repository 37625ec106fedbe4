"""A bound from a sample holds as often as its certainty says."""

from __future__ import annotations

import numpy as np
from scipy import stats

from hubbub.privacy.risk import risk_of_sample

ERROR_RATE = 1e-6
REPETITIONS = 2000


def wrong_share(certainty: float, judge: float) -> tuple[int, bool]:
    """How often the chosen bound is exceeded by more than 1 % of people, in samples of 500 from a geometric law."""
    generator = np.random.default_rng(20140401)
    truth = stats.geom(0.5, loc=-1)
    wrong = 0
    for _ in range(REPETITIONS):
        bound = risk_of_sample(generator.geometric(0.5, 500) - 1, 0.99, certainty=certainty).chosen.bound
        wrong += truth.sf(bound) > 0.01
    # Too many: more than chance would give once in a million if `judge` were true.
    return wrong, stats.binom.sf(wrong - 1, REPETITIONS, 1 - judge) < ERROR_RATE


def test_certainty_is_kept() -> None:
    assert not wrong_share(0.95, 0.95)[1]


def test_control_a_lower_certainty_is_caught() -> None:
    # The same experiment must notice a bound that is right half the time only.
    assert wrong_share(0.3, 0.95)[1]
