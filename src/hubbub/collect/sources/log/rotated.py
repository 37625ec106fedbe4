"""The files into which a log was rotated, told by their names, and their order."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from hubbub.collect.sources.log.opened import PACKED, UNREADABLE, OpenFile, Unsettled

_NUMBER = re.compile(r"\.\d{1,4}")
_DATE = re.compile(r"[-._]?\d[-._:T+\d]*")
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Rotated:
    """One rotated file. `scheme` says how it is named, `order` is larger for younger files of the same scheme."""

    path: str
    packing: str
    scheme: tuple[str, ...]
    order: tuple[int, ...]
    inode: str = ""
    changed: int = 0
    size: int = 0

    @property
    def numbered(self) -> bool:
        return self.scheme[0] == "number"

    def open(self) -> OpenFile:
        return OpenFile(self.path, packing=self.packing)


def rotated_name(name: str, base: str, folder: str = "") -> Rotated | None:
    """Whether `name` is one that logrotate gives a rotated `base`: by number or by date, at the end or before the
    extension, packed or not. Anything else that begins alike is another log.

    >>> [rotated_name(name, "access.log").order for name in ("access.log.2.gz", "access.log-20260131", "access.3.log")]
    [(-2,), (20260131,), (-3,)]
    >>> rotated_name("access.log-shop.example", "access.log") is rotated_name("access.log.d", "access.log") is None
    True
    """
    plain, packing = name, ""
    for ending in (*PACKED, *UNREADABLE):
        if name.endswith(ending):
            plain, packing = name.removesuffix(ending), ending
    stem, extension = os.path.splitext(base)
    for before, after in ((base, ""), (stem, extension)):
        middle = plain[len(before) : len(plain) - len(after)]
        if plain != before + middle + after:
            continue
        path, rule = os.path.join(folder, name), (folder, before, after)
        if _NUMBER.fullmatch(middle):
            return Rotated(path, packing, ("number", *rule), (-int(middle[1:]),))
        if _DATE.fullmatch(middle):
            return Rotated(path, packing, ("date", *rule, _DIGITS.sub("#", middle)), _numbers(middle))
    return None


def dated_like(name: str, target: str, folder: str = "") -> Rotated | None:
    """Whether `name` differs in its digits only from what a symbolic link points to (`access-2026-01-31.log`)."""
    if not _DIGITS.search(target) or _DIGITS.sub("#", name) != _DIGITS.sub("#", target):
        return None
    return Rotated(os.path.join(folder, name), "", ("date", folder, _DIGITS.sub("#", name)), _numbers(name))


def rotated_files(path: str, folders: Iterable[str] = ()) -> list[Rotated]:
    """All rotated files of `path` beside it, beside what it points to, and in `folders`; the youngest first."""
    parent, base = os.path.split(path)
    real_parent, real_base = os.path.split(os.path.realpath(path))
    wanted = dict.fromkeys([(parent, base), (real_parent, real_base), *((folder, base) for folder in folders)])
    found: dict[str, Rotated] = {}
    names = {folder: _names(folder) for folder, _ in wanted}
    for folder, name_of_log in wanted:
        for name in names[folder]:
            entry = rotated_name(name, name_of_log, folder) if name != name_of_log else None
            if entry is None and os.path.islink(path):
                entry = dated_like(name, real_base, real_parent) if folder == real_parent else None
            if entry is not None and (known := _known(entry)) is not None:
                found[known.path] = known
    if any(_names(folder) != before for folder, before in names.items()):
        raise Unsettled  # a file that is renamed or packed while a folder is read may be missed under both names
    # A file that is just being packed stands there twice, and is whole only unpacked.
    twice = {path for path, entry in found.items() if entry.packing and path.removesuffix(entry.packing) in found}
    whole = [entry for path, entry in found.items() if path not in twice]
    return sorted(whole, key=lambda entry: (entry.changed, entry.order), reverse=True)


def younger(entry: Rotated, files: list[Rotated], current: str | None) -> list[Rotated] | None:
    """All that were rotated after `entry`, the oldest first; None if one may be missing. `current` is the log's inode.

    Numbers must lead down to 1 (or 0) without a gap. For dates, two orders must agree: that of the names and that of
    the times of change. That the youngest were not deleted rests on logrotate, which deletes the oldest first.
    """
    same = [other for other in files if other.scheme == entry.scheme and other.inode not in (entry.inode, current)]
    end = max((other.order for other in files if other.scheme == entry.scheme and other.inode == current), default=None)
    same = [other for other in same if end is None or other.order < end]  # a link may point to a file among them
    after = sorted((other for other in same if other.order > entry.order), key=lambda other: other.order)
    if entry.numbered:
        numbers = [-other.order[0] for other in (entry, *after)]
        return after if numbers[-1] <= 1 and all(a == b + 1 for a, b in pairwise(numbers)) else None
    # An empty file says nothing by its time: the one before it may have been written to for longer.
    times = [other.changed for other in (entry, *after) if other.size]
    before = [other.changed for other in same if other.order < entry.order and other.size]
    agree = times == sorted(times) and (not times or max(before, default=0) <= times[0])
    return after if agree else None


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, _DIGITS.findall(text)))


def _names(folder: str) -> set[str]:
    try:
        return set(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return set()


def _known(entry: Rotated) -> Rotated | None:
    try:
        facts = os.stat(entry.path)
    except FileNotFoundError:
        if os.path.islink(entry.path):
            return None  # to nowhere
        raise Unsettled from None  # renamed or deleted since the folder was read
    if not stat.S_ISREG(facts.st_mode):
        return None
    inode = f"{facts.st_dev}:{facts.st_ino}"
    return Rotated(entry.path, entry.packing, entry.scheme, entry.order, inode, facts.st_mtime_ns, facts.st_size)
