"""Batches a second into the spool: one flush each, and flushes that many senders share; and a restart with a backlog.

The peer is a bare file that is written and flushed once a batch: nobody who acknowledges one batch at a time can be
faster on this disk. Processor time is told beside it, since on a quick disk the processor is the limit.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hubbub.monitor.spool import Spool, calls

SENDERS = 40
"""As many as the server's worker threads."""

SECONDS = 3.0
BACKLOG = 6_000


def main() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="hubbub-bench-", dir=Path.cwd()) as name:
        folder = Path(name)
        floor = bare(folder / "page")
        one = pushed(folder / "one", 1)
        many = pushed(folder / "many", SENDERS)
        again = restarted(folder / "again")
    peer = f"a bare file, one flush a batch: {floor:,.0f} a second"
    return [
        row("one sender, one flush a batch", one, floor, peer, "none"),
        row(f"{SENDERS} senders, shared flushes", many, floor, peer, ">= 2,000"),
        {"what": f"processor time a batch, {SENDERS} senders", "value": many[1], "unit": "µs", "peer":
         f"one sender: {one[1]:,.0f} µs", "ratio": many[1] / one[1], "goal": "< 500",
         "limit": "the parser, some 3 ms a call"},
        {"what": f"restart: open and read {BACKLOG:,} batches", "value": again, "unit": "processor s", "peer": "",
         "ratio": None, "goal": "about 1", "limit": "one file after another, parsed in one go"},
    ]  # fmt: skip


def batch(name: str) -> bytes:
    return json.dumps({"time": "2026-01-01T10:42:00Z", "session": "4711", "path": f"/news/{name}"}).encode()


def bare(path: Path) -> float:
    file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    begun, count = time.perf_counter(), 0
    while time.perf_counter() - begun < SECONDS:
        os.write(file, batch(str(count)))
        os.fsync(file)
        count += 1
    os.close(file)
    return count / SECONDS


def pushed(folder: Path, senders: int) -> tuple[float, float, float]:
    """Batches a second, processor microseconds a batch, batches a flush."""
    counts = [0] * senders
    with Spool(folder) as spool, flushes() as flushed:
        assert isinstance(spool, Spool)
        spool.push("s", batch("first"))
        before, begun, used = len(flushed), time.perf_counter(), time.process_time()
        until = begun + SECONDS

        def send(sender: int) -> None:
            while time.perf_counter() < until:
                spool.push("s", batch(str(counts[sender])), f"{sender}-{counts[sender]}", "token")
                counts[sender] += 1

        threads = [threading.Thread(target=send, args=(sender,)) for sender in range(senders)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        spent, used = time.perf_counter() - begun, time.process_time() - used
        total = sum(counts)
        return total / spent, 1e6 * used / total, total / (len(flushed) - before)


def restarted(folder: Path) -> float:
    """A backlog as single senders leave it: a flush for each batch, done without waiting for the disk."""
    real = calls.sync
    calls.sync = lambda _: None
    try:
        with Spool(folder) as spool:
            assert isinstance(spool, Spool)
            parsed = spool._lines.parse(batch("same"))
            spool._lines.parse = lambda _: parsed  # type: ignore[method-assign]
            start = spool.frontier()
            for n in range(BACKLOG):
                spool.push("s", batch(str(n)), str(n))
    finally:
        calls.sync = real
    begun, rows, reached = time.process_time(), 0, False
    with Spool(folder) as spool:
        assert start is not None
        assert spool.open(start)
        until = spool.frontier()
        assert until is not None
        while not reached:
            found = spool.poll(until)
            assert found is not None
            rows, reached = rows + found.events.height, found.reached
        assert rows == BACKLOG
        return time.process_time() - begun


@contextmanager
def flushes() -> Iterator[list[int]]:
    real, seen = calls.sync, []

    def sync(number: int) -> None:
        seen.append(number)
        real(number)

    calls.sync = sync
    try:
        yield seen
    finally:
        calls.sync = real


def row(what: str, measured: tuple[float, float, float], floor: float, peer: str, goal: str) -> dict[str, Any]:
    rate, _, grouped = measured
    return {"what": what, "value": rate, "unit": "batches/s", "peer": peer, "ratio": rate / floor, "goal": goal,
            "limit": f"{grouped:,.1f} batches a flush"}  # fmt: skip


if __name__ == "__main__":
    for line in main():
        ratio = "" if line["ratio"] is None else f"{line['ratio']:.2f} x"
        print(
            f"{line['what']:<45} {line['value']:>10,.2f} {line['unit']:<12} {ratio:>8} {line['peer']}; {line['limit']}"
        )
    sys.stdout.flush()
