"""How many connections there may be, and how long each may take."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hubbub.errors import InvalidParameter
from hubbub.server.sparing import Sparing

if TYPE_CHECKING:
    from hubbub.server.connection import Connection
    from hubbub.server.settings import ServerSettings

RESERVE = 192
"""Open files that are kept back for the store, the source, the log, and connections that are just being refused."""

FEWEST, MOST = 16, 10_000
"""Connections where few files may be open, and where very many may. With fewer than 128 files: an eighth of them."""

UNKNOWN = 512
"""Connections where the system does not tell how many files may be open."""


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds that a connection has for its head and its body, bytes per second that a body must bring at least, and
    over how many seconds these are measured: of a body (`pace`), and of an answer that is to be taken (`send`)."""

    head: float
    body: float
    send: float
    rate: float
    pace: float

    @classmethod
    def of(cls, settings: ServerSettings) -> Deadlines:
        return cls(
            head=settings.head_seconds,
            body=settings.body_seconds,
            send=settings.send_seconds,
            rate=settings.min_rate,
            pace=settings.pace_seconds,
        )

    @property
    def look_every(self) -> float:
        """How often it is looked whether somebody's time is over."""
        return min(1.0, min(self.head, self.body, self.send, self.pace) / 4)


class Door:
    """Holds all connections of a server. Lives on the event loop.

    At the cap, the connection that has waited longest without asking for anything makes room for the new one; only
    where all are being answered (or are live viewers) is somebody turned away. So idle connections, however many,
    keep nobody out, and never take the files that the pipeline needs.
    """

    def __init__(
        self,
        most: int,
        deadlines: Deadlines,
        clock: Callable[[], float] = time.monotonic,
        sparing: Sparing | None = None,
    ) -> None:
        self.most, self.deadlines, self.clock = most, deadlines, clock
        self.sparing = sparing or Sparing()
        self._held: set[Connection] = set()
        self._waiting: dict[Connection, None] = {}  # in the order in which they began to wait
        self._looked = clock()

    def __len__(self) -> int:
        return len(self._held)

    def enter(self, connection: Connection) -> bool:
        """Let somebody in; False where there is no room."""
        if len(self._held) >= self.most:
            oldest = next(iter(self._waiting), None)
            if oldest is None:
                return False
            self.leave(oldest)
            oldest.drop()
        self._held.add(connection)
        self._waiting[connection] = None
        return True

    def leave(self, connection: Connection) -> None:
        self._held.discard(connection)
        self._waiting.pop(connection, None)

    def asks(self, connection: Connection) -> None:
        """A request has begun: this one is not idle."""
        self._waiting.pop(connection, None)

    def waits(self, connection: Connection) -> None:
        """The answer is out."""
        if connection in self._held:
            self._waiting[connection] = None

    def look(self) -> None:
        """Cut off whoever is too slow. Called often; looks as often as the deadlines need."""
        now = self.clock()
        if now - self._looked < self.deadlines.look_every:
            return
        self._looked = now
        for connection in list(self._held):
            if connection.is_overdue(now, self.deadlines):
                self.leave(connection)
                connection.drop()


def room(settings: ServerSettings) -> int:
    """How many connections there may be: as set, or what the limit of open files leaves.

    A limit that was set too high is refused: at the real one the store could no longer open its files.
    """
    files = open_files()
    left = MOST if files is None else max(1, min(FEWEST, files // 8), files - RESERVE)
    if settings.max_connections is None:
        return UNKNOWN if files is None else min(MOST, left)
    if files is not None and settings.max_connections > left:
        raise InvalidParameter(
            f"`max_connections` is {settings.max_connections:,}, but this process may open {files:,} files, and "
            f"{RESERVE} are kept for the store and the source.",
            "Set it lower, or raise the limit of open files (ulimit -n, LimitNOFILE=).",
        )
    return settings.max_connections


def raise_open_files(settings: ServerSettings) -> None:
    """Ask for as many files as all connections need; the system's hard limit may allow fewer, and `room` then too."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = (settings.max_connections or MOST) + RESERVE
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # then it stays as it is
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def too_few(settings: ServerSettings) -> str:
    """What whoever runs the server is told where the limit of open files leaves less than was meant; empty else."""
    most, files = room(settings), open_files()
    if settings.max_connections is not None or files is None or most * 3 // 4 >= settings.max_viewers:
        return ""
    return (
        f"This process may open {files:,} files only: at most {most:,} connections are held at a time, "
        f"{max(1, most * 3 // 4):,} of them live viewers. Raise the limit (ulimit -n, LimitNOFILE=) for more."
    )


def open_files() -> int | None:
    """How many files this process may hold open; None where the system does not say."""
    if sys.platform == "win32":
        return None
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft
