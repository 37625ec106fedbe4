"""A rotation that takes its time, on a machine that is busy: what is on its way from name to name is not lost."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tests.support.log_world import Texts

from hubbub.collect.sources import FollowedFile, followed_file
from hubbub.collect.sources.log import stillness

FILES = 8


class Slow:
    """Renames one file each time that somebody has waited for a second; the clock is its own."""

    def __init__(self, log):
        self.log, self.now = log, 0.0
        self.left = [*range(FILES, 0, -1), 0]

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        del seconds
        self.now += 1.0
        if not self.left:
            return
        number = self.left.pop(0)
        old = self.log.with_name(f"access.log.{number}") if number else self.log
        old.rename(self.log.with_name(f"access.log.{number + 1}"))
        if not number:
            self.log.write_text("new\n")


@pytest.fixture
def slow(tmp_path, monkeypatch):
    log = tmp_path / "access.log"
    for number in range(FILES, 0, -1):
        log.with_name(f"access.log.{number}").write_text(f"file {number}\n")
    log.write_text("now\n")
    made = Slow(log)
    monkeypatch.setattr(stillness, "time", SimpleNamespace(monotonic=made.monotonic))
    monkeypatch.setattr(followed_file, "time", made)
    return made


def read(source, until):
    came, lost = [], False
    while True:
        batch = source.poll(until)
        came += batch.events["person"].to_list()
        lost |= batch.lost
        if batch.reached:
            return came, lost


def place_in_the_fourth(log):
    """A place that a process told while what is now the fourth file was the log."""
    others = {path: path.read_text() for path in log.parent.iterdir() if path.name[-1] in "123" or path == log}
    for path in others:
        path.unlink()
    fourth = log.with_name("access.log.4")
    fourth.rename(log)
    with FollowedFile(log, Texts()) as source:
        source.open({})
        place = source.frontier()
    log.rename(fourth)
    for path, text in sorted(others.items(), reverse=True):
        path.write_text(text)
    return place


def test_a_start_in_the_midst_of_it_waits_for_its_end(slow):
    """Numbers had a gap, so nothing was proved, and nobody was counted for as long as a visit lasts."""
    place = place_in_the_fourth(slow.log)
    for _ in range(FILES - 2):
        slow.sleep(1)
    with FollowedFile(slow.log, Texts()) as source:
        assert source.open(place)
        assert not slow.left, "it is over"
        assert read(source, source.frontier()) == (["file 3", "file 2", "file 1", "now", "new"], False)


def test_a_gap_that_stays_is_a_loss(slow):
    place = place_in_the_fourth(slow.log)
    slow.left.clear()
    slow.log.with_name("access.log.2").unlink()
    with FollowedFile(slow.log, Texts()) as source:
        assert not source.open(place)
    assert slow.now < stillness.LONGEST


def test_names_that_never_rest_are_not_waited_for_for_ever(slow, monkeypatch):
    place = place_in_the_fourth(slow.log)
    slow.log.with_name("access.log.2").unlink()
    slow.left.clear()
    turns = iter(range(10**6))
    monkeypatch.setattr(followed_file.Chain, "names", lambda _: frozenset([("access.log", str(next(turns)))]))
    with FollowedFile(slow.log, Texts()) as source:
        assert not source.open(place)
    assert stillness.LONGEST <= slow.now < stillness.LONGEST + 5


def test_a_running_reader_says_nothing_until_it_is_over(slow):
    with FollowedFile(slow.log, Texts()) as source:
        source.open({})
        assert read(source, source.frontier()) == (["now"], False)
        for _ in range(FILES + 1):
            slow.sleep(1)
        slow.left = [*range(FILES + 1, 0, -1), 0]  # and at once another one, before the reader has looked
        while slow.left != [0]:
            slow.sleep(1)
        assert source.frontier() is None, "the file that it knows is the second, and there is no first"
        slow.sleep(1)
        assert read(source, source.frontier()) == (["new", "new"], False)
