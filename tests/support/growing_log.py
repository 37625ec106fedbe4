"""A web server that never stops writing its log, and a logrotate beside it."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.support.truth import Truth

KEPT = 200
NOISE = ["not a line of any log", '{} - - [broken] "GET /a HTTP/1.1" 200 1', '{} - - "']


class GrowingLog:
    """Two threads on one file: one writes lines, some in two pieces, the other rotates it by one of `schemes`.

    `secret` is in every line: as visitor, as agent, and in paths that nobody counts. `released` tells the newest second
    that somebody has seen published: now and then a line for it, or for one before it, comes too late.
    """

    def __init__(
        self,
        path: Path,
        truth: Truth,
        secret: str,
        dice: random.Random,
        schemes: Sequence[str],
        released: Callable[[], int | None] = lambda: None,
    ) -> None:
        self._path, self._truth, self._secret, self._released = path, truth, secret, released
        self._schemes, self._seed = schemes, dice.random()
        self._turn = threading.Event()  # the server is told to open its log anew
        self._turned = threading.Event()
        self._stop = threading.Event()
        self.rotations: list[tuple[float, str]] = []
        """When, and how."""
        self.pause = (0.3, 3.0)
        """Seconds from one rotation to the next."""
        self.error: BaseException | None = None
        self._server = self._open()
        self._threads = [threading.Thread(target=self._watched, args=(work,)) for work in (self._write, self._rotate)]

    def start(self) -> None:
        for thread in self._threads if self._schemes else self._threads[:1]:
            thread.start()

    def abandon(self) -> None:
        self._stop.set()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()

    def stop(self) -> None:
        self.abandon()
        if self.error is not None:
            raise self.error

    def _watched(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            self.error = error
            self._stop.set()

    def _open(self) -> int:
        return os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    # ── the server ───────────────────────────────────────────────────────────────────────────────────────────────

    def _write(self) -> None:
        dice = random.Random(self._seed)
        while not self._stop.is_set():
            if self._turn.is_set():
                os.close(self._server)
                self._server = self._open()
                self._turn.clear()
                self._turned.set()
            lines, counted, late = self._lines(dice)
            data = "".join(lines).encode()
            cut = dice.randrange(len(data)) if dice.random() < 0.1 else 0
            if cut:
                os.write(self._server, data[:cut])
                time.sleep(dice.uniform(0, 0.02))
            os.write(self._server, data[cut:])
            self._truth.note(counted, time.time())
            self._truth.note_late(late)
            time.sleep(dice.uniform(0.002, 0.02))
        os.close(self._server)
        self._turned.set()

    def _lines(self, dice: random.Random) -> tuple[list[str], list[tuple[int, str]], int]:
        lines, counted, late = [], list[tuple[int, str]](), 0
        for _ in range(dice.randint(1, 4)):
            second, key, chance = int(time.time()), dice.choice(["/a", "/a", "/b"]), dice.random()
            released = self._released()
            if chance < 0.05:
                lines.append(dice.choice(NOISE).format(self._secret) + "\n")
                continue
            if chance < 0.1:
                key = f"/{self._secret}?q={self._secret}"
            elif chance < 0.2 and released is not None:
                second -= max(0, second - released) + dice.randint(0, 20)
                late += 1
            else:
                second += 0 if released is None else dice.choice([0] * 9 + [3])  # some clocks are ahead
                counted.append((second, key))
            stamp = datetime.fromtimestamp(second, UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
            who = f"{self._secret}{dice.randrange(50)}"
            lines.append(f'{who} - - [{stamp}] "GET {key} HTTP/1.1" 200 5 "-" "Mozilla/5.0 {self._secret}"\n')
        return lines, counted, late

    # ── logrotate ────────────────────────────────────────────────────────────────────────────────────────────────

    def _rotate(self) -> None:
        dice = random.Random(self._seed + 1)
        while not self._stop.wait(dice.uniform(*self.pause)):
            if self._is_unread(KEPT):
                continue
            scheme = dice.choice(self._schemes)
            for number in range(KEPT, 0, -1):
                for ending in ("", ".gz"):
                    old = self._named(number, ending)
                    if number == KEPT:
                        old.unlink(missing_ok=True)
                    elif old.exists():
                        old.rename(self._named(number + 1, ending))
            if scheme == "copytruncate":
                shutil.copy(self._path, self._named(1))
                os.truncate(self._path, 0)
            else:
                self._path.rename(self._named(1))
                if dice.random() < 0.5:  # `create`; else the server makes it
                    self._path.touch()
                self._stop.wait(dice.uniform(0, 0.2))  # meanwhile the server writes to the old file
                self._turned.clear()
                self._turn.set()
                self._turned.wait()
                if scheme == "compress":
                    packed = self._named(1, ".gz")
                    part = packed.with_name("packing")
                    part.write_bytes(gzip.compress(self._named(1).read_bytes()))
                    part.rename(packed)
                    self._named(1).unlink()
            self.rotations.append((time.time(), scheme))

    def _is_unread(self, number: int) -> bool:
        """Whether a monitor that is slow may not have read this file yet: then it is not time to delete it."""
        for path in (self._named(number), self._named(number, ".gz")):
            if path.exists():
                return path.stat().st_mtime >= (self._released() or 0)
        return False

    def _named(self, number: int, ending: str = "") -> Path:
        return self._path.with_name(f"{self._path.name}.{number}{ending}")
