"""A site of a million different pages whose keys nobody listed: memory over many periods, and what finding costs.

Every period 400,000 sessions send 1.5 million page views of a million different addresses, most of them new ones that
never come again. The peer is the same collector with a list of 200 keys. Memory must not grow from period to period:
what belongs to a list is forgotten with it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from hubbub.collect import Batch, Collector, Filters, Found, KeyDomain, PeriodEnded, Replay
from hubbub.collect.calendar import Calendar, microseconds
from hubbub.itemlogs import ItemLists, ItemLog, TickLog
from hubbub.privacy import Guarantee, Session
from hubbub.released import Discovered

START = datetime(2026, 3, 1, tzinfo=UTC)
PERIOD, TICK, TIMEOUT = timedelta(hours=1), timedelta(minutes=1), timedelta(minutes=30)
PERIODS, VIEWS, PEOPLE, PAGES, FREQUENT = 6, 1_500_000, 400_000, 1_000_000, 200
UNIT = Session(20, TIMEOUT)


def main() -> list[dict[str, Any]]:
    listed, _, _ = play(KeyDomain([f"/page/{i}" for i in range(FREQUENT)]), periods=2)
    calendar = Calendar.around(START, PERIOD)
    found, memory, keys = play(Found(calendar, microseconds(TIMEOUT), Discovered()), periods=PERIODS)
    rate, peer = VIEWS * PERIODS / found, VIEWS * 2 / listed
    return [
        {"what": "page views with found keys, lists and all", "value": rate, "unit": "views/s",
         "peer": f"200 listed keys: {peer:,.0f} a second", "ratio": rate / peer, "goal": "none",
         "limit": "a number for each new address, in Python"},
        {"what": f"memory after {PERIODS} periods of {PAGES:,} pages", "value": memory[-1], "unit": "MB",
         "peer": f"the most of the first three: {max(memory[:3]):,.0f} MB", "ratio": memory[-1] / max(memory[:3]),
         "goal": "flat: about 1",
         "limit": "the addresses and pairs of one period"},
        {"what": "keys that the last list found", "value": float(keys), "unit": "keys", "peer": "", "ratio": None,
         "goal": "none", "limit": "one session needs company"},
    ]  # fmt: skip


def play(keys: Found | KeyDomain, periods: int) -> tuple[float, list[float], int]:
    """Seconds of processor time, memory after each period, and how many keys there are in the end."""
    time_of_stream = Replay(START, START + periods * PERIOD, timedelta(seconds=1), gather=1)
    collector = Collector(keys, UNIT, TICK, time_of_stream, filters=Filters.none())
    promise = Guarantee.approximate(Session(1, TIMEOUT), 1, "1e-9", aside="5e-10")
    lists = ItemLists(Discovered(), promise, max_items=5, count_share=0)
    spent, memory, named = 0.0, [], 0
    for period in range(periods):
        for batch in views(period):
            begun = time.process_time()
            for given in collector.add(batch):
                if isinstance(given, PeriodEnded):
                    log = ItemLog.from_codes(given.sessions, given.pages, given.names)
                    found = lists.release(TickLog(given.tick, log)).keys
                    named = len(found) - 1
                    collector.count_by(Discovered(found.names[:-1], decision=f"tick {period}"))
            spent += time.process_time() - begun
        memory.append(resident())
    return spent, memory, named


def views(period: int) -> Iterator[Batch]:
    """An hour in sixty batches, in order."""
    dice = np.random.default_rng(period)
    frequent = [f"/page/{i}" for i in range(FREQUENT)]
    begins = START + period * PERIOD
    for minute in range(60):
        size = VIEWS // 60
        rare = np.char.add(f"/item/{period}-{minute}-", dice.integers(0, PAGES // 60, size).astype(str))
        often = np.array(frequent)[np.minimum(dice.geometric(0.03, size) - 1, FREQUENT - 1)]
        paths = np.where(dice.random(size) < 0.15, often, rare)
        offsets = np.sort(dice.integers(0, 60_000_000, size))
        times = microseconds(begins) + minute * 60_000_000 + offsets
        people = np.char.add(f"{period}-", dice.integers(0, PEOPLE, size).astype(str))
        yield Batch.of(
            pl.DataFrame(
                {
                    "time": pl.Series(times).cast(pl.Datetime("us", "UTC")),
                    "person": pl.Series(people.tolist()),
                    "path": pl.Series(paths.tolist()),
                }
            )
        )


def resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


if __name__ == "__main__":
    for line in main():
        print(line)
