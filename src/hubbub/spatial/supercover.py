"""Which cells of a grid a line touches: all of them, and a hair more."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hubbub.released import Grid

HAIR = 1e-6
"""In cells. A position on a line is computed with rounding, and may stand beside it by some 1e-10 of a cell."""

Array = NDArray[np.float64]
Whole = NDArray[np.int64]


class Touched(NamedTuple):
    """One entry for each pair of a line and a cell that it touches."""

    line: Whole
    cell: Whole
    share: Array
    """Which part of the line's length lies in the cell; 0 where it only touches it."""


def supercover(grid: Grid, start: tuple[Array, Array], end: tuple[Array, Array]) -> Touched:
    """All pairs of a line and a cell within a hair of it, so that nothing on a line can stand in another cell.

    A line meets a closed box if and only if it passes the box's column while its height lies in the box's row. So:
    for every column that a line passes, the heights between which it does, and every row that these touch. Cells off
    the map are left out: nothing is counted there.

    >>> grid = Grid(3, 2, bounds=(0, 0, 3, 2))
    >>> line = supercover(grid, (np.array([0.5]), np.array([0.5])), (np.array([2.5]), np.array([1.5])))
    >>> [grid.names[cell] for cell in line.cell], line.share.tolist()
    (['0,0', '1,0', '1,1', '2,1'], [0.25, 0.25, 0.25, 0.25])
    """
    x0, y0 = grid.scaled(*start)
    x1, y1 = grid.scaled(*end)
    line, column = _strips(np.minimum(x0, x1), np.maximum(x0, x1), grid.columns)
    low, high = _within(x0[line], x1[line], column)
    heights = y0[line] + low * (y1 - y0)[line], y0[line] + high * (y1 - y0)[line]
    strip, row = _strips(np.minimum(*heights), np.maximum(*heights), grid.rows)
    line, column = line[strip], column[strip]
    return Touched(line, row * grid.columns + column, _shares(x0, y0, x1, y1, line, column, row))


def _strips(low: Array, high: Array, count: int) -> tuple[Whole, Whole]:
    """For each interval the strips [k, k + 1] that it touches, out of `count`: which interval, and which strip."""
    first = np.clip(np.ceil(low - HAIR) - 1, 0, count).astype(np.int64)
    last = np.clip(np.floor(high + HAIR), -1, count - 1).astype(np.int64)
    many = np.maximum(last - first + 1, 0)
    each = np.repeat(np.arange(len(low)), many)
    return each, np.arange(len(each)) - np.repeat(np.cumsum(many) - many, many) + first[each]


def _within(from_: Array, to: Array, strip: Whole) -> tuple[Array, Array]:
    """Between which shares of its way a line lies within a hair of the strip."""
    way = to - from_
    still = way == 0
    safe = np.where(still, 1.0, way)
    one, two = (strip - HAIR - from_) / safe, (strip + 1 + HAIR - from_) / safe
    low, high = np.clip(np.minimum(one, two), 0, 1), np.clip(np.maximum(one, two), 0, 1)
    return np.where(still, 0.0, low), np.where(still, 1.0, high)


def _shares(x0: Array, y0: Array, x1: Array, y1: Array, line: Whole, column: Whole, row: Whole) -> Array:
    """Which part of each line lies in the box itself, without the hair; a border belongs to the cell it begins."""
    low, high = np.zeros(len(line)), np.ones(len(line))
    for from_, to, strip in ((x0[line], x1[line], column), (y0[line], y1[line], row)):
        way = to - from_
        still = np.abs(way) < HAIR
        safe = np.where(still, 1.0, way)
        one, two = (strip - from_) / safe, (strip + 1 - from_) / safe
        inside = (from_ >= strip) & (from_ < strip + 1)
        low = np.maximum(low, np.where(still, np.where(inside, 0.0, 1.0), np.minimum(one, two)))
        high = np.minimum(high, np.where(still, np.where(inside, 1.0, 0.0), np.maximum(one, two)))
    return np.maximum(high - low, 0.0)
