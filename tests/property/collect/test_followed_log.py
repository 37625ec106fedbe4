"""Followed logs against a model: random writing, rotating, looking, reading and restarting, in every scheme."""

from __future__ import annotations

import os
import random

import pytest
from tests.support.log_world import SCHEMES, Texts, World

from hubbub.collect.sources import FollowedFile
from hubbub.collect.sources import followed_file as module
from hubbub.collect.sources.log import chain, stillness

RUNS = 8
STEPS = 80
FOUND = {
    "compress": [26, 29], "delaycompress": [108], "dateext": [85], "extension": [27],
    "copytruncate": [38, 92, 109], "copytruncate compress": [54, 59, 82],
}  # fmt: skip
"""Worlds of a longer run in which a loss was told that was none (files of other processes' cuts that had been read), or
was not told (an empty log that was cut a second time)."""


class Driver:
    """Runs a source in a world. After each frontier is reached, exactly the lines in front of it must have come."""

    def __init__(self, world, folders=()):
        self.world, self.folders = world, folders
        self.source = self.made()
        self.source.open({})
        self.cuts = []  # (frontier, lines that were whole then)
        self.next = 0  # the first cut that was not read up to
        self.came = []
        self.losses = self.restarts = self.unproved = 0
        self.look()  # from now on the source answers for everything

    def made(self):
        return FollowedFile(self.world.path, Texts(), folders=self.folders)

    def look(self):
        frontier = self.source.frontier()
        if frontier is not None:
            self.cuts.append((dict(frontier), self.world.whole))

    def read(self):
        """Up to the next cut. Nothing behind it may come, nothing in front of it may be missing without a word."""
        if self.next == len(self.cuts):
            return
        frontier, whole = self.cuts[self.next]
        lost = False
        for _ in range(10_000):
            batch = self.source.poll(frontier)
            self.came += batch.events["person"].to_list()
            lost |= batch.lost
            if batch.reached:
                break
        else:
            raise AssertionError(f"never reached; trouble: {self.source.trouble!r}")
        came = [text for text in self.came if text.endswith("$") and len(text) > 6 and text[:6].isdigit()]
        assert len(set(came)) == len(came), "a line came twice"
        wanted = self.world.lines[:whole]
        missing = set(wanted) - set(came) - self.forgiven - self.world.torn
        assert not set(came) - set(wanted), "a line came that lies behind the frontier"
        if missing:
            assert lost, f"{len(missing)} lines are missing without a word"
            self.forgiven |= missing
        self.losses += lost
        self.next += 1

    forgiven: frozenset = frozenset()

    def restart(self, back):
        """A new process, behind a frontier that had been read up to."""
        if not self.next:
            return
        at = max(self.next - 1 - back, 0)
        self.source.close()
        self.source = self.made()
        self.restarts += 1
        proved = self.source.open(self.cuts[at][0])
        unchanged = proved and self.source.unchanged([frontier for frontier, _ in self.cuts[at + 1 :]])
        assert unchanged == proved or self.world.cut_off, "a file is said to be rewritten"
        if not unchanged:
            self.unproved += 1
            self.source.close()
            return
        self.next = at + 1
        done = set(self.world.lines[: self.cuts[at][1]])
        self.came = [text for text in self.came if text in done]


def descriptors(folder):
    found = []
    for number in os.listdir("/proc/self/fd"):
        try:
            found.append(os.readlink(f"/proc/self/fd/{number}"))
        except OSError:
            continue
    return [name for name in found if name.startswith(str(folder))]


def run(folder, seed, scheme, monkeypatch, keep=100, most_rotations=100):
    dice = random.Random(f"{scheme} {seed}")
    monkeypatch.setattr(module, "BLOCK", dice.choice([7, 100, 1000, 2**24]))
    monkeypatch.setattr(stillness, "PATIENCE", 0.0)
    monkeypatch.setattr(chain, "_LINGER", 0.0)
    world = World(folder, dice, keep=keep, **SCHEMES[scheme])
    while not world.whole:
        world.write(1)
    driver = Driver(world, [world.old])
    for _ in range(STEPS):
        what = dice.choices(["write", "look", "read", "rotate", "restart", "settle"], [8, 6, 5, 3, 1, 1])[0]
        if what == "write":
            world.write(dice.randrange(6))
        elif what == "look":
            driver.look()
        elif what == "read":
            driver.read()
        elif what == "rotate" and world.rotations < most_rotations:
            world.rotate(dice.randrange(3))
            if dice.random() < 0.3:
                world.rotate(dice.randrange(3))
        elif what == "restart":
            driver.restart(dice.randrange(3))
            if driver.unproved:
                break
        elif what == "settle" and driver.next > 4:
            driver.source.settle(driver.cuts[driver.next - 4][0])
    if not driver.unproved:
        world.write(1)
        driver.look()
        while driver.next < len(driver.cuts):
            driver.read()
        assert len(descriptors(folder)) <= 3 + 1  # the current file, the one before, the server's
    driver.source.close()
    world.close()
    assert not descriptors(folder)
    return driver


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_line_once_or_the_loss_is_told(tmp_path, monkeypatch, scheme):
    losses = unproved = restarts = rotations = 0
    for seed in [*range(RUNS), *FOUND.get(scheme, [])]:
        folder = tmp_path / str(seed)
        folder.mkdir()
        driver = run(folder, seed, scheme, monkeypatch)
        losses, unproved = losses + driver.losses, unproved + driver.unproved
        restarts, rotations = restarts + driver.restarts, rotations + driver.world.rotations
    print(f"{scheme}: {rotations} rotations, {restarts} restarts, {unproved} not proved, {losses} losses told")
    if "copytruncate" not in scheme:
        assert not losses  # nothing was lost, and nothing is said to be
        assert unproved <= restarts // 4


SHORT_LIVES = {"create": [], "compress": [53, 55], "delaycompress": [38, 40], "dateext compress": []}
"""Worlds in which a file was said to be lost that an earlier process had read, and a later one had named anew."""


@pytest.mark.parametrize("scheme", SHORT_LIVES)
def test_cuts_that_several_processes_made_are_read_again(tmp_path, monkeypatch, scheme):
    """Processes live so shortly that a start reads again what some of them have read; no file is let go meanwhile."""
    monkeypatch.setattr(stillness, "PATIENCE", 0.0)
    monkeypatch.setattr(chain, "_LINGER", 1000.0)
    restarts = 0
    for seed in [*range(RUNS), *SHORT_LIVES[scheme]]:
        folder = tmp_path / str(seed)
        folder.mkdir()
        dice = random.Random(f"h{scheme} {seed}")
        world = World(folder, dice, keep=100, **SCHEMES[scheme])
        while not world.whole:
            world.write(1)
        driver = Driver(world, [world.old])
        for _ in range(120):
            what = dice.choices(["write", "look", "read", "rotate", "restart"], [8, 8, 8, 3, 2])[0]
            if what == "write":
                world.write(dice.randrange(1, 6))
            elif what == "rotate":
                world.rotate(dice.randrange(3))
                world.write(1)
            elif what == "restart":
                driver.restart(dice.randrange(14))
                assert not driver.unproved
            else:
                getattr(driver, what)()
        assert not driver.losses
        restarts += driver.restarts
        driver.source.close()
        world.close()
    assert restarts > RUNS


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_monitor_that_stands_by_reads_the_cuts_of_the_other_as_that_one_does(tmp_path, monkeypatch, scheme):
    """As it was: a log that was cut and grew again passed for the one before, and zeros were read without a word."""
    monkeypatch.setattr(stillness, "PATIENCE", 0.0)
    losses = 0
    for seed in range(RUNS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        dice = random.Random(f"two {scheme} {seed}")
        monkeypatch.setattr(chain, "_LINGER", dice.choice([0.0, 1000.0]))
        world = World(folder, dice, keep=100, **SCHEMES[scheme])
        while not world.whole:
            world.write(1)
        first, second = (FollowedFile(world.path, Texts(), folders=[world.old]) for _ in range(2))
        first.open({})
        begin = first.frontier()
        assert first.open(begin)
        assert second.open(begin)
        for _ in range(30):
            world.write(dice.randrange(1, 6))
            if dice.random() < 0.2:
                world.rotate(dice.randrange(3))
                world.write(1)
            if (frontier := first.frontier()) is not None:
                one, two = read_up_to(first, frontier), read_up_to(second, frontier)
                assert two[0] == one[0] or two[1], "lines are missing without a word"
                assert two[1] or not one[1], "only one of them says that lines were lost"
                losses += one[1]
        first.close()
        second.close()
        world.close()
    assert bool(losses) == world.cut_off


def read_up_to(source, frontier):
    """The lines that come, and whether some are said to be lost."""
    came, lost = [], False
    for _ in range(10_000):
        batch = source.poll(frontier)
        came += batch.events["person"].to_list()
        lost |= batch.lost
        if batch.reached:
            return came, lost
    raise AssertionError(f"never reached; trouble: {source.trouble!r}")


@pytest.mark.parametrize("scheme", ["create", "compress", "dateext", "copytruncate"])
def test_what_was_deleted_unread_is_told(tmp_path, monkeypatch, scheme):
    """One rotated file is kept, and two rotations happen between looks: some lines cannot be had."""
    losses = 0
    for seed in range(RUNS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        losses += run(folder, seed, scheme, monkeypatch, keep=1).losses
    assert losses
