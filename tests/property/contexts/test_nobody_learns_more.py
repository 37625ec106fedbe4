"""Five thousand small chains, all policies, secrets of all kinds: an adversary who writes down every day and every
output, in exact fractions, never finds a belief that rose by more than delta."""

from fractions import Fraction
from random import Random

import pytest
from tests.support import context_oracle as oracle
from tests.support.context_chains import random_chain, random_delta, random_secrets

from hubbub.contexts import Hybrid, MaskSensitive, Probabilistic, Remembering, Simulatable
from hubbub.contexts.device import Mask

CHAINS, PARTS = 5000, 10
ORDERS = ("likeliest", "forward", "backward", "best")


def policies(chain, secrets, delta, number, random):
    """Every kind, planned in floating point (as in use) and now and then exactly."""
    levels = random.choice([1, 2, 3, 10, 1000])
    search = random.choice(["greedy", "linear"])
    exact = number % 5 == 0
    yield Simulatable.plan(chain, secrets, delta, exact=exact)
    for order in ORDERS[:3]:
        yield Probabilistic.plan(chain, secrets, delta, levels=levels, search=search, order=order, exact=exact)
    yield Remembering.plan(chain, secrets, delta, levels=min(levels, 255))
    yield Hybrid.plan(chain, secrets, delta, levels=levels, search=search, exact=exact)


@pytest.mark.parametrize("part", range(PARTS))
def test_no_belief_rises_by_more_than_delta(part):
    random = Random(part)
    shown = 0.0
    for number in range(CHAINS // PARTS):
        chain = random_chain(random)
        secrets, delta = random_secrets(random, chain), random_delta(random)
        for policy in policies(chain, secrets, delta, number, random):
            for rise, allowed in zip(oracle.rises(chain, policy, secrets), policy.deltas, strict=True):
                assert rise <= allowed, (number, policy, chain._start, chain._moves, secrets)
            assert policy.utility == pytest.approx(float(oracle.shown(chain, policy)), abs=1e-9)
            shown += policy.utility
    assert shown > CHAINS // PARTS, "a policy that shows nothing would pass"


class AsDevice:
    """What a compiled table does in the device's reader, with ticks skipped at which nothing is offered."""

    def __init__(self, policy, skipped):
        self.table = policy.compile()
        self.parts, self.skipped, self.coin = self.table.table["parts"], skipped, 0
        self.mask = Mask(self.table.to_bytes(), lambda _: self.coin)
        self.contexts, self.known = policy.chain.contexts, {}

    def suppression(self, *state):
        if state not in self.known:
            self.known[state] = self.ask(*state)
        return self.known[state]

    def ask(self, tick, context, last_tick, last_context):
        if tick in self.skipped:
            return Fraction(1)
        missed = self.table.table["kind"] == "pieces" and any(skip < tick for skip in self.skipped)
        low, high = 0, self.parts  # the lowest coin that shows
        while low < high:
            self.coin = (low + high) // 2
            mask = self.mask
            mask.tick, mask.silent, mask.last_tick, mask.last_context = tick - 1, missed, last_tick, last_context
            shown = mask.offer(tick, self.contexts[context]) is not None
            low, high = (low, self.coin) if shown else (self.coin + 1, high)
        return Fraction(low, self.parts)


def test_nor_does_one_from_compiled_tables_and_skipped_ticks():
    """An adversary who knows which ticks were skipped. The control: going on after a gap as if there were none would
    break the promise of some policies that remember (tests/unit/contexts/test_remembering.py)."""
    random, shown, same = Random(99), 0.0, 0
    for number in range(150):
        chain = random_chain(random)
        secrets, delta = random_secrets(random, chain), random_delta(random)
        skipped = {tick for tick in range(chain.ticks) if random.random() < 0.25}
        for policy in policies(chain, secrets, delta, number, random):
            device = AsDevice(policy, skipped)
            for rise, allowed in zip(oracle.rises(chain, device, secrets), policy.deltas, strict=True):
                assert rise <= allowed, (number, policy, skipped, chain._start, chain._moves, secrets)
            told = float(oracle.shown(chain, device))
            assert skipped or told == pytest.approx(policy.utility, abs=1e-9)
            shown, same = shown + told, same + (not skipped)
    assert shown > 150, "a device that shows nothing would pass"
    assert same > 100


def test_the_adversary_finds_what_masking_gives_away():
    """The control: suppressing the sensitive contexts alone breaches on most of the same chains."""
    random, breached = Random(0), 0
    for _ in range(300):
        chain = random_chain(random)
        secrets, delta = random_secrets(random, chain), random_delta(random)
        policy = MaskSensitive.plan(chain, secrets, delta)
        rises = oracle.rises(chain, policy, secrets)
        breached += any(rise > allowed for rise, allowed in zip(rises, policy.deltas, strict=True))
    assert breached > 150


def test_chances_that_are_a_little_lower_are_found_out():
    """A second control: lower one chance of a plan by a level, and the promise is broken more often than not."""
    random, lowered, breached = Random(1), 0, 0
    for _ in range(300):
        chain = random_chain(random)
        secrets, delta = random_secrets(random, chain), random_delta(random)
        policy = Probabilistic.plan(chain, secrets, delta, levels=10, order="likeliest", exact=True)
        prior = chain.steps.prior
        able = [(t, i) for t, i in zip(*policy.levels.nonzero(), strict=True) if prior[t, i] > 0]
        if not able:
            continue
        levels = policy.levels.copy()
        levels[random.choice(able)] -= 1
        bold = type(policy)(chain, secrets, delta, levels, 10)
        rises = oracle.rises(chain, bold, secrets)
        lowered += 1
        breached += any(rise > allowed for rise, allowed in zip(rises, bold.deltas, strict=True))
    # Bounds on stretches of time are stricter than they must be, so that not every lower chance breaks a promise.
    assert breached > 0.6 * lowered > 60
