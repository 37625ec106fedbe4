"""Finding a recorded place again, and proving that nothing after it is missing."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from hubbub.collect.sources.log.chain import in_order_of_birth, open_between, open_rotated
from hubbub.collect.sources.log.generation import Generation
from hubbub.collect.sources.log.opened import OpenFile, Unsettled
from hubbub.collect.sources.log.place import Place
from hubbub.collect.sources.log.rotated import Rotated, rotated_files, younger

_TRIES = 5


def proved(path: str, folders: Sequence[str], places: Mapping[str, Place]) -> list[Generation] | None:
    """The files from `places` up to the current one; None unless all of them are there, unchanged and in order.

    What the proof rests on:

    - a file whose first bytes and whose bytes before the place are the same is the same file, or a copy of it;
    - it is the log itself, or stands among its rotated files by a name whose successors are all there (`younger`);
    - it was renamed, not copied and cut: then its inode is the one recorded, or it was packed, and the log has another
      inode, or took this one after that. After a cut nobody can know what was written between the copy and the cut, so
      that is never proved;
    - so were the files after it, which nobody had seen: each was made before the next (`in_order_of_birth`). Of packed
      ones, and where no such times are kept, it is taken that a log which was renamed once is not cut the next time;
    - nobody but logrotate, which deletes the oldest first, took a file away.

    An empty file proves nothing: the place in the file before it must be there.
    """
    for _ in range(_TRIES):
        opened: list[OpenFile] = []
        kept: list[OpenFile] = []
        try:
            try:
                current = OpenFile(path)
                opened.append(current)
            except FileNotFoundError:
                current = None
            found = _found(path, folders, places, current, opened)
            if _inode(path) != (None if current is None else current.inode):
                continue
            generations = None if found is None else _generations(places, *found)
            kept = [] if generations is None else [g.file for g in generations if g.file is not None]
            return generations
        except Unsettled:
            continue
        finally:
            for file in opened:
                if file not in kept:
                    file.close()
    return None


def _found(
    path: str, folders: Sequence[str], places: Mapping[str, Place], current: OpenFile | None, opened: list[OpenFile]
) -> tuple[dict[str, OpenFile], list[OpenFile]] | None:
    """The file of each place that matters, and the files after them."""
    anchors = [token for token, place in places.items() if place.head and place.offset != 0]
    if not anchors:
        return None
    anchor, files = anchors[-1], rotated_files(path, folders)
    holders: dict[str, OpenFile] = {}
    after: list[Rotated] | None = []
    for token in anchors:
        place = places[token]
        if token != anchor and place.over:
            continue  # read to its end, and not needed to find the next
        if token == anchor and not place.over and current is not None and current.holds(place):
            holders[token] = current
            continue
        entry, file = _holder(place, files, opened)
        if entry is None or file is None:
            return None
        copied = not file.packed and _number(file.inode) != _number(place.inode)
        if copied and not place.over:
            return None
        holders[token] = file
        if token == anchor:
            after = younger(entry, files, None if current is None else current.inode)
    if after is None or len({file.inode for file in holders.values()}) < len(holders):
        return None
    if current in holders.values():
        return holders, []
    between = open_between(after, current, {file.inode for file in holders.values()}, opened)
    if between is None:
        return None
    if current is not None:
        if _cut_since(places, anchor, current, holders[anchor], between):
            return None
        between.append(current)
    return (holders, between) if in_order_of_birth([holders[anchor], *between]) else None


def _cut_since(
    places: Mapping[str, Place], anchor: str, current: OpenFile, holder: OpenFile, between: Sequence[OpenFile]
) -> bool:
    """Whether the current file is one that we knew, cut to nothing since: it has the number (inode) of that one."""
    if not places[anchor].over and _number(places[anchor].inode) == _number(current.inode):
        return not _took_the_number(current, holder)  # its bytes are elsewhere
    later = [_number(place.inode) for place in places.values() if place.number > places[anchor].number]
    if _number(current.inode) not in later:
        return False
    # It was seen empty, behind so many other files; one more that was rotated since is a copy of it.
    known = later.index(_number(current.inode))
    return len(between) > known and not _took_the_number(current, between[known])


def _took_the_number(current: OpenFile, packed: OpenFile) -> bool:
    """Whether the file that had the number was packed and removed before the current one was made with it.

    A file that was cut is older than the copy that was made of it. Where no such times are kept it counts as cut.
    """
    made, free = current.born(), packed.born()
    return packed.packed and made is not None and free is not None and free < made


def _holder(place: Place, files: list[Rotated], opened: list[OpenFile]) -> tuple[Rotated | None, OpenFile | None]:
    """Its own inode first, then other plain files, then packed ones."""

    def likely(entry: Rotated) -> tuple[bool, bool]:
        return (bool(entry.packing), _number(entry.inode) != _number(place.inode))

    for entry in sorted(files, key=likely):
        file = open_rotated(entry)
        if file is None:
            continue
        opened.append(file)
        if file.inode != entry.inode:
            raise Unsettled
        if file.holds(place):
            return entry, file
        opened.remove(file)
        file.close()
    return None, None


def _generations(
    places: Mapping[str, Place], holders: Mapping[str, OpenFile], after: Sequence[OpenFile]
) -> list[Generation]:
    generations = [Generation.resumed(token, places[token], file) for token, file in holders.items()]
    for number, file in enumerate(after, generations[-1].number + 1):
        generations.append(Generation(number, file))
    return generations


def _number(inode: str) -> str:
    """Without the device, which may have another number after the machine was started again."""
    return inode.partition(":")[2]


def _inode(path: str) -> str | None:
    try:
        facts = os.stat(path)
    except FileNotFoundError:
        return None
    return f"{facts.st_dev}:{facts.st_ino}"
