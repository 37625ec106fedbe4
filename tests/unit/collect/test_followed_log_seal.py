"""A log that is rewritten in its middle, in place: whoever reads it again after a restart notices."""

from __future__ import annotations

import gzip
import os
from datetime import UTC, datetime, timedelta

import pytest
from tests.support.log_world import Texts

from hubbub.collect import Resume
from hubbub.collect.sources import FollowedFile
from hubbub.collect.sources.log import seal
from hubbub.confidential import Cut

START = datetime(2026, 1, 1, tzinfo=UTC)
PART = 100  # lines from one cut to the next, far more than the windows that each place checks


@pytest.fixture
def log(tmp_path):
    return tmp_path / "access.log"


@pytest.fixture(params=[4 * 2**20, 1000])
def piece(request, monkeypatch):
    monkeypatch.setattr(seal, "PIECE", request.param)


def write(log, part):
    with log.open("a") as file:
        file.writelines(f"line {part:03} {i:04} of a log that is rewritten\n" for i in range(PART))


def rewrite(path, part, line=PART // 2):
    """The same length, the same inode, and nothing near a place."""
    old, new = f"line {part:03} {line:04}".encode(), b"gone 000 0000"
    assert len(old) == len(new)
    with path.open("r+b") as file:
        at = file.read().index(old)
        file.seek(at)
        file.write(new)


def read(source, until):
    came, reached = [], False
    while not reached:
        batch = source.poll(until)
        came, reached = came + batch.events["person"].to_list(), batch.reached
        assert not batch.lost
    return came


def followed(log, parts, source=None, first=0):
    """The cuts of a process that read `parts` parts and was killed."""
    cuts = []
    with source or FollowedFile(log, Texts()) as source:
        source.open({}) if not first else None
        for part in range(first, parts):
            write(log, part)
            cuts.append(source.frontier())
            read(source, cuts[-1])
    return cuts


def unchanged(log, cuts, at=0):
    with FollowedFile(log, Texts()) as again:
        assert again.open(cuts[at])
        return again.unchanged(cuts[at + 1 :])


@pytest.mark.usefixtures("piece")
def test_a_line_rewritten_between_two_cuts_is_noticed(log):
    """The windows before the places are as they were, so the file was taken for the same."""
    cuts = followed(log, 6)
    assert unchanged(log, cuts)
    rewrite(log, 3)
    assert not unchanged(log, cuts)
    assert not unchanged(log, cuts, 2)
    assert unchanged(log, cuts, 5)  # nothing of it is read again


@pytest.mark.usefixtures("piece")
def test_also_if_the_log_has_grown_and_was_rotated_since(log):
    cuts = followed(log, 4)
    write(log, 4)
    log.rename(log.with_name("access.log.1"))
    write(log, 5)
    assert unchanged(log, cuts)
    rewrite(log.with_name("access.log.1"), 2)
    assert not unchanged(log, cuts)


def test_also_in_a_packed_file(log):
    cuts = followed(log, 4)
    plain, packed = log.with_name("access.log.1"), log.with_name("access.log.1.gz")
    log.rename(plain)
    write(log, 5)
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    whole = plain.read_bytes()
    plain.unlink()
    assert unchanged(log, cuts)
    packed.write_bytes(gzip.compress(whole.replace(b"line 002 0050", b"gone 000 0000")))
    assert not unchanged(log, cuts)
    with FollowedFile(log, Texts()) as again:
        assert again.open(cuts[0])
        with packed.open("r+b") as file:
            file.truncate(200)
        assert not again.unchanged(cuts[1:])


def test_a_log_that_became_shorter_meanwhile_is_not_the_same(log):
    cuts = followed(log, 4)
    with FollowedFile(log, Texts()) as again:
        assert again.open(cuts[0])
        os.truncate(log, 1000)
        assert not again.unchanged(cuts[1:])


@pytest.mark.usefixtures("piece")
def test_what_a_second_process_read_is_sealed_from_where_it_began(log):
    cuts = followed(log, 4)
    second = FollowedFile(log, Texts())
    assert second.open(cuts[1])
    for cut in cuts[2:]:
        read(second, cut)
    cuts += followed(log, 8, second, first=4)
    assert unchanged(log, cuts, 1)
    rewrite(log, 2)
    assert not unchanged(log, cuts, 1)
    assert unchanged(log, cuts, 6)


def test_what_is_settled_is_left_out(log, monkeypatch):
    monkeypatch.setattr(seal, "PIECE", 1000)
    cuts = []
    with FollowedFile(log, Texts()) as source:
        source.open({})
        for part in range(8):
            write(log, part)
            cuts.append(source.frontier())
            read(source, cuts[-1])
            if part >= 4:
                source.settle(cuts[part - 3])
    rewrite(log, 0)
    assert unchanged(log, cuts, 4)  # what was rewritten lies before all that is needed
    rewrite(log, 6)
    assert not unchanged(log, cuts, 4)


@pytest.mark.parametrize("rewritten", [False, True])
def test_a_restart_distrusts_a_past_that_was_rewritten(log, rewritten):
    """Lines that are gone would give a visitor the bound again."""
    frontiers = followed(log, 6)
    identity = FollowedFile(log, Texts()).identity
    cuts = [
        Cut(tick - 1, START + timedelta(seconds=tick), frontier, identity) for tick, frontier in enumerate(frontiers)
    ]
    if rewritten:
        rewrite(log, 3)
    now = START + timedelta(seconds=10)
    with FollowedFile(log, Texts()) as again:
        resume = Resume.of(cuts, 4, START, [START - timedelta(seconds=55)], again, lambda: now)
    assert resume.since == (now if rewritten else None)
