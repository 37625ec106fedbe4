"""Places by latitude and longitude, coarser by leaving out decimals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import floor
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from hubbub.errors import InvalidParameter
from hubbub.personal.hierarchy import ContextHierarchy, unknown_context, unknown_node
from hubbub.personal.node import Node

MOST = 2**53 - 1
"""Numbers of contexts are exact in JavaScript up to here."""
EVERYWHERE = "*"
_NAME = re.compile(r"(-?[0-9]{1,3}(?:\.[0-9]+)?),(-?[0-9]{1,3}(?:\.[0-9]+)?)")
_NUMBER = re.compile(r" *[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)? *\Z")
_GRAIN = 1e-6
"""Of the last digit: 61.22913 is stored a hair below, and must not fall into the cell before."""


class Decimals(ContextHierarchy):
    """A box of whole degrees; below it cells of 1 degree, 0.1 degree, and so on down to `digits` decimals.

    A cell's name is its south-western corner. Decimals are cut downwards, not towards zero as in Goetz 2012, 4.4.1:
    there the cells at the equator and at Greenwich are twice as wide.

    >>> anchorage = Decimals(61, -150, 62, -149)
    >>> [node.name for node in anchorage.path((61.22913, -149.912044))][:4]
    ['*', '61,-150', '61.2,-150.0', '61.22,-149.92']
    >>> anchorage.named("61.22,-149.92").leaves
    1000000
    """

    kind: ClassVar[str] = "decimals"

    def __init__(self, south: int, west: int, north: int, east: int, digits: int = 5) -> None:
        box = (south, west, north, east)
        whole = all(isinstance(number, int) and not isinstance(number, bool) for number in (*box, digits))
        if not whole or not (-90 <= south < north <= 90 and -180 <= west < east <= 180):
            raise InvalidParameter(
                f"A box is south, west, north, east in whole degrees, south below north and west below east; got "
                f"{box!r}.",
                "Latitude comes before longitude; two boxes are needed across the 180th meridian.",
            )
        self.south, self.west, self.north, self.east, self.digits = *box, digits
        self._wide, self._high = east - west, north - south
        if not 0 <= digits <= 7 or self._wide * self._high * 100**digits > MOST:
            raise InvalidParameter(
                f"`digits` is 0 to 7, and the box has fewer than 2^53 cells; got {digits} digits.",
                "5 digits are a metre; use fewer, or a smaller box.",
            )

    @property
    def root(self) -> Node:
        return Node(EVERYWHERE, 0, self._wide * self._high * 100**self.digits, 0)

    def children(self, node: Node) -> Sequence[Node]:
        if self.is_context(node):
            return []
        level = node.depth  # decimals of the children
        size = 100 ** (self.digits - level)
        return [self._cell(first, level) for first in range(node.first, node.first + node.leaves, size)]

    def is_context(self, node: Node) -> bool:
        return node.depth > self.digits

    def path(self, context: Any) -> tuple[Node, ...]:
        """`context` is (latitude, longitude), or a text "61.22913,-149.912044"."""
        latitude, longitude = _position(context)
        if not (self.south <= latitude <= self.north and self.west <= longitude <= self.east):  # NaN is not, either
            raise unknown_context()
        return self.way(self._number(latitude, longitude))

    def way(self, leaf: int) -> tuple[Node, ...]:
        range(self.contexts)[leaf]
        return (self.root, *(self._cell(leaf, level) for level in range(self.digits + 1)))

    def named(self, name: str) -> Node:
        if name == EVERYWHERE:
            return self.root
        found = _NAME.fullmatch(name) if isinstance(name, str) else None
        if found is None:
            raise unknown_node()
        level = len(found[1].partition(".")[2])
        try:
            cell = self._cell(self._number(float(found[1]), float(found[2]), edges=False), min(level, self.digits))
        except (ValueError, KeyError):
            raise unknown_node() from None
        if cell.name != name:
            raise unknown_node()
        return cell

    def _number(self, latitude: float, longitude: float, *, edges: bool = True) -> int:
        unit = 10**self.digits
        up = floor(latitude * unit + _GRAIN) - self.south * unit
        across = floor(longitude * unit + _GRAIN) - self.west * unit
        if edges:  # what is within a hair of the northern and eastern border belongs to the last cells
            up, across = min(up, self._high * unit - 1), min(across, self._wide * unit - 1)
        if not (0 <= up < self._high * unit and 0 <= across < self._wide * unit):
            raise unknown_context()
        number: int = up // unit * self._wide + across // unit
        for level in range(1, self.digits + 1):
            size = 10 ** (self.digits - level)
            number = number * 100 + up // size % 10 * 10 + across // size % 10
        return number

    def _cell(self, leaf: int, level: int) -> Node:
        """The cell with this many decimals that a context lies in."""
        size = 100 ** (self.digits - level)
        number, digits = leaf // size, []
        for _ in range(level):
            number, digit = divmod(number, 100)
            digits.append(digit)
        up, across = divmod(number, self._wide)
        up, across = up + self.south, across + self.west
        for digit in reversed(digits):
            up, across = 10 * up + digit // 10, 10 * across + digit % 10
        return Node(f"{_text(up, level)},{_text(across, level)}", leaf // size * size, size, level + 1)

    def to_dict(self) -> dict[str, Any]:
        names = ("south", "west", "north", "east", "digits")
        return {"kind": self.kind, **{name: getattr(self, name) for name in names}}

    @classmethod
    def _from(cls, facts: Mapping[str, Any]) -> Decimals:
        return cls(**facts)

    def __repr__(self) -> str:
        return f"Decimals({self.south},{self.west} to {self.north},{self.east}, {self.digits} digits)"


def _position(context: Any) -> tuple[float, float]:
    """Two numbers, or texts of numbers: nothing else, since a device that does not know its place may say null."""
    given = context.split(",") if isinstance(context, str) else context
    if not isinstance(given, list | tuple | np.ndarray) or len(given) != 2:
        raise unknown_context()
    for one in given:
        sound = isinstance(one, Real) or (isinstance(one, str) and _NUMBER.match(one))
        if isinstance(one, bool | np.bool_) or not sound:
            raise unknown_context()
    try:
        return float(given[0]), float(given[1])
    except OverflowError:
        raise unknown_context() from None


def _text(number: int, level: int) -> str:
    """A whole number of units of the last decimal, as people write it."""
    whole, rest = divmod(abs(number), 10**level)
    return ("-" if number < 0 else "") + (f"{whole}.{rest:0{level}d}" if level else str(whole))
