"""Forward and backward against every path written down, for every output of every policy."""

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import context_oracle as oracle
from tests.support.context_chains import random_chain, random_delta, random_secrets

from hubbub.contexts import Adversary, MaskSensitive, Probabilistic, Simulatable
from hubbub.errors import InvalidInput


@given(st.integers(0, 10**9))
def test_beliefs_are_those_of_brute_force(seed):
    random = Random(seed)
    chain = random_chain(random)
    secrets, delta = random_secrets(random, chain), random_delta(random)
    kind = random.choice([MaskSensitive, Probabilistic, Simulatable])
    policy = kind.plan(chain, secrets, delta)
    both = oracle.joint(chain, policy)
    exactly, nearly = Adversary(policy, exact=True), Adversary(policy)
    spelled = list(oracle.events(chain, secrets))
    for output in {output for _, output in both}:
        seen = [None if place is None else chain.contexts[place] for place in output]
        total = sum(chance for (_, o), chance in both.items() if o == output)
        beliefs = exactly.beliefs(seen)
        for tick in range(chain.ticks):
            for place, name in enumerate(chain.contexts):
                with_it = sum(c for (path, o), c in both.items() if o == output and path[tick] == place)
                assert beliefs[tick][name] == with_it / total
        found = exactly.about(seen)
        assert len(found) == len(spelled)
        for belief, close, (_, holds) in zip(found, nearly.about(seen), spelled, strict=True):
            prior = sum((c for (path, _), c in both.items() if holds(path)), Fraction(0))
            after = sum((c for (path, o), c in both.items() if o == output and holds(path)), Fraction(0)) / total
            assert (belief.prior, belief.posterior) == (prior, after)
            assert close.rise == pytest.approx(float(after - prior), abs=1e-9)
        if policy.private:
            assert not exactly.breaches(seen)


@given(st.integers(0, 10**9))
def test_what_is_known_before_the_day_is_over_is_an_average(seed):
    random = Random(seed)
    chain = random_chain(random)
    policy = Probabilistic.plan(chain, random_secrets(random, chain), random_delta(random))
    both = oracle.joint(chain, policy)
    cut = random.randint(0, chain.ticks)
    output = random.choice(sorted({output[:cut] for _, output in both}, key=str))
    seen = [None if place is None else chain.contexts[place] for place in output]
    total = sum(chance for (_, o), chance in both.items() if o[:cut] == output)
    beliefs = Adversary(policy, exact=True).beliefs(seen)
    for place, name in enumerate(chain.contexts):
        with_it = sum(c for (path, o), c in both.items() if o[:cut] == output and path[-1] == place)
        assert beliefs[-1][name] == with_it / total


@given(st.integers(0, 10**9))
def test_outputs_that_cannot_happen_are_refused(seed):
    random = Random(seed)
    chain = random_chain(random)
    policy = Simulatable.plan(chain, random_secrets(random, chain), random_delta(random))
    possible = {output for _, output in oracle.joint(chain, policy)}
    for output in oracle.all_outputs(chain.size, chain.ticks):
        if output not in possible:
            with pytest.raises(InvalidInput, match="cannot happen"):
                Adversary(policy, exact=True).beliefs([None if o is None else chain.contexts[o] for o in output])
