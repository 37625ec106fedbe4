"""Each server's own noise is all that was promised: what is left when the other takes its own off.

Error rate: as in `tests/statistical/noise/test_samplers.py`, 1e-10 a check; fewer than 20 checks. With 800,000 draws a
scale off by 5 % moves a chi-squared statistic by 2,000, where 150 is enough to reject; noise of half the variance, as
if the servers shared it, moves it by far more.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.statistical.noise.test_samplers import fits, has_the_tails, is_symmetric

from hubbub.gather.prio3 import Histogram
from hubbub.gather.prio3_scheme import Prio3Scheme, centred
from hubbub.gather.query import Query
from hubbub.noise import DiscreteGaussian, DiscreteLaplace

KEY = bytes(32)
TIMES, LENGTH = 200, 4096


def noise_of_server(server: int, **kind: object) -> np.ndarray:
    """What a server adds to its share, seen by somebody who knows the share: as the other one might, with clients."""
    query = Query.plan("q", Histogram(LENGTH), clients=3, minimum=1, verify_key=KEY, **kind)
    scheme = Prio3Scheme(query, KEY)
    reports = [scheme.encode(at) for at in range(2)]
    started = [scheme.start(k, [report[k] for report in reports]) for k in (0, 1)]
    told = [one.told for one in started[1 - server]]
    total = scheme.add(server, scheme.check(server, started[server], told))
    field = scheme.prio3.field
    seen = []
    for _ in range(TIMES):
        share = scheme.prio3.decode_share(scheme.noisy(server, total))
        seen += centred(field, field.sub(share, total.share))
    return np.array(seen)


@pytest.mark.parametrize("server", [0, 1])
def test_laplace_noise_of_either_server_is_whole(server):
    seen = noise_of_server(server, epsilon="1/5")
    promised = DiscreteLaplace(10)  # another answer moves two buckets by one: 2 / (1/5)
    assert fits(seen, promised)
    assert has_the_tails(seen, promised)
    assert is_symmetric(seen)
    assert not fits(seen, DiscreteLaplace(Fraction(95, 10)))
    assert not fits(seen, DiscreteLaplace(Fraction(7)))


@pytest.mark.parametrize("server", [0, 1])
def test_gaussian_noise_of_either_server_is_whole(server):
    seen = noise_of_server(server, rho="1/50")
    promised = DiscreteGaussian(50)  # 2 / (2/50)
    assert fits(seen, promised)
    assert has_the_tails(seen, promised)
    assert not fits(seen, DiscreteGaussian(45))
    assert not fits(seen, DiscreteGaussian(25))
