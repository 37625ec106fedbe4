"""What a server may say of a stream of lists: its promise, its card, and how many people it takes to be listed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hubbub.errors import InvalidParameter
from hubbub.itemlogs import Claim, ItemLists, Published
from hubbub.monitor.lists import claim_of
from hubbub.privacy import Guarantee
from hubbub.privacy.rounding import at_most
from hubbub.released import Discovered
from hubbub.server.ports import ListFacts, Needed
from hubbub.store import Stream

MAX_ITEMS = (1, 5, 10, 20, 50)
"""What is tried besides the present `max_items`."""


class AboutLists:
    """Fits `hubbub.server.ports.ItemsPort`.

    Everything follows from the definition of the stream, which is public and never changes: no log, no list, nothing
    that people did. So it is worked out once.
    """

    def __init__(self) -> None:
        self._known: dict[bytes, ListFacts | None] = {}

    def about(self, stream: Stream) -> ListFacts | None:
        """None for a stream whose lists are made in a way that is not known here."""
        if stream.genesis not in self._known:
            self._known[stream.genesis] = _facts(stream) if stream.method == ItemLists.name else None
        return self._known[stream.genesis]


def _facts(stream: Stream) -> ListFacts:
    options = dict(stream.mechanism)
    claim = claim_of(stream.guarantee, options["max_items"])
    bare = Published((), None, None, None, None, options["method"], claim)
    counted = _counted(bare)
    return ListFacts(claim.to_dict(), counted.card, bare.card, tuple(_needed(stream.guarantee, claim, options)))


def _counted(bare: Published) -> Published:
    """The same empty list with counts: its card says what a count is."""
    import numpy as np

    none = np.zeros(0)
    return replace(bare, counts=none.astype(np.int64), standard_error=none, lower=none, upper=none)


def _needed(present: Guarantee, claim: Claim, options: dict[str, Any]) -> Iterator[Needed]:
    """The present promise and some others. What is weaker, and what Hubbub would refuse to promise, is left out."""
    epsilon, delta = claim.epsilon, claim.delta
    yield _row("", present, claim, options)
    others: list[tuple[str, Fraction, Fraction, int]] = [
        ("epsilon halved", epsilon / 2, delta, claim.max_items),
        ("epsilon doubled", epsilon * 2, delta, claim.max_items),
        ("delta / 100", epsilon, delta / 100, claim.max_items),
        ("delta × 100", epsilon, delta * 100, claim.max_items),
    ]
    others += [(f"max_items {most:,}", epsilon, delta, most) for most in MAX_ITEMS if most != claim.max_items]
    for change, one, slip, most in others:
        known = one <= epsilon and slip <= delta  # whoever made the present promise asked for a weak one, if it is
        try:
            promise = Guarantee.approximate(present.unit, one, slip, aside=slip / 2, allow_weak=known)
            yield _row(change, promise, replace(claim, epsilon=one, delta=slip, max_items=most), options)
        except InvalidParameter:
            continue


def _row(change: str, promise: Guarantee, claim: Claim, options: dict[str, Any]) -> Needed:
    made = ItemLists(Discovered(), promise, **(options | {"max_items": claim.max_items}))
    people = math.ceil(made.people_needed)
    return Needed(change, at_most(claim.epsilon), at_most(claim.delta), claim.max_items, people)
