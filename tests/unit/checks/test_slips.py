"""The checks of mechanisms that may slip, each with a control."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.support.slipping import KEYS, SLIPPING, Listing

from hubbub.checks import CheckFailed, check_releaser
from hubbub.checks.replay.releaser import replay_releaser
from hubbub.checks.replay.script import draw_pair
from hubbub.released import Cost

CHECK = ["never_charges_more_than_stated"]


class SlipsMoreThanAnnounced(Listing):
    def _publish(self, tick, estimate, measurement, cost):
        return super()._publish(tick, estimate, measurement, replace(cost, delta=2 * cost.delta))


class ForgetsWhatSlipped(Listing):
    @property
    def slipped(self) -> Fraction:
        return Fraction(0)


class SlipsTooOften(Listing):
    """An account that looks away."""

    def __init__(self, keys, guarantee, *, source=None):
        super().__init__(keys, guarantee, source=source)
        self._account._check_slip = lambda *_: None  # type: ignore[method-assign]

    def cost(self, tick):
        return replace(super().cost(tick), delta=2 * self._account.even_slip)


class TellsMoreThanThereIs(Listing):
    @property
    def slipped(self) -> Fraction:
        return super().slipped + 1


def test_a_mechanism_that_may_slip_keeps_to_its_promise() -> None:
    assert check_releaser(Listing, only=CHECK) == CHECK


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (SlipsMoreThanAnnounced, "was announced to cost"),
        (ForgetsWhatSlipped, "the account says that 0 may have slipped"),
        (SlipsTooOften, "for slips"),
        (TellsMoreThanThereIs, "slips is overdrawn"),
    ],
)
def test_one_that_does_not_is_caught(broken, words) -> None:
    with pytest.raises(CheckFailed, match=words):
        check_releaser(broken, only=CHECK)


def test_a_replay_compares_what_is_charged_for_slips() -> None:
    pair = draw_pair(np.random.default_rng(1), SLIPPING.unit, KEYS, 12)  # not for privacy
    assert replay_releaser(lambda source: Listing(KEYS, SLIPPING, source=source), pair).cost <= SLIPPING.budget

    class Peeks(Listing):
        """What it says may slip hangs on the counts."""

        def _measure(self, counts, cost):
            true = int(counts.values.reveal().sum())
            return super()._measure(counts, cost)._replace(cost=Cost(rho=cost.rho, delta=cost.delta / (1 + true)))

    with pytest.raises(CheckFailed, match="the cost of a tick differs between neighbours"):
        replay_releaser(lambda source: Peeks(KEYS, SLIPPING, source=source), pair)
