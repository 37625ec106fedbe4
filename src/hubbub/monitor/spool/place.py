"""A place in a spool, as it is written down elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hubbub.errors import InvalidInput

PARTITION = "spool"


@dataclass(frozen=True, slots=True)
class Place:
    """A segment, an offset in it, and a digest of all that stands before: with the spool's name it proves itself.

    >>> Place.read(Place(3, 96, b"0123456789abcdef").positions("5f")) == ("5f", Place(3, 96, b"0123456789abcdef"))
    True
    """

    segment: int
    offset: int
    chain: bytes

    def positions(self, spool: str) -> dict[str, str]:
        return {PARTITION: f"{spool}:{self.segment}:{self.offset}:{self.chain.hex()}"}

    @classmethod
    def read(cls, positions: Mapping[str, str]) -> tuple[str, Place]:
        try:
            spool, segment, offset, chain = positions[PARTITION].split(":")
            return spool, cls(int(segment), int(offset), bytes.fromhex(chain))
        except (KeyError, ValueError):
            raise InvalidInput(
                "This is no position in a spool: it must name a spool, a segment, an offset and a digest.",
                "Positions are handed over as they were given; another kind of source made these.",
            ) from None

    def reaches(self, other: Place) -> bool:
        """Whether nothing lies between this place and an `other` one before it."""
        return (self.segment, self.offset) >= (other.segment, other.offset)
