"""Does one visitor more change *when* ticks are published? Two real monitors side by side, under load.

Both follow a log of 20,000 lines a second, the same lines at the same moments; in one log there is a visitor more, who
asks for a page twenty times a second, whenever. What is asked: whether both publish the same ticks, and whether the
one with the visitor is earlier or later by more than chance. For `HUBBUB_BUSY_SECONDS` (60).
"""

from __future__ import annotations

import math
import multiprocessing
import random
import signal
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.bench_busy import _REST, BLOCKS, LATENESS, SECONDS, TICK, start, ticks_of

Ticks = dict[datetime, tuple[float, int | None]]

LINES = 20_000
VISITS = 20


def write_both(paths: tuple[str, str], seconds: int, out: Any) -> None:
    """The same lines to both logs; to the second also those of one visitor, at moments of their own."""
    dice, begun, written, visits = random.Random(1), time.monotonic(), 0, 0
    each = LINES // BLOCKS
    with open(paths[0], "ab", buffering=0) as one, open(paths[1], "ab", buffering=0) as other:
        for block in range(seconds * BLOCKS):
            stamp = datetime.now(UTC).strftime("%d/%b/%Y:%H:%M:%S +0000").encode()
            lines = [(b"10.0.%d.%d - - [" % (i >> 8, i & 255)) + stamp + _REST for i in range(each)]
            more = [b"192.168.7.7 - - [" + stamp + _REST] * (dice.random() < VISITS / BLOCKS)
            first = block % 2 == 0  # neither log is always the later one
            for log in (one, other) if first else (other, one):
                log.write(b"".join(lines if log is one else lines + more))
            written, visits = written + each, visits + len(more)
            time.sleep(max(0.0, begun + (block + 1) / BLOCKS - time.monotonic()))
    out.put((written, visits, time.monotonic() - begun))


def main() -> list[dict[str, Any]]:
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as name:
        folders = [Path(name, which) for which in ("without", "with")]
        for folder in folders:
            folder.mkdir()
            (folder / "access.log").touch()
        running = [start(folder, 'kind = "log"\npath = "access.log"', 0) for folder in folders]
        out = context.Queue()
        paths = tuple(str(folder / "access.log") for folder in folders)
        writer = context.Process(target=write_both, args=(paths, SECONDS, out))
        writer.start()
        written, visits, took = out.get()
        time.sleep(TICK + LATENESS + 3)
        for process in running:
            process.send_signal(signal.SIGTERM)
        for process in running:
            process.wait(timeout=60)
        without, beside = (ticks_of(folder) for folder in folders)
    return rows(without, beside, written, visits, took)


def rows(without: Ticks, beside: Ticks, written: int, visits: int, took: float) -> list[dict[str, Any]]:
    shared = sorted(without.keys() & beside.keys())
    missing = sum(ticks[start][1] is None for ticks in (without, beside) for start in shared)
    late = [[ticks[start][0] for start in shared] for ticks in (without, beside)]
    apart = [with_one - without_one for without_one, with_one in zip(*late, strict=True)]
    error = statistics.stdev(apart) / math.sqrt(len(apart))
    counted = [sum(number or 0 for _, number in ticks.values()) for ticks in (without, beside)]
    said = f"standard error {error:.4f} s, {len(apart)} ticks"
    alone, both = (statistics.median(one) for one in late)
    return [
        {"what": "lines in each log", "value": written / took, "unit": "/s", "goal": f"{LINES:,}"},
        {"what": "requests of the visitor", "value": visits / took, "unit": "/s"},
        {"what": "counted without the visitor", "value": counted[0] / written, "goal": "1"},
        {"what": "counted with the visitor", "value": counted[1] / (written + visits), "goal": "1"},
        {"what": "ticks of both that were not measured", "value": missing, "goal": "0"},
        {"what": "debited after close without the visitor, median", "value": alone, "unit": "s"},
        {"what": "the same with the visitor", "value": both, "unit": "s"},
        {"what": "how much later with the visitor, mean", "value": statistics.mean(apart), "unit": "s", "limit": said},
        {"what": "the same in standard errors", "value": statistics.mean(apart) / error, "goal": "within 3"},
    ]


if __name__ == "__main__":
    for row in main():
        print(row)
