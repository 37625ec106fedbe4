"""Planning again as days are added, for who knows the newer habits; plans for several chains; several days in a row."""

from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest
from tests.support import context_oracle as oracle
from tests.support.context_chains import EXAMPLE_2, random_chain, random_delta, random_secrets

from hubbub.contexts import (
    ContextChain,
    ForSeveral,
    Hybrid,
    MaskSensitive,
    Probabilistic,
    Remembering,
    Secret,
    Simulatable,
    hindsight,
    plan_again,
)
from hubbub.errors import InvalidParameter

EARLY = [["home", "walk", "work"]] * 6 + [["home", "clinic", "work"]]
LATE = [["home", "walk", "work"]] * 3 + [["home", "bar", "home"]] * 2 + [["home", "clinic", "work"]] * 3


def other_than(chain, random):
    """The same contexts and ticks with other numbers: some a little different, some possible only here or there."""
    rng = np.random.default_rng(random.randrange(2**32))
    start, moves = (
        weights * rng.uniform(0.2, 1, weights.shape) ** 3 + rng.choice([0, 0, 0.1], weights.shape)
        for weights in (chain._start, chain._moves)
    )
    return ContextChain.of_weights(chain.contexts, start, moves)


def test_a_plan_for_several_chains_keeps_every_ones_promise():
    """By brute force, in fractions. The control: a plan for one of them often breaks the promise for the other."""
    random, broken = Random(14), 0
    for _ in range(50):
        chain = random_chain(random)
        chains = [other_than(chain, random), chain]
        secrets, delta = random_secrets(random, chain), random_delta(random)
        policy = ForSeveral.plan(chains, secrets, delta)
        for one in chains:
            for rise, most in zip(oracle.rises(one, policy, secrets), policy.deltas, strict=True):
                assert rise <= most
        alone = Probabilistic.plan(chain, secrets, delta)
        assert policy.utility <= alone.utility + 1e-9
        rises = oracle.rises(chains[0], alone, secrets)
        broken += any(rise > most for rise, most in zip(rises, policy.deltas, strict=True))
    assert broken > 5


def test_chains_that_know_different_contexts():
    early, late = ContextChain.fit(EARLY, smoothing=0), ContextChain.fit(LATE, smoothing=0)
    policy = ForSeveral.plan([early, late], [Secret("clinic")], "0.2")
    assert set(policy.chain.contexts) == {"home", "walk", "work", "clinic", "bar"}
    assert policy.chain.prior(1)["bar"] == 0.25
    for chain in (early, late):
        told = chain.among(policy.chain.contexts)
        assert oracle.rises(told, policy, policy.secrets)[0] <= Fraction(1, 5)
    with pytest.raises(InvalidParameter, match="not among those"):
        late.among(early.contexts)


@pytest.mark.parametrize("kind", [Probabilistic, Simulatable, Remembering, Hybrid])
def test_hindsight_is_never_less_than_what_brute_force_finds(kind):
    random = Random(5)
    for _ in range(10):
        chain = random_chain(random)
        secrets = random_secrets(random, chain)
        policy, newer = kind.plan(chain, secrets, "1/10"), other_than(chain, random)
        for past in (policy, policy.compile()):
            found = hindsight(past, newer, secrets)
            assert max(oracle.rises(newer, policy, secrets)) <= found.rise + 1e-9
        own = hindsight(policy, chain)
        if all(secret.delta is None for secret in secrets):
            assert own.keeps
        assert own.rise <= float(max(policy.deltas)) + 2e-5


def test_a_promise_that_is_broken_by_little_does_not_hold():
    """Small beside 1/100,000, to which `rise` is rounded; and much beside the smallest delta there is."""
    half = ContextChain(("s", "x"), ("1/2", "1/2"), [])
    plan = Probabilistic.plan(half, [Secret("s")], "1/4", levels=3, exact=True)
    assert hindsight(plan, half).keeps, "exactly delta is kept, in fractions"
    later = ContextChain.of_weights(("s", "x"), np.array([499_991, 500_009]), np.zeros((0, 2, 2)))
    assert Fraction(1, 4) < oracle.rises(later, plan, plan.secrets)[0] < Fraction(250_003, 10**6)
    assert not hindsight(plan, later).keeps
    rare = ContextChain.of_weights(("s", "x"), np.array([999_995, 5]), np.zeros((0, 2, 2)))
    naive = MaskSensitive.plan(rare, [Secret("s")], "0.000001")
    assert oracle.rises(rare, naive, naive.secrets)[0] > 4 * naive.delta
    assert not hindsight(naive, rare).keeps


def test_each_secret_keeps_its_own_delta():
    chain = ContextChain(("s", "x"), ("1/2", "1/2"), [[("1/2", "1/2")] * 2])
    secrets = [Secret("s", first=1, last=1, delta="1/5"), Secret("x", first=0, last=0, delta="1/2")]
    plan = Probabilistic.plan(chain, secrets, "1/4", levels=10)
    first, second = oracle.rises(chain, plan, secrets)
    assert first <= Fraction(1, 5) < second <= Fraction(1, 2)
    assert hindsight(plan, chain).keeps


@pytest.mark.parametrize("kind", [Probabilistic, Simulatable, Remembering])
def test_what_is_said_to_hold_does(kind):
    """Chains just beside the plan's own: brute force in fractions never disagrees with "holds"."""
    random, held, broken = Random(8), 0, 0
    for _ in range(60):
        chain = random_chain(random)
        secrets = random_secrets(random, chain)
        plan = kind.plan(chain, secrets, random_delta(random))
        nudge = 1 + np.random.default_rng(random.randrange(99)).uniform(-1e-5, 1e-5, chain._moves.shape)
        near = ContextChain.of_weights(chain.contexts, chain._start, chain._moves * nudge)
        rises = zip(oracle.rises(near, plan, secrets), plan.deltas, strict=True)
        kept = all(rise <= delta for rise, delta in rises)
        told = hindsight(plan, near).keeps
        assert kept or not told
        held, broken = held + told, broken + (not told)
    assert held > 20, (held, broken)


@pytest.mark.parametrize("kind", [MaskSensitive, Probabilistic, Simulatable, Remembering])
def test_a_table_is_read_with_a_chain_that_knows_more_contexts(kind):
    """What it says about contexts that it knows stays; those that it does not know are suppressed, as devices do."""
    early = ContextChain.fit(EARLY, smoothing=0)
    newer = ContextChain.fit(EARLY + LATE, smoothing=0)
    policy = kind.plan(early, [Secret("clinic")], "0.2")
    again = policy.compile().policy(newer, policy.secrets)
    places = [newer.number(name) for name in early.contexts]
    lasts = [(-1, -1), *((tick, context) for tick in range(2) for context in range(early.size))]
    for (last_tick, last), context in product(lasts, range(early.size)):
        for tick in range(last_tick + 1, 3):
            moved = -1 if last < 0 else places[last]
            expected = policy.suppression(tick, context, last_tick, last)
            assert again.suppression(tick, places[context], last_tick, moved) == expected
            assert again.suppression(tick, newer.number("bar"), last_tick, moved) == 1 or kind is MaskSensitive
    assert max(oracle.rises(newer, again, policy.secrets)) <= hindsight(policy, newer).rise + 1e-9
    with pytest.raises(InvalidParameter, match="another chain"):
        policy.compile().policy(ContextChain(("home",), (1,), []), policy.secrets)


def test_planning_again_tells_what_earlier_plans_gave_away():
    secrets = [Secret("clinic")]
    first = plan_again(EARLY, secrets, "0.2", smoothing=0)
    assert first.before == ()
    assert first.worst == pytest.approx(0.2)
    second = plan_again(EARLY + LATE, secrets, "0.2", [first.policy], smoothing=0)
    chain = second.policy.chain
    assert "bar" in chain.contexts
    [past] = second.before
    told = first.policy.compile().policy(chain, secrets)
    assert past.rise == pytest.approx(float(oracle.rises(chain, told, secrets)[0]), abs=2e-5)
    assert second.worst == max(past.rise, 0.2)
    assert oracle.rises(chain, second.policy, secrets)[0] <= Fraction(1, 5)
    third = plan_again(EARLY, secrets, "0.2", [second.policy.compile()], smoothing=0)
    assert third.policy.chain.contexts == chain.contexts, "contexts that a plan knows do not get lost"


def test_who_sees_the_chain_before_and_after_a_day_reads_the_day():
    """Why the promise is about days that the plan was not learned from (docs/proofs/contexts.md, 10)."""
    contexts = ("bar", "clinic", "home", "walk", "work")
    before = ContextChain.fit(EARLY, contexts=contexts, smoothing=0)
    after = ContextChain.fit([*EARLY, ["home", "clinic", "work"]], contexts=contexts, smoothing=0)
    moved = np.argwhere(after._moves - before._moves == 1)
    assert [(contexts[i], contexts[j]) for _, i, j in moved] == [("home", "clinic"), ("clinic", "work")]


def test_days_in_a_row_are_independent_and_their_union_adds_up():
    """Two days with plans of their own, all outputs of both: brute force."""
    random, beyond = Random(3), 0
    for _ in range(40):
        chain = random_chain(random)
        if chain.ticks > 2:
            continue
        delta, secrets = Fraction(1, 10), [Secret(chain.contexts[0], first=0, last=0)]
        policies = [Probabilistic.plan(chain, secrets, delta), Remembering.plan(chain, secrets, delta)]
        days = [oracle.joint(chain, policy) for policy in policies]
        seen, one, either = {}, {}, {}
        for ((path, output), chance), ((path_2, output_2), chance_2) in product(days[0].items(), days[1].items()):
            both, weight = (output, output_2), chance * chance_2
            seen[both] = seen.get(both, 0) + weight
            one[both] = one.get(both, 0) + weight * (path[0] == 0)
            either[both] = either.get(both, 0) + weight * (path[0] == 0 or path_2[0] == 0)
        prior = sum(one.values()), sum(either.values())
        assert max(one[both] / seen[both] for both in seen) - prior[0] <= delta
        most = max(either[both] / seen[both] for both in seen) - prior[1]
        assert most <= 2 * delta
        beyond += most > delta
    assert beyond > 0, "that it was either day may be believed by more than one delta more"


def test_what_cannot_be_joined():
    plan = Probabilistic.plan(EXAMPLE_2, [Secret("s")], "1/4")
    with pytest.raises(InvalidParameter, match="at least one"):
        ForSeveral.plan([], [Secret("s")], "1/4")
    with pytest.raises(InvalidParameter, match="number of ticks"):
        ForSeveral.plan([EXAMPLE_2, ContextChain(("s", "x"), (1, 0), [[(1, 0), (0, 0)]])], [Secret("s")], "1/4")
    with pytest.raises(InvalidParameter, match="Only plans of Probabilistic"):
        ForSeveral.of([MaskSensitive.plan(EXAMPLE_2, [Secret("s")], "1/4")])
    with pytest.raises(InvalidParameter, match="same contexts"):
        ForSeveral.of([plan, Probabilistic.plan(EXAMPLE_2, [Secret("s")], "1/5")])
    many = [Probabilistic.plan(EXAMPLE_2, [Secret("s")], "1/4", levels=levels) for levels in (251, 263)]
    with pytest.raises(InvalidParameter, match="66013 together"):
        ForSeveral.of(many)
    joined = ForSeveral.of([Probabilistic.plan(EXAMPLE_2, [Secret("s")], "1/4", levels=3), plan])
    assert joined.parts == 30
    assert oracle.rises(EXAMPLE_2, joined, joined.secrets)[0] <= Fraction(1, 4)
