"""A digest of the bytes that were read, so that a later process sees whether they are still the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from hubbub.collect.sources.log.opened import OpenFile
from hubbub.collect.sources.log.place import Seal

PIECE = 4 * 2**20
"""Bytes that are digested by themselves: whole pieces that no restart needs are left out of a seal."""


@dataclass(slots=True)
class Sealing:
    """Takes the bytes of one file as they are read from `base` on.

    >>> sealing = Sealing(10)
    >>> sealing.add(b"one")
    >>> sealing.seal().base, sealing.seal().end, Sealing(10).seal()
    (10, 13, None)
    """

    base: int
    end: int
    _pieces: list[bytes]
    _part: blake2b

    def __init__(self, base: int) -> None:
        self.base = self.end = base
        self._pieces, self._part = [], _fresh()

    def add(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            room = PIECE - (self.end - self.base) % PIECE
            self._part.update(view[:room])
            self.end += len(view[:room])
            if (self.end - self.base) % PIECE == 0:
                self._pieces.append(self._part.digest())
                self._part = _fresh()
            view = view[room:]

    def forget(self, offset: int) -> None:
        """What lies before `offset` will not be read again."""
        pieces = min(max(offset - self.base, 0) // PIECE, len(self._pieces))
        self.base += pieces * PIECE
        del self._pieces[:pieces]

    def seal(self) -> Seal | None:
        """None if nothing was read."""
        if self.end == self.base:
            return None
        whole = blake2b(b"".join(self._pieces) + self._part.digest(), digest_size=8)
        return Seal(self.base, self.end, whole.hexdigest())


def _fresh() -> blake2b:
    return blake2b(digest_size=16)


def unbroken(file: OpenFile, seal: Seal) -> bool:
    """Whether the file holds the bytes that were sealed."""
    sealing = Sealing(seal.base)
    while sealing.end < seal.end:
        data = file.read_at(sealing.end, min(PIECE, seal.end - sealing.end))
        if not data:
            return False
        sealing.add(data)
    return sealing.seal() == seal


def needed(seals: Iterable[Seal], start: int) -> list[Seal]:
    """As few of a file's seals as reach from `start` to where the last of them ends.

    >>> [seal.base for seal in needed([Seal(0, 5, ""), Seal(0, 9, ""), Seal(3, 20, ""), Seal(2, 8, "")], 1)]
    [3, 0]
    """
    chosen, left = list[Seal](), 2**63
    for seal in sorted(seals, key=lambda seal: (-seal.end, seal.base)):
        if seal.end > start and seal.base < left and left > start:
            chosen.append(seal)
            left = seal.base
    return chosen
