"""A log that nobody can flood: what comes often is said once per minute."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

log = logging.getLogger("hubbub.server")

MINUTE = 60.0
MOST_KINDS = 100
"""Kinds that are told apart; beyond that all others share one."""


class Sparing:
    """Says each kind of thing at once, and then at most once per minute, with how often it came in between.

    Asking often must not fill a disk. `counted=False` leaves the number out: how many requests brought events is
    nobody's business. `look` says what was held back when its minute is over.

    >>> sparing = Sparing()
    >>> for _ in range(3): sparing.say("garbage", "Somebody sent what is no request.")
    >>> sparing.held_back
    2
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._said: dict[str, _Kind] = {}
        self._lock = threading.Lock()

    @property
    def held_back(self) -> int:
        return sum(kind.more for kind in self._said.values())

    def say(self, name: str, text: str, *, level: int = logging.WARNING, counted: bool = True) -> None:
        with self._lock:
            if name not in self._said and len(self._said) >= MOST_KINDS:
                name = ""
            kind = self._said.setdefault(name, _Kind())
            kind.more += 1
            kind.text, kind.level, kind.counted = text, level, counted
            if self._clock() - kind.at >= MINUTE:
                self._tell(kind)

    def look(self) -> None:
        """Called now and then."""
        with self._lock:
            now = self._clock()
            for kind in self._said.values():
                if kind.more and kind.counted and now - kind.at >= MINUTE:
                    self._tell(kind)

    def _tell(self, kind: _Kind) -> None:
        often = f" ({kind.more:,} times within the last minute)" if kind.more > 1 and kind.counted else ""
        kind.at, kind.more = self._clock(), 0
        log.log(kind.level, "%s%s", kind.text, often)


class _Kind:
    def __init__(self) -> None:
        self.at, self.more = float("-inf"), 0
        self.text, self.level, self.counted = "", logging.WARNING, True
