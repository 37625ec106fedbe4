"""Every small log and every neighbour of it, through the code that runs: how far a user moves weights and counts."""

import itertools
from functools import partial
from math import isqrt

import numpy as np
import pytest

from hubbub.itemlogs.bounding import at_random
from hubbub.itemlogs.thresholds import UNIT
from hubbub.itemlogs.weighing import picks, picks_again, weigh
from hubbub.noise import Lottery

USERS, ITEMS = 3, 3
EDGES = list(itertools.product(range(USERS), range(ITEMS)))


def logs():
    """All 512 logs of three users and three items."""
    for chosen in itertools.product((False, True), repeat=len(EDGES)):
        kept = [edge for edge, has in zip(EDGES, chosen, strict=True) if has]
        yield arrays(kept)


def arrays(pairs):
    return tuple(np.array([pair[i] for pair in sorted(pairs)], dtype=np.uint32) for i in (0, 1))


def without(pairs, user):
    left = pairs[0] != user
    return pairs[0][left], pairs[1][left]


def check_neighbours(pairs, user, limit, pick):
    """The L2 change is at most UNIT; items that only `user` gave weight to, t of them, weigh at most UNIT/sqrt(t)."""
    other = without(pairs, user)
    mine, theirs = (weigh(pick(log), ITEMS, limit) for log in (pairs, other))
    change = mine - theirs
    assert int(np.sum(change.astype(object) ** 2)) <= UNIT**2
    weights = mine[(theirs == 0) & (mine > 0)]
    assert not len(weights) or max(weights) <= isqrt(UNIT**2 // len(weights))


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_one_round_on_every_small_log(limit):
    lottery = Lottery()
    for pairs in logs():
        for user in range(USERS):
            check_neighbours(pairs, user, limit, lambda log: picks(log, limit, lottery))


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_later_round_on_every_small_log_whatever_the_first_showed(limit):
    lottery = Lottery()
    for scores in (*itertools.permutations((-5, 7, 9)), (-5, -5, 7), (-5, -5, -5)):
        for unlisted in ((True, True, True), (False, True, True)):
            pick = partial(
                picks_again, limit=limit, lottery=lottery, scores=np.array(scores), unlisted=np.array(unlisted), cut=0
            )
            for pairs in logs():
                check_neighbours(pairs, 0, limit, pick)


def test_what_is_picked_in_a_later_round():
    """Published ones never, the highest first; below the cut only the best one of who has nothing better."""
    pairs = arrays([(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 0)])
    scores, unlisted = np.array([50, -9, -3]), np.array([True, True, True])
    chosen = picks_again(pairs, 2, Lottery(), scores, unlisted, 0)
    assert sorted(zip(*(half.tolist() for half in chosen), strict=True)) == [(0, 0), (1, 2), (2, 0)]
    chosen = picks_again(pairs, 2, Lottery(), scores, np.array([False, True, True]), -20)
    assert sorted(zip(*(half.tolist() for half in chosen), strict=True)) == [(0, 1), (0, 2), (1, 1), (1, 2)]


def test_rounding_never_makes_a_users_weights_longer():
    for degree in range(1, 2000):
        assert degree * isqrt(UNIT * UNIT // degree) ** 2 <= UNIT**2


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_counts_on_every_small_log(limit):
    lottery = Lottery()
    for pairs in logs():
        for user in range(USERS):
            both = [
                np.bincount(at_random(p, limit, lottery)[1], minlength=ITEMS) for p in (pairs, without(pairs, user))
            ]
            change = both[0] - both[1]
            assert set(change.tolist()) <= {0, 1}
            assert change.sum() <= limit


def test_a_control_that_must_fail():
    """Weights of 1 for every item, whatever their number, are longer than a user may be."""
    pairs = arrays([(0, 0), (0, 1)])
    change = np.bincount(pairs[1], minlength=ITEMS) * UNIT
    assert int(np.sum(change.astype(object) ** 2)) > UNIT**2


def test_the_choice_is_uniform_and_each_users_own():
    """10,000 users with the same 5 items keep 2: each item is kept by 4,000, within 6 standard deviations."""
    users = np.repeat(np.arange(10_000, dtype=np.uint32), 5)
    items = np.tile(np.arange(5, dtype=np.uint32), 10_000)
    kept_users, kept = at_random((users, items), 2, Lottery())
    assert np.all(np.bincount(kept_users) == 2)
    assert np.all(np.abs(np.bincount(kept) - 4000) < 6 * np.sqrt(10_000 * 0.4 * 0.6))
    few = users < 7
    lottery = Lottery()
    whole, part = at_random((users, items), 2, lottery), at_random((users[few], items[few]), 2, lottery)
    assert whole[1][:14].tolist() == part[1].tolist()
