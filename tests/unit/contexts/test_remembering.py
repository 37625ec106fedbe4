"""Coins that know what was shown last: never less than the others, never more than is possible, silent after a gap."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from tests.support import context_oracle as oracle
from tests.support.context_chains import random_chain, random_delta, random_secrets

from hubbub.contexts import (
    Adversary,
    Compiled,
    ContextChain,
    Hybrid,
    Probabilistic,
    Remembering,
    Secret,
    Simulatable,
    best_possible,
    ceiling,
)
from hubbub.contexts.device import Mask
from hubbub.contexts.remembering import MANNERS
from hubbub.errors import InvalidParameter

DAYS = [["home", "walk", "work", "work"]] * 20
DAYS += [["home", "walk", "clinic", "work"]] * 2 + [["home", "home", "work", "work"]] * 8
ERRANDS = ContextChain.fit(DAYS, smoothing=0)


def chains(number, seed=0):
    random = Random(seed)
    for _ in range(number):
        chain = random_chain(random)
        yield chain, random_secrets(random, chain), random_delta(random)


def test_it_never_shows_less_than_the_others_and_often_more():
    more = 0
    for chain, secrets, delta in chains(60):
        coins = Probabilistic.plan(chain, secrets, delta)
        policy = Remembering.plan(chain, secrets, delta, coins=[coins.levels])
        older = max(coins.utility, Simulatable.plan(chain, secrets, delta).utility)
        assert policy.utility >= older - 1e-9
        more += policy.utility > older + 1e-6
    assert more > 12


def test_no_policy_exceeds_the_optimum_and_the_optimum_not_the_ceiling():
    found = 0
    for chain, secrets, delta in chains(80, seed=1):
        if (2 * chain.size) ** chain.ticks > 5000:
            continue
        best = best_possible(chain, secrets, delta)
        assert Hybrid.plan(chain, secrets, delta).utility <= best + 1e-6
        assert best <= ceiling(chain, secrets, delta) + 1e-6
        found += 1
    assert found > 20


@pytest.mark.parametrize("prior", ["1/20", "1/10", "1/3", "4/5"])
def test_a_secret_with_a_middling_prior_costs_most_of_its_tick(prior):
    """The ceiling in closed form: at least p / (p + delta) of all days are suppressed."""
    p = Fraction(prior)
    chain = ContextChain(("s", "x"), (p, 1 - p), [])
    assert ceiling(chain, [Secret("s")], "1/10") == pytest.approx(float(1 - p / (p + Fraction(1, 10))))


def test_where_the_secret_is_nearly_certain_there_is_nothing_to_hide():
    chain = ContextChain(("s", "x"), ("19/20", "1/20"), [])
    assert ceiling(chain, [Secret("s")], "1/10") == pytest.approx(1)
    assert Remembering.plan(chain, [Secret("s")], "1/10").utility == pytest.approx(1)


def test_the_hybrid_takes_it_where_it_gains():
    policy = Hybrid.plan(ERRANDS, [Secret("clinic")], "0.1")
    assert policy.utility == max(p.utility for p in (policy.simulatable, policy.probabilistic, policy.remembering))
    assert policy.older.utility <= policy.utility
    assert Hybrid.plan(ERRANDS, [Secret("clinic")], "0.1", exact=True).remembering is None


def test_it_comes_back_from_its_table(tmp_path):
    policy = Remembering.plan(ERRANDS, [Secret("clinic")], "0.1")
    for name in ("p.json", "p.bin"):
        policy.compile().save(tmp_path / name)
        again = Compiled.load(tmp_path / name).policy(ERRANDS, policy.secrets)
        assert {k: v.tolist() for k, v in again.levels.items()} == {
            k: v.tolist() for k, v in policy.levels.items() if len(v)
        }


def test_after_a_missed_tick_the_day_is_silent():
    data = Remembering.plan(ERRANDS, [Secret("clinic", first=0, last=0)], "0.1").compile().to_bytes()
    whole, gap = Mask(data, lambda parts: parts - 1), Mask(data, lambda parts: parts - 1)
    day = ["home", "walk", "work", "work"]
    assert [whole.offer(t, c) for t, c in enumerate(day)] == day
    assert gap.offer(0, "home") == "home"
    assert [gap.offer(t, day[t]) for t in (2, 3)] == [None, None]


def test_a_gap_gives_nothing_away():
    """Missing a tick at any place, by chance: what is shown before it, and then nothing, keeps the promise exactly."""
    for chain, secrets, delta in chains(120, seed=2):
        policy = Remembering.plan(chain, secrets, delta)
        for cut in range(chain.ticks):
            gap = _Cut(policy, cut)
            for rise, allowed in zip(oracle.rises(chain, gap, secrets), policy.deltas, strict=True):
                assert rise <= allowed


def test_going_on_after_a_gap_would_give_something_away():
    """The control: with everything as planned after a missed tick the promise breaks for some chain."""
    broken = 0
    for chain, secrets, delta in chains(400, seed=3):
        policy = Remembering.plan(chain, secrets, delta)
        for missed in range(chain.ticks):
            rises = oracle.rises(chain, _Skip(policy, missed), secrets)
            broken += any(rise > allowed for rise, allowed in zip(rises, policy.deltas, strict=True))
        if broken:
            return
    pytest.fail("no chain at all")


class _Cut:
    """Silent from a tick on."""

    def __init__(self, policy, tick):
        self.policy, self.tick, self.secrets = policy, tick, policy.secrets

    def suppression(self, tick, context, last_tick, last_context):
        return Fraction(1) if tick >= self.tick else self.policy.suppression(tick, context, last_tick, last_context)


class _Skip(_Cut):
    """Silent at one tick."""

    def suppression(self, tick, context, last_tick, last_context):
        return Fraction(1) if tick == self.tick else self.policy.suppression(tick, context, last_tick, last_context)


def test_a_hybrid_of_a_large_chain_does_without_it(monkeypatch):
    monkeypatch.setattr("hubbub.contexts.remembering._WORK", 10)
    assert Hybrid.plan(ERRANDS, [Secret("clinic")], "0.1").remembering is None


def test_too_many_levels_are_refused():
    with pytest.raises(InvalidParameter, match="at most 255"):
        Remembering.plan(ERRANDS, [Secret("clinic")], "0.1", levels=256)


def test_a_long_day_neither_underflows_nor_breaches():
    rng = np.random.default_rng(4)
    moves = rng.dirichlet(np.full(4, 0.2), size=(59, 4)) + 1e-12
    chain = ContextChain.of_weights("abcs", np.ones(4), moves)
    policy = Remembering.plan(chain, [Secret("s")], "0.1", manners=MANNERS[:3])
    assert policy.utility > 1
    adversary = Adversary(policy)
    mask_bytes = policy.compile().to_bytes()
    for _ in range(20):
        mask = Mask(mask_bytes)
        outputs = [mask.offer(t, c) for t, c in enumerate(chain.sample(rng))]
        assert not adversary.breaches(outputs)
