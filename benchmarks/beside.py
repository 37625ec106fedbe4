"""Is this checkout as fast as an older one? Both run the same benchmarks in turn, so that other work slows both alike.

    python -m benchmarks.beside ../older noise filters store ranges
    python -m benchmarks.beside ../older store --rounds 5

`../older` is another checkout (`git worktree add ../older REVISION`). Rows that both print are compared, the best
of all rounds of each; a ratio above 1 means that this checkout is faster. Clocks count the processor time of
the benchmark's own process, so a busy machine has no part in it; nor has the disk, nor PostgreSQL's process.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
Row = tuple[str, str, str]

# Benchmarks that look at the time as such, most of them, are handed the processor's instead.
_BY_PROCESSOR = """
import runpy, sys, time
time.perf_counter = time.process_time
sys.argv[0] = "benchmarks"
runpy.run_module("benchmarks", run_name="__main__")
"""


def measure(checkout: Path, name: str) -> dict[Row, float]:
    """What each row of one benchmark says, by what it is about and its unit."""
    paths = os.pathsep.join((str(checkout / "src"), str(checkout)))
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a second of the processor is many of the disk
    with tempfile.TemporaryDirectory(prefix="hubbub-beside-", dir=memory) as folder:
        places = {"PYTHONPATH": paths, "TMPDIR": folder, "HUBBUB_STATE": f"{folder}/state"}
        run = subprocess.run(
            [sys.executable, "-c", _BY_PROCESSOR, name, "--json"],
            cwd=checkout, env=os.environ | places, stdout=subprocess.PIPE, check=True,
        )  # fmt: skip
    (rows,) = json.loads(run.stdout).values()
    # What a peer did in the same run stands beside its name, as a number that is never the same twice.
    return {
        (row["what"], re.sub(r": [\d,.]+.*", "", row.get("peer") or ""), row["unit"]): float(row["value"])
        for row in rows
        if "unit" in row
    }


def is_rate(unit: str) -> bool:
    return unit.endswith("/s")


def best(values: list[float], unit: str) -> float:
    return max(values) if is_rate(unit) else min(values)


def compare(older: Path, name: str, rounds: int) -> dict[Row, float]:
    """How much faster this checkout is, row by row."""
    seen: dict[Path, dict[Row, list[float]]] = {older: {}, HERE: {}}
    for turn in range(rounds):
        for checkout in (older, HERE) if turn % 2 == 0 else (HERE, older):
            for row, value in measure(checkout, name).items():
                seen[checkout].setdefault(row, []).append(value)
    ratios = {}
    for row in seen[older].keys() & seen[HERE].keys():
        was, now = (best(seen[checkout][row], row[2]) for checkout in (older, HERE))
        if was > 0 and now > 0:
            ratios[row] = now / was if is_rate(row[2]) else was / now
    return ratios


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("older", type=Path)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    for name in given.names:
        ratios = compare(given.older.resolve(), name, given.rounds)
        print(f"\n{name}: this checkout over {given.older.name}, best of {given.rounds} rounds each", flush=True)
        for (what, peer, unit), ratio in sorted(ratios.items(), key=lambda item: item[1]):
            print(f"  {ratio:6.2f}  {what} ({unit}{', ' + peer if peer else ''})", flush=True)
        if ratios:
            print(
                f"  {statistics.geometric_mean(ratios.values()):6.2f}  geometric mean of {len(ratios)} rows", flush=True
            )


if __name__ == "__main__":
    main()
