"""Opened sums are the clear sums plus noise of the stated variance.

Error rate: each check is a chi-squared or a z-test at 1e-8; fewer than 10 checks. With 4,096 counters a variance off by
a third (one server's noise left out is a half) is more than 15 standard errors away: a control passes by chance with a
probability below 1e-12.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from hubbub.gather.homomorphic import HomomorphicScheme, keys
from hubbub.gather.prio3 import Histogram
from hubbub.gather.prio3_scheme import Prio3Scheme
from hubbub.gather.query import Query

ALPHA = 1e-8
LENGTH = 4096
KEY = bytes(32)


def passes(errors: np.ndarray, variance: float, fourth: float) -> bool:
    """Mean zero, and this variance; `fourth` bounds the kurtosis."""
    n, limit = len(errors), stats.norm.isf(ALPHA / 2)
    centred = abs(errors.mean()) <= limit * math.sqrt(variance / n)
    spread = abs(errors.var() / variance - 1) <= limit * math.sqrt((fourth - 1) / n)
    return bool(centred and spread)


def errors_of(name: str, reports: int, **kind: object) -> tuple[np.ndarray, float]:
    query = Query.plan("q", Histogram(LENGTH), clients=reports, minimum=reports, verify_key=KEY, **kind)
    if name == "prio3":
        client = first = second = Prio3Scheme(query, KEY)
    else:
        public, secret = keys(query)
        client = first = HomomorphicScheme(query, public=public)
        second = HomomorphicScheme(query, secret=secret)
    sent = [client.encode(at % 7) for at in range(reports)]
    started = [server.start(k, [report[k] for report in sent]) for k, server in enumerate((first, second))]
    told = [[one.told for one in side] for side in started]
    totals = [server.add(k, server.check(k, started[k], told[1 - k])) for k, server in enumerate((first, second))]
    opened = second.open([server.noisy(k, totals[k]) for k, server in enumerate((first, second))], reports)
    truth = np.bincount([at % 7 for at in range(reports)], minlength=LENGTH)
    return np.array(opened.sums) - truth, opened.variance


@pytest.mark.parametrize(
    ("name", "reports", "kind", "fourth"),
    [
        ("prio3", 12, {"epsilon": "0.2"}, 6),
        ("prio3", 12, {"rho": "1/50"}, 3.2),
        ("homomorphic", 12, {"epsilon": "0.2"}, 6),
        ("homomorphic", 12, {"epsilon": "0.2", "lying": 1}, 8),
        ("homomorphic", 12, {"share_variance": 3, "lying": 1}, 3.2),
    ],
)
def test_the_noise_is_what_is_stated(name, reports, kind, fourth):
    errors, variance = errors_of(name, reports, **kind)
    assert passes(errors, variance, fourth)
    # Controls: one server's noise forgotten, a third of the shares missing.
    assert not passes(errors, 2 * variance, fourth)
    assert not passes(errors, variance * 2 / 3, fourth)
