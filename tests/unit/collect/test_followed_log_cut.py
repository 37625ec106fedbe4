"""A log that is copied and cut, at the moments when that is hardest to see: what may be lost is told."""

from __future__ import annotations

import gzip
import os
import shutil

import pytest
from tests.support.log_world import Texts

from hubbub.collect.sources import FollowedFile
from hubbub.collect.sources.log import birth as births
from hubbub.collect.sources.log.birth import birth


@pytest.fixture
def reader(log):
    with FollowedFile(log, Texts()) as source:
        source.open({})
        yield source


def write(path, *texts):
    with path.open("a") as file:
        file.writelines(f"{text}\n" for text in texts)


def many(name, count=60):
    return [f"{name} {i:04d} padding padding" for i in range(count)]


def rename(log):
    for number in range(8, 0, -1):
        for ending in ("", ".gz"):
            if (old := log.with_name(f"{log.name}.{number}{ending}")).exists():
                old.rename(log.with_name(f"{log.name}.{number + 1}{ending}"))
    if log.exists():
        log.rename(log.with_name(f"{log.name}.1"))


def cut(log, between=(), *, pack=False):
    """copytruncate; the lines `between` are written after the copy, and lost."""
    facts = log.stat()
    held = log.with_name("held")
    log.rename(held)
    rename(log)
    held.rename(log)
    copy = log.with_name(f"{log.name}.1")
    shutil.copy(log, copy)
    write(log, *between)
    os.truncate(log, 0)
    assert log.stat().st_ino == facts.st_ino
    if pack:
        log.with_name(f"{log.name}.1.gz").write_bytes(gzip.compress(copy.read_bytes()))
        copy.unlink()


def later(log):
    """Until a file that is made now is seen to be younger: file systems keep times of some milliseconds."""
    probe = log.with_name("probe")
    with log.open() as file:
        before = birth(file.fileno())
    if before is None:
        pytest.skip("this file system keeps no birth times, so the difference cannot be seen here: docs/limits.md")
    made = before
    while made <= before:
        probe.unlink(missing_ok=True)
        with probe.open("w") as file:
            made = birth(file.fileno())


def read(source, until):
    came, lost = [], False
    for _ in range(1000):
        batch = source.poll(until)
        came += batch.events["person"].to_list()
        lost |= batch.lost
        if batch.reached:
            return came, lost
    raise AssertionError(source.trouble)


def at_the_end(source):
    """As a stream begins: at the present end of the log."""
    source.open({})
    frontier = source.frontier()
    source.open(frontier)
    return frontier


# ── seen empty ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_log_seen_empty_then_copied_and_not_cut_has_lost_nothing(log, reader):
    """It was said that records were lost."""
    reader.frontier()
    write(log, *many("line"))
    shutil.copy(log, log.with_name("access.log.1"))
    write(log, "more")
    assert read(reader, reader.frontier()) == ([*many("line"), "more"], False)


@pytest.mark.parametrize("pack", [False, True])
def test_a_log_seen_empty_then_filled_copied_and_cut_is_read_from_its_copy(log, reader, pack):
    """Its lines were in the copy, and were not read."""
    reader.frontier()
    write(log, *many("copied"))
    cut(log, ["gone"], pack=pack)
    write(log, *many("new"))
    assert read(reader, reader.frontier()) == ([*many("copied"), *many("new")], True)
    write(log, "later")
    assert read(reader, reader.frontier()) == (["later"], False)


def test_two_cuts_between_two_looks_at_an_empty_log_are_a_loss(log, reader):
    reader.frontier()
    for name in ("one", "two"):
        write(log, *many(name))
        cut(log)
    write(log, "new")
    assert read(reader, reader.frontier()) == (["new"], True)


def test_every_cut_of_an_empty_log_is_told(log, reader):
    """The second empty copy was taken for the first one, and the line between copy and cut was missed by nobody."""
    reader.frontier()
    for number in range(3):
        cut(log, [f"gone {number}"], pack=True)
        assert read(reader, reader.frontier()) == ([], True)


def test_a_cut_and_then_a_renaming_between_two_looks_at_an_empty_log_is_told(log, reader):
    reader.frontier()
    write(log, *many("copied"))
    cut(log, ["gone"])
    write(log, *many("renamed"))
    rename(log)
    write(log, "new")
    assert read(reader, reader.frontier()) == ([*many("copied"), *many("renamed"), "new"], True)


def test_a_look_that_is_broken_off_does_not_forget_that_a_cut_was_possible(log, reader):
    """The log was not empty any more at the next look, so nobody asked again, and the loss was not told."""
    reader.frontier()
    write(log, *many("copied"))
    cut(log, pack=True)
    write(log, "new")
    packed = log.with_name("access.log.1.gz")
    whole = packed.read_bytes()
    packed.write_bytes(whole[:20])
    assert reader.frontier() is None
    packed.write_bytes(whole)
    assert read(reader, reader.frontier()) == ([*many("copied"), "new"], True)


# ── beginning ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("there", [[], ["a"], many("old")])
def test_a_cut_right_after_a_stream_began_at_the_logs_end_is_told(log, reader, there):
    """A tick was measured that lacked a line: an empty log was taken for a new one, and so was one that was cut."""
    write(log, *there)
    at_the_end(reader)
    write(log, *many("copied"))
    cut(log, ["gone"])
    write(log, "new")
    came, lost = read(reader, reader.frontier())
    assert lost
    assert came == [*many("copied"), "new"]


@pytest.mark.parametrize("there", [[], ["a"]])
def test_a_cut_while_a_stream_begins_is_told(log, reader, there):
    write(log, *there)
    reader.open({})
    frontier = reader.frontier()
    write(log, *many("copied"))
    cut(log, ["gone"])
    write(log, "new")
    reader.open(frontier)
    assert read(reader, reader.frontier())[1]


@pytest.mark.parametrize("there", [[], ["a"]])
def test_a_log_that_is_renamed_right_after_a_stream_began_has_lost_nothing(log, reader, there):
    """An empty one was forgotten with all that came into it."""
    write(log, *there)
    at_the_end(reader)
    write(log, "b")
    rename(log)
    write(log, "c")
    assert read(reader, reader.frontier()) == (["b", "c"], False)


def test_the_end_of_a_log_can_be_begun_at_only_while_nothing_was_read(log, reader):
    write(log, "a")
    reader.frontier()
    write(log, "b")
    until = reader.frontier()
    assert read(reader, until) == (["a", "b"], False)
    assert reader.open(until)  # by its bytes
    assert not reader.open({})
    assert read(reader, reader.frontier()) == (["a", "b"], False)


def test_a_log_that_came_and_was_rotated_before_it_was_seen_is_a_loss(log, reader):
    log.unlink()
    assert reader.frontier() is None
    write(log, *many("unseen"))
    rename(log)
    write(log, "new")
    assert read(reader, reader.frontier()) == (["new"], True)


# ── while nobody looked ──────────────────────────────────────────────────────────────────────────────────────────────


def rename_and_cut(log):
    later(log)
    rename(log)
    write(log, *many("copied"))
    later(log)
    cut(log, ["gone"])
    write(log, "new")


def test_a_cut_after_a_renaming_while_the_monitor_was_down_is_not_proved(log, reader):
    """The copy was taken for a file that had been renamed: 112 counted for 113."""
    write(log, *many("old"))
    until = reader.frontier()
    rename_and_cut(log)
    with FollowedFile(log, Texts()) as again:
        assert not again.open(until)


def test_a_cut_after_a_renaming_between_two_looks_is_told(log, reader):
    write(log, *many("old"))
    assert read(reader, reader.frontier()) == (many("old"), False)
    rename_and_cut(log)
    assert read(reader, reader.frontier())[1]


def test_where_births_are_not_kept_a_log_that_is_renamed_is_still_followed(log, reader, monkeypatch):
    with log.open() as file:
        monkeypatch.setattr(births, "_statx", lambda *_: -1)
        assert birth(file.fileno()) is None
        monkeypatch.setattr(births, "_statx", None)
        assert birth(file.fileno()) is None
        monkeypatch.setattr(births.os, "fstat", lambda _: type("Facts", (), {"st_birthtime": 1.5}))
        assert birth(file.fileno()) == 1_500_000_000
    monkeypatch.undo()
    monkeypatch.setattr(births, "_statx", None)
    write(log, *many("old"))
    until = reader.frontier()
    for name in ("one", "two"):
        rename(log)
        write(log, name)
    with FollowedFile(log, Texts()) as again:
        assert again.open(until)
        assert read(again, again.frontier()) == (["one", "two"], False)


def test_a_loss_before_an_empty_file_is_told_again_when_its_cut_is_read_again(log, reader):
    """The file was empty at the cut, so another process does not know it; the loss must come in the same tick."""
    write(log, *many("old"))
    first = reader.frontier()
    rename(log)
    write(log, *many("packed"))
    reader.frontier()
    cut(log, ["gone"], pack=True)
    second = reader.frontier()
    write(log, "new")
    third = reader.frontier()
    assert [read(reader, until)[1] for until in (first, second, third)] == [False, True, False]
    with FollowedFile(log, Texts()) as again:
        assert again.open(first)  # a packed copy cannot be told from a packed file
        assert [read(again, until)[1] for until in (second, third)] == [True, False]
    with FollowedFile(log, Texts()) as third_life:
        if third_life.open(second):
            assert read(third_life, third) == (["new"], False)


def test_a_cut_right_after_a_restart_takes_nothing_from_the_ticks_before_it(log, reader):
    """The lines stood in the copy and were said to be lost, in ticks that were over before the log was cut."""
    write(log, *many("first"))
    first = reader.frontier()
    rename(log)
    write(log, "one", "two")
    second = reader.frontier()
    write(log, "three")
    with FollowedFile(log, Texts()) as again:
        assert again.open(first)
        cut(log)
        assert read(again, second) == (["one", "two"], False)
        assert read(again, again.frontier()) == (["three"], True)
