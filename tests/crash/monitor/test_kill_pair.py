"""SIGKILL between and inside the two curators of a monitor with ranges, at every fault point of either."""

import itertools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from hubbub.store import faults

SERVER = Path(__file__).parent / "pair_server.py"
POINTS = [name for name in faults.FAULT_POINTS if not name.startswith("lost:")]


@pytest.fixture
def folder(tmp_path):
    """In memory where there is such a place: SIGKILL leaves the kernel's pages alone."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as made:
        yield Path(made)


def kill(address, folder, points):
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(SERVER), str(address), str(folder), *points]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr[-5000:]
    return [json.loads(row) for row in done.stdout.splitlines()]


def check(rows):
    for before, row in itertools.pairwise(rows):
        added = {name: row[name]["drawn"] - before[name]["drawn"] for name in ("live", "ranges")}
        # Two whole ticks, and of the third as much as came before the kill; the live stream is always first.
        drew_live = row["whose"] == "ranges" or POINTS.index(row["point"]) >= POINTS.index("draw:done")
        drew_ranges = row["whose"] == "ranges" and POINTS.index(row["point"]) >= POINTS.index("draw:done")
        assert added == {"live": 2 + drew_live, "ranges": 2 + drew_ranges}, row
        assert set(row["ranges"]["ticks"]) <= set(row["live"]["ticks"]) | {-1}, "ranges never come first"
    between = next(row for row in rows if (row["point"], row["whose"]) == ("publish", "live"))
    assert max(between["live"]["ticks"]) == max(between["ranges"]["ticks"]) + 1, "released live, not yet in ranges"


def test_sqlite(folder):
    rows = kill(folder / "site.db", folder, POINTS)
    assert len(rows) == 2 * len(POINTS)
    check(rows)
    assert rows[-1]["live"]["lost"] > 0
    assert rows[-1]["ranges"]["lost"] > 0


def test_postgres(tmp_path, postgres_url):
    rows = kill(postgres_url, tmp_path, ["debit:committed", "draw:done", "settle:state", "publish"])
    check(rows)
    assert rows[-1]["ranges"]["lost"] > 0
