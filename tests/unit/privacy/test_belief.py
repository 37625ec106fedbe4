"""The promise about belief: what it says is what is proved, and it can be stored."""

from fractions import Fraction

import pytest

from hubbub.contexts import ContextChain, Hybrid, MaskSensitive, Secret
from hubbub.errors import InvalidParameter
from hubbub.privacy import BeliefBound

TENTH = Fraction(1, 10)


def test_a_policy_tells_its_promise():
    chain = ContextChain(("s", "x"), ("1/2", "1/2"), [])
    policy = Hybrid.plan(chain, [Secret("s"), Secret("x", delta="1/5")], "0.1")
    assert policy.promise == BeliefBound((("s at each single time", TENTH), ("x at each single time", Fraction(1, 5))))
    assert "10 points" in policy.words
    assert "20 points" in policy.words
    assert MaskSensitive.plan(chain, [Secret("s")], "0.1").promise is None


def test_it_says_to_whom_and_what_not():
    bound = BeliefBound((("clinic", TENTH),))
    assert "nobody" not in str(bound).lower(), "who holds other days for likely may learn more (proofs, 7)"
    assert "knows your habits" in bound.adversary
    text = " ".join(bound.not_covered)
    for word in ("habits", "starts elsewhere", "k times", "fall", "switched off"):
        assert word in text


def test_it_comes_back_from_storage():
    bound = BeliefBound((("clinic", TENTH), ("bar or pub", Fraction(1, 3))))
    assert BeliefBound.from_dict(bound.to_dict()) == bound
    assert bound.short == "belief +33.34 points", "never rounded down"


@pytest.mark.parametrize("stored", [{}, {"kind": "pure"}, {"kind": "belief"}, {"kind": "belief", "secrets": [3]}])
def test_something_else_is_refused(stored):
    with pytest.raises(InvalidParameter, match="not a stored bound"):
        BeliefBound.from_dict(stored)


@pytest.mark.parametrize("secrets", [(), (("", TENTH),), (("s", 0.1),), (("s", Fraction(0)),), (("s", Fraction(2)),)])
def test_a_bound_that_bounds_nothing_is_refused(secrets):
    with pytest.raises(InvalidParameter, match="names one or more"):
        BeliefBound(secrets)
