"""One SQLite file: made for its owner alone, opened so that nothing of it is missed, watched for being replaced."""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import uuid
from contextlib import closing, suppress
from pathlib import Path

from hubbub.errors import StoreUnavailable

_CANNOT = (8, 14)  # SQLITE_READONLY, SQLITE_CANTOPEN: what write-ahead mode says where it may not make its side files


class FileConnection(sqlite3.Connection):
    """A connection that knows which file it opened, whatever its path leads to later."""

    file: tuple[int, ...] | None = None


class SqliteFile:
    """Opens connections to one path. A file that is not there is never made anew by them: see `create`."""

    def __init__(self, path: str, *, read_only: bool, patience: float, untouched: bool = False) -> None:
        self.path = Path(path).absolute()
        self._read_only = read_only
        self._untouched = untouched
        self._patience = patience
        self._immutable = False

    def exists(self) -> bool:
        """Whether there is something at the path."""
        try:
            mode = self.path.stat().st_mode
        except FileNotFoundError:
            return False
        except OSError as error:
            raise StoreUnavailable(
                f"The store {self.path} cannot be looked at: {error.strerror}.",
                "Check the disk, and that this user may read the folder.",
            ) from None
        if not stat.S_ISREG(mode):  # its permissions are not ours to change
            raise StoreUnavailable(
                f"The store {self.path} is no regular file but a folder, a pipe or a device.",
                "Give the path of a file; it is made if it is not there.",
            )
        return True

    def require_folder(self) -> None:
        """Refuse a path in a folder that is not there, as `create` would."""
        if not self.path.parent.is_dir():
            raise self._no_folder()

    def create(self) -> None:
        """A database without tables that only its owner may read, whatever the umask; its side files will be alike.

        It gets its name once SQLite has written its first page, so that a file of no bytes is never one of ours.
        """
        path = self.path.resolve()  # a link may lead to a place where there is nothing yet
        draft = path.with_name(f".{path.name[:100]}-{uuid.uuid4().hex}")
        try:
            os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            try:
                draft.chmod(0o600)
                with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
                    connection.execute("PRAGMA journal_mode=WAL")
                if not draft.stat().st_size:  # on a disk that fails, SQLite may stay with another mode without a word
                    raise OSError(errno.EIO, os.strerror(errno.EIO))
                _name(draft, path)
            finally:
                draft.unlink(missing_ok=True)
            folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(folder)  # SQLite makes its pages durable, not the file's name
            finally:
                os.close(folder)
        except FileNotFoundError:
            raise self._no_folder() from None
        except (OSError, sqlite3.Error) as error:
            why = error.strerror if isinstance(error, OSError) else "the disk refuses it"
            raise StoreUnavailable(
                f"The store {self.path} cannot be made: {why}.",
                "Check that this user may write in the folder and that the disk has room.",
            ) from None

    def tighten(self) -> str:
        """Take the file away from other users of the machine, if they could read it; a word about that, or nothing."""
        changed = False
        try:
            for path in self._all():
                mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0
                if mode & 0o077:
                    path.chmod(mode & 0o700)
                    changed = True
        except OSError:
            return f"{self.path} can be read by other users of this machine, and this user may not change that."
        if not changed:
            return ""
        return f"{self.path} could be read by other users of this machine; it is now its owner's alone."

    def connect(self) -> FileConnection:
        """A connection; read-only ones find their way on a disk that cannot be written, or say what they would miss."""
        self._refuse_empty()
        if not self._read_only:
            return self._open("rw")
        waiting = Path(f"{self.path}-wal")
        # Reading, too, makes `-wal` and `-shm` where there are none. Without a `-wal` nothing is missed without them.
        self._immutable = self._untouched and not waiting.exists()
        if self._immutable:
            return self._open("ro&immutable=1")
        try:
            return self._open("ro")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _CANNOT or not os.access(self.path, os.R_OK):
                raise
        # Write-ahead mode needs `-wal` and `-shm` beside the file. Where they cannot be made the file alone is the
        # whole store, if and only if no `-wal` waits to be copied into it.
        if waiting.exists() and waiting.stat().st_size:
            raise StoreUnavailable(
                f"The newest changes of {self.path} stand in {waiting.name}, which cannot be read in this place.",
                "Copy both files to a folder that can be written, and open the copy: without them lines are missing.",
            )
        self._immutable = True
        return self._open("ro&immutable=1")

    def take_in_wal(self) -> None:
        """Copy the `-wal` into the file. Where that cannot be done now the store is as good as before."""
        with suppress(sqlite3.Error, StoreUnavailable), closing(self.connect()) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def is_current(self, connection: FileConnection) -> bool:
        """False if the path leads to another file by now: what is written would be lost with the old one."""
        return connection.file == self._identity()

    def _refuse_empty(self) -> None:
        """A file of no bytes was a store once, or never: SQLite would begin anew in it, and drop a `-wal` beside it."""
        try:
            empty = not self.path.stat().st_size
        except OSError:  # not there, or not to be had: SQLite says so in its own way
            return
        if empty:
            raise StoreUnavailable(
                f"The file {self.path} is empty (0 bytes): it is no store. If a store stood here, its ledger is gone, "
                "and with it what was spent.",
                "Restore the store from a backup, and see `hubbub ledger mend` for what was spent since. If none ever "
                "stood here, delete the empty file: then a new store is begun, with a whole new budget.",
            )

    def _open(self, mode: str) -> FileConnection:
        before = self._identity()
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?mode={mode}", uri=True, timeout=self._patience, check_same_thread=False,
            isolation_level=None, factory=FileConnection,  # transactions begin where we say, not where the driver does
        )  # fmt: skip
        try:
            if not self._read_only:
                connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA fullfsync=ON")  # macOS: a plain fsync stops at the drive's cache
            connection.execute("PRAGMA foreign_keys=ON")
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # the file is opened here, not before
            if before != self._identity():
                raise replaced(str(self.path))
        except BaseException:
            connection.close()
            raise
        connection.file = before
        return connection

    def _no_folder(self) -> StoreUnavailable:
        return StoreUnavailable(
            f"The folder of {self.path} does not exist.", "Make the folder first, or check the path."
        )  # fmt: skip

    def _identity(self) -> tuple[int, ...] | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        which = (status.st_dev, status.st_ino)
        if not self._immutable:
            return which
        # SQLite was told that nothing changes, so that must be looked after here.
        waiting = Path(f"{self.path}-wal")
        return (*which, status.st_mtime_ns, status.st_size, waiting.stat().st_size if waiting.exists() else 0)

    def _all(self) -> list[Path]:
        return [self.path, Path(f"{self.path}-wal"), Path(f"{self.path}-shm")]


def _name(draft: Path, path: Path) -> None:
    """Give a file its name, unless another process was first: then that one stands."""
    try:
        os.link(draft, path)
    except FileExistsError:
        return
    except OSError:  # a disk without links
        if not path.exists():
            os.rename(draft, path)


def replaced(where: str) -> StoreUnavailable:
    return StoreUnavailable(
        f"The file {where} was replaced by another one while it was in use. Nothing was published.",
        "What comes next uses the new file, if it holds all that was debited. Stop the store before you replace it.",
    )
