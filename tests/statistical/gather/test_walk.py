"""A whole walk keeps its promise, and no smaller one: what one server sees of a client who answers all rounds.

The client's log is one thing or another, as different as can be; all else is the same. Of 2,000,000 walks the event is
counted whose chances differ most: that every number that the client moves shows the second log at least as clearly as
it can. Error rate: Clopper-Pearson bounds at 1e-7 each way, four of them. The control: noise for a budget that is
larger by 60 % breaks the promise by 1.2 in the logarithm, where the bounds lie about 0.5 from the truth and the
estimate has a standard error of 0.09 (the event is seen about 150 times in one world, 3,500 in the other): it is missed
with a chance below 1e-12.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from hubbub.gather import Entry, Query, Round, TopDown
from hubbub.gather.opened import Opened
from hubbub.personal import Categories

WALKS = 2_000_000
SURE = 1e-7
TOWN = Categories({"town": None, "north": "town", "south": "town", "park": "north", "zoo": "south"})
ONE, OTHER = [Entry("park", "ice", clicked=True)] * 2, [Entry("zoo", "tea")] * 2


def rounds(**given: Any) -> list[tuple[Round, Query]]:
    """All rounds, with so many in the town that everything goes on."""
    walk = TopDown(
        TOWN, name="w", items=["ice", "tea"], max_items=2, clients=9999, minimum=1, min_support=1, depths=(0, 1, 2),
        **given,
    )  # fmt: skip
    asked = []
    while (now := walk.ask()) is not None:
        asked.append(now)
        walk.take(Opened(now[1].name, [1000] * now[0].length, 1000, 9999, 1.0, ""))
    return asked


def loss_seen(asked: list[tuple[Round, Query]]) -> tuple[int, int]:
    """How often the event was seen where the client has the first log, and where it has the second."""
    seen = [np.ones(WALKS, dtype=bool) for _ in "ab"]
    for now, query in asked:
        before, after = (np.array(now.vector(TOWN, log)) for log in (ONE, OTHER))
        for place in np.flatnonzero(before != after):
            low, high = sorted((before[place], after[place]))
            for world, numbers in zip(seen, (before, after), strict=True):
                drawn = numbers[place] + query.noise.draw(WALKS)
                world &= drawn >= high if after[place] == high else drawn <= low
    return int(seen[0].sum()), int(seen[1].sum())


def least_and_most(times: tuple[int, int]) -> tuple[float, float]:
    """Bounds on the logarithm of how much likelier the event is with the second log."""
    (low0, high0), (low1, high1) = (
        (stats.beta.ppf(SURE, k, WALKS - k + 1), stats.beta.isf(SURE, k + 1, WALKS - k)) for k in times
    )
    return math.log(low1 / high0), math.log(high1 / low0)


def test_the_client_moves_as_much_as_the_plan_allows():
    for now, query in rounds(epsilon=1):
        moved = np.abs(np.subtract(now.vector(TOWN, ONE), now.vector(TOWN, OTHER)))
        assert moved.sum() == query.circuit.change == query.noise.sensitivity


@pytest.mark.parametrize("weights", [None, (1, 2, 3)])
def test_the_loss_of_a_walk_is_its_epsilon(weights):
    epsilon = 2
    least, most = least_and_most(loss_seen(rounds(epsilon=epsilon, weights=weights)))
    assert least <= epsilon, "the promise is broken"
    assert most >= epsilon, "the event must show the whole loss, or this test could not see a broken promise"
    # The control: noise for a budget 60 % larger breaks this promise, and is seen to.
    least, _ = least_and_most(loss_seen(rounds(epsilon=1.6 * epsilon, weights=weights)))
    assert least > epsilon
