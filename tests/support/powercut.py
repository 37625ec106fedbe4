"""What a disk may hold after the power went: made from a log of `faultfs.c`.

The rules are harsher than most file systems. What a file was told is sure once the file was flushed; each write since
then may have come through whole, in part (by sectors), or not at all, in any order. A name (a file that was made,
renamed, linked or removed) is sure once its folder was flushed; of the changes since then the first few came through.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SECTOR = 512
_HEAD = struct.Struct("<cIQI")


@dataclass(frozen=True)
class Step:
    """One change: C made, W written, T cut to length, S flushed, U removed, R renamed, L linked, M folder, N a note."""

    what: str
    path: str
    at: int
    data: bytes

    @property
    def note(self) -> str:
        return self.data.decode()


def read_log(log: Path) -> list[Step]:
    return list(_steps(log.read_bytes()))


def _steps(content: bytes) -> Iterator[Step]:
    at = 0
    while at < len(content):
        what, length, where, size = _HEAD.unpack_from(content, at)
        at += _HEAD.size
        path, data = content[at : at + length], content[at + length : at + length + size]
        at += length + size
        yield Step(what.decode(), path.decode(), where, data)


@dataclass
class _File:
    """What is sure of a file, and what was asked of it since."""

    sure: bytearray = field(default_factory=bytearray)
    open: list[Step] = field(default_factory=list)

    def flush(self) -> None:
        for step in self.open:
            _apply(self.sure, step)
        self.open = []

    def after_cut(self, chance: random.Random) -> bytes:
        content, mood = bytearray(self.sure), chance.choice(["all", "none", "some", "some"])
        for step in self.open if mood != "none" else []:
            if mood == "all" or chance.random() < 0.5:
                _apply(content, step)
            elif step.what == "W" and chance.random() < 0.5:
                for part in range(0, len(step.data), SECTOR):
                    if chance.random() < 0.5:
                        _apply(content, Step("W", step.path, step.at + part, step.data[part : part + SECTOR]))
        return bytes(content)


def _apply(content: bytearray, step: Step) -> None:
    if step.what == "T":
        del content[step.at :]
        content.extend(bytes(step.at - len(content)))
        return
    if len(content) < step.at:
        content.extend(bytes(step.at - len(content)))
    content[step.at : step.at + len(step.data)] = step.data


class Disk:
    """Follows a log step by step. Begins with an empty folder: have the program make what it uses."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._now: dict[str, _File] = {}  # as the program sees it
        self._sure: dict[str, _File] = {}  # names that are sure
        self._names: list[tuple[str, str, _File | None]] = []  # changes of names since: parent, path, file or removal

    def take(self, step: Step) -> None:
        path = step.path
        if step.what == "C":
            self._name(path, _File())
        elif step.what in "WT":
            if path in self._now:  # else it was removed, and lives on for whoever has it open
                self._now[path].open.append(step)
        elif step.what == "S":
            if path in self._now:
                self._now[path].flush()
            else:
                self._flush_folder(path)
        elif step.what == "U":
            self._name(path, None)
        elif step.what in "RL":
            file = self._now[path]
            self._name(step.data.decode(), file)
            if step.what == "R":
                self._name(path, None)

    def after_cut(self, to: Path, chance: random.Random) -> None:
        """Write what may be left if the power goes now into the empty folder `to`."""
        names = dict(self._sure)
        for _, path, file in self._names[: chance.randint(0, len(self._names))]:
            _change(names, path, file)
        contents: dict[int, bytes] = {}
        for path, file in names.items():
            target = to / Path(path).relative_to(self._folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            # A file with two names has one content.
            target.write_bytes(contents.setdefault(id(file), file.after_cut(chance)))

    def _name(self, path: str, file: _File | None) -> None:
        _change(self._now, path, file)
        self._names.append((str(Path(path).parent), path, file))

    def _flush_folder(self, folder: str) -> None:
        """Names are kept in order, as a journal does: with those of this folder, all before them are sure."""
        last = max((i for i, (parent, _, _) in enumerate(self._names) if parent == folder), default=-1)
        for _, path, file in self._names[: last + 1]:
            _change(self._sure, path, file)
        self._names = self._names[last + 1 :]


def _change(names: dict[str, _File], path: str, file: _File | None) -> None:
    if file is None:
        names.pop(path, None)
    else:
        names[path] = file
