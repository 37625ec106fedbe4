"""Lists of items that a store holds: which there are, and each of them as it is searched and shown."""

from __future__ import annotations

import threading
import unicodedata
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Literal

import numpy as np

from hubbub.errors import StoreError
from hubbub.released import Release
from hubbub.server.errors import NotFound
from hubbub.server.feed import Feed
from hubbub.server.ranking import Ranking
from hubbub.store import Store, Stream

ROWS = 100
"""Items on a page."""

MOST_LISTED = 500
"""Lists that a page offers to choose from, the newest; older ones are found by their address."""

MOST_KEPT = 400_000
"""Items of all lists together that stay in memory: some 150 MB."""

State = Literal["published", "passed", "lost", "open"]
STATES: dict[State, str] = {
    "published": "published",
    "passed": "nothing was measured",
    "lost": "lost",
    "open": "charged, not published",
}


@dataclass(frozen=True, slots=True)
class Overview:
    """Which lists of a stream there are, from the oldest that is offered to the newest, and how many may follow."""

    states: tuple[tuple[int, State], ...]
    promised: int | None
    """How many lists there may be in all; None where the promise is about each visit, say, and lists have no end."""
    begins: Mapping[int, datetime] = field(default_factory=dict)
    """When the periods of lists began, where they have a time."""
    is_fresh: bool = True
    """False where the store does not answer, and this is what it said last."""

    @property
    def made(self) -> int:
        """Lists that are paid for: lost ones count."""
        return self.states[-1][0] + 1 if self.states else 0

    @property
    def left(self) -> int | None:
        return None if self.promised is None else max(self.promised - self.made, 0)

    @property
    def newest(self) -> int | None:
        """The newest list that was published."""
        return next((number for number, state in reversed(self.states) if state == "published"), None)

    def state(self, number: int) -> State | None:
        """None where there is no such list, or it is older than those offered."""
        return dict(self.states).get(number)


class ItemList:
    """One published list: items from the most frequent on. What stands last in its release, `other`, is no item.

    Items are compared in one spelling, without regard to case: somebody who types on a phone finds what others wrote
    in capitals, or with an accent that is a character of its own.
    """

    def __init__(self, release: Release) -> None:
        size = len(release.keys) - 1
        self.number = release.tick.index
        self.names: Sequence[str] = release.keys.names[:size]
        self.counted = bool(np.isfinite(release.standard_errors[:size]).all())
        self._release = release
        lower, upper = release.lower[:size], release.upper[:size]
        self._ranking = Ranking(lower, upper) if self.counted else None
        self.edge = max(float(upper.max()), 1.0) if self.counted and size else 1.0
        """Where the longest interval ends: bars of all pages have one scale."""

    def __len__(self) -> int:
        return len(self.names)

    def find(self, text: str) -> Sequence[int]:
        """The places of all items that hold `text`, in the order of the list."""
        wanted = folded(text)
        if not wanted:
            return range(len(self))
        return [place for place, name in enumerate(self._folded) if wanted in name]

    def row(self, place: int, *, words: bool) -> dict[str, Any]:
        """An item with its numbers; with `words`, also as people read them. Without counts it has no place either."""
        rank = None if self._ranking is None else self._ranking.of(place)
        row: dict[str, Any] = {"rank": None if rank is None else str(rank), "item": self.names[place]}
        if self.counted:
            value = self._release.at(place)
            row |= value.described() if words else value.to_dict()
        return row

    @cached_property
    def _folded(self) -> Sequence[str]:
        return [folded(name) for name in self.names]


def folded(text: str) -> str:
    """One spelling for all that people take for the same letters.

    >>> folded("STRASSE") in folded("Hauptstraße 1")
    True
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


class Lists:
    """Reads lists from the store, and keeps those that were asked for lately: a list never changes.

    Called from worker threads. While the store does not answer, what is in memory is shown, and said to be that.
    """

    def __init__(self, store: Store, feed: Feed) -> None:
        self._store, self._feed = store, feed
        self._overviews: dict[str, Overview] = {}
        self._kept: OrderedDict[tuple[str, int], ItemList] = OrderedDict()
        self._lock = threading.Lock()

    def overview(self, stream: Stream) -> Overview:
        try:
            debits = list(self._store.debits(stream, last=MOST_LISTED))
        except StoreError:
            known = self._overviews.get(stream.name)
            if known is None:
                raise
            return replace(known, is_fresh=False)
        states = tuple((debit.tick, _state(debit.state, debit.purpose)) for debit in debits)
        begins = {debit.tick: start for debit in debits if (start := debit.at.start) is not None}
        made = Overview(states, stream.guarantee.unit.horizon, begins)
        self._overviews[stream.name] = made
        return made

    def read(self, stream: Stream, number: int) -> ItemList:
        """The list of that number. One that was lost, or never was, is not found."""
        key = (stream.name, number)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        release = self._release(stream, number)
        if release is None:
            raise NotFound("There is no such list.", "Without `list` the newest is shown, and which others there are.")
        if release.is_predicted and release.cost.is_free:
            raise NotFound("There is no such list: nothing was measured for it, or charged.", "Read another one.")
        if release.is_predicted:
            raise NotFound(
                "This list was never published: it was lost when a step failed after it was charged.",
                "It is not drawn again. Read another one.",
            )
        made = ItemList(release)
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > 1 and sum(len(one) for one in self._kept.values()) > MOST_KEPT:
                self._kept.popitem(last=False)
        return made

    def _release(self, stream: Stream, number: int) -> Release | None:
        history = self._feed.channel(stream.name).history
        if history and history[-1].tick.index == number:  # the newest is in memory already
            return history[-1]
        return next(iter(self._store.releases(stream, first=number, last=number)), None)


def _state(state: str, purpose: str) -> State:
    """A debit in the words of lists. A tick that was let pass without a log was charged nothing, and has no list."""
    if state == "settled":
        return "passed" if purpose == "prediction" else "published"
    return "lost" if state == "lost" else "open"
