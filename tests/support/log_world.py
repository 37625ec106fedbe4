"""A small world for followed logs: a server that writes, a rotation like logrotate's, and a record of the truth."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import random
import shutil
from pathlib import Path

import polars as pl

from hubbub.collect.layout import PATHS, TIME

PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}

SCHEMES = {
    "create": {},
    "nocreate": {"create": False},
    "compress": {"pack": ".gz"},
    "delaycompress": {"pack": ".xz", "delay": True},
    "dateext": {"date": True},
    "dateext compress": {"date": True, "pack": ".bz2"},
    "extension": {"extension": True, "pack": ".gz", "delay": True},
    "start 0": {"first": 0},
    "olddir": {"olddir": True, "pack": ".gz", "delay": True},
    "symlink": {"link": True},
    "copy": {"copy": True},
    "copytruncate": {"copy": True, "cut": True},
    "copytruncate compress": {"copy": True, "cut": True, "pack": ".gz"},
}


class Texts:
    """Each line is a person."""

    layout = PATHS

    def parse(self, lines: bytes) -> tuple[pl.DataFrame, int]:
        texts = lines.decode().split("\n")[:-1]
        frame = pl.DataFrame({"time": [0] * len(texts), "person": texts, "path": ["/"] * len(texts)}, strict=False)
        return frame.with_columns(pl.col("time").cast(pl.Int64).cast(TIME), pl.col("person").cast(pl.String)), 0


class World:
    """`lines` is everything that was ever written whole, in order."""

    def __init__(self, folder: Path, dice: random.Random, *, keep: int = 100, **scheme: object) -> None:
        self.path, self.dice, self.keep = folder / "access.log", dice, keep
        self.create = bool(scheme.get("create", True))
        self.pack, self.delay = str(scheme.get("pack", "")), bool(scheme.get("delay"))
        self.copy, self.cut_off, self.date = bool(scheme.get("copy")), bool(scheme.get("cut")), bool(scheme.get("date"))
        self.first, self.extension = int(str(scheme.get("first", 1))), bool(scheme.get("extension"))
        self.link = bool(scheme.get("link"))
        self.old = folder / "old" if scheme.get("olddir") else folder
        self.old.mkdir(exist_ok=True)
        for name in ("access.log-shop.example", "access.log.bak", "access.log.1.orig"):
            (folder / name).write_bytes(b"another's\n")
        (folder / "access.log.d").mkdir()
        (folder / "access.log.9999").mkdir()
        self.lines: list[str] = []
        self.torn: set[str] = set()  # lines that were cut in two with the file
        self.rotations = 0
        self.half = b""
        if self.link:
            self.path.symlink_to(folder / "day-100.log")
        self.server = self._open()

    def _open(self) -> int:
        return os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def close(self) -> None:
        os.close(self.server)

    def write(self, count: int) -> None:
        for _ in range(count):
            name = f"{len(self.lines):06d}" + "x" * self.dice.choice([0, 3, 40, 300]) + "$"
            data = name.encode() + b"\n"
            if self.half:
                os.write(self.server, self.half)
                self.half = b""
            elif self.dice.random() < 0.2:  # in two pieces, with anything between
                cut = self.dice.randrange(1, len(data))
                os.write(self.server, data[:cut])
                self.half = data[cut:]
                self.lines.append(name)
                continue
            else:
                os.write(self.server, data)
                self.lines.append(name)

    @property
    def whole(self) -> int:
        """How many lines are there with their ends."""
        return len(self.lines) - bool(self.half)

    def reopen(self) -> None:
        """What a server does when it is told that its log was rotated. It never does so inside a line."""
        if self.half:
            os.write(self.server, self.half)
            self.half = b""
        os.close(self.server)
        self.server = self._open()

    def rotated(self) -> list[Path]:
        """The rotated files, the youngest first."""
        return sorted((p for p in self.old.iterdir() if self._number(p) is not None), key=self._number)

    def _number(self, path: Path) -> int | None:
        if not path.is_file() or path.is_symlink() or path == self.path:
            return None
        name = path.name
        for ending in PACK:
            name = name.removesuffix(ending)
        if self.link:
            return -int(name[4:-4]) if name.startswith("day-") else None
        middle = name.removeprefix("access").removesuffix(".log") if self.extension else name.removeprefix("access.log")
        digits = middle[1:]
        return (-int(digits) if self.date else int(digits)) if digits.isdigit() else None

    def _name(self, number: int) -> str:
        if self.date:
            return f"access.log-{20260000 + self.rotations}"
        return f"access.{number}.log" if self.extension else f"access.log.{number}"

    def _pack(self, path: Path) -> None:
        facts = path.stat()
        packed = path.with_name(path.name + self.pack)
        packed.write_bytes(PACK[self.pack](path.read_bytes()))
        os.utime(packed, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        path.unlink()

    def rotate(self, between: int = 0) -> None:
        """What one run of logrotate does. The server goes on writing `between` lines before it opens the new file."""
        self.rotations += 1
        if self.link:
            target = self.path.parent / f"day-{100 + self.rotations}.log"
            target.touch()
            new = self.path.with_name("link")
            new.symlink_to(target)
            os.replace(new, self.path)
            self.write(between)
            self.reopen()
            return
        if self.pack and self.delay and (files := self.rotated()) and not files[0].name.endswith(self.pack):
            self._pack(files[0])
        if not self.date:
            for file in reversed(self.rotated()):
                packed = "".join(ending for ending in PACK if file.name.endswith(ending))
                os.rename(file, self.old / (self._name((self._number(file) or 0) + 1) + packed))
        target = self.old / self._name(self.first)
        if self.copy:
            shutil.copy(self.path, target)
            if self.cut_off:
                self.torn |= {self.lines[-1]} if self.half else set()
                self.write(between)
                self.torn |= {self.lines[-1]} if self.half else set()
                os.truncate(self.path, 0)
        else:
            os.rename(self.path, target)
            if self.create:
                self.path.touch()
            self.write(between)
            self.reopen()
        if self.pack and not self.delay:
            self._pack(target)
        for file in self.rotated()[self.keep :]:
            file.unlink()
