"""The simulated search log: what is in it, and what k-query anonymity leaves of it."""

import numpy as np

from hubbub.lab.search_log import NONE, SearchLog, once_each, simulated_search_log


def hand_made():
    """Ann types 0, 1, 0; Bob 0, then 1 in the same session; Cem 1. Query 0 is {5, 6}, query 1 is {5}."""
    return SearchLog(
        users=np.array([0, 0, 0, 1, 1, 2]),
        queries=np.array([0, 1, 0, 0, 1, 1]),
        follows=np.array([False, True, False, False, True, False]),
        click_users=np.array([0]),
        clicks=np.array([3]),
        words=np.array([[5, 6, NONE], [5, NONE, NONE]]),
        documents=np.ones(7, dtype=np.int64),
    )


def test_the_four_kinds_of_items():
    logs = hand_made().item_logs()
    counts = {
        name: dict(zip(log.labels.reveal(), np.bincount(log.items.reveal()).tolist(), strict=True))
        for name, log in logs.items()
    }
    assert counts == {
        "keywords": {"5": 3, "6": 2},
        "queries": {"0": 2, "1": 3},
        "clicks": {"3": 1},
        "query pairs": {"1": 2},  # 0 then 1: 0 * 2 + 1
    }


def test_k_query_anonymity_takes_queries_out_and_with_them_pairs():
    left = hand_made().anonymous(3)
    assert left.queries.tolist() == [1, 1, 1]
    assert not left.follows.any()
    assert not len(left.clicks)
    assert hand_made().anonymous(2).follows.sum() == 2
    assert not len(hand_made().anonymous(4).users)


def test_each_user_once():
    assert once_each(np.array([7, 7, 8]), np.array([4, 4, 4])).tolist() == [4, 4]


def test_a_simulated_log_is_the_same_each_time_and_in_order():
    one, other = (simulated_search_log.__wrapped__(300, 500, 400, seed=3) for _ in range(2))
    assert np.array_equal(one.queries, other.queries)
    assert (np.diff(one.users) >= 0).all()
    assert not one.follows[0]
    second = np.flatnonzero(one.follows)
    assert np.array_equal(one.users[second], one.users[second - 1])  # nobody goes on with another's session
    assert one.words.max() < 500
    told = one.words[one.words != NONE]
    assert len(told)
    assert all(len(set(row[row != NONE])) == np.count_nonzero(row != NONE) for row in one.words)
