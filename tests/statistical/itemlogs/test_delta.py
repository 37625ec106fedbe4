"""How often what only one user has is published, on the worst logs, measured. Error rate of each test: 1e-6."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from hubbub.itemlogs import Adaptive, ItemLog, Weighted, Zealous

ERROR = 1e-6


def alone(users, items):
    """A log in which nobody shares anything: each user is one trial."""
    codes = np.arange(users * items, dtype=np.uint32)
    return ItemLog.from_codes(codes // items, codes, [str(code) for code in codes])


def exposed(method, users, items):
    """How many users have an item published that only they have."""
    return len({int(item) // items for item in method.publish(alone(users, items))})


def too_many(hits, trials, delta):
    return binom.sf(hits - 1, trials, float(delta)) < ERROR


USERS = 60_000


@pytest.mark.parametrize("items", [1, 3])
def test_zealous(items):
    method = Zealous(1, "0.02", 3, allow_weak=True)
    hits = exposed(method, USERS, items)
    assert not too_many(hits, USERS, method.claim.delta)
    if items == 3:
        # The bound is reached, within a union bound and a step of the threshold: a lower one would not do.
        assert hits > 0.8 * float(method.claim.delta) * USERS


def test_zealous_with_a_threshold_for_less_noise_fails():
    """The control: the margin that noise at 70 % of its scale would need."""
    method = Zealous(1, "0.02", 3, allow_weak=True)
    method.thresholds = replace(method.thresholds, publish=1 + round(0.7 * method.thresholds.margin))
    assert too_many(exposed(method, USERS, 3), USERS, method.claim.delta)


@pytest.mark.parametrize("keep", [None, 2])
def test_zealous_probabilistic(keep):
    """Every item has a count of exactly tau, as many as a log of U users can hold: a list with any of them is bad."""
    users, m, runs = 40, 2, 4000
    method = Zealous(2, "0.05", m, users=users, keep=keep, allow_weak=True)
    tau = method.thresholds.keep
    items = users * m // tau
    assert items >= 1
    pairs = sorted({((item * tau + i) % users, item) for item in range(items) for i in range(tau)})
    log = ItemLog.from_codes(
        np.array([user for user, _ in pairs], dtype=np.uint32),
        np.array([item for _, item in pairs], dtype=np.uint32),
        [str(item) for item in range(items)],
    )
    assert len(pairs) == items * tau
    hits = sum(len(method.publish(log)) > 0 for _ in range(runs))
    assert not too_many(hits, runs, method.claim.delta)
    method.thresholds = replace(method.thresholds, publish=tau + method.thresholds.margin // 2)
    hits = sum(len(method.publish(log)) > 0 for _ in range(runs))
    assert too_many(hits, runs, method.claim.delta), "the control must fail"


@pytest.mark.parametrize("kind", [Weighted, Adaptive])
@pytest.mark.parametrize("items", [1, 2, 5])
def test_weights(kind, items):
    method = kind(1, "0.05", 5, allow_weak=True)
    hits = exposed(method, USERS, items)
    assert not too_many(hits, USERS, method.claim.rho_delta)


@pytest.mark.parametrize("kind", [Weighted, Adaptive])
def test_weights_of_users_with_far_more_items_than_they_pick(kind):
    """Items that nobody picked could pass by their noise alone: 43 % of users were exposed, for a promised 2.5 %."""
    method = kind(1, "0.05", 5, allow_weak=True)
    assert not too_many(exposed(method, 3000, 200), 3000, method.claim.rho_delta)


@pytest.mark.parametrize("kind", [Weighted, Adaptive])
def test_weights_with_a_threshold_for_less_noise_fail(kind):
    method = kind(1, "0.05", 5, allow_weak=True)
    method.thresholds = tuple(int(0.7 * threshold) for threshold in method.thresholds)
    assert too_many(exposed(method, USERS, 5), USERS, method.claim.rho_delta)


def test_weights_reach_their_bound():
    """With one round and as many items as allowed, the bound is not slack: what is measured lies near it."""
    method = Weighted(1, "0.05", 5, allow_weak=True)
    assert exposed(method, USERS, 5) > 0.8 * float(method.claim.rho_delta) * USERS
