"""A log that grows and is rotated."""

from __future__ import annotations

import errno
import os
import stat
import threading
import time
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path

from hubbub.collect.batch import Batch
from hubbub.collect.machine import machine_name
from hubbub.collect.source import Source
from hubbub.collect.sources.line_format import LineFormat
from hubbub.collect.sources.lines import BLOCK
from hubbub.collect.sources.log.chain import Chain
from hubbub.collect.sources.log.generation import Generation
from hubbub.collect.sources.log.opened import DAMAGED, NotAFile, OpenFile, Unsettled
from hubbub.collect.sources.log.place import Place, Seal, places
from hubbub.collect.sources.log.proof import proved
from hubbub.collect.sources.log.seal import needed, unbroken
from hubbub.collect.sources.log.stillness import Stillness
from hubbub.errors import InvalidInput

_WORDS = {
    errno.ENOENT: "The log is not there.",
    errno.EACCES: "The log may not be read by the user that runs this.",
    errno.EPERM: "The log may not be read by the user that runs this.",
    errno.EMFILE: "Too many files are open to read the log.",
    errno.ENFILE: "Too many files are open to read the log.",
}
_TRIES = 3
_REMEMBERED = 100  # files


class FollowedFile(Source):
    """Reads the log `path` as it grows, through every way in which logrotate rotates it.

    | what happens | what is done |
    |---|---|
    | renamed, and a new file made | the old one is read on, to its end, beside the new one |
    | several times between two looks | the files between are found by their numbers or dates |
    | packed (gz, bz2, xz) before it was read | read on from the descriptor, or after a restart from the packed file |
    | copied and cut to nothing | the copy is read to its end, then the file anew; `lost` is set: see below |
    | a rotated file is missing | `lost` is set |
    | gone for a while | waits |
    | a line without its end | waits for the rest; once the file is over, what is there is a line |

    Nobody can know what was written between the copy and the cut, so that is always taken as a loss.

    Files are told apart by descriptors that are held open, and by the checksum of their beginning and of the bytes
    before a place; names are only where to look. `folders` are further places for rotated files (logrotate's `olddir`).

    A position names each file that may still be read: device, inode, offset, checksums (see `Place`). A frontier is the
    same for the ends of the files: each line whose end lies before it is in front of it. It also carries a digest of
    what was read until then (`Seal`), by which `unchanged` notices that a file was rewritten in its middle. `open`
    proves what it says, as `hubbub.collect.sources.log.proof` tells. What a server still writes to a file that was
    rotated twice, or packed, and had been quiet for five seconds, is not read.
    """

    waits_for_us = True

    def __init__(self, path: str | Path, lines: LineFormat, *, folders: Sequence[str | Path] = ()) -> None:
        self._path = os.path.abspath(path)
        self._folders = [os.path.abspath(folder) for folder in folders]
        self._lines = lines
        self._lock = threading.RLock()
        self._closed = False
        self._reset()

    def _reset(self) -> None:
        self._chain = Chain(self._path, self._folders)
        self._names: dict[str, Generation] = {}  # of files that another process named otherwise
        self._done: set[str] = set()  # names of files that will not be asked for again, or are gone
        self._settled: list[Generation] = []  # files that were read and let go, which others' cuts may still name
        self._read_before: list[Place] = []  # the ends of files that had been read when we began, and were not opened
        self._told: set[str] = set()  # names of files before which lines were lost, and that is known
        self._damaged: dict[str, int] = {}
        self._looking = self._reading = ""

    @property
    def identity(self) -> str:
        return f"log:{machine_name()}:{self._path}"

    @property
    def trouble(self) -> str:
        return self._looking or self._reading

    def open(self, positions: Mapping[str, str]) -> bool:
        with self._lock:
            if self._go_on_behind(places(positions) or {}):
                return True
            self._let_go()
            self._reset()
            self._closed = False
            self._refuse_what_is_no_file()
            wanted = places(positions)
            if not wanted:
                return False
            self._told = set(wanted)
            return self._prove(wanted)

    def unchanged(self, frontiers: Sequence[Mapping[str, str]]) -> bool:
        """By the digests that these frontiers carry of all that had been read when they were told."""
        told = dict[str, dict[Seal, Place]]()
        for frontier in frontiers:
            for token, place in (places(frontier) or {}).items():
                if place.seal is not None:
                    told.setdefault(token, {})[place.seal] = place
        with self._lock:
            try:
                return all(self._unchanged(token, seals) for token, seals in told.items())
            except (OSError, *DAMAGED):
                return False

    def _unchanged(self, token: str, seals: Mapping[Seal, Place]) -> bool:
        last = seals[max(seals, key=lambda seal: seal.end)]
        generation = self._generation(token) or self._recognised(last)
        if generation is None or generation.file is None:
            return True  # it lies before our beginning, and will not be read again
        self._names.setdefault(token, generation)
        return all(unbroken(generation.file, seal) for seal in needed(seals, generation.cutter.consumed))

    def frontier(self) -> Mapping[str, str] | None:
        with self._lock:
            if self._closed:
                return None
            try:
                there = self._chain.look()
            except Unsettled:
                return None
            except OSError as error:
                self._looking = _words(error)
                return None
            self._looking = "" if there else _WORDS[errno.ENOENT]
            return {g.token: str(g.frontier()) for g in self._chain.generations} if there else None

    def poll(self, until: Mapping[str, str]) -> Batch:
        wanted = places(until)
        if wanted is None:
            raise InvalidInput(
                "What was given as `until` is not a frontier of a followed log.", "Pass on what `frontier` returned."
            )
        block = _Block()
        try:
            bounds = self._bounds(wanted, block)
            for generation, place in bounds:
                self._read(generation, place, block)
            reached = all(_at(generation, place) for generation, place in bounds)
            self._reading = ""
        except Unsettled:
            reached = False
        except OSError as error:
            self._reading, reached = _words(error), False
        events, malformed = self._lines.parse(b"".join(block.lines))
        return Batch.of(
            events,
            layout=self._lines.layout,
            positions=self._positions(),
            malformed=malformed,
            oversized=block.oversized,
            reached=reached,
            lost=block.lost,
        )

    def settle(self, positions: Mapping[str, str]) -> None:
        wanted = places(positions) or {}
        with self._lock:
            known = [(self._generation(token), place) for token, place in wanted.items() if place.offset != 0]
            anchors = [generation.number for generation, _ in known if generation is not None]
            if not anchors:
                return
            for generation, place in known:
                if generation is not None:
                    generation.sealing.forget(place.offset or 0)
            # The anchor itself stays: the place in it finds the files after it.
            old = [g for g in self._chain.generations if g.finished and g.number < max(anchors)]
            self._chain.generations = [g for g in self._chain.generations if g not in old]
            self._settled = [*self._settled, *old][-_REMEMBERED:]
            self._done |= {g.token for g in old} | {name for name, g in self._names.items() if g in old}
            self._names = {name: g for name, g in self._names.items() if g not in old}

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._let_go()

    # ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _let_go(self) -> None:
        for generation in self._chain.generations:
            generation.let_go()

    def _refuse_what_is_no_file(self) -> None:
        try:
            mode = os.stat(self._path).st_mode
        except OSError:
            return  # it may come, or be readable later
        if not stat.S_ISREG(mode):
            raise InvalidInput(
                "The log is no regular file but a folder, a pipe or a device: it has no place to go on from.",
                "Give the path of the file that the server writes.",
            )

    def _go_on_behind(self, wanted: Mapping[str, Place]) -> bool:
        """Behind the end that we told and have not read up to: the files are held open since, so nothing was missed.

        That is how a reader begins at a log's present end, also in an empty log, where bytes would prove nothing. The
        file that was renamed before it is then read on from its own end (`Chain`).
        """
        generations = self._chain.generations
        if self._closed or not wanted or wanted != {g.token: g.frontier() for g in generations}:
            return False
        if any(g.started or not (g.file or g.finished) for g in generations):
            return False
        for generation in generations:
            generation.begin_at_end()
            generation.started = True
        self._told = set(wanted)
        return True

    def _prove(self, wanted: Mapping[str, Place]) -> bool:
        if not any(map(_has_a_line, wanted.values())):
            return False
        missing = Stillness()
        for tries in count(1):
            names, found = frozenset[tuple[str, str]](), list[Generation]()
            try:
                names = self._chain.names()  # before the proof: a copy made since is new
                found = proved(self._path, self._folders, wanted) or []
                if found:
                    self._chain.adopt(found, {inode for _, inode in names})
                    over = {token: place for token, place in wanted.items() if place.over}
                    self._done = set(over) - {g.token for g in found}
                    self._read_before = [over[token] for token in self._done]
                    return True
            except OSError as error:
                for generation in found:
                    generation.let_go()
                self._looking = _words(error)
                if isinstance(error, Unsettled):
                    names = frozenset([("", str(tries))])  # as if they had changed
            if missing.is_over(names) and tries >= _TRIES:
                break
            time.sleep(0.05)  # what is being renamed or packed at this moment may be there in the next
        return False

    # ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _positions(self) -> dict[str, str]:
        with self._lock:
            return {g.token: str(g.position()) for g in self._chain.generations}

    def _generation(self, token: str) -> Generation | None:
        for generation in self._chain.generations:
            if generation.token == token:
                return generation
        return self._names.get(token)

    def _bounds(self, wanted: Mapping[str, Place], block: _Block) -> list[tuple[Generation, Place]]:
        """Up to where each file is to be read, oldest first."""
        bounds = []
        with self._lock:
            if self._closed:
                raise Unsettled
            if not self._chain.generations:
                self._chain.look()
            asked = {token: place for token, place in wanted.items() if token not in self._done}
            if any(self._generation(token) is None and _has_a_line(place) for token, place in asked.items()):
                # Somebody else saw another file, or the same one cut: see that too, before the place is looked for.
                # What was cut is known again by its copy, and what grew in its place is not taken for it.
                self._chain.look()
            known = self._known(asked)
            first = min((generation.number for generation in self._chain.generations), default=0)
            # Files before the one that this process began in lay before its beginning. The numbers of an earlier
            # process say which those are only by their order: it may have counted an empty file that we never saw.
            begun = next((g.number != first for g in known.values() if g is not None), True)
            for token, place in asked.items():
                generation = known[token]
                if generation is not None:
                    self._names.setdefault(token, generation)
                    self._tell(token, not generation.started and (place.lost or generation.lost), block)
                    generation.started = begun = True
                    bounds.append((generation, place))
                elif begun and place.number >= first:
                    held = _has_a_line(place)
                    read = held and self._was_read(place)
                    self._tell(token, place.lost and not read, block)
                    block.lost |= held and not read  # it is gone
                    self._done |= {token} if held else set()
        return bounds

    def _was_read(self, place: Place) -> bool:
        """Whether the file was read to its end by now; another process may have named it otherwise."""
        ended = any(place.same_file(end) for end in self._read_before)
        return ended or any(settled.was(place) for settled in self._settled)

    def _known(self, asked: Mapping[str, Place]) -> dict[str, Generation | None]:
        return {token: self._generation(token) or self._recognised(place) for token, place in asked.items()}

    def _tell(self, token: str, lost: bool, block: _Block) -> None:
        """Once: that something is missing before the file of this name."""
        if lost and token not in self._told:
            block.lost = True
            self._told.add(token)

    def _recognised(self, place: Place) -> Generation | None:
        """The file that an earlier process knew under another name."""
        if not _has_a_line(place):
            return None
        for generation in self._chain.generations:
            if generation.was(place) or (generation.file is not None and generation.file.holds(place)):
                return generation
        return None

    def _read(self, generation: Generation, place: Place, block: _Block) -> None:
        counted = generation.cutter.oversized
        while not _at(generation, place) and block.left > 0:
            self._read_some(generation, place, block)
        block.oversized += generation.cutter.oversized - counted

    def _read_some(self, generation: Generation, place: Place, block: _Block) -> None:
        start, file = generation.cutter.taken, generation.file
        left = block.left if place.offset is None else min(block.left, place.offset - start)
        if left <= 0:
            with self._lock:
                block.lines.append(generation.finish())
            return
        data = self._bytes(generation, file, start, left) if file is not None else b""
        with self._lock:
            if file is not None and (generation.file is not file or not generation.intact()):
                self._chain.look()  # it was cut while it was read: go on in its copy
                raise Unsettled
            block.left -= len(data)
            block.lines.append(generation.take(data))
            if len(data) == left:
                return
            # The end of a packed file, or of what there is: the rest was cut off, or cannot be unpacked.
            block.lost |= place.offset is not None or file is None or generation.token in self._damaged
            if place.offset is None:
                block.lines.append(generation.finish())
            else:
                generation.skip(place.offset)

    def _bytes(self, generation: Generation, file: OpenFile, start: int, count: int) -> bytes:
        """A packed file that cannot be unpacked is tried some times, then nothing more is in it."""
        try:
            data = file.read_at(start, count)
        except DAMAGED:
            tries = self._damaged[generation.token] = self._damaged.get(generation.token, 0) + 1
            if tries < _TRIES:
                raise Unsettled from None
            return b""
        self._damaged.pop(generation.token, None)
        return data


class _Block:
    """What one call of `poll` gathers."""

    def __init__(self) -> None:
        self.left, self.lines, self.oversized, self.lost = BLOCK, list[bytes](), 0, False


def _has_a_line(place: Place) -> bool:
    """Of a place before the first line of a file too little is known to find the file again."""
    return place.offset != 0 and place.head != 0


def _at(generation: Generation, place: Place) -> bool:
    """Whether all in front of `place` has been read."""
    if generation.finished:
        return True
    return place.offset is not None and generation.cutter.taken >= place.offset and not place.over


def _words(error: OSError) -> str:
    if isinstance(error, NotAFile):
        return "The log is no regular file."
    return _WORDS.get(error.errno or 0, "The log cannot be read at the moment.")
