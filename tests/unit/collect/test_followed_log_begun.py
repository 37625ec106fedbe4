"""Where a stream begins that has never been read: at the log's present end, and at that of the file before it."""

from __future__ import annotations

import gzip

import pytest
from tests.support.log_world import Texts

from hubbub.collect.sources import FollowedFile
from hubbub.collect.sources.log import birth as births
from hubbub.collect.sources.log import chain as chains
from hubbub.collect.sources.log.generation import Generation


def write(path, *texts):
    with path.open("a") as file:
        file.writelines(f"{text}\n" for text in texts)


@pytest.fixture
def rotated(log):
    """A log whose old file was renamed just now; the new one is empty."""
    write(log, "old 1", "old 2")
    old = log.rename(log.with_name("access.log.1"))
    log.touch()
    return log, old


def begun(log):
    """As a stream begins: at the present end of the log. The source, and its first frontier."""
    source = FollowedFile(log, Texts())
    source.open({})
    frontier = source.frontier()
    source.open(frontier)
    return source, frontier


def read(source, until):
    came, lost = [], False
    for _ in range(100):
        batch = source.poll(until)
        came += batch.events["person"].to_list()
        lost |= batch.lost
        if batch.reached:
            return came, lost
    raise AssertionError(source.trouble)


def test_lines_that_a_server_still_writes_to_the_renamed_file_are_read(rotated):
    """As it was: they were missed, and their tick was published as measured."""
    log, old = rotated
    source, _ = begun(log)
    write(old, "late in the old file")
    write(log, "in the new one")
    with source:
        assert read(source, source.frontier()) == (["late in the old file", "in the new one"], False)


@pytest.mark.parametrize("packed", [False, True])
def test_an_empty_log_is_proved_by_the_file_before_it(rotated, packed):
    """As it was: a restart before the first line had lost its past."""
    log, old = rotated
    if packed:
        log.with_name("access.log.1.gz").write_bytes(gzip.compress(old.read_bytes()))
        old.unlink()
    source, first = begun(log)
    source.close()
    write(log, "while it was down")
    with FollowedFile(log, Texts()) as again:
        assert again.open(first)
        assert read(again, again.frontier()) == (["while it was down"], False)


def test_it_is_proved_after_another_rotation_too(rotated):
    log, old = rotated
    source, first = begun(log)
    source.close()
    write(log, "one")
    old.rename(log.with_name("access.log.2"))
    log.rename(log.with_name("access.log.1"))
    write(log, "two")
    with FollowedFile(log, Texts()) as again:
        assert again.open(first)
        assert read(again, again.frontier()) == (["one", "two"], False)


def test_what_was_there_before_is_not_read(rotated):
    log, _ = rotated
    write(log, "before")
    source, first = begun(log)
    with source:
        assert read(source, first) == ([], False)
        assert read(source, source.frontier()) == ([], False)


def test_a_copy_is_not_the_file_before(log, monkeypatch):
    write(log, "one")
    log.with_name("access.log.1").write_bytes(log.read_bytes())
    source, first = begun(log)
    source.close()
    assert len(first) == 1
    monkeypatch.setattr(chains, "in_order_of_birth", lambda _: True)
    monkeypatch.setattr(births, "_statx", None)  # nor is one of which that cannot be told
    source, first = begun(log)
    source.close()
    assert len(first) == 1


def test_a_damaged_packed_file_is_passed_over(log):
    log.with_name("access.log.1.gz").write_bytes(b"no gzip")
    source, first = begun(log)
    source.close()
    assert len(first) == 1


def test_two_files_without_an_order_are_passed_over(log):
    write(log.with_name("access.log.3"), "one")
    source, first = begun(log)
    source.close()
    assert len(first) == 1


@pytest.mark.parametrize("when", ["opened", "looked at"])
def test_a_file_that_changes_under_the_first_look_is_looked_at_again(rotated, monkeypatch, when):
    log, old = rotated
    opening, looking, times = chains.open_rotated, Generation.look, iter(range(2))

    def opened(entry):
        if when == "opened" and next(times) == 0:
            write(log.with_name("another"), "another file of the same name")
            log.with_name("another").replace(old)
        return opening(entry)

    def looked(generation):
        return looking(generation) and not (when == "looked at" and next(times, 1) == 0)

    monkeypatch.setattr(chains, "open_rotated", opened)
    monkeypatch.setattr(Generation, "look", looked)
    with FollowedFile(log, Texts()) as source:
        source.open({})
        assert source.frontier() is None
        assert source.frontier() is not None


@pytest.mark.parametrize("packed", [False, True])
def test_an_empty_file_between_two_others_is_no_copy(log, packed):
    """As it was: after two rotations in a row a restart was proved if the new log had a line, and not if it had none;
    so whether one visitor was there could be seen from the ticks that were predicted."""
    write(log, "old 1", "old 2")
    source, _ = begun(log)
    old, empty = log.with_name("access.log.2"), log.with_name("access.log.1")
    log.rename(old)
    log.touch()
    source.frontier()
    log.rename(empty)
    log.touch()
    told = source.frontier()
    source.close()
    assert len(told) == 3
    if packed:
        log.with_name("access.log.1.gz").write_bytes(gzip.compress(b""))
        empty.unlink()
    write(log, "one")
    with FollowedFile(log, Texts()) as again:
        assert again.open(told)
        assert read(again, again.frontier()) == (["one"], False)
