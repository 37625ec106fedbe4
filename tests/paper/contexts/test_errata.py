"""Places where Goetz 2012, chapters 2.2.2 and 3, is wrong as printed (docs/errata.md), by example."""

from fractions import Fraction
from itertools import product

import numpy as np
from tests.support import context_oracle as oracle
from tests.support.context_chains import EXAMPLE_2, layered

from hubbub.contexts import CoinPolicy, Probabilistic, Secret
from hubbub.contexts.secret import targets
from hubbub.contexts.walk import holds

QUARTER = Fraction(1, 4)


def is_private_with_cache(chain, secrets, delta, levels, parts, passed):
    """Alg. 3 as printed: what passed for a vector is not looked at again for one that dominates it."""
    policy = CoinPolicy(chain, secrets, delta, np.array(levels), parts)
    both = oracle.joint(chain, policy)
    outputs = {output for _, output in both}
    private = True
    for number, (_, holds_for) in enumerate(oracle.events(chain, secrets)):
        prior = sum(chance for (path, _), chance in both.items() if holds_for(path))
        for output in outputs:
            if any(
                np.all(np.array(before) <= np.array(levels)) and (number, output) in seen for before, seen in passed
            ):
                continue
            total = sum(chance for (_, o), chance in both.items() if o == output)
            with_event = sum(chance for (path, o), chance in both.items() if o == output and holds_for(path))
            if with_event / total - prior > delta:
                private = False
            else:
                passed.append((levels, {(number, output)}))
    return private


def test_lemma_5_the_cache_accepts_what_breaches():
    secrets = [Secret("s")]
    passed = []
    assert not is_private_with_cache(EXAMPLE_2, secrets, QUARTER, [[1, 1]], 5, passed)
    assert is_private_with_cache(EXAMPLE_2, secrets, QUARTER, [[5, 1]], 5, passed), "the cache would be sound"
    assert not is_private_with_cache(EXAMPLE_2, secrets, QUARTER, [[5, 1]], 5, [])
    policy = CoinPolicy(EXAMPLE_2, secrets, QUARTER, np.array([[5, 1]]), 5)
    assert oracle.rises(EXAMPLE_2, policy, secrets) == [Fraction(1, 3)]


def test_ours_refuses_it_whatever_was_asked_before():
    for steps in (EXAMPLE_2.exact_steps, EXAMPLE_2.steps):
        bounds = targets(EXAMPLE_2, steps, [Secret("s")], QUARTER)
        assert not holds(steps, bounds, np.array([[1, 1]]), 5)
        assert not holds(steps, bounds, np.array([[5, 1]]), 5)
        assert holds(steps, bounds, np.array([[5, 2]]), 5)


def test_observation_1_more_suppression_shows_less():
    shown = [
        CoinPolicy(EXAMPLE_2, [Secret("s")], QUARTER, np.array([[5, level]]), 5).utility for level in range(6)
    ]  # fmt: skip
    assert shown == sorted(shown, reverse=True)
    assert shown[0] > shown[-1]


def test_theorem_3_a_released_context_tells_the_same_at_any_chance_below_one():
    """The case o = c_i of its proof, where the printed factor is p: at p = 0 that output would be impossible."""
    beliefs = set()
    for level in range(5):
        policy = CoinPolicy(EXAMPLE_2, [Secret("s")], QUARTER, np.array([[level, 2]]), 5)
        both = oracle.joint(EXAMPLE_2, policy)
        total = sum(chance for (_, output), chance in both.items() if output == (0,))
        assert total == Fraction(1, 2) * (1 - Fraction(level, 5))
        beliefs.add(both[(0,), (0,)] / total)
    assert beliefs == {Fraction(1)}


def test_theorem_3_holds_on_a_grid():
    chain = layered({"start": {"s": "1/3", "x": "2/3"}}, {"s": ["s", "x"], "x": {"s": "1/4", "x": "3/4"}})
    secrets = [Secret("s")]
    rise = {}
    for levels in product(range(4), repeat=4):
        policy = CoinPolicy(chain, secrets, QUARTER, np.array(levels).reshape(2, 2), 3)
        rise[levels] = oracle.rises(chain, policy, secrets)[0]
    for levels, most in rise.items():
        for place in range(4):
            if levels[place] < 3:
                above = (*levels[:place], levels[place] + 1, *levels[place + 1 :])
                assert rise[above] <= most


def window_chain():
    """Where each belief in s alone hardly moves, and the belief in s at one of two ticks jumps."""
    return layered(
        {"start": {"m": "1/100", "k": "99/100"}},
        {"m": {"s": "1/21", "w": "20/21"}, "k": ["s", "y"]},
        {"s": {"s": "9/10", "z": "1/10"}, "w": ["s", "v"], "y": ["y"]},
        {"s": {"d": "1/100", "e": "99/100"}, "z": ["d"], "v": ["e"], "y": {"d": "1/10", "e": "9/10"}},
    )


def test_2_2_2_delta_over_the_length_does_not_protect_a_window():
    chain = window_chain()
    levels = np.zeros((4, chain.size), dtype=np.int64)
    levels[1:3] = 1
    each, some = Secret("s"), Secret("s", first=1, last=2, sometime=True)
    policy = CoinPolicy(chain, [each, some], 1, levels, 1)
    alone, window = oracle.rises(chain, policy, [each, some])
    assert alone < Fraction(8, 100)
    assert window > Fraction(49, 100) > 2 * alone, "by 2.2.2 it would be at most twice as much"


def test_windows_are_protected_by_a_bound_of_their_own():
    chain = window_chain()
    secrets = [Secret("s", first=1, last=2, sometime=True, delta="14/100")]
    policy = Probabilistic.plan(chain, secrets, "14/100", exact=True)
    assert policy.utility > 0
    assert oracle.rises(chain, policy, secrets)[0] <= Fraction(14, 100)
