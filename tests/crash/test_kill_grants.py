"""SIGKILL while grants and streams are made: all of it or nothing, and never more drawn than was granted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

from hubbub.store import faults

SERVER = Path(__file__).parent / "grant_server.py"


def kill(address: str, folder: Path, rounds: list[str]) -> list[dict[str, object]]:
    # One thread: a process with more may not be forked safely.
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(SERVER), address, str(folder), "20260103", *rounds]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=600)
    assert done.returncode == 0, done.stderr[-5000:]
    return [json.loads(row) for row in done.stdout.splitlines()]


def check(rows: list[dict[str, object]], rounds: list[str]) -> None:
    assert [row["where"] for row in rows] == rounds
    for row in rows:
        drawn, number = row["drawn"], row["number"]
        assert isinstance(drawn, dict)
        if row["where"] in faults.CREATION_POINTS:
            assert (f"grant-{number}" in drawn) == (row["where"] == "stream:committed"), row
        assert all(Fraction(share) <= 1 for share in drawn.values())
    shared = [Fraction(share) for name, share in rows[-1]["drawn"].items() if name.startswith("shared")]  # type: ignore[attr-defined]
    assert any(share > 0 for share in shared), "nobody came to draw: the test tests nothing"


def test_sqlite(tmp_path: Path) -> None:
    rounds = [*faults.CREATION_POINTS, "rivals"] * 6
    check(kill(str(tmp_path / "site.db"), tmp_path, rounds), rounds)


def test_postgres(tmp_path: Path, postgres_url: str) -> None:
    rounds = [*faults.CREATION_POINTS, "rivals"] * 3
    check(kill(postgres_url, tmp_path, rounds), rounds)
