"""The file that holds a stream's mark: two slots, written in turn, one lock for all processes of the machine."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hubbub.errors import StoreSetBack, StoreUnavailable
from hubbub.privacy import Account
from hubbub.store.faults import fault_point
from hubbub.store.mark import SLOT, Mark

_POLL = 0.01


class MarkFile:
    """Reads and moves the mark of one stream of one store.

    A move is durable when it returns. It writes the older of two slots, so that a write which a power cut tears leaves
    the mark before it. A file of which a slot cannot be read (`whole` is then False) proves nothing, though what can
    be read must still hold; a file without a single readable slot is refused: it never counts as no mark at all.
    """

    def __init__(self, folder: Path, store: str, genesis: bytes, patience: float = 5.0) -> None:
        self.path = folder / f"{store}-{genesis.hex()[:32]}.mark"
        self.whole = True
        self._identity = f"{store} {genesis.hex()}"
        self._patience = patience
        self._synced: Mark | None = None  # what this object itself made durable last

    def begin(self, genesis: bytes) -> None:
        """The mark of a stream that is about to be made; one that is there is left alone."""
        with self._trouble("written"):
            if not self.path.exists():
                self._make(Mark.begin(genesis))

    def read(self) -> Mark | None:
        """The mark, or None where there is no file."""
        with self._trouble("read"), self._opened(os.O_RDONLY, fcntl.LOCK_SH) as file:
            return None if file is None else self._look(file)[1]

    def move(self, to: Mark, checked: Mark | None, account: Account, holds: Callable[[Mark], bool]) -> Mark:
        """Move the mark forward, durably; what stands in the file then.

        `checked` is the mark that the caller has found in the store. If another process has moved it since, `holds`
        must find that one in the store as well: two copies of a store share a mark, and only one can have both.
        """
        if self._synced is not None and self._synced == to.after(self._synced, account):
            return self._synced
        fault_point("mark:begin")
        with self._trouble("written"):
            if not self.path.exists():
                self._make(to)
            with self._opened(os.O_RDWR, fcntl.LOCK_EX) as file:
                if file is None:
                    raise FileNotFoundError(errno.ENOENT, "it was taken away while it was written")
                sequence, standing, slot = self._look(file)
                if standing != checked and standing.hash != to.hash and not holds(standing):
                    raise set_back(self.path, standing)
                moved = standing  # if another curator is ahead of us: its debit stands after ours in the same chain
                if standing.place <= to.place:
                    moved = to.after(standing, account)
                    _write(file, moved.to_slot(self._identity, sequence + 1), slot * SLOT)
                    fault_point("mark:written")
                os.fdatasync(file)
        self._synced, self.whole = moved, True
        return moved

    def replace(self, by: Mark) -> None:
        """Put a mark in the place of whatever stands there: for mending, after the owner has decided."""
        with self._trouble("written"), self._opened(os.O_RDWR, fcntl.LOCK_EX):
            self._make(by, replacing=True)
        self._synced, self.whole = None, True

    # ── in here ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _look(self, file: int) -> tuple[int, Mark, int]:
        """The newest sequence and mark, and the slot that is to be written next."""
        readable: list[tuple[int, Mark, int]] = []
        damaged: list[int] = []
        for slot in (0, 1):
            read = Mark.from_slot(os.pread(file, SLOT, slot * SLOT), self._identity)
            if read is None:
                damaged.append(slot)
            else:
                readable.append((*read, 1 - slot))
        if not readable:
            raise StoreSetBack(
                f"The mark {self.path} is damaged: it can no longer be told how far the stream was.",
                "If you know the last tick that was published: `hubbub ledger mend STORE STREAM --upto TICK`. If not, "
                "start a stream under another name; what both publish about the same people adds up.",
            )
        self.whole = not damaged
        sequence, mark, slot = max(readable, key=lambda one: one[0])
        return sequence, mark, damaged[0] if damaged else slot

    def _make(self, mark: Mark, replacing: bool = False) -> None:
        """A new file, never seen half-written; if another process makes it in this moment, that one stands."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self.path.with_suffix(f".{os.getpid()}.{time.monotonic_ns()}")
        file = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            try:
                _write(file, mark.to_slot(self._identity, 1) + mark.to_slot(self._identity, 0), 0)
                os.fsync(file)
            finally:
                os.close(file)
            if replacing:
                os.rename(draft, self.path)
            else:
                with suppress(FileExistsError):
                    os.link(draft, self.path)
        finally:
            with suppress(OSError):
                os.unlink(draft)
        folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    @contextmanager
    def _opened(self, flags: int, kind: int) -> Iterator[int | None]:
        """The file, locked; None if there is none. One that was replaced while we waited is let go."""
        while True:
            try:
                file = os.open(self.path, flags | os.O_CLOEXEC)
            except FileNotFoundError:
                yield None
                return
            try:
                self._lock(file, kind)
                if self._is_there(file):
                    yield file
                    return
            finally:
                os.close(file)

    def _is_there(self, file: int) -> bool:
        try:
            return os.path.samestat(os.fstat(file), os.stat(self.path))
        except FileNotFoundError:
            return False

    def _lock(self, file: int, kind: int) -> None:
        until = time.monotonic() + self._patience
        while True:
            try:
                fcntl.flock(file, kind | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() >= until:
                    raise StoreUnavailable(
                        f"The mark {self.path} is held by another process for too long. Nothing was published.",
                        "Let the other process finish, or end it; then go on.",
                    ) from None
                time.sleep(_POLL)

    @contextmanager
    def _trouble(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreUnavailable(
                f"The mark {self.path} cannot be {what}: {error.strerror}. Nothing was published.",
                "Marks tell whether a store was set back. Give this user a folder for them that can be written and "
                "has room: set HUBBUB_STATE.",
            ) from None


def _write(file: int, content: bytes, offset: int) -> None:
    while content:
        written = os.pwrite(file, content, offset)
        content, offset = content[written:], offset + written


def set_back(where: Path, mark: Mark) -> StoreSetBack:
    return StoreSetBack(
        f"The store was set back: tick {mark.tick} was debited on this machine as line {mark.place} "
        f"({mark.hash.hex()[:12]}…, kept in {where}), and the store does not hold that line. What was published since "
        "would be drawn a second time.",
        "If a backup was restored on purpose: `hubbub ledger mend STORE STREAM` books the ticks since then as lost, at "
        "their full cost, and the stream goes on. If it does not fit the budget, start a stream under another name; "
        "what both publish about the same people adds up. If it was not on purpose, bring the newer store back.",
    )


def without_a_mark(tick: int, stream: str, last: int) -> StoreSetBack:
    """Of a tick with a time it is told whether it can have been released before; of one without it cannot."""
    return StoreSetBack(
        f"Tick {tick} has no time, and this machine has no mark of the stream {stream!r}: nothing shows that the store "
        "is not an older copy, so the tick may have been released before.",
        f"If tick {last} was the last that was published, say so: `hubbub ledger mend STORE {stream} --upto {last}`. "
        "If others were published since, name the last of them: they are booked as lost.",
    )
