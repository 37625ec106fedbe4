"""Where the bytes of a script are written to: real logs, files and spools, that outlive every process."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import polars as pl
from google.transit import gtfs_realtime_pb2
from tests.support.scripts import KEYS, Line, Step

from hubbub.collect import KeyDomain, Source
from hubbub.collect.layout import POSITIONS
from hubbub.collect.sources import AccessLog, FollowedFile, JsonLines, LineFile, event_file
from hubbub.collect.sources.documents import gtfs_realtime
from hubbub.monitor.spool import Spool
from hubbub.released import Domain, Grid


class World:
    """Where the bytes are: it outlives every process."""

    rotations: tuple[str, ...] = ()
    counted: KeyDomain | Domain = KeyDomain(KEYS, other=None)
    recorded = False
    """Complete before anybody reads it."""

    def write(self, step: Step) -> None: ...

    def murmur(self) -> None:
        """The crowd beside: whether an empty file was cut to nothing could not be seen."""

    def rotate(self, how: str) -> None: ...

    def lose(self) -> None:
        """The source forgets its past."""

    def open(self) -> Source: ...

    def die(self) -> None:
        """As kill -9 leaves it."""

    def remove(self) -> None: ...


class LogWorld(World):
    """A web server's log that is rotated in every way."""

    rotations = ("create", "copytruncate", "compress", "twice")

    def __init__(self, folder: Path, kind: str) -> None:
        self.folder, self.kind, self.murmurs = folder, kind, 0
        folder.mkdir(parents=True)
        self.path = folder / "access.log"
        self.path.write_bytes(b"".join(self.line(Line(-60.0 * i, "somebody", "/a")) for i in range(9, 0, -1)))
        self.source: FollowedFile | None = None

    def write(self, step: Step) -> None:
        if step.what == "retry":
            return  # nobody writes a log line twice
        with self.path.open("ab") as file:
            for line in step.lines:
                file.write(self.line(line))

    def line(self, line: Line) -> bytes:
        if self.kind == "json":
            facts = json.dumps({"time": line.moment.isoformat(), "person": line.person, "path": line.path}).encode()
            return (b'{"time": 12.5, broken' if line.noise else facts) + b"\n"
        stamp = line.moment.strftime("%d/%b/%Y:%H:%M:%S +0000")
        text = f'{line.person} - - [{stamp}] "GET {line.path} HTTP/1.1" 200 12 "-" "Mozilla"'
        return ('"' + text if line.noise else text).encode() + b"\n"

    def rotate(self, how: str) -> None:
        for _ in range(2 if how == "twice" else 1):
            self._rotate(how)

    def murmur(self) -> None:
        self.murmurs += 1  # no two lines of a log are the same: they bear their time
        with self.path.open("ab") as file:
            file.write(self.line(Line(-60.0 + self.murmurs, "somebody", "/a")))

    def _rotate(self, how: str) -> None:
        for number in (3, 2, 1):
            for ending in ("", ".gz"):
                old = self.folder / f"access.log.{number}{ending}"
                if old.exists():
                    old.rename(self.folder / f"access.log.{number + 1}{ending}")
        first = self.folder / "access.log.1"
        if how == "copytruncate":
            shutil.copy2(self.path, first)
            with self.path.open("r+b") as file:
                file.truncate(0)
            return
        self.path.rename(first)
        self.path.touch()
        if how == "compress":
            with gzip.open(first.with_suffix(".1.gz"), "wb") as file:
                file.write(first.read_bytes())
            first.unlink()

    def lose(self) -> None:
        for file in self.folder.iterdir():
            file.unlink()
        self.path.write_bytes(b"another machine's line\n")

    def open(self) -> Source:
        lines = JsonLines() if self.kind == "json" else AccessLog()
        self.source = FollowedFile(self.path, lines)
        return self.source

    def die(self) -> None:
        if self.source is not None:
            self.source.close()

    def remove(self) -> None:
        self.die()
        shutil.rmtree(self.folder)


class FileWorld(World):
    """A file of events, in one of the formats that are read once from beginning to end."""

    recorded = True

    def __init__(self, folder: Path, kind: str) -> None:
        folder.mkdir(parents=True)
        self.path = folder / f"events.{kind}"
        self.kind, self.lines, self.source = kind, list[Line](), None

    def write(self, step: Step) -> None:
        self.lines += step.lines

    def open(self) -> Source:
        if not self.path.exists():
            self._write_file()
        self.source = LineFile(self.path, AccessLog()) if self.kind == "log" else event_file(self.path)
        return self.source

    def _write_file(self) -> None:
        facts = [{"time": line.moment.isoformat(), "person": line.person, "path": line.path} for line in self.lines]
        if self.kind == "parquet":
            whole = [fact for fact, line in zip(facts, self.lines, strict=True) if not line.noise]
            pl.DataFrame(whole, {"time": pl.String, "person": pl.String, "path": pl.String}).write_parquet(self.path)
            return
        if self.kind == "csv":
            each = [",".join(fact.values()) for fact in facts]
            rows = ['"' + text if line.noise else text for text, line in zip(each, self.lines, strict=True)]
            self.path.write_text("\n".join(["time,person,path", *rows]) + "\n")
            return
        shape = LogWorld.line
        kind = SimpleNamespace(kind="json" if self.kind == "jsonl" else "combined")
        self.path.write_bytes(b"".join(shape(kind, line) for line in self.lines))  # type: ignore[arg-type]

    def die(self) -> None:
        if self.source is not None:
            self.source.close()

    def remove(self) -> None:
        self.die()
        shutil.rmtree(self.path.parent)


class SpoolWorld(World):
    """Events that are posted; small segments, so that they are rotated too."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.source: Spool | None = None

    def write(self, step: Step) -> None:
        assert self.source is not None
        body = b"\n".join(
            b"{broken" if line.noise
            else json.dumps({"time": line.moment.isoformat(), "session": line.person, "path": line.path}).encode()
            for line in step.lines
        )  # fmt: skip
        self.source.push("site", body, step.how, "sender")

    def lose(self) -> None:
        self.die()
        shutil.rmtree(self.folder)

    def open(self) -> Source:
        self.source = Spool(self.folder, segment_bytes=300)
        return self.source

    def die(self) -> None:
        if self.source is not None:
            self.source.close()

    def remove(self) -> None:
        self.die()
        shutil.rmtree(self.folder, ignore_errors=True)


class FeedWorld(SpoolWorld):
    """Feeds of GTFS-realtime that are posted: a key is a cell of a map, and what is broken is one vehicle of a feed."""

    counted = Grid(len(KEYS), 1, bounds=(0, 0, len(KEYS), 1))

    def write(self, step: Step) -> None:
        assert self.source is not None
        feed = gtfs_realtime_pb2.FeedMessage()
        feed.header.gtfs_realtime_version = "2.0"
        damaged = []
        for number, line in enumerate(step.lines):
            entity = feed.entity.add()
            entity.id, entity.vehicle.vehicle.id = f"number {number}", line.person
            entity.vehicle.position.longitude, entity.vehicle.position.latitude = KEYS.index(line.path) + 0.5, 0.5
            entity.vehicle.timestamp = int(line.moment.timestamp())
            if line.noise:
                damaged.append(entity.SerializeToString())
        body = feed.SerializeToString()
        for whole in damaged:
            # The length of its name runs over the end of the vehicle.
            body = body.replace(whole, whole.replace(b"\x08number", b"\x7fnumber"))
        self.source.push("site", body, step.how, "sender")

    def open(self) -> Source:
        self.source = Spool(self.folder, segment_bytes=300, lines=JsonLines(layout=POSITIONS), unfold=gtfs_realtime)
        return self.source


def worlds(folder: Path) -> dict[str, Callable[[], World]]:
    """Sources on files, each in a folder of its own every time."""
    number = count()
    return {
        "log, combined": lambda: LogWorld(folder / str(next(number)), "combined"),
        "log, json": lambda: LogWorld(folder / str(next(number)), "json"),
        "spool": lambda: SpoolWorld(folder / str(next(number))),
        "feeds": lambda: FeedWorld(folder / str(next(number))),
        **{
            f"file, {kind}": lambda kind=kind: FileWorld(folder / str(next(number)), kind)
            for kind in ("log", "jsonl", "csv", "parquet")
        },
    }
