"""What a server keeps: whole or not at all, for one query and server, and gone when it is over."""

from __future__ import annotations

import sqlite3

import pytest

from hubbub.errors import InvalidInput, QueryMismatch, StoreUnavailable
from hubbub.gather import faults
from hubbub.gather.round_file import ADDED, BEGUN, REFUSED, WAITING, RoundFile

QUERY = bytes(range(32))
A, B = b"a" * 16, b"b" * 16


def test_what_was_committed_is_there_again(tmp_path):
    path = tmp_path / "0.round"
    with RoundFile(path, QUERY, 0) as file:
        with file.change("receive"):
            file.take_in(A, WAITING, b"own", b"other")
            file.take_in(B, WAITING, b"own", b"other")
            file.begin(A)
        with file.change("conclude"):
            file.settle([A], ADDED)
            file.refuse(B, "report_rejected")
            file.keep_verdicts(b"verdicts")
            file.spend(b"ticket")
            file.put(total=b"sum")
        with pytest.raises(ZeroDivisionError):
            spoil(file)
    assert path.stat().st_mode & 0o777 == 0o600
    with RoundFile(path, QUERY, 0) as file:
        assert (file.stage(A), file.stage(B)) == ((ADDED, ""), (REFUSED, "report_rejected"))
        assert list(file.added()) == [A]
        assert file.parts(WAITING) == file.parts(BEGUN) == []
        assert file.verdicts() == [b"verdicts"]
        assert file.is_spent(b"ticket")
        assert not file.is_spent(b"another")
        assert file.facts()["total"] == b"sum"


def spoil(file):
    with file.change("settle"):
        file.put(total=b"another sum")
        raise ZeroDivisionError


def take_in_twice(file):
    with file.change("receive"):
        file.take_in(A, WAITING, b"", b"")
        file.take_in(A, WAITING, b"", b"")


def test_what_is_forgotten_is_gone_from_the_disk(tmp_path):
    path = tmp_path / "0.round"
    with RoundFile(path, QUERY, 0) as file:
        with file.change("receive"):
            file.take_in(A, WAITING, b"a part of a report" * 100, b"the other one" * 100)
        assert b"a part of a report" in everything(tmp_path)
        with file.change("end"):
            file.forget()
        file.shrink()
        assert b"a part of a report" not in everything(tmp_path)
        assert A not in everything(tmp_path)


def everything(folder):
    return b"".join(path.read_bytes() for path in folder.iterdir())


def test_files_of_others(tmp_path):
    path = tmp_path / "0.round"
    RoundFile(path, QUERY, 0).close()
    with pytest.raises(QueryMismatch, match="another query"):
        RoundFile(path, bytes(32), 0)
    with pytest.raises(QueryMismatch, match="other server"):
        RoundFile(path, QUERY, 1)
    with RoundFile(path, QUERY, 0) as file, file.change("end"):
        file.put(layout=b"\x09")
    with pytest.raises(InvalidInput, match="another version"):
        RoundFile(path, QUERY, 0)
    path.write_bytes(b"This is no database, and never was one." * 100)
    with pytest.raises(InvalidInput, match="no round of ours"):
        RoundFile(path, QUERY, 0)
    with pytest.raises(StoreUnavailable, match="cannot be kept on disk"):
        RoundFile(tmp_path / "no" / "folder", QUERY, 0)


def test_a_file_is_held_by_one_process(tmp_path):
    path = tmp_path / "0.round"
    with RoundFile(path, QUERY, 0), pytest.raises(StoreUnavailable, match="holds the round"):
        RoundFile(path, QUERY, 0)
    RoundFile(path, QUERY, 0).close()


def test_a_full_disk_takes_nothing(tmp_path):
    with RoundFile(tmp_path / "0.round", QUERY, 0) as file:
        pages = file._db.execute("PRAGMA page_count").fetchone()[0]
        file._db.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(StoreUnavailable, match="full"), file.change("receive"):
            file.take_in(A, WAITING, bytes(100_000), b"")
        assert file.stage(A) is None
        file._db.execute("PRAGMA max_page_count = 100000")
        with file.change("receive"):
            file.take_in(A, WAITING, bytes(100_000), b"")
        assert file.stage(A) == (WAITING, "")


def test_what_should_not_be_is_no_trouble_of_the_disk(tmp_path):
    with RoundFile(tmp_path / "0.round", QUERY, 0) as file:
        with pytest.raises(sqlite3.IntegrityError):
            take_in_twice(file)
        assert file.stage(A) is None
        file._db.execute("DROP TABLE reports")
        with pytest.raises(StoreUnavailable):
            file.stage(A)


def test_every_step_has_its_points(tmp_path):
    passed = []
    faults.install(passed.append)
    try:
        with RoundFile(tmp_path / "0.round", QUERY, 0) as file, file.change("receive"):
            pass
    finally:
        faults.install(None)
    assert passed == ["receive:begin", "receive:written", "receive:committed"]
    assert set(passed) < set(faults.FAULT_POINTS)
