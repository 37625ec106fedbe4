"""Every system call of the spool fails, in every way it can, at every place, once and for good.

After each of them: what was acknowledged is handed over exactly once after a restart; what was refused with "nothing
was taken" never; what was refused with "is not known" at most once. No byte of an event is in any other file, and no
call of the spool touches a number that is not its own. `pytest -s` prints the matrix.
"""

import ast
import os
import socket
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from tests.support.spool_calls import FAULTS, NAMES, Kernel
from tests.support.spools import body, opened, paths

from hubbub.errors import StoreUnavailable
from hubbub.monitor.spool import Spool, calls

SMALL = {"segment_bytes": 250}
HERE = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None
"""Flushes are counted here, not waited for."""


class Viewers:
    """Connections of strangers, opened whenever a number may have become free. Nothing may ever arrive on them."""

    def __init__(self):
        self.pairs = [socket.socketpair() for _ in range(2)]

    def join(self):
        self.pairs.append(socket.socketpair())

    def check(self):
        for server, viewer in self.pairs:
            server.send(b"tick")  # still theirs, and still connected
            viewer.setblocking(False)
            assert viewer.recv(100_000) == b"tick", "something else was written to a viewer"
            server.setblocking(False)
            with pytest.raises(BlockingIOError):
                server.recv(1)

    def close(self):
        for pair in self.pairs:
            for end in pair:
                end.close()


class Play:
    """A life of a spool, with retries and settling, under a kernel that fails; then a restart under a sound one.

    `torn`: it begins with a folder that a crash left, with half a record at the end, and that others can read.
    """

    def __init__(self, folder, kernel, patch, torn):
        self.folder, self.kernel = folder, kernel
        self.sure, self.never, self.perhaps, self.handed = set(), set(), set(), Counter()
        self.place, self.started = {}, False
        if torn:
            self.prepare()
        self.viewers = Viewers()
        try:
            with patch.context() as patched:
                kernel.install(patched)
                self.live()
            self.viewers.check()
            assert not kernel.strangers
            self.restart()
            self.viewers.check()
        finally:
            self.viewers.close()
        self.judge()

    def prepare(self):
        spool = Spool(self.folder, **SMALL)
        manifest = self.folder / "manifest"
        self.place = spool.frontier()
        for name in ("/past/0", "/past/1", "/past/2"):
            spool.push("s", body(name))
            self.sure.add(name)
        listed = manifest.read_bytes()
        spool.close()
        manifest.write_bytes(listed)
        newest = max(self.folder.glob("*.segment"))
        newest.write_bytes(newest.read_bytes() + b"half a record")
        self.folder.chmod(0o755)

    def live(self):
        try:
            spool = Spool(self.folder, **SMALL)
            self.started = True
            if self.place:
                assert spool.open(self.place)
        except StoreUnavailable:
            self.viewers.join()
            if self.started:
                spool.close()
            self.started = False
            return
        try:
            for n in range(3):
                self.push(spool, f"/{n}", f"key {n}")
            self.read(spool)
            spool.settle(self.place)
            for n in range(3, 5):
                self.push(spool, f"/{n}", None)
        finally:
            spool.close()
            self.viewers.join()

    def push(self, spool, path, key):
        """As a sender does: again under the same key, if it has one."""
        for attempt in range(2):
            name = path if key else f"{path}/{attempt}"
            try:
                receipt = spool.push("s", body(name), key)
            except StoreUnavailable as error:
                self.viewers.join()
                (self.perhaps if error.message.endswith("is not known.") else self.never).add(name)
            else:
                assert receipt.accepted == 1
                self.sure.add(name)
                return

    def read(self, spool):
        until = spool.frontier()
        for _ in range(3):  # a disk that cannot be read for a moment
            batch = spool.poll(until)
            self.handed.update(batch.events["path"].to_list())
            self.place = batch.positions
            if batch.reached:
                return

    def restart(self):
        with opened(self.folder, **SMALL) as spool:
            assert spool.open(self.place) == bool(self.place), "nothing is lost, so it can be proved"
            self.handed.update(paths(spool))
            spool.push("s", body("/after"))
            assert paths(spool) == ["/after"]

    def judge(self):
        assert all(count == 1 for count in self.handed.values()), self.handed
        assert self.sure <= set(self.handed), "an acknowledged record is missing"
        assert set(self.handed) <= self.sure | self.perhaps, "a refused record was kept"

    @property
    def outcome(self):
        if not self.started:
            return "not started"
        if self.perhaps:
            return "refused, unknown"
        return "refused" if self.never else "went on"


@pytest.fixture
def folders():
    with tempfile.TemporaryDirectory(dir=HERE) as made:
        yield (Path(made) / str(n) for n in range(10**6))


@pytest.mark.parametrize("torn", [False, True], ids=["a new folder", "a folder that a crash left"])
def test_the_matrix(folders, monkeypatch, torn):
    sound = Kernel()
    play = Play(next(folders), sound, monkeypatch, torn)
    assert len(play.sure) == 8 if torn else 5
    assert not play.never | play.perhaps
    table = {}
    for call in NAMES:
        for fault in FAULTS[call]:
            outcomes = table[call, fault] = Counter()
            for lasting in (False, True) if fault == FAULTS[call][0] else (False,):
                for at in range(sound.counts[call]):
                    kernel = Kernel(call, fault, at, lasting)
                    play = Play(next(folders), kernel, monkeypatch, torn)
                    assert kernel.fired, (call, fault, at)
                    outcomes[play.outcome] += 1
    for second in ("truncate", "rename", "open_file", "unlink"):  # what would mend it fails as well
        for first in ("write", "sync"):
            outcomes = table[f"{first} + {second}", "EIO"] = Counter()
            for at in range(sound.counts[first]):
                kernel = Kernel(first, "EIO", at, lasting=True, also=second)
                outcomes[Play(next(folders), kernel, monkeypatch, torn).outcome] += 1
    lives = sum(sum(outcomes.values()) for outcomes in table.values())
    print(f"\n{lives} lives of a spool in {'a torn' if torn else 'a new'} folder, each with a fault")
    for (call, fault), outcomes in table.items():
        words = ", ".join(f"{what} {count}" for what, count in outcomes.most_common())
        print(f"  {call:<20} {fault:<7} {words or 'not called'}")
    # A control: the faults bite.
    assert table["write", "ENOSPC"]["refused"] > 5
    assert table["open_file", "EMFILE"]["went on"] > 0
    assert table["sync + truncate", "EIO"]["refused, unknown"] > 0
    assert not torn or all(sum(table[call, FAULTS[call][0]].values()) for call in NAMES if FAULTS[call])


def test_every_call_to_the_kernel_goes_through_the_one_file():
    folder = Path(calls.__file__).parent
    for path in folder.glob("*.py"):
        if path.name == "calls.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                named = {alias.name for alias in node.names} | {getattr(node, "module", "")}
                assert not named & {"os", "io", "shutil", "fcntl", "mmap", "tempfile"}, path.name
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "open", path.name
            if isinstance(node, ast.Attribute):
                assert node.attr not in ("write_bytes", "read_bytes", "write_text", "read_text", "unlink_"), path.name
    assert set(FAULTS) == set(NAMES), "every call has its faults"


def test_a_failed_rotation_writes_to_no_stranger(tmp_path, monkeypatch):
    """The fault that was: the old segment was closed, the new one could not be opened, the number of the old one was
    kept, went to a viewer, and a raw record was written into the viewer's connection."""
    spool = Spool(tmp_path, segment_bytes=1)
    spool.push("s", body("/a"))
    real = os.open
    viewers = Viewers()

    def out_of_files(name, *given, **named):
        if str(name).endswith((".spool", ".segment")):
            raise OSError(24, "Too many open files")
        return real(name, *given, **named)

    try:
        for n in range(4):
            with monkeypatch.context() as patch:
                patch.setattr(os, "open", out_of_files)
                spool.push("s", body(f"/planted/{n}/during"))  # the old segment is as good as before
            viewers.join()
            spool.push("s", body(f"/planted/{n}/after"))
            viewers.check()
        expected = [f"/planted/{n}/{when}" for n in range(4) for when in ("during", "after")]
        assert paths(spool) == ["/a", *expected]
    finally:
        spool.close()
        viewers.close()


def test_a_failed_flush_is_not_tried_again_on_the_same_file(tmp_path, monkeypatch):
    """After it the kernel may have forgotten that the page is not on disk: a second flush would say yes to nothing."""
    with opened(tmp_path) as spool:
        spool.push("s", body("/a"))
        kernel = Kernel("sync", "EIO", 0)
        with monkeypatch.context() as patch:
            kernel._mine = set(range(3, 1000))
            kernel.install(patch)
            with pytest.raises(StoreUnavailable, match="nothing of this batch"):
                spool.push("s", body("/lost"))
        spool.push("s", body("/b"))
        assert [path.stem for path in sorted(tmp_path.glob("*.segment"))] == ["000000000001", "000000000002"]
        assert b"/lost" not in (tmp_path / "000000000001.segment").read_bytes()
        assert paths(spool) == ["/a", "/b"]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, MemoryError])
def test_whatever_stops_a_sender_leaves_the_others_going(tmp_path, monkeypatch, stop):
    with opened(tmp_path) as spool:
        spool.push("s", body("/a"))

        def stopped(*_):
            raise stop

        with monkeypatch.context() as patch:
            patch.setattr(calls, "sync", stopped)
            with pytest.raises(stop):
                spool.push("s", body("/stopped"))
        spool.push("s", body("/b"))
        assert paths(spool) == ["/a", "/b"]
    with opened(tmp_path) as spool:
        assert paths(spool) == ["/a", "/b"]
