"""Every system call of a followed log fails once, in every way: nothing is lost, nothing comes twice, no descriptor is
used after it was closed or left open. Run with `-s` to see the matrix."""

from __future__ import annotations

import errno
import os
import random
from types import SimpleNamespace

import pytest
from tests.support.log_world import SCHEMES, Texts, World

from hubbub.collect.sources import FollowedFile, followed_file
from hubbub.collect.sources.log import chain, opened, proof, rotated

CALLS = ("open", "fstat", "stat", "pread", "listdir", "close")
ERRORS = ("EMFILE", "EIO", "EINTR", "ENOENT", "EACCES", "ENOSPC")
STRIDE = len(ERRORS)


class Faulty:
    """`os`, but the n-th call of one function fails. Keeps book of descriptors."""

    def __init__(self, call, error, n):
        self.call, self.error, self.left = call, error, n
        self.held, self.misused, self.struck = set(), [], False
        for name in CALLS:
            setattr(self, name, self._wrapped(name))

    def __getattr__(self, name):
        return getattr(os, name)

    def _wrapped(self, name):
        def run(*args, **options):
            if name in ("fstat", "pread", "close") and args[0] not in self.held:
                self.misused.append(name)
            if name == self.call:
                self.left -= 1
                if self.left == 0:
                    self.struck = True
                    if name == "close":  # the number is free again, whatever close says
                        self._close(args[0])
                    raise OSError(getattr(errno, self.error), "made up")
            if name == "close":
                return self._close(args[0])
            result = getattr(os, name)(*args, **options)
            if name == "open":
                self.held.add(result)
            return result

        return run

    def _close(self, number):
        self.held.discard(number)
        os.close(number)


class Story:
    """Some rotations, looks, readings and restarts. Whatever fails is tried again, as the pipeline does."""

    def __init__(self, folder, scheme):
        self.world = World(folder, random.Random(1), **SCHEMES[scheme])
        self.troubles = set()
        self.came, self.lost = [], False

    def frontier(self):
        for _ in range(30):
            frontier = self.source.frontier()
            self.troubles.add(self.source.trouble)
            if frontier is not None:
                return frontier
        raise AssertionError(self.source.trouble)

    def read(self, until):
        for _ in range(2000):
            batch = self.source.poll(until)
            self.troubles.add(self.source.trouble)
            self.came += batch.events["person"].to_list()
            self.lost |= batch.lost
            if batch.reached:
                return
        raise AssertionError(self.source.trouble)

    def restart(self, positions):
        if positions:
            self.source.close()
        self.source = FollowedFile(self.world.path, Texts(), folders=[self.world.old])
        assert self.source.open(positions) == bool(positions)

    def run(self):
        world = self.world
        world.write(3)
        self.restart({})
        self.read(self.frontier())
        world.write(4)
        world.rotate(1)
        world.write(2)
        self.read(self.frontier())
        world.rotate(1)
        world.rotate(0)
        world.write(3)
        until = self.frontier()
        self.read(until)
        world.rotate(2)
        world.write(2)
        self.restart(until)
        self.read(self.frontier())
        world.reopen()
        self.read(self.frontier())
        self.source.close()
        world.close()


def told(folder, monkeypatch, scheme, call, error, n):
    shim = Faulty(call, error, n)
    folder.mkdir()
    story = Story(folder, scheme)
    with monkeypatch.context() as patch:
        for module in (opened, rotated, chain, proof, followed_file):
            patch.setattr(module, "os", shim)
        patch.setattr(followed_file, "time", SimpleNamespace(sleep=lambda _: None))
        story.run()
    assert sorted(story.came) == sorted(story.world.lines), "lost or twice"
    assert not story.lost
    assert not shim.misused, "a closed descriptor was used"
    assert not shim.held, "a descriptor was left open"
    assert all(not word or word.endswith(".") for word in story.troubles)
    return shim, story


@pytest.mark.parametrize("scheme", ["create", "delaycompress", "dateext"])
def test_every_call_fails_once_in_every_way(tmp_path, monkeypatch, scheme):
    table = {}
    for call in CALLS:
        total = 10**9 - told(tmp_path / f"{call}", monkeypatch, scheme, call, "EIO", 10**9)[0].left
        assert total > 0
        for row, error in enumerate(ERRORS):
            words, struck = set(), 0
            for n in range(1 + row, total + 1, STRIDE):
                shim, story = told(tmp_path / f"{call} {error} {n}", monkeypatch, scheme, call, error, n)
                struck += shim.struck
                words |= story.troubles
            table[call, error] = (struck, words - {""})
    print(f"\n{scheme}: faults injected, and the words that were said; every line came once, no descriptor leaked")
    for (call, error), (struck, words) in table.items():
        print(f"  {call:8} {error:7} {struck:4}  {' '.join(sorted(words))}")
    assert "Too many files are open to read the log." in table["open", "EMFILE"][1]
    assert "The log cannot be read at the moment." in table["pread", "EIO"][1]
    assert "The log may not be read by the user that runs this." in table["listdir", "EACCES"][1]


def test_a_log_that_may_never_be_read(tmp_path, monkeypatch):
    """Not a passing fault: nothing is read, nothing crashes, and the curator is told why."""
    path = tmp_path / "access.log"
    path.write_bytes(b"a\n")

    def refuse(*_, **__):
        raise PermissionError(errno.EACCES, "made up")

    shim = Faulty("", "EIO", 0)
    shim.open = refuse
    monkeypatch.setattr(opened, "os", shim)
    source = FollowedFile(path, Texts())
    assert not source.open({"x": "0 1:2 1:e4a6a0577479b2b4 1 1:e4a6a0577479b2b4"})
    assert source.frontier() is None
    assert source.trouble == "The log may not be read by the user that runs this."
    assert not source.poll({}).reached
