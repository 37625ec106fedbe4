"""Every worked example of Goetz 2012, chapter 3, in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from tests.support import context_oracle as oracle
from tests.support.context_chains import EXAMPLE_1, EXAMPLE_2, EXAMPLE_3, EXAMPLE_4, EXAMPLE_5

from hubbub.contexts import SUPPRESSED, Adversary, CoinPolicy, Hybrid, Probabilistic, Secret, Simulatable


def coins(chain, hidden, secrets, delta="1/4", parts=2, ticks=None):
    """A policy that suppresses the named contexts with so many parts, at all ticks."""
    levels = np.zeros((chain.ticks, chain.size), dtype=np.int64)
    for name, level in hidden.items():
        levels[:, chain.number(name)] = level
    return CoinPolicy(chain, secrets, delta, levels, parts)


def worst(policy):
    return max(oracle.rises(policy.chain, policy, policy.secrets))


def test_example_1():
    secrets = [Secret("phone call")]
    policy = coins(EXAMPLE_1, {"coffee break": 2, "phone call": 2, "meeting": 2}, secrets)
    belief = Adversary(policy, exact=True).beliefs([SUPPRESSED, SUPPRESSED])[0]["phone call"]
    assert (EXAMPLE_1.exact_steps.prior[0, EXAMPLE_1.number("phone call")], belief) == (Fraction(1, 2), Fraction(2, 3))
    assert worst(policy) == Fraction(1, 6)
    shows_the_break = coins(EXAMPLE_1, {"phone call": 2, "meeting": 2}, secrets)
    beliefs = Adversary(shows_the_break, exact=True).beliefs([SUPPRESSED, "coffee break"])
    assert beliefs[0]["phone call"] == 1


def test_example_2():
    policy = Probabilistic.plan(EXAMPLE_2, [Secret("s")], "1/4", levels=3, exact=True)
    assert [policy.suppression(0, context, -1, -1) for context in (0, 1)] == [1, Fraction(1, 3)]
    assert Adversary(policy, exact=True).beliefs([SUPPRESSED])[0]["s"] == Fraction(3, 4)
    assert worst(policy) == Fraction(1, 4)
    less = CoinPolicy(EXAMPLE_2, [Secret("s")], "1/4", np.array([[1000, 333]]), 1000)
    assert worst(less) > Fraction(1, 4)


@pytest.mark.parametrize(
    ("hidden", "privacy"),
    [
        ({"y1": 2, "y2": 2, "s1": 2, "s2": 2}, "1/4"),
        ({"z1": 2, "z2": 2, "s1": 2, "s2": 2}, "1/4"),
        ({"y1": 1, "y2": 1, "z1": 1, "z2": 1, "s1": 2, "s2": 2}, "5/12"),  # half-way: not convex
        ({"y1": 2, "z1": 2, "s1": 2, "s2": 2}, "3/4"),
        ({"y2": 2, "z2": 2, "s1": 2, "s2": 2}, "3/4"),  # and the same half-way again: not concave
    ],
)
def test_example_3(hidden, privacy):
    policy = coins(EXAMPLE_3, hidden, [Secret("s1", "s2")])
    assert worst(policy) == Fraction(privacy)


def test_example_3_beliefs():
    policy = coins(EXAMPLE_3, {"y1": 1, "y2": 1, "z1": 1, "z2": 1, "s1": 2, "s2": 2}, [Secret("s1", "s2")])
    adversary = Adversary(policy, exact=True)
    assert adversary.beliefs(["y1", SUPPRESSED])[1]["s1"] == Fraction(2, 3)
    assert adversary.beliefs([SUPPRESSED, SUPPRESSED])[1]["s1"] == Fraction(1, 3)


def test_example_4():
    secrets = [Secret("s1", "s2")]
    simulatable = Simulatable.plan(EXAMPLE_4, secrets, "1/4", exact=True)
    probabilistic = Probabilistic.plan(EXAMPLE_4, secrets, "1/4", exact=True)
    assert simulatable.utility == 0
    assert probabilistic.levels.tolist() == [[10, 10, 0, 0]]
    assert Adversary(probabilistic, exact=True).beliefs([SUPPRESSED])[0]["s1"] == Fraction(1, 2)
    assert Hybrid.plan(EXAMPLE_4, secrets, "1/4", exact=True).chosen.name == "probabilistic"


def test_example_5():
    secrets = [Secret("s1", "s2")]
    simulatable = Simulatable.plan(EXAMPLE_5, secrets, "1/3", exact=True)
    names = (*EXAMPLE_5.contexts, None)
    outputs = {
        tuple(None if seen is None else names[seen] for seen in output)
        for _, output in oracle.joint(EXAMPLE_5, simulatable)
    }
    assert outputs == {
        ("w1", "x1", None, None), ("w2", "x1", None, None), ("w3", "x2", "y2", "z1"), ("w3", "x2", "y2", "z2"),
        ("w4", "x2", "y2", "z1"), ("w4", "x2", "y2", "z2"), ("w5", "x3", None, None), ("w6", "x3", None, None),
    }  # fmt: skip
    assert oracle.shown(EXAMPLE_5, simulatable) == Fraction(8, 3)
    assert simulatable.utility == pytest.approx(8 / 3)
    probabilistic = Probabilistic.plan(EXAMPLE_5, secrets, "1/3", exact=True)
    assert oracle.shown(EXAMPLE_5, probabilistic) == Fraction(7, 3)  # the most there is, by Claim 6
    assert worst(probabilistic) <= Fraction(1, 3)
    assert Hybrid.plan(EXAMPLE_5, secrets, "1/3", exact=True).chosen.name == "simulatable"


def test_claim_6_suppressing_the_ways_in_is_not_enough():
    """The paper's second case, with its w4 and w5 read as w5 and w6: as many shown, and s1 given away by z1."""
    hidden = dict.fromkeys(["w1", "w2", "x1", "w5", "w6", "x3", "s1", "s2"], 2)
    policy = coins(EXAMPLE_5, hidden, [Secret("s1", "s2")], "1/3")
    assert oracle.shown(EXAMPLE_5, policy) == Fraction(7, 3)
    assert worst(policy) > Fraction(1, 3)
