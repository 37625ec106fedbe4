"""The largest rise over all outputs, and adversaries whose chain is another one."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from tests.support import context_oracle as oracle
from tests.support.context_chains import EXAMPLE_2, EXAMPLE_5, random_chain

from hubbub.contexts import (
    SUPPRESSED,
    Adversary,
    CoinPolicy,
    ContextChain,
    Hybrid,
    MaskSensitive,
    Policy,
    Probabilistic,
    Remembering,
    Secret,
    Simulatable,
    largest_rise,
)
from hubbub.errors import InvalidParameter


def test_it_is_what_brute_force_finds():
    random = Random(4)
    for _ in range(60):
        chain = random_chain(random)
        secrets = [Secret(chain.contexts[0], together=bool(random.randrange(2)))]
        levels = np.array([[random.randint(0, 4) for _ in chain.contexts] for _ in range(chain.ticks)])
        policy = CoinPolicy(chain, secrets, "1/4", levels, 4)
        assert largest_rise(policy) == pytest.approx(float(max(0, oracle.rises(chain, policy, secrets)[0])), abs=2e-5)


def test_who_knows_less_may_learn_more():
    """The promise is about the chain that was planned for: another prior may rise further (docs/proofs, 7)."""
    policy = Probabilistic.plan(EXAMPLE_2, [Secret("s")], "1/4", levels=3, exact=True)
    other = ContextChain(("s", "x"), ("3/10", "7/10"), [])
    [belief] = Adversary(policy, other, exact=True).about([SUPPRESSED])
    assert belief.rise == Fraction(21, 80) > policy.delta


def test_the_bound_for_another_chain_holds():
    """Chains whose rows differ by factors within e^r: belief rises to at most e^(4 r T) (prior + delta) of ours."""
    random = Random(8)
    for _ in range(60):
        chain = random_chain(random)
        secrets = [Secret(chain.contexts[0])]
        policy = Probabilistic.plan(chain, secrets, "1/4")
        factor = 1.1
        change = np.random.default_rng(random.randrange(10**6)).uniform(1, factor, size=chain._moves.shape)
        first = np.random.default_rng(random.randrange(10**6)).uniform(1, factor, size=chain.size)
        other = ContextChain.of_weights(chain.contexts, chain._start * first, chain._moves * change)
        spread = factor**chain.ticks  # a path's probability changes by at most this, either way
        for output in {output for _, output in oracle.joint(chain, policy)}:
            seen = [None if place is None else chain.contexts[place] for place in output]
            for mine, theirs in zip(
                Adversary(policy).about(seen), Adversary(policy, other).about(seen), strict=True
            ):  # fmt: skip
                assert theirs.posterior <= spread**2 * mine.posterior + 1e-9
                assert theirs.prior >= mine.prior / spread - 1e-9


def test_masking_gives_all_away():
    assert largest_rise(MaskSensitive.plan(EXAMPLE_2, [Secret("s")], "1/4")) == pytest.approx(0.5, abs=1e-5)


@pytest.mark.parametrize("kind", [Simulatable, Remembering, Hybrid])
def test_of_pieces_it_is_never_less_than_what_brute_force_finds(kind):
    """For the planned chain it is within delta; for another one what is found lies within it, and may exceed delta."""
    random, beyond = Random(6), 0
    for number in range(20):
        chain = random_chain(random)
        secrets = [Secret(chain.contexts[0], together=bool(random.randrange(2)))]
        policy = kind.plan(chain, secrets, "1/10")
        assert oracle.rises(chain, policy, secrets)[0] <= largest_rise(policy) <= 0.1 + 2e-5
        change = np.random.default_rng(number).uniform(0.2, 1, size=chain._moves.shape) ** 3
        other = ContextChain.of_weights(chain.contexts, chain._start, chain._moves * change)
        found = float(oracle.rises(other, policy, secrets)[0])
        assert found <= largest_rise(policy, other) + 1e-9
        beyond += found > 0.1
    # With few moves impossible the schedule shows too little of so small chains to be an example.
    assert beyond > 0 or kind is Simulatable, "another chain may learn more"


def test_only_policies_of_the_house_and_only_the_same_contexts():
    class Own(Policy):
        def suppression(self, *_):
            return 0

    with pytest.raises(InvalidParameter, match="Hubbub's policies only"):
        largest_rise(Own(EXAMPLE_2, [Secret("s")], "1/4", 0.0))
    with pytest.raises(InvalidParameter, match="contexts and ticks"):
        largest_rise(MaskSensitive.plan(EXAMPLE_2, [Secret("s")], "1/4"), EXAMPLE_5)
