"""Ranges of streams that have them: the window in memory, brought up to date when someone asks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from hubbub.errors import StoreUnavailable
from hubbub.ranges.pair import PairWindow
from hubbub.server.feed import Feed
from hubbub.store import Store, Stream

MOST_CELLS = 2**22
"""Ticks times keys that are kept of each stream: about 70 MB. What lies further back is added up from the store."""

Answer = TypeVar("Answer")


class Ranges:
    """One window a stream, from released values only.

    The first question after a tick reads what is new; all others find it in memory and take microseconds. Questions to
    one stream take turns, since a window must not grow while it is read.
    """

    def __init__(self, store: Store, feed: Feed) -> None:
        self._store = store
        self._feed = feed
        self._windows: dict[str, PairWindow] = {}
        self._turns: dict[str, asyncio.Lock] = {}

    async def ask(self, name: str, question: Callable[[PairWindow], Answer]) -> Answer | None:
        """What `question` finds in the window of this stream; None where it has no ranges, or none yet."""
        beside = self._feed.ranges_of(name)
        if beside is None:
            return None
        newest = self._feed.channel(name).last_tick
        async with self._turns.setdefault(name, asyncio.Lock()):
            window = self._windows.get(name)
            if window is None:
                await asyncio.to_thread(self._bring_up, name, beside)
            elif newest >= window.next_tick:
                with suppress(StoreUnavailable):  # then what is in memory answers, up to the last tick there
                    await asyncio.to_thread(self._bring_up, name, beside)
            window = self._windows.get(name)
            return None if window is None else question(window)

    def _bring_up(self, name: str, beside: Stream) -> None:
        """Read the state of ranges and then what led to it. A tick is live before it is in the stream of ranges."""
        snapshot = self._store.state(beside)
        if snapshot is None:
            return
        end = int(snapshot.facts["next"])
        size = min(int(snapshot.facts["window"]), max(1, MOST_CELLS // len(beside.keys)))
        window = self._windows.get(name)
        fresh = window is None or end - window.next_tick > size
        first = max(0, end - size) if window is None or fresh else window.next_tick
        if first >= end:
            return
        ours = self._store.releases(beside, first=first, last=end - 1)
        live = self._store.releases(name, first=first, last=end - 1)
        if window is None or fresh:
            even = bool(beside.options["even"])
            self._windows[name] = PairWindow.of(beside.keys, size, snapshot, ours, live, even=even)
        else:
            window.extend(snapshot, ours, live)
