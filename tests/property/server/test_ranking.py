"""Ranks against brute force."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hubbub.server.ranking import Ranking

intervals = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)), min_size=1, max_size=12)


@given(intervals)
def test_ranks_are_what_pairs_say(pairs):
    lower = np.array([low for low, _ in pairs], dtype=float)
    upper = np.array([low + width for low, width in pairs], dtype=float)
    ranking, many = Ranking(lower, upper), len(pairs)
    for i in range(many):
        rank = ranking.of(i)
        assert rank.highest == 1 + sum(lower[j] > upper[i] for j in range(many))
        assert rank.lowest == many - sum(upper[j] < lower[i] for j in range(many))
        for j in range(many):
            other = ranking.of(j)
            overlap = lower[i] <= upper[j] and lower[j] <= upper[i]
            if overlap:
                assert rank.group == other.group
                assert max(rank.highest, other.highest) <= min(rank.lowest, other.lowest), "tied keys share a place"
            if rank.group != other.group:
                assert not overlap


@given(intervals, st.integers(1, 12))
def test_the_order_of_a_part_is_the_beginning_of_the_whole(pairs, most):
    lower = np.array([low for low, _ in pairs], dtype=float)
    upper = np.array([low + width for low, width in pairs], dtype=float)
    names = [f"k{i:02}" for i in range(len(pairs))]
    ranking = Ranking(lower, upper)
    assert ranking.order(names, most) == ranking.order(names, len(names))[:most]
