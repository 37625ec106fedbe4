"""The power goes at any moment, and any part of what was not flushed is on the disk: every acknowledged batch is there.

A model of the disk (`tests/support/power_cut.py`) sees each write and flush of a running spool and lays out the folders
that a power cut could leave at that moment. Each is opened like any other after a crash.
"""

import os
import random
import shutil
import tempfile
from pathlib import Path

import pytest
from tests.support.power_cut import Disk, lay_out
from tests.support.spools import body, opened, paths

from hubbub.errors import HubbubError
from hubbub.monitor.spool import Spool, calls

SMALL = {"segment_bytes": 250}
MOST_STATES = 24
HERE = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None


class Life:
    """A spool that is written, read and settled; after every call each possible disk is looked at."""

    def __init__(self, folder, most=MOST_STATES):
        self.folder, self.most, self.chance = folder, most, random.Random(0)
        self.begun = self.sure = 0
        self.place, self.handed = {}, 0
        self.looked = 0
        self.disk = Disk(self.look)
        self.problems = []

    def run(self, patch):
        with patch.context() as patched:
            self.disk.install(patched)
            for generation in range(2):
                with Spool(self.folder / "spool", **SMALL) as spool:
                    if generation:
                        assert spool.open(self.place)
                    for n in range(8):
                        self.begun += 1
                        spool.push("s", body(f"/{self.begun - 1}"), f"key {self.begun - 1}")
                        self.sure = self.begun
                        if n in (3, 6):
                            batch = spool.poll(spool.frontier())
                            # What a monitor would do: write the place down elsewhere, then let go of the past.
                            self.place, self.handed = batch.positions, self.handed + batch.events.height
                            spool.settle(self.place)

    def look(self):
        for state in self.disk.states(self.most, self.chance):
            self.looked += 1
            folder = lay_out(state, self.folder / f"state {self.looked}")
            try:
                self.check(folder)
            except (HubbubError, AssertionError) as error:
                self.problems.append(f"{error!r}: { ({name: len(data) for name, data in state.items()}) }")
            shutil.rmtree(folder)

    def check(self, folder):
        # Under the real kernel: the model is not asked again.
        with pytest.MonkeyPatch.context() as patch:
            for name, real in self.disk._real.items():
                patch.setattr(calls, name, real)
            with opened(folder, **SMALL) as spool:
                assert spool.open(self.place) == bool(self.place)
                found = paths(spool)
                expected = [f"/{n}" for n in range(self.handed, self.begun)]
                assert found in (expected, expected[: self.sure - self.handed]), (found, expected, self.sure)
                if self.sure:
                    last = self.sure - 1
                    assert spool.push("s", body(f"/{last}"), f"key {last}").duplicate
                spool.push("s", body("/after"))
                assert paths(spool) == ["/after"]


def test_every_acknowledged_batch_survives_a_power_cut(monkeypatch):
    with tempfile.TemporaryDirectory(dir=HERE) as made:
        life = Life(Path(made))
        life.run(monkeypatch)
    print(f"\n{life.looked} disks after a power cut looked at")
    assert life.looked > 300
    assert not life.problems, life.problems[:3]


@pytest.mark.parametrize("lie", ["file", "folder"])
def test_the_model_finds_a_flush_that_is_left_out(monkeypatch, lie):
    """A control: a spool that does not flush loses batches, or cannot be opened, on some of these disks."""
    with tempfile.TemporaryDirectory(dir=HERE) as made:
        life = Life(Path(made), MOST_STATES // 4)
        real = life.disk._sync
        is_lie = (lambda file: file is not None) if lie == "file" else (lambda file: file is None)
        life.disk._sync = lambda number, *_: None if is_lie(life.disk._open[number]) else real(number)
        life.run(monkeypatch)
    assert life.problems
