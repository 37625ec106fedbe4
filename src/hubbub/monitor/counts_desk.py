"""For people who count by themselves: ready-made counts in, one release a tick out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from hubbub.confidential import Counts
from hubbub.monitor.paired import AnyCurator
from hubbub.released import Release, Tick
from hubbub.store import Store


class CountsDesk:
    """Takes counts over HTTP (`POST /v1/streams/NAME/counts`) and releases them through the ledger.

    The bound of the unit is the sender's promise: counts cannot be bounded after the fact.
    """

    def __init__(
        self, store: Store, curator: AnyCurator, *, on_release: Callable[[Release], None], say: Callable[[str], None]
    ) -> None:
        self._store, self._curator, self._on_release, self._say = store, curator, on_release, say
        self.stop = threading.Event()

    def release(self, stream: str, tick: int | None, values: Mapping[str, int]) -> Release:
        """Release one tick; None means the next one."""
        del stream  # one desk serves one stream
        at = Tick(self._curator.next_tick if tick is None else tick)
        release = self._curator.release(Counts.of(self._curator.stream.keys, at, values))
        self._say(f"tick {release.tick.index}  released {len(release.keys):,} keys")
        self._on_release(release)
        return release

    def run(self) -> None:
        """Counts come when they come; until `stop` is set."""
        self.stop.wait()
        self._curator.close()

    def status(self) -> Mapping[str, str | int | float | bool | None]:
        """What the curator may know."""
        budget = self._store.budget(self._curator.stream.name)
        return {"ticks_settled": budget.settled, "ticks_lost": budget.lost}
