"""What a curator needs of a mechanism: releasers of counts and streams of ranges both fit."""

from __future__ import annotations

from typing import Protocol

from hubbub.confidential import Counts
from hubbub.privacy import Guarantee
from hubbub.released import Cost, Keys, Release, Snapshot, Tick


class Mechanism(Protocol):
    """Charges a tick, then draws; says before what it will cost; can be brought to any stored state."""

    keys: Keys
    guarantee: Guarantee

    @property
    def name(self) -> str: ...

    @property
    def next_tick(self) -> int: ...

    def cost(self, tick: Tick) -> Cost: ...

    def check(self, counts: Counts) -> Cost: ...

    def release(self, counts: Counts) -> Release: ...

    def predict(self, tick: Tick, lost: Cost | None = None) -> Release: ...

    def snapshot(self) -> Snapshot: ...

    def restore(self, snapshot: Snapshot) -> None: ...
