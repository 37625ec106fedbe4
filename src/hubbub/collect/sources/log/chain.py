"""The files that stood under a log's name, one after the other."""

from __future__ import annotations

import os
from collections.abc import Sequence

from hubbub.collect.sources.log.generation import Generation
from hubbub.collect.sources.log.opened import DAMAGED, NotAFile, OpenFile, Unsettled
from hubbub.collect.sources.log.place import CHECK, HEAD
from hubbub.collect.sources.log.rotated import Rotated, rotated_files, younger
from hubbub.collect.sources.log.stillness import Stillness

_LINGER = 5.0  # seconds without growth after which a file that was rotated away is over
_TRIES = 5


class Chain:
    """Finds the generations of a log, oldest first, and holds each open until it is read to its end.

    Not safe for threads by itself: whoever uses it holds a lock.
    """

    def __init__(self, path: str, folders: Sequence[str]) -> None:
        self._path, self._folders = path, folders
        self.generations: list[Generation] = []
        self._seen: set[str] | None = None  # the rotated files that were there before the current one was looked at
        self._suspect: Generation | None = None  # one that was seen empty and has changed since
        self._missing: Stillness | None = None  # since a piece of the chain has been missing

    def adopt(self, generations: list[Generation], seen: set[str]) -> None:
        """Go on with these, which were found after a restart; `seen` are the rotated files as they were before that."""
        self._seen = seen
        self.generations = generations

    def rotated_now(self) -> set[str]:
        return {entry.inode for entry in rotated_files(self._path, self._folders)}

    def names(self) -> frozenset[tuple[str, str]]:
        """Which file has which name, among the rotated ones."""
        return frozenset((entry.path, entry.inode) for entry in rotated_files(self._path, self._folders))

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────

    def look(self) -> bool:
        """See how far each file has grown, and what is new. False if there is no log under the name now."""
        # Kept until the question is answered, even if this look is broken off: after it the file is not empty any more.
        self._suspect = next((g for g in self.generations[-1:] if g is self._suspect or g.stirred()), None)
        for generation in list(self.generations):
            if not generation.look():
                self._cut(generation)
        if self._suspect is not None and self._suspect is self.generations[-1]:
            self._question(self._suspect)
        inode = self._inode()
        if not self.generations:
            if inode is None:
                self._seen = self.rotated_now() if self._seen is None else self._seen
                return False
            self._begin()
        elif self.generations[-1].file is None or inode != self.generations[-1].inode:
            self._extend()
            inode = self._inode()
        self._retire()
        if not all(generation.look() for generation in self.generations[-2:]):  # the last two may be new to us
            raise Unsettled
        return inode is not None

    def _begin(self) -> None:
        before, now = self._seen, self.rotated_now()
        file = OpenFile(self._path)
        try:
            if before is None:
                self._begin_before(file)
            # There was no log, and now there is one and a rotated one beside it: that was one we never saw.
            self._add(file, lost=before is not None and not now <= before)
        except BaseException:
            file.close()
            for generation in self.generations:
                generation.let_go()
            self.generations = []
            raise

    def _begin_before(self, file: OpenFile) -> None:
        """Begin at the end of the file that had the name before `file`, if it can be told which that was.

        A server may still be writing to it. And where `file` has no line yet, a restart is proved by it alone.
        """
        files = rotated_files(self._path, self._folders)
        last = next((entry for entry in files if entry.inode != file.inode), None)  # a link may point to one of them
        previous = open_rotated(last) if last is not None and younger(last, files, file.inode) == [] else None
        if last is None or previous is None:
            return
        try:
            if previous.inode != last.inode:
                raise Unsettled
            if not _was_renamed(previous, file):
                previous.close()
                return
            generation = self._add(previous, lost=False)
            if not generation.look():
                raise Unsettled
            generation.begin_at_end()
        except DAMAGED:
            previous.close()
        except BaseException:
            previous.close()
            raise

    def _inode(self) -> str | None:
        try:
            facts = os.stat(self._path)
        except FileNotFoundError:
            return None
        return f"{facts.st_dev}:{facts.st_ino}"

    def _add(self, file: OpenFile, *, lost: bool) -> Generation:
        seen = self.rotated_now()  # before the file is looked at: a copy made since is one of what we did not see
        generation = Generation(self.generations[-1].number + 1 if self.generations else 0, file, lost=lost)
        self._seen = seen
        self.generations.append(generation)
        return generation

    def _retire(self) -> None:
        """Decide which files will not grow any more, as far as we are concerned.

        A server may go on writing to the file before the last, until it is told or for as long as its old
        connections live. After the second rotation, or once the file is packed and unlinked, some quiet seconds end it.
        """
        for i, generation in enumerate(self.generations[:-1]):
            if generation.over or generation.file is None or generation.quiet < _LINGER:
                continue
            if i < len(self.generations) - 2 or generation.file.facts().st_nlink == 0:
                generation.retire()

    # ── rotation by renaming ─────────────────────────────────────────────────────────────────────────────────────

    def _extend(self) -> None:
        """The name belongs to another file than before, or to none: find all that came after what we know."""
        for _ in range(_TRIES):
            fresh = self._open_current()
            opened: list[OpenFile] = [] if fresh is None else [fresh]
            try:
                between = self._between(fresh, opened)
                if self._inode() == (None if fresh is None else fresh.inode):
                    self._join(fresh, between, opened)
                    return
            finally:
                for file in opened:
                    file.close()
        raise Unsettled

    def _join(self, fresh: OpenFile | None, between: list[OpenFile] | None, opened: list[OpenFile]) -> None:
        if between is None and fresh is not None:
            self._missing = self._missing or Stillness()
            if not self._missing.is_over(self.names()):
                raise Unsettled  # perhaps it is only on its way from one name to the next
        self._missing = None
        for file in between or []:
            added = self._add(file, lost=False)
            opened.remove(file)  # now it is the generation's to close
            added.look()
        if fresh is not None and fresh.inode not in self._held():
            self._add(fresh, lost=between is None)
            opened.remove(fresh)

    def _open_current(self) -> OpenFile | None:
        try:
            return OpenFile(self._path)
        except FileNotFoundError:
            return None

    def _between(self, fresh: OpenFile | None, opened: list[OpenFile]) -> list[OpenFile] | None:
        """The files after the youngest that we know and before the current one; None if that cannot be told."""
        files = rotated_files(self._path, self._folders)
        anchor = self._youngest_known(files)
        current = None if fresh is None else fresh.inode
        after = younger(anchor, files, current) if anchor is not None else None
        between = None if after is None else open_between(after, fresh, self._held(), opened)
        last = [g.file for g in self.generations[-1:] if g.file is not None]
        return None if between is None or not in_order_of_birth([*last, *between, fresh]) else between

    def _youngest_known(self, files: list[Rotated]) -> Rotated | None:
        for generation in reversed(self.generations):
            if generation.file is not None and not generation.packed:
                for entry in files:
                    if entry.inode == generation.inode:
                        return entry
            if generation.head:
                return self._alike(generation, files)
        return None  # nothing but empty files, and they are gone

    def _alike(self, generation: Generation, files: list[Rotated]) -> Rotated | None:
        """By its content: it was packed, or was copied."""
        for entry in files:
            if (file := open_rotated(entry)) is None:
                continue
            try:
                if file.matches(generation.head, generation.end or 0, generation.before_end):
                    return entry
            finally:
                file.close()
        return None

    def _held(self) -> set[str]:
        return {generation.inode for generation in self.generations if generation.file is not None}

    # ── rotation by copying and cutting ──────────────────────────────────────────────────────────────────────────

    def _cut(self, generation: Generation) -> None:
        """The file was cut to nothing and begins anew. What was in it is read from its copy, if there is one."""
        file = generation.file
        assert file is not None
        newest = generation is self.generations[-1]
        copy, end, before_end = self._copy(generation)
        try:
            if newest:
                self._add(file, lost=True)
        except BaseException:
            if copy is not None:
                copy.close()
            raise
        # Nothing below can fail: a look that is broken off changes nothing and is repeated.
        generation.file, generation.over = copy, True
        if copy is not None:
            generation.become(copy, generation.head, end, before_end)
        if not newest:
            file.close()

    def _question(self, generation: Generation) -> None:
        """Whether a file that was seen empty was filled, copied and cut before it was seen again."""
        if copies := self._unseen_copies(generation):
            self._cut_unseen(generation, copies)
        self._suspect = None

    def _cut_unseen(self, generation: Generation, copies: list[OpenFile]) -> None:
        """The one copy is what was in the file, unless it begins with the same bytes: then it may be a copy that is
        still being made."""
        file, copy = generation.file, copies[0]
        assert file is not None
        try:
            head = copy.read_at(0, HEAD)
            usable = len(copies) == 1 and not generation.head.startswith(head)
            end = None if copy.packed else copy.facts().st_size
            before_end = b"" if end is None else copy.read_at(max(end - CHECK, 0), min(end, CHECK))
            self._add(file, lost=True)
        except BaseException as error:
            for each in copies:
                each.close()
            if isinstance(error, DAMAGED):
                raise Unsettled from None
            raise
        generation.over = True
        if usable:
            generation.become(copy, head, end, before_end)
        else:
            generation.become(None, b"", 0, b"")
        for each in copies[usable:]:
            each.close()

    def _unseen_copies(self, generation: Generation) -> list[OpenFile]:
        """Rotated files, even empty ones, that were never seen under the log's name: copies, made between two looks at
        an empty file. One that begins as the file itself does is a copy of what is still there."""
        files, found = rotated_files(self._path, self._folders), list[OpenFile]()
        known, now = (self._seen or set()) | self._held(), generation.head
        if self._inode() != generation.inode:  # it was renamed since: what was copied from it before stands behind it
            own = next((entry for entry in files if entry.inode == generation.inode), None)
            files = [entry for entry in files if own and entry.scheme == own.scheme and entry.order < own.order]
        try:
            for entry in files:
                if entry.inode in known or (file := open_rotated(entry)) is None:
                    continue
                found.append(file)
                if not self._unseen(file, now):
                    found.pop().close()
        except BaseException:
            for file in found:
                file.close()
            raise
        return found

    def _unseen(self, file: OpenFile, now: bytes) -> bool:
        try:
            head = file.read_at(0, HEAD)
        except DAMAGED:
            return True
        if len(head) == HEAD and head == now:  # fewer bytes might have been written twice
            return False
        # An empty one may be an empty file that was renamed and packed, but not one that still has the log's name.
        renamed = [g for g in self.generations[:-1] if g.head or g.inode != self.generations[-1].inode]
        return not any(head.startswith(g.head) if g.head else not head for g in renamed)

    def _copy(self, generation: Generation) -> tuple[OpenFile | None, int | None, bytes]:
        """The copy, where it ends, and what stands before its end."""
        entry = self._alike(generation, rotated_files(self._path, self._folders)) if generation.head else None
        copy = open_rotated(entry) if entry is not None else None
        if copy is None or copy.packed:
            return copy, None, b""
        try:
            end = copy.facts().st_size
            return copy, end, copy.read_at(max(end - CHECK, 0), min(end, CHECK))
        except BaseException:
            copy.close()
            raise


def open_rotated(entry: Rotated) -> OpenFile | None:
    """None if it cannot be read for good: packed in an unknown way, or not for us."""
    try:
        return entry.open()
    except FileNotFoundError:
        raise Unsettled from None
    except (NotAFile, PermissionError):
        return None


def in_order_of_birth(files: Sequence[OpenFile | None]) -> bool:
    """Whether none of these, the oldest first, was made before the one before it.

    A file that was renamed was made before the one that took its name. A copy was made after the file that it was taken
    from: so a copy, which stands between files whose names lead from one to the next, is told from a file that was
    renamed. A packed file is always made late, and where a file system keeps no such times this says nothing.
    """
    births = [file.born() for file in files if file is not None and not file.packed]
    known = [born for born in births if born is not None]
    return known == sorted(known)


def _was_renamed(previous: OpenFile, file: OpenFile) -> bool:
    """Whether `previous` is needed to begin before `file`, and is no copy of it."""
    if previous.packed:
        return file.facts().st_size == 0
    births = previous.born(), file.born()
    return None not in births and in_order_of_birth([previous, file])


def open_between(
    after: list[Rotated], fresh: OpenFile | None, known: set[str], opened: list[OpenFile]
) -> list[OpenFile] | None:
    """Open those of `after` that are not known yet, up to `fresh`; each is put into `opened` too. None if one fails."""
    between = []
    for entry in after:
        if fresh is not None and entry.inode == fresh.inode:
            break
        if entry.inode in known:
            continue
        if (file := open_rotated(entry)) is None:
            return None
        opened.append(file)
        if file.inode != entry.inode:
            raise Unsettled
        try:
            file.read_at(0, 1)
        except DAMAGED:
            return None
        between.append(file)
    return between
