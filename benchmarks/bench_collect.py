"""From a combined log to bounded counts: rate, cost beside a bare Polars read and group-by, memory of open sessions.

The log is made up (no real requests), 3 million lines of 240 bytes, 300,000 clients over six hours. The peer reads the
same file with Polars' own reader and groups by minute and request: the least that any count of pages must do. It
knows no sessions, no bound, no time zones, and one broken quote would confuse it.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl

from hubbub.collect import Collector, KeyDomain, Replay
from hubbub.collect.calendar import Calendar, microseconds
from hubbub.collect.person_bound import PersonBound
from hubbub.collect.rows import Rows
from hubbub.collect.sources import AccessLog, LineFile
from hubbub.privacy.unit import Session

LINES, CLIENTS, PAGES, HOURS = 3_000_000, 300_000, 200, 6
START = datetime(2026, 3, 1, tzinfo=UTC)


def main() -> list[dict[str, object]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "access.log"
        write_log(path)
        peers, ours = [], []
        for _ in range(3):  # in turns, so that a noisy machine hits both
            peers.append(seconds(lambda: bare(path)))
            ours.append(seconds(lambda: engine(path)))
    (peer, peer_work), (mine, work) = map(best, (peers, ours))
    size = megabytes_of_sessions(1_000_000)
    return [
        row("combined log to counts", LINES / mine, "events/s", "the goal", LINES / mine / 500_000, ">= 500,000", 1.0),
        row("combined log to counts, time", mine, "s", f"bare Polars, {peer:.2f} s", mine / peer, "<= 3 x", 3.0),
        row("the same, processor time", work, "s", f"bare Polars, {peer_work:.2f} s", work / peer_work, "<= 3 x", 3.0),
        row("state of 1,000,000 open sessions", size, "MB", "the goal", size / 1000, "<= 1 GB", 1.0),
    ]


def row(what: str, value: float, unit: str, peer: str, ratio: float, goal: str, limit: float) -> dict[str, object]:
    return {"what": what, "value": value, "unit": unit, "peer": peer, "ratio": ratio, "goal": goal, "limit": limit}


def write_log(path: Path) -> None:
    dice = np.random.default_rng(1)
    system = (
        "Mozilla/5.0 (X11; Linux x86_64; rv:{v}.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{v}.0 Safari/537.36"
    )
    agents = [system.format(v=version) for version in range(60, 120)]
    with path.open("wb") as file:
        for part in range(10):
            count, span = LINES // 10, HOURS * 360
            frame = pl.DataFrame(
                {
                    "who": dice.integers(0, CLIENTS, count),
                    "at": part * span + np.sort(dice.integers(0, span, count)),
                    "page": np.minimum(dice.zipf(1.5, count), 2 * PAGES),
                }
            )
            who, at = pl.col("who"), pl.col("at")
            clock = [(at // 3600), (at // 60 % 60), (at % 60)]
            line = pl.format(
                '10.{}.{}.{} - - [01/Mar/2026:{}:{}:{} +0000] "GET /section/page-{}.html?ref={} HTTP/1.1" 200 {} '
                '"https://example.org/section/" "{}"',
                who // 65536,
                who // 256 % 256,
                who % 256,
                *(number.cast(pl.String).str.zfill(2) for number in clock),
                pl.col("page"),
                who % 7,
                1000 + who % 9000,
                (who % 60).replace_strict(list(range(60)), agents),
            )
            frame.select(line).write_csv(file, include_header=False, quote_style="never")


def bare(path: Path) -> int:
    scan = pl.scan_csv(path, separator=" ", has_header=False, quote_char='"', infer_schema=False)
    return scan.group_by(pl.col("column_3").str.slice(0, 18), pl.col("column_5")).len().collect().height


def engine(path: Path) -> int:
    domain = KeyDomain([f"/section/page-{i}.html" for i in range(1, PAGES + 1)])
    unit = Session(max_ticks=20, timeout=timedelta(minutes=30))
    time_ = Replay(START, START + timedelta(hours=HOURS), lateness=timedelta(minutes=5))
    collector = Collector(domain, unit, timedelta(minutes=1), time_, identify=("person", "agent"))
    with LineFile(path, AccessLog()) as source:
        ticks = 0
        while (batch := source.poll({})) is not None:
            ticks += len(collector.add(batch))
        ticks += sum(1 for _ in collector.drain())
    assert collector.statistics.for_curator()["events"] == LINES
    return ticks


def megabytes_of_sessions(count: int) -> float:
    """Growth of the resident memory while `count` sessions are opened, minute by minute, and all stay open."""
    before = resident()
    calendar = Calendar(START, timedelta(minutes=1))
    bound = PersonBound(calendar, 200, max_ticks=20, timeout=microseconds(timedelta(minutes=60)))
    dice = np.random.default_rng(2)
    most, each = 0.0, count // 20
    for tick in range(20):
        person = dice.integers(0, 2**63, each, dtype=np.uint64)
        at = np.full(each, calendar.begins(tick), np.int64)
        bound.advance(Rows(person, person, at, np.zeros(each, np.int32)), tick)
        most = max(most, resident() - before)
    assert bound.open == count
    return most


def resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def seconds(work: Callable[[], int]) -> tuple[float, float]:
    """By the clock, and of all processors together: the second tells more on a machine that others use too."""
    start, busy = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - busy


def best(runs: list[tuple[float, float]]) -> tuple[float, float]:
    return min(clock for clock, _ in runs), min(busy for _, busy in runs)


if __name__ == "__main__":
    for line in main():
        print(line)
