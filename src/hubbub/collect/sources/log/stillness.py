"""Whether files that are being renamed have come to rest."""

from __future__ import annotations

import time

PATIENCE = 5.0
"""Seconds without any change of names after which a file that is missing is not on its way from one to another."""

LONGEST = 30.0
"""Seconds after which it is missing even if names go on changing."""


class Stillness:
    """Watches the names in a log's folders while a file is missing among them.

    A rotation renames file after file, and on a machine that is busy that takes its time: half way through there is a
    gap that is no loss. Nobody can say how long is long; but as long as names change somebody is at work.

    >>> watch = Stillness()
    >>> watch.is_over(frozenset({("access.log.2", "1:7")}))
    False
    """

    def __init__(self) -> None:
        self._names: frozenset[tuple[str, str]] | None = None
        self._begun = self._since = time.monotonic()

    def is_over(self, names: frozenset[tuple[str, str]]) -> bool:
        """Whether nothing has changed for long enough."""
        now = time.monotonic()
        if names != self._names:
            self._names, self._since = names, now
        return now - self._since >= PATIENCE or now - self._begun >= LONGEST
