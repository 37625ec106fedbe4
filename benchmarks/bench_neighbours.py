"""Two real monitors at once, on logs that differ in one busy visitor, on a machine that has too much to do.

When a tick closes, and what others count for, must not depend on that visitor. Before, one at five requests a second
stopped all ticks. Both logs get the same crowd; the first also has a visitor at `REQUESTS` a second. Loops keep every
core busy beside them, for `HUBBUB_NEIGHBOUR_SECONDS` (40). Hardly any noise, so that the counts can be read off.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.bench_busy import TICK, Found, finish, start
from hubbub.store import Store

SECONDS = int(os.environ.get("HUBBUB_NEIGHBOUR_SECONDS", "40"))
CROWD, REQUESTS, BLOCKS = 2_000, 500, 20
MAX_TICKS = 3
PRIVACY = f'protect = "session"\nmax_ticks = {MAX_TICKS}'


def write_both(full: str, less: str, seconds: int, done: Any) -> None:
    """The same crowd in both logs; one visitor more in the first, who moves between two pages."""
    begun = time.monotonic()
    with open(full, "ab", buffering=0) as with_one, open(less, "ab", buffering=0) as without:
        for block in range(seconds * BLOCKS):
            stamp = datetime.now(UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
            visitors = range(block * CROWD // BLOCKS, (block + 1) * CROWD // BLOCKS)  # nobody comes twice
            crowd = "".join(_line(f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}", stamp, "/a") for i in visitors)
            one = "".join(_line("172.16.9.9", stamp, "/b") for _ in range(REQUESTS // BLOCKS))
            with_one.write((crowd + one).encode())
            without.write(crowd.encode())
            time.sleep(max(0.0, begun + (block + 1) / BLOCKS - time.monotonic()))
    done.put(True)


def _line(address: str, stamp: str, path: str) -> str:
    return f'{address} - - [{stamp}] "GET {path} HTTP/1.1" 200 512 "-" "Mozilla/5.0"\n'


def main() -> list[dict[str, Any]]:
    context = multiprocessing.get_context("spawn")
    busy = [context.Process(target=_turn, daemon=True) for _ in range(os.cpu_count() or 1)]
    with tempfile.TemporaryDirectory() as name:
        folders = [Path(name) / which for which in ("with", "without")]
        for folder in folders:
            folder.mkdir()
            (folder / "access.log").touch()
        monitors = [start(folder, 'kind = "log"\npath = "access.log"', 0, PRIVACY) for folder in folders]
        for process in busy:
            process.start()
        done = context.Queue()
        logs = [str(folder / "access.log") for folder in folders]
        writer = context.Process(target=write_both, args=(*logs, SECONDS, done))
        writer.start()
        done.get()
        for process in busy:
            process.terminate()
        found = [finish(monitor, folder) for monitor, folder in zip(monitors, folders, strict=True)]
        return [*_times(*found), *_counts(*folders)]


def _turn() -> None:
    while True:
        pass


def _times(full: Found, less: Found) -> list[dict[str, Any]]:
    (late, predicted, *_), (late_less, predicted_less, *_) = full, less
    both = list(zip(late, late_less, strict=False))
    apart = [a - b for a, b in both]
    return [
        {"what": "ticks, with and without", "value": len(late), "limit": f"{len(late_less)} without"},
        {"what": "predicted, with and without", "value": predicted, "limit": f"{predicted_less} without"},
        {"what": "debited after close, with, median", "value": statistics.median(late), "unit": "s"},
        {"what": "the same without", "value": statistics.median(late_less), "unit": "s"},
        {"what": "with less without, mean", "value": statistics.mean(apart), "unit": "s", "goal": "about 0"},
        {"what": "worst of either", "value": max(late + late_less), "unit": "s", "goal": f"< {TICK}, a tick"},
    ]


def _counts(with_one: Path, without: Path) -> list[dict[str, Any]]:
    """Measured in both: how many ticks differ, and by how much."""
    found = []
    for folder in (with_one, without):
        with Store.open(folder / "site.db", read_only=True) as store:
            ticks = store.releases("site")
            found.append({r.tick.start: r.measurements for r in ticks if r.measurements is not None})
    shared = found[0].keys() & found[1].keys()
    changes = [abs(found[0][tick] - found[1][tick]).sum() for tick in shared]
    return [
        {"what": "ticks measured in both", "value": len(shared)},
        {"what": "of them differ", "value": sum(change > 0 for change in changes), "goal": f"<= {MAX_TICKS}"},
        {"what": "at most by", "value": float(max(changes)), "goal": "<= 1"},
    ]


if __name__ == "__main__":
    for row in main():
        print(row)
