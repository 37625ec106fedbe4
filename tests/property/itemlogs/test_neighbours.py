"""Larger logs than can be listed: a user moves weights by no more than a length of one."""

from math import isqrt

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hubbub.itemlogs.thresholds import UNIT
from hubbub.itemlogs.weighing import picks, picks_again, weigh
from hubbub.noise import Lottery

ITEMS = 12


@given(
    st.sets(st.tuples(st.integers(0, 9), st.integers(0, ITEMS - 1)), min_size=1),
    st.integers(1, 8),
    st.none() | st.tuples(st.lists(st.integers(-9, 9), min_size=ITEMS, max_size=ITEMS), st.integers(0, 2**ITEMS - 1)),
)
def test_a_user_moves_weights_by_at_most_one(pairs, limit, earlier):
    def pick(log):
        if earlier is None:
            return picks(log, limit, lottery)
        unlisted = np.array([bool(earlier[1] >> i & 1) for i in range(ITEMS)])
        return picks_again(log, limit, lottery, np.array(earlier[0]), unlisted, 0)

    lottery = Lottery()
    for user in {user for user, _ in pairs}:
        weights = []
        for log in (pairs, {pair for pair in pairs if pair[0] != user}):
            columns = tuple(np.array([pair[i] for pair in sorted(log)], dtype=np.uint32) for i in (0, 1))
            weights.append(weigh(pick(columns), ITEMS, limit))
        change = (weights[0] - weights[1]).astype(object)
        assert np.sum(change**2) <= UNIT**2
        others = {item for owner, item in pairs if owner != user}
        alone = [int(weights[0][item]) for item in range(ITEMS) if item not in others and weights[0][item]]
        assert not alone or max(alone) <= isqrt(UNIT**2 // len(alone))
