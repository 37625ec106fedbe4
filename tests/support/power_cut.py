"""A model of a disk with a cache: what may be on it if the power goes at a given moment.

On disk for sure is what was flushed: a file's bytes by a flush of the file, a name by a flush of the folder. Of all
else any part may be there: each write wholly, not at all, its first half, or as zeros (the file has grown, its blocks
were not written); each change of a name or not, in any combination.
"""

from __future__ import annotations

import itertools
import math
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hubbub.monitor.spool import calls

WAYS = ("whole", "not", "half", "zeros")


@dataclass
class File:
    sure: bytes = b""
    pending: list[tuple[str, int, bytes]] = field(default_factory=list)

    def flush(self) -> None:
        self.sure, self.pending = self.after(("whole",) * len(self.pending)), []

    def after(self, ways: tuple[str, ...]) -> bytes:
        data = self.sure
        for (what, offset, given), way in zip(self.pending, ways, strict=True):
            if way == "not":
                continue
            if what == "truncate":
                data = data[:offset].ljust(offset, b"\0")
                continue
            piece = given[: len(given) // 2] if way == "half" else bytes(len(given)) if way == "zeros" else given
            data = data.ljust(offset, b"\0")
            data = data[:offset] + piece + data[offset + len(piece) :]
        return data


class Disk:
    """Sees every call of a spool in one folder, does it, and keeps the model. `seen` is told after each change."""

    def __init__(self, seen: Any) -> None:
        self._seen = seen
        self._sure: dict[str, File] = {}
        self._now: dict[str, File] = {}
        self._changes: list[dict[str, File | None]] = []
        self._open: dict[int, File | None] = {}
        self._real = {name: getattr(calls, name) for name in ("open_file", "close", "write", "truncate", "sync",
                                                              "rename", "unlink")}  # fmt: skip

    def install(self, patch: Any) -> None:
        for name, real in self._real.items():
            patch.setattr(calls, name, self._wrapped(name, real))

    def _wrapped(self, name: str, real: Any) -> Any:
        def call(*given: Any) -> Any:
            result = real(*given)
            getattr(self, f"_{name}")(*given, result)
            if name != "close":
                self._seen()
            return result

        return call

    def _open_file(self, name: str, flags: int, within: int | None, number: int) -> None:
        if within is None:
            self._open[number] = None  # the folder
            return
        if name not in self._now and flags & os.O_CREAT:
            self._now[name] = File()
            self._changes.append({name: self._now[name]})
        elif flags & os.O_TRUNC:
            self._now[name].pending.append(("truncate", 0, b""))
        self._open[number] = self._now[name]

    def _close(self, number: int, *_: Any) -> None:
        del self._open[number]

    def _write(self, number: int, data: memoryview, offset: int, taken: int) -> None:
        file = self._open[number]
        assert file is not None
        file.pending.append(("write", offset, bytes(data[:taken])))

    def _truncate(self, number: int, size: int, *_: Any) -> None:
        file = self._open[number]
        assert file is not None
        file.pending.append(("truncate", size, b""))

    def _sync(self, number: int, *_: Any) -> None:
        file = self._open[number]
        if file is not None:
            file.flush()
        else:
            self._sure, self._changes = dict(self._now), []

    def _rename(self, old: str, new: str, *_: Any) -> None:
        self._now[new] = self._now.pop(old)
        self._changes.append({old: None, new: self._now[new]})

    def _unlink(self, name: str, *_: Any) -> None:
        del self._now[name]
        self._changes.append({name: None})

    def states(self, most: int, chance: random.Random) -> Iterator[dict[str, bytes]]:
        """What may be on the disk now: all possibilities if there are few, or `most` of them."""
        found: dict[tuple[tuple[str, bytes], ...], None] = {}
        for made in _some([(False, True)] * len(self._changes), 64, chance):
            names: dict[str, File | None] = dict(self._sure)
            for change, there in zip(self._changes, made, strict=True):
                names |= change if there else {}
            files = {name: file for name, file in names.items() if file is not None}
            pending = [len(file.pending) for file in files.values()]
            for ways in _some([WAYS] * sum(pending), most, chance):
                left = iter(ways)
                state = {name: file.after(tuple(itertools.islice(left, len(file.pending))))
                         for name, file in files.items()}  # fmt: skip
                found[tuple(sorted(state.items()))] = None
        states = [dict(state) for state in found]
        yield from states if len(states) <= most else chance.sample(states, most)


def _some(choices: list[Any], most: int, chance: random.Random) -> list[tuple[Any, ...]]:
    """All combinations, or `most` of them by chance."""
    if math.prod(len(each) for each in choices) <= most:
        return list(itertools.product(*choices))
    return [tuple(chance.choice(each) for each in choices) for _ in range(most)]


def lay_out(state: dict[str, bytes], folder: Path) -> Path:
    folder.mkdir(mode=0o700)
    for name, data in state.items():
        (folder / name).write_bytes(data)
    return folder
