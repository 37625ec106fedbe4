"""Where in a chain of files one is, so that it can be found and proved again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

HEAD = 1024
"""How many bytes of a file's beginning tell it from others."""

CHECK = 256
"""How many bytes before a place prove that the file still holds what was read."""

_FORM = re.compile(
    r"(\d{1,18}) (\d{1,20}:\d{1,20}) (\d{1,4}):([0-9a-f]{16}) (\d{1,18}|end) (\d{1,3}):([0-9a-f]{16})( over)?( lost)?"
    r"(?: (\d{1,18})-(\d{1,18}):([0-9a-f]{16}))?"
)


def checksum(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class Seal:
    """The digest of a file's bytes from `base` to `end`, as they were when they were read."""

    base: int
    end: int
    sum: str

    def __str__(self) -> str:
        return f" {self.base}-{self.end}:{self.sum}"


@dataclass(frozen=True, slots=True)
class Place:
    """A point in one file of the chain.

    `number` orders the files of a chain. `inode` (with the device) and the checksum of the first `head` bytes say which
    file; the checksum of the `check` bytes before `offset` says that it still holds them. An `offset` of None is the
    end of a packed file, whose length is not known before it is read. `over`: nothing behind the place will
    ever be read. `lost`: lines between the file before this one and this one may be gone. `seal`: what had been read of
    the file by then, which may end before the place or begin behind the file's beginning.

    >>> place = Place.at(0, "1:2", b"one\\ntwo\\n", 4, b"one\\n")
    >>> Place.of(str(place)) == place, Place.of("nonsense")
    (True, None)
    """

    number: int
    inode: str
    head: int
    head_sum: str
    offset: int | None
    check: int
    check_sum: str
    over: bool = False
    lost: bool = False
    seal: Seal | None = None

    @classmethod
    def at(
        cls,
        number: int,
        inode: str,
        head: bytes,
        offset: int | None,
        before: bytes,
        over: bool = False,
        lost: bool = False,
        seal: Seal | None = None,
    ) -> Place:
        return cls(number, inode, len(head), checksum(head), offset, len(before), checksum(before), over, lost, seal)

    @classmethod
    def of(cls, text: str) -> Place | None:
        found = _FORM.fullmatch(text)
        if found is None:
            return None
        number, inode, head, head_sum, offset, check, check_sum, over, lost, *sealed = found.groups()
        seal = None if sealed[0] is None else Seal(int(sealed[0]), int(sealed[1]), sealed[2])
        end = None if offset == "end" else int(offset)
        place = cls(
            int(number),
            inode,
            int(head),
            head_sum,
            end,
            int(check),
            check_sum,
            over is not None,
            lost is not None,
            seal,
        )
        sound = place.head <= HEAD and place.check <= CHECK and (end is None or place.check <= end)
        return place if sound else None

    def same_file(self, other: Place) -> bool:
        """Whether both lie in one file, of which at least `HEAD` bytes, or all, were known to both."""
        return (self.head, self.head_sum) == (other.head, other.head_sum)

    def __str__(self) -> str:
        offset = "end" if self.offset is None else self.offset
        flags = " over" * self.over + " lost" * self.lost + ("" if self.seal is None else str(self.seal))
        return f"{self.number} {self.inode} {self.head}:{self.head_sum} {offset} {self.check}:{self.check_sum}{flags}"


def places(positions: Mapping[str, str]) -> dict[str, Place] | None:
    """The places of a mapping in the order of their files; None if it is not one of ours."""
    found = {token: Place.of(text) for token, text in positions.items()}
    known = {token: place for token, place in found.items() if place is not None}
    if len(known) < len(found):
        return None
    return dict(sorted(known.items(), key=lambda item: item[1].number))
