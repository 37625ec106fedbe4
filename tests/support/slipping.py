"""A mechanism that charges a delta, for tests: counts plus noise, and it says that something may slip."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from hubbub.mechanism import Traits
from hubbub.privacy import Grant, Guarantee, Session
from hubbub.release import Lpa
from hubbub.released import Cost, Keys, Tick

KEYS = Keys(["front", "news", "sports"])
SLIPPING = Guarantee.zcdp(Session(max_ticks=4), "1/10", delta="1e-6")
VISITORS = Grant("visitors", SLIPPING, "visitors of example.org")


class Listing(Lpa):
    """Every tick costs an even part of both currencies."""

    name: ClassVar[str] = "listing"
    traits: ClassVar[Traits] = Traits(guarantees=("zcdp", "approximate"), slips=True)

    def cost(self, tick: Tick) -> Cost:
        return replace(super().cost(tick), delta=self._account.even_slip)
