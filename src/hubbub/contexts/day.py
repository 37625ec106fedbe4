"""A running day: contexts are offered as they come, and each is decided once."""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
import threading
from pathlib import Path

from hubbub.confidential.sealed import Sealed
from hubbub.contexts.compiled import Compiled
from hubbub.contexts.device import Mask
from hubbub.errors import GuaranteeChanged, InvalidInput, InvalidParameter, StoreUnavailable, TickOutOfOrder, UnknownKey

_FIRST = "hubbub-context-day 1 "
_LINE = len("65534 65534\n")


class Day(Sealed):
    """Decide tick by tick; with `path` a restart in the middle of the day goes on where it was.

    A decision is on disk before it is returned, so it is never taken twice: who could toss a coin again until a
    context is shown would learn it. The file holds what was shown and nothing else; after a restart `outputs` tells
    what counts as shown, also what had not reached anybody yet. Ticks that were missed count as suppressed. Begin a
    new file for each day.

    >>> from hubbub.contexts import ContextChain, Secret, Simulatable
    >>> chain = ContextChain(("s", "x"), ("1/2", "1/2"), [[(0, 1), (0, 1)]])
    >>> day = Simulatable.plan(chain, [Secret("s")], "1/4").start_day()
    >>> day.offer(0, "s"), day.offer(1, "x"), day.outputs
    (None, 'x', [None, 'x'])
    """

    def __init__(self, compiled: Compiled, path: str | Path | None = None) -> None:
        data = compiled.to_bytes()
        self._process, self._one_by_one = os.getpid(), threading.Lock()
        self._contexts: list[str] = compiled.table["contexts"]
        self._ticks: int = compiled.table["ticks"]
        self._mask = Mask(data)
        self._pieces: bool = compiled.table["kind"] == "pieces"
        self._shown: dict[int, str] = {}
        self._head = f"{_FIRST}{hashlib.sha256(data).hexdigest()}\n"
        self._file: int | None = None
        self._path = None if path is None else Path(path)
        if self._path is not None:
            try:
                self._open(self._path)
            except BaseException:
                self.close()
                raise

    def offer(self, tick: int, context: str) -> str | None:
        """The context if it is shown, None if it is suppressed."""
        # A file's lock is shared with processes that are forked off; a lock of threads may be held there for ever.
        if os.getpid() != self._process:
            raise StoreUnavailable(
                "The day was opened by another process, from which this one was forked. Show nothing.",
                "Decide in one process, and give the others what it shows: nothing is decided twice.",
            )
        with self._one_by_one:
            return self._offer(tick, context)

    def _offer(self, tick: int, context: str) -> str | None:
        if isinstance(tick, bool) or not isinstance(tick, int) or not 0 <= tick < self._ticks:
            raise InvalidParameter(
                f"A day has the ticks 0 to {self._ticks - 1}; got {tick!r}.", "Start a new day after the last tick."
            )
        if tick <= self._mask.tick:
            raise TickOutOfOrder(
                f"Tick {tick} is not after tick {self._mask.tick}, the last one decided: nothing is decided twice.",
                "Offer each tick once, in order. If the clock was set back, wait until it has caught up.",
            )
        shown = self._mask.offer(tick, context)
        self._keep(tick, shown)
        if shown is not None:
            self._shown[tick] = shown
        elif context not in self._contexts:
            raise UnknownKey(
                "A context is not among the policy's; the tick was suppressed.",
                "Plan again with all contexts that can occur, or map this one to one of them.",
            )
        return shown

    @property
    def outputs(self) -> list[str | None]:
        """What was shown up to the last tick that was decided."""
        return [self._shown.get(tick) for tick in range(self._mask.tick + 1)]

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __enter__(self) -> Day:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Day(tick {self._mask.tick + 1} of {self._ticks}, {len(self._shown)} shown)"

    def _keep(self, tick: int, shown: str | None) -> None:
        if self._path is None:
            return
        number = str(self._mask.last_context) if shown is not None else "!" if self._mask.silent else "-"
        try:
            if self._file is None:
                raise OSError(0, "it was closed")
            line = f"{tick} {number}\n".encode()
            if os.write(self._file, line) != len(line):
                raise OSError(0, "no room left")
            os.fsync(self._file)
        except OSError as error:
            self.close()
            raise StoreUnavailable(
                f"The decision of tick {tick} cannot be kept in {self._path}: {error.strerror}. Show nothing.",
                "Mend what is wrong and open the day again; its `outputs` tell what counts as shown.",
            ) from None

    def _open(self, path: Path) -> None:
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            regular = stat.S_ISREG(os.fstat(self._file).st_mode)
            longest = len(self._head) + (self._ticks + 1) * _LINE
            content = os.pread(self._file, longest + 1, 0) if regular else b""
        except OSError as error:
            if isinstance(error, BlockingIOError):
                raise StoreUnavailable(
                    f"Another process decides about the day in {path}.", "Stop it first: nothing is decided twice."
                ) from None
            raise StoreUnavailable(f"{path} cannot be opened: {error.strerror}.", "Choose another place.") from None
        if not regular or len(content) > longest:
            raise _no_day(path)
        if content:
            self._resume(path, content)
        else:
            self._begin(path)

    def _begin(self, path: Path) -> None:
        assert self._file is not None
        head = self._head.encode()
        try:
            os.ftruncate(self._file, 0)
            if os.write(self._file, head) != len(head):
                raise OSError(0, "no room left")
            os.fsync(self._file)
            folder = os.open(path.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
        except OSError as error:
            os.ftruncate(self._file, 0)  # a heading that is cut short is refused: something may have followed it
            raise StoreUnavailable(
                f"A day cannot be begun in {path}: {error.strerror}. Show nothing.", "Make room, and open it again."
            ) from None

    def _resume(self, path: Path, content: bytes) -> None:
        whole = content[: content.rfind(b"\n") + 1]
        lines = whole.decode("ascii", "replace").splitlines()
        if not lines and self._head.encode().startswith(content):
            raise InvalidInput(
                f"{path} was cut short in its first line: what was decided cannot be known.",
                "Stay silent until tomorrow; or give a new name, if nothing was decided yet.",
            )
        if not lines or not lines[0].startswith(_FIRST):
            raise _no_day(path)
        if lines[0] + "\n" != self._head:
            raise GuaranteeChanged(
                f"{path} was begun with another policy: two policies on one day are not covered by either's promise.",
                "Finish the day with the policy it was begun with, or stay silent until tomorrow.",
            )
        for line in lines[1:]:
            tick, _, number = line.partition(" ")
            known = tick.isdecimal() and self._mask.tick < int(tick) < self._ticks
            if not known or not (number in ("-", "!") or (number.isdecimal() and int(number) < len(self._contexts))):
                raise InvalidInput(f"{path} was changed: it does not tell a day.", "Stay silent until tomorrow.")
            # The mask notices a missed tick itself, but not here: it is told what was decided.
            self._mask.silent |= self._pieces and (number == "!" or int(tick) > self._mask.tick + 1)
            self._mask.tick = int(tick)
            if number.isdecimal():
                self._mask.last_tick, self._mask.last_context = int(tick), int(number)
                self._shown[int(tick)] = self._contexts[int(number)]
        if self._file is not None and len(whole) < len(content):
            # The power went in the middle of a line: what was to be decided was never shown. The next tick is silent.
            os.ftruncate(self._file, len(whole))
            self._mask.tick = min(self._mask.tick + 1, self._ticks - 1)
            self._mask.silent = self._pieces
            self._keep(self._mask.tick, None)


def _no_day(path: Path) -> InvalidInput:
    return InvalidInput(f"{path} is not the file of a day.", "Give a new name for each day.")
