"""A source that a test writes into by hand: a list of records, positions are places in it."""

from __future__ import annotations

from hubbub.collect import Batch, Source


class Listed(Source):
    """`records` outlives the source, as a log does; `proves` says whether it can show its past after a restart."""

    waits_for_us = True

    def __init__(self, records: list, *, at_once: int = 10**9, proves: bool = True, name: str = "listed") -> None:
        self.records, self.at_once, self.proves, self.name = records, at_once, proves, name
        self.away = False
        self.at = 0
        self.settled = 0
        self.closed = False

    @property
    def identity(self) -> str:
        return self.name

    @property
    def trouble(self) -> str:
        return "The source is away." if self.away else ""

    def open(self, positions):
        self.at = int(positions.get("at", "0"))
        return bool(positions) and self.proves

    def frontier(self):
        return None if self.away else {"at": str(len(self.records))}

    def poll(self, until):
        if self.closed:
            return None
        end = min(int(until["at"]), self.at + self.at_once)
        rows, self.at = self.records[self.at : end], max(end, self.at)
        return Batch.of(rows, positions={"at": str(self.at)}, reached=self.at >= int(until["at"]))

    def wait(self, seconds):
        """A test's clock is set by hand."""

    def settle(self, positions):
        self.settled = int(positions.get("at", "0"))
