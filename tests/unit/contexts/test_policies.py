"""What planners refuse, and that they keep their promise on a few chains; thousands are in tests/property."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from tests.support import context_oracle as oracle
from tests.support.context_chains import EXAMPLE_2, EXAMPLE_5, random_chain, random_delta, random_secrets

from hubbub.contexts import (
    SUPPRESSED,
    Adversary,
    CoinPolicy,
    ContextChain,
    Hybrid,
    MaskSensitive,
    Probabilistic,
    Secret,
    Simulatable,
    best_possible,
)
from hubbub.errors import InvalidInput, InvalidParameter, UnknownKey

SECRETS = [Secret("s")]


def test_a_hundred_chains_keep_their_promise():
    random = Random(99)
    for _ in range(100):
        chain = random_chain(random)
        secrets, delta = random_secrets(random, chain), random_delta(random)
        for policy in (Simulatable.plan(chain, secrets, delta), Probabilistic.plan(chain, secrets, delta)):
            for rise, allowed in zip(oracle.rises(chain, policy, secrets), policy.deltas, strict=True):
                assert rise <= allowed


def test_no_policy_shows_more_than_the_best_possible():
    random = Random(5)
    for _ in range(40):
        chain = random_chain(random)
        secrets, delta = random_secrets(random, chain), random_delta(random)
        most = best_possible(chain, secrets, delta)
        assert most <= chain.ticks + 1e-6
        for policy in (Hybrid.plan(chain, secrets, delta, levels=1000, search="linear", exact=True),):
            assert policy.utility <= most + 1e-6


def test_the_tick_programme_finds_the_optimum_where_greedy_does_not():
    """Two sensitive contexts after different pasts: greedy hides the rarer cover first, and so more than it must."""
    random, better = Random(11), 0
    for _ in range(60):
        chain = random_chain(random)
        secrets, delta = [Secret(chain.contexts[0])], random_delta(random)
        greedy = Probabilistic.plan(chain, secrets, delta, levels=1000, order="forward", exact=True)
        linear = Probabilistic.plan(chain, secrets, delta, levels=1000, order="forward", search="linear", exact=True)
        if chain.ticks == 1:
            assert linear.utility >= best_possible(chain, secrets, delta) - chain.size / 1000 - 1e-9
        better += linear.utility > greedy.utility + 1e-9
    assert better > 0


@pytest.mark.parametrize("delta", [0, -1, "1.01", "1e-9", float("nan"), "much"])
def test_delta_is_a_share(delta):
    for kind in (Simulatable, Probabilistic, Hybrid, MaskSensitive):
        with pytest.raises(InvalidParameter, match="delta"):
            kind.plan(EXAMPLE_2, SECRETS, delta)
    with pytest.raises(InvalidParameter, match="delta"):
        Secret("s", delta=delta)


def test_delta_of_one_hides_nothing():
    assert Probabilistic.plan(EXAMPLE_2, SECRETS, 1, exact=True).utility == 1
    assert Simulatable.plan(EXAMPLE_2, SECRETS, 1, exact=True).utility == 1


def test_secrets_are_contexts_of_the_chain():
    with pytest.raises(UnknownKey):
        Simulatable.plan(EXAMPLE_2, [Secret("clinic")], "1/4")
    for wrong in ([], ["s"]):
        with pytest.raises(InvalidParameter, match="secret"):
            Simulatable.plan(EXAMPLE_2, wrong, "1/4")
    with pytest.raises(InvalidParameter, match="different contexts"):
        Secret()
    with pytest.raises(InvalidParameter, match="different contexts"):
        Secret("s", "s")
    with pytest.raises(InvalidParameter, match="ticks 0 to 0"):
        Simulatable.plan(EXAMPLE_2, [Secret("s", first=1)], "1/4")
    with pytest.raises(InvalidParameter, match="first"):
        Simulatable.plan(EXAMPLE_5, [Secret("s1", first=2, last=1)], "1/4")


def test_options_of_the_search():
    for options in ({"levels": 0}, {"levels": 70000}, {"search": "magic"}, {"order": "any"}):
        with pytest.raises(InvalidParameter, match=r"levels|search"):
            Probabilistic.plan(EXAMPLE_2, SECRETS, "1/4", **options)


def test_levels_must_fit_the_chain():
    for levels in (np.zeros((2, 2)), np.full((1, 2), 3), np.full((1, 2), -1)):
        with pytest.raises(InvalidParameter, match="levels"):
            CoinPolicy(EXAMPLE_2, SECRETS, "1/4", levels.astype(np.int64), 2)


def test_a_context_the_chain_holds_for_impossible_is_suppressed():
    chain = ContextChain(("s", "x"), (0, 1), [[(0, 0), (0, 1)]])
    for policy in (Simulatable.plan(chain, SECRETS, "1/4"), Probabilistic.plan(chain, SECRETS, "1/4")):
        assert policy.utility == 2
        assert policy.suppression(0, 0, -1, -1) == 1
        assert policy.suppression(1, 0, 0, 1) == 1


def test_a_small_stay_is_planned_exactly_or_on_the_safe_side():
    exact = Probabilistic.plan(EXAMPLE_2, SECRETS, "1/4", levels=3, exact=True)
    nearly = Probabilistic.plan(EXAMPLE_2, SECRETS, "1/4", levels=3)
    assert exact.levels[0, 1] == 1
    assert nearly.levels[0, 1] == 2  # a third would lie on the bound itself: rounding cannot tell on which side


def test_promises_in_words():
    policy = Probabilistic.plan(EXAMPLE_2, [Secret("s", delta="0.2"), Secret("x", sometime=True)], "0.1")
    assert "10 points of a hundred for: x at any time, and by at most 20 points" in policy.words
    assert "for: s at each single time." in policy.words
    assert "Promises nothing" in MaskSensitive.plan(EXAMPLE_2, SECRETS, "0.1").words
    assert str(Secret("a", "b", together=True, first=1, last=2)) == "a or b between ticks 1 and 2"
    assert str(Secret("a", first=1)) == "a from tick 1 on"
    assert str(Secret("a", last=0)) == "a up to tick 0"
    assert str(Secret("a", "b", sometime=True)) == "a at any time, and b at any time"
    assert str(Secret("a", "b", sometime=True, together=True)) == "a or b at any time"


def test_an_adversary_of_another_chain_must_speak_of_the_same_contexts():
    policy = Probabilistic.plan(EXAMPLE_2, SECRETS, "1/4")
    with pytest.raises(InvalidParameter, match="adversary"):
        Adversary(policy, EXAMPLE_5)
    less = ContextChain(("s", "x"), ("1/10", "9/10"), [])
    assert Adversary(policy, less).beliefs([SUPPRESSED])[0]["s"] < 0.5


def test_outputs_of_an_adversary_are_one_day():
    policy = Probabilistic.plan(EXAMPLE_2, SECRETS, "1/4")
    with pytest.raises(InvalidInput, match="1 ticks"):
        Adversary(policy).beliefs([SUPPRESSED, SUPPRESSED])
    with pytest.raises(UnknownKey):
        Adversary(policy).beliefs(["clinic"])


def test_every_policy_is_too_much_for_a_large_chain():
    chain = ContextChain.fit([["abcdef"[i % 6] for i in range(20)]])
    with pytest.raises(InvalidParameter, match="every policy"):
        best_possible(chain, [Secret("a")], "1/4")


def test_unlikely_outputs_are_no_excuse():
    """Numbers below the smallest that floating point knows: a long day in which only one context could have lasted."""
    rare = Fraction(1, 2**30)
    moves = [[(1, 0, 0), (0, rare, 1 - rare), (0, 0, 1)]] * 40
    chain = ContextChain(("x", "s", "z"), ("1/2", "1/2", 0), [*moves, [(1, 0, 0), (0, 1, 0), (0, 0, 1)]])
    policy = Probabilistic.plan(chain, [Secret("s")], "1/10")
    adversary = Adversary(policy, exact=True)
    for path in (["x"] * 42, ["s"] * 42, ["s"] * 20 + ["z"] * 22):
        for bits in range(8):
            outputs, last = [], (-1, -1)
            for tick, name in enumerate(path):
                hide = policy.suppression(tick, chain.number(name), *last)
                seen = hide == 0 or (hide < 1 and bits >> tick % 3 & 1)
                outputs.append(name if seen else SUPPRESSED)
                last = (tick, chain.number(name)) if seen else last
            assert not adversary.breaches(outputs)
    assert {belief.tick for belief in adversary.about([SUPPRESSED] * 42)} == set(range(42))
