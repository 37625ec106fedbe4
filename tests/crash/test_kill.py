"""SIGKILL at random moments and at every fault point: what was drawn was debited, nothing is drawn twice."""

from __future__ import annotations

import collections
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from hubbub.store import faults

SERVER = Path(__file__).parent / "crash_server.py"


def kill(
    address: str, folder: Path, seed: int, rounds: list[str], slips: bool = False
) -> list[dict[str, object]]:  # fmt: skip
    # One thread: a process with more may not be forked safely.
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    environment["CRASH_SLIPS"] = "1" if slips else ""
    command = [sys.executable, str(SERVER), address, str(folder), str(seed), *rounds]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=600)
    assert done.returncode == 0, done.stderr[-5000:]
    return [json.loads(row) for row in done.stdout.splitlines()]


def report(what: str, rows: list[dict[str, object]], capsys: pytest.CaptureFixture[str]) -> None:
    places = collections.Counter(str(row["where"]) for row in rows)
    last = rows[-1]
    with capsys.disabled():
        print(f"\n{what}: {len(rows)} kills with SIGKILL")
        for place in ("random", "rivals", *faults.FAULT_POINTS):
            print(f"  {place:<18} {places[place]:>4}")
        print(f"  {last['debits']} debits, {last['lost']} lost, {last['drawn']} draws, {last['published']} published")


def rounds(random: int, each: int) -> list[str]:
    named = [name for name in faults.FAULT_POINTS for _ in range(each)]
    mixed = ["random", "random", "random", "rivals"] * (random // 4)
    step = max(1, len(mixed) // len(named))
    for i, name in enumerate(named):
        mixed.insert(min(len(mixed), i * (step + 1)), name)
    return mixed


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """In memory where there is such a place: SIGKILL leaves the kernel's pages alone, so waiting for a disk tests
    nothing more, and a busy one would make most kills come before the first tick."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as made:
        yield Path(made)


def test_sqlite(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = rounds(random=120, each=8)
    assert len(plan) >= 200
    rows = kill(str(folder / "site.db"), folder, 20260101, plan)
    assert len(rows) == len(plan)
    report("SQLite", rows, capsys)
    assert int(str(rows[-1]["lost"])) > 0, "no kill hit between debit and settlement: the test tests nothing"


def test_sqlite_where_something_may_slip(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Debits of both currencies, reserved and lost at every fault point; `verify` adds up both."""
    plan = rounds(random=20, each=2)
    rows = kill(str(folder / "site.db"), folder, 20260103, plan, slips=True)
    assert len(rows) == len(plan)
    report("SQLite, with slips", rows, capsys)
    assert int(str(rows[-1]["lost"])) > 0


def test_postgres(tmp_path: Path, postgres_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    plan = rounds(random=20, each=3)
    assert len(plan) >= 50
    rows = kill(postgres_url, tmp_path, 20260102, plan)
    assert len(rows) == len(plan)
    report("PostgreSQL", rows, capsys)
    assert int(str(rows[-1]["lost"])) > 0
