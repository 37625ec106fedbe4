"""The recent past of one stream in memory, encoded once for all viewers."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from hubbub.detectors import Change
from hubbub.released import Domain, Release, same_whole
from hubbub.server.picture import Picture, Pictures
from hubbub.server.settings import ServerSettings
from hubbub.spatial.maps import map_of

MOST_CELLS = 2_000_000
"""Ticks times keys that are kept: 80 MB at most, however many keys a stream has."""

EVENTS_KEPT = 64
CHANGES_KEPT = 500


class Channel:
    """Holds the last releases, the latest picture and the last encoded events of one stream.

    Viewers keep a place of their own and read from the shared list, so nothing is queued for anyone: a viewer who does
    not read costs no memory here. Lives on the event loop; nothing in it waits.
    """

    def __init__(self, keys: Domain, settings: ServerSettings, *, lists: bool = False) -> None:
        self.keys = keys
        self.history: deque[Release] = self._empty(settings.history)
        self.changes: deque[Change] = deque(maxlen=CHANGES_KEPT)
        self.picture: Picture | None = None
        self.arrived: datetime | None = None
        self.changed = asyncio.Event()
        self._settings, self._lists = settings, lists
        self._pictures = self.fresh_pictures()
        self._events: deque[tuple[int, bytes]] = deque(maxlen=EVENTS_KEPT)

    @property
    def is_map(self) -> bool:
        """Whether the keys are places."""
        return map_of(self.keys) is not None

    def fresh_pictures(self) -> Pictures:
        """What draws this stream's events, having seen none yet."""
        return Pictures(self._settings.rows, lists=self._lists, maps=self.is_map)

    @property
    def last_tick(self) -> int:
        """The latest tick seen; -1 before the first."""
        return self.history[-1].tick.index if self.history else -1

    @property
    def is_bare(self) -> bool:
        """Whether there were ticks, and none of them was ever measured: there is nothing to predict from yet."""
        if self.picture is None or self.picture.has_numbers or self.history[0].tick.index > 0:
            return False
        return all(release.is_predicted for release in self.history)

    def fill(self, releases: Sequence[Release], arrived: datetime | None) -> None:
        """Take over what was released before the server started.

        The last ones are encoded too: after a restart all viewers come back at once, and go on from memory.
        """
        for earlier in releases[:-EVENTS_KEPT]:
            self._turn_to(earlier.keys)
            self.changes.extend(self._pictures.skim([earlier]))
            self.history.append(earlier)
        self.publish(releases[-EVENTS_KEPT:], arrived)

    def publish(self, releases: Sequence[Release], arrived: datetime | None) -> None:
        """Take new releases, in order, and wake all viewers."""
        for release in releases:
            self._turn_to(release.keys)
            self.history.append(release)
            self.picture = self._pictures.draw(release)
            self.changes.extend(self.picture.changes)
            self._events.append((release.tick.index, encode(self.picture)))
            self.arrived = arrived
        if releases:
            # Everyone who waits holds the old flag: setting it wakes them all, and later ones wait on the new.
            self.changed, woken = asyncio.Event(), self.changed
            woken.set()

    def _turn_to(self, keys: Domain) -> None:
        """A released decision changed what is counted. The recent past stays if all keys together mean the same."""
        if keys is not self.keys and keys != self.keys:
            past = self.history if same_whole(self.keys, keys) else ()
            self.keys = keys
            self.history = self._empty(self._settings.history)
            self.history.extend(past)
            self.changes.clear()

    def _empty(self, most: int) -> deque[Release]:
        return deque(maxlen=max(2, min(most, MOST_CELLS // len(self.keys))))

    def close(self) -> None:
        self.changed.set()

    def events_after(self, tick: int | None) -> tuple[int, bytes] | None:
        """All kept events after `tick` as one piece, with the last tick in it; None if there are none.

        Without a tick the latest event alone: a new viewer wants to see something at once.
        """
        missed = list(self._events)[-1:] if tick is None else [event for event in self._events if event[0] > tick]
        return (missed[-1][0], b"".join(event for _, event in missed)) if missed else None

    def reaches(self, tick: int) -> bool:
        """Whether nothing after `tick` has fallen out of memory."""
        return not self._events or self._events[0][0] <= tick + 1


def encode(picture: Picture) -> bytes:
    """One server-sent event. JSON escapes line ends, so nothing in a key can break out of its field."""
    return event("release", picture.to_dict(), picture.release.tick.index)


def event(kind: str, body: dict[str, Any], identity: int) -> bytes:
    text = json.dumps(body, separators=(",", ":"), allow_nan=False)
    return f"id: {identity}\nevent: {kind}\ndata: {text}\n\n".encode()
