"""Every system call of the store failing with every error: nothing is drawn twice, unpaid, or published unstored."""

from __future__ import annotations

import collections
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.crash.store.test_power import SERVER, environment
from tests.support.faultfs import ERRORS, KINDS


def test_every_call_and_every_error(memory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`HUBBUB_EXPLORE=1` lets each single call fail; otherwise ever fewer of the later ones."""
    growth = "1" if os.environ.get("HUBBUB_EXPLORE") else "2.5"
    command = [sys.executable, str(SERVER), "matrix", str(memory), growth]
    done = subprocess.run(command, env=environment(Path("/nowhere")), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-5000:]
    rows = [json.loads(row) for row in done.stdout.splitlines()]
    with capsys.disabled():
        print(f"\nThe store on a faulty disk: {len(rows)} cases\n{table(rows)}")
    broken = [row for row in rows if "broken" in row]
    assert not broken, f"{broken[0]}\n{done.stderr[-5000:]}"
    met = collections.Counter(row["kind"] for row in rows)
    assert all(met[kind] for kind in KINDS), met
    assert sum(bool(row["said"]) for row in rows) > len(rows) / 2, "hardly a fault was felt: the test tests nothing"


def table(rows: list[dict[str, Any]]) -> str:
    """Calls by errors: how many cases, ticks published in them, refusals, and the states of the last tick."""
    lines = [f"  {'call':<9}{'error':<8}{'cases':>6}{'published':>10}{'refusals':>9}  last tick afterwards"]
    for kind in KINDS:
        for error in ERRORS:
            here = [row for row in rows if (row["kind"], row["error"]) == (kind, error)]
            if here:
                ends = collections.Counter(row.get("outcome", "BROKEN") for row in here)
                said = sum(sum(row.get("said", {}).values()) for row in here)
                published = sum(row.get("published", 0) for row in here)
                told = ", ".join(f"{count} {end}" for end, count in ends.most_common())
                lines.append(f"  {kind:<9}{error:<8}{len(here):>6}{published:>10}{said:>9}  {told}")
    return "\n".join(lines)
