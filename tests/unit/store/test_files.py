"""The SQLite file: its owner's alone; readable where nothing can be written, without missing a line."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.conftest import require_or_skip
from tests.support import faultfs

from hubbub.cli.main import main
from hubbub.confidential import Counts
from hubbub.errors import OlderLayout, StoreUnavailable
from hubbub.release import Lpa
from hubbub.store import Store, owner
from hubbub.store.sqlite_file import SqliteFile

Make = Callable[[], Lpa]
MakeCounts = Callable[..., Counts]


@pytest.fixture(params=[0o022, 0o000, 0o277], ids=["usual", "open", "odd"])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def modes(path: Path) -> dict[str, int]:
    return {found.name: found.stat().st_mode & 0o777 for found in path.parent.glob("site.db*")}


def test_a_store_is_its_owners_alone(umask: None, path: Path, lpa: Make, counts: MakeCounts) -> None:
    with Store.open(path) as store, store.curate("site", lpa()) as curator:
        curator.release(counts(0))
        assert modes(path) == {"site.db": 0o600, "site.db-wal": 0o600, "site.db-shm": 0o600}
        assert store.note == ""


def test_one_that_others_could_read_is_tightened_with_a_word(path: Path, lpa: Make, counts: MakeCounts) -> None:
    with Store.open(path) as store, store.curate("site", lpa()) as curator:
        curator.release(counts(0))
        for one in path.parent.glob("site.db*"):
            one.chmod(0o644)
        with Store.open(path, read_only=True) as reader:  # whoever only reads leaves it as it is
            assert reader.note == ""
        assert set(modes(path).values()) == {0o644}
        with Store.open(path) as again:
            assert "could be read by other users" in again.note
        assert set(modes(path).values()) == {0o600}


def test_one_that_may_not_be_changed_is_told_of(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    Store.open(path).close()
    path.chmod(0o644)
    monkeypatch.setattr(Path, "chmod", refused)  # another user's file, which a test that runs as root cannot have
    with Store.open(path) as store:
        assert "may not change that" in store.note


def test_a_file_that_is_replaced_while_it_is_opened(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store.open(path).close()
    file = SqliteFile(str(path), read_only=False, patience=1)
    seen = iter([(1, 1), (1, 2)])
    monkeypatch.setattr(file, "_identity", lambda: next(seen))
    with pytest.raises(StoreUnavailable, match="replaced"):
        file.connect()


@pytest.fixture
def verify(tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """`hubbub ledger verify` in a process for which the folder of the store is a read-only disk."""

    def run(path: Path, *arguments: str) -> tuple[int, str]:
        try:
            environment = faultfs.environment(path.parent, FAULTFS_READONLY="1")
        except RuntimeError as error:
            require_or_skip(str(error))
        start = "import sys; from hubbub.cli.main import main; sys.exit(main(sys.argv[1:]))"
        command = [sys.executable, "-c", start, "ledger", *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    return run


class TestOnAReadOnlyDisk:
    @pytest.fixture
    def disk(self, tmp_path: Path, lpa: Make, counts: MakeCounts) -> Path:
        """A folder with a store that was closed, and one of a machine that died: its lines stand in its log only."""
        made = tmp_path / "disk"
        made.mkdir()
        with Store.open(tmp_path / "site.db") as store:
            curator = store.curate("site", lpa())
            for tick in range(3):
                curator.release(counts(tick))
            for end in ("", "-wal", "-shm"):
                shutil.copy(f"{tmp_path / 'site.db'}{end}", f"{made / 'died.db'}{end}")
            curator.close()
            owner.retire(curator._owner)
        shutil.copy(tmp_path / "site.db", made / "closed.db")
        assert not Path(f"{tmp_path / 'site.db'}-wal").exists()
        return made

    @pytest.mark.parametrize("name", ["closed.db", "died.db"])
    def test_every_line_is_there(self, disk: Path, verify: Callable[..., tuple[int, str]], name: str) -> None:
        before = sorted(found.name for found in disk.iterdir())
        code, out = verify(disk / name, "verify", str(disk / name), "--json")
        assert code == 0, out
        assert json.loads(out)["streams"][0]["lines"] == 3
        code, out = verify(disk / name, "show", str(disk / name))
        assert code == 0, out
        assert sorted(found.name for found in disk.iterdir()) == before

    def test_lines_that_would_be_missed_are_told_of(self, disk: Path, verify: Callable[..., tuple[int, str]]) -> None:
        """Without `-shm`, which cannot be made here, the log cannot be read: the file alone would be short of lines."""
        (disk / "died.db-shm").unlink()
        code, out = verify(disk / "died.db", "verify", str(disk / "died.db"))
        assert code == 1
        said = " ".join(out.split())
        assert "died.db-wal, which cannot be read in this place" in said
        assert "lines are missing" in said

    def test_a_file_that_was_thought_not_to_change_is_looked_at_again(self, disk: Path) -> None:
        file = SqliteFile(str(disk / "closed.db"), read_only=True, patience=1)
        file._immutable = True
        connection = file._open("ro&immutable=1")
        assert file.is_current(connection)
        Path(f"{disk / 'closed.db'}-wal").write_bytes(b"something was written after all")
        assert not file.is_current(connection)
        connection.close()


def test_what_is_no_file_is_refused_and_left_as_it_is(path: Path) -> None:
    """As it was: a device given as a store, by root, was taken away from everybody else."""
    os.mkfifo(path)
    path.chmod(0o644)
    for read_only in (False, True):
        with pytest.raises(StoreUnavailable, match="no regular file"):
            Store.open(path, read_only=read_only)
    assert path.stat().st_mode & 0o777 == 0o644


class TestAnEmptyFile:
    """As it was: "has layout 0 … open it once for writing", which began a new ledger with a whole new budget."""

    @pytest.mark.parametrize("command", ["show", "verify", "grants"])
    def test_readers_say_what_it_is(self, path: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
        path.touch()
        assert main(["ledger", command, str(path)]) == 1
        said = " ".join(capsys.readouterr().err.split())
        assert "is empty (0 bytes): it is no store" in said
        assert "its ledger is gone" in said
        assert "Restore the store from a backup" in said
        assert "layout" not in said

    def test_writers_begin_nothing_in_it_and_leave_its_wal(self, path: Path, lpa: Make, counts: MakeCounts) -> None:
        with Store.open(path) as store, store.curate("site", lpa()) as curator:
            curator.release(counts(0))
            waiting = Path(f"{path}-wal").read_bytes()
        path.write_bytes(b"")
        Path(f"{path}-wal").write_bytes(waiting)  # SQLite would delete it beside an empty file
        with pytest.raises(StoreUnavailable, match="is empty"):
            Store.open(path)
        assert path.read_bytes() == b""
        assert Path(f"{path}-wal").read_bytes() == waiting

    def test_one_that_is_emptied_under_a_curator_is_noticed(self, path: Path, lpa: Make) -> None:
        with Store.open(path) as store, store.curate("site", lpa()):
            path.unlink()
            path.touch()
            with pytest.raises(StoreUnavailable, match="is empty"):
                store.budget("site")

    def test_a_database_without_tables_is_told_apart_from_an_old_store(self, path: Path) -> None:
        SqliteFile(str(path), read_only=False, patience=0).create()
        with pytest.raises(OlderLayout, match="holds no store") as caught:
            Store.open(path, read_only=True)
        assert "a whole new budget" in caught.value.hint
        with Store.open(path) as store:  # what a crash leaves of a store that was about to be made
            assert store.streams() == []


class TestMakingAStore:
    def test_a_file_has_its_name_when_it_is_a_database(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A crash before that leaves a draft, and nothing that passes for a store."""

        def crash(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(os, "link", crash)
            with pytest.raises(KeyboardInterrupt):
                Store.open(path)
        assert list(path.parent.iterdir()) == []

    def test_of_two_that_make_it_the_first_stands(self, path: Path) -> None:
        made = SqliteFile(str(path), read_only=False, patience=0)
        with Store.open(path) as store:
            made.create()
            assert store.streams() == []
        assert [one.name for one in path.parent.iterdir()] == ["site.db"]

    def test_on_a_disk_without_links(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refused(*_: object, **__: object) -> None:
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(os, "link", refused)
        SqliteFile(str(path), read_only=False, patience=0).create()
        first = path.stat().st_ino
        SqliteFile(str(path), read_only=False, patience=0).create()
        assert path.stat().st_ino == first

    def test_through_a_link_to_a_place_where_nothing_is(self, path: Path) -> None:
        path.symlink_to("elsewhere.db")
        with Store.open(path) as store:
            assert store.streams() == []
        assert path.is_symlink()

    def test_where_sqlite_cannot_write(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*_: object, **__: object) -> None:
            raise sqlite3.OperationalError("disk I/O error")

        monkeypatch.setattr(sqlite3, "connect", full)
        with pytest.raises(StoreUnavailable, match="cannot be made: the disk refuses it"):
            SqliteFile(str(path), read_only=False, patience=0).create()
        assert list(path.parent.iterdir()) == []
