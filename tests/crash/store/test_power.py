"""Power cuts: whatever a disk may have forgotten, what was drawn was debited and marked, and nothing is drawn twice."""

from __future__ import annotations

import collections
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import require_or_skip
from tests.crash.store.stream_on_faults import check
from tests.support import faultfs, powercut

SERVER = Path(__file__).with_name("stream_on_faults.py")
ROOT = Path(__file__).parents[3]
CUTS = 200


def environment(folder: Path) -> dict[str, str]:
    try:
        made = faultfs.environment(folder)
    except RuntimeError as error:
        require_or_skip(str(error))
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return made | {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


@pytest.fixture
def logged(memory: Path) -> Callable[[str], tuple[Path, list[powercut.Step]]]:
    def run(kind: str) -> tuple[Path, list[powercut.Step]]:
        folder, log = memory / "life", memory / "log"
        folder.mkdir()
        command = [sys.executable, str(SERVER), "log", str(folder), str(log), "40", kind]
        done = subprocess.run(command, env=environment(folder), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return folder, powercut.read_log(log)

    return run


def cut_often(folder: Path, steps: list[powercut.Step], to: Path, seed: int, cuts: int) -> list[tuple[int, str]]:
    """What was found after each of many cuts, with the number of the step that it came after; a broken promise too."""
    chance = random.Random(seed)  # when the power goes, not for privacy
    disk, told, found = powercut.Disk(folder), list[str](), list[tuple[int, str]]()
    places = collections.Counter(chance.randrange(len(steps)) for _ in range(cuts))
    for number, step in enumerate(steps):
        if step.what == "N":
            told.append(step.note)
        else:
            disk.take(step)
        for _ in range(places[number]):
            shutil.rmtree(to, ignore_errors=True)
            to.mkdir()
            disk.after_cut(to, chance)
            try:
                found.append((number, check(to, told)))
            except Exception as broken:
                found.append((number, f"BROKEN: {type(broken).__name__}: {broken}"))
    return found


def test_power_cuts(
    logged: Callable[[str], tuple[Path, list[powercut.Step]]], memory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, steps = logged("sound")
    found = cut_often(folder, steps, memory / "after", 20260103, CUTS)
    outcomes = collections.Counter(outcome for _, outcome in found)
    with capsys.disabled():
        print(f"\nSQLite: {len(found)} power cuts over {len(steps)} changes and flushes; the last tick then:")
        for outcome, count in outcomes.most_common():
            print(f"  {outcome:<24} {count:>4}")
    assert len(found) == CUTS
    assert not [outcome for outcome in outcomes if outcome.startswith("BROKEN")]
    assert outcomes["settled"]
    assert outcomes["lost"], "no cut came between debit and settlement: the test tests nothing"


@pytest.mark.parametrize("kind", ["no-sync", "no-mark-sync"])
def test_cuts_find_a_store_that_does_not_flush(
    logged: Callable[[str], tuple[Path, list[powercut.Step]]], memory: Path, kind: str
) -> None:
    """The control: the same cuts must break a store, or a mark, that is not flushed."""
    folder, steps = logged(kind)
    found = cut_often(folder, steps, memory / "after", 20260104, CUTS)
    assert any(outcome.startswith("BROKEN") for _, outcome in found)
