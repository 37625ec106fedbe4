"""Squares of cells that always go together: added up and laid out without looking at each cell's part."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.released import Domain, Grid


class Blocks:
    """A grid seen as squares of `side` cells; in other domains, and where they do not fit, a square is one key.

    >>> blocks = Blocks(Grid(4, 2), 2)
    >>> blocks.sums(np.arange(8)).tolist(), blocks.laid_out(np.array([1.0, 2.0])).tolist()
    ([10, 18], [1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0])
    """

    def __init__(self, keys: Domain, side: int) -> None:
        fits = isinstance(keys, Grid) and keys.rows % side == 0 and keys.columns % side == 0
        self.side = side if fits else 1
        self._shape = (1, len(keys)) if self.side == 1 else keys.shape

    def sums(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        if self.side == 1:
            return values
        rows, columns, side = *self._shape, self.side
        # Rows first: whole lines of memory are added, and a quarter of the work is left for the columns. These are
        # added as vectors too: a sum along so short an axis would be a loop of its own for every square.
        lines = values.reshape(rows // side, side, columns).sum(axis=1).reshape(-1, columns // side, side)
        folded: NDArray[np.int64] = lines[:, :, 0] + lines[:, :, 1]
        for column in range(2, side):
            folded += lines[:, :, column]
        return folded.ravel()

    def first(self, of_cells: NDArray[Any]) -> NDArray[Any]:
        """Of something that is the same in all cells of a square: that of each square."""
        return of_cells.reshape(self._shape)[:: self.side, :: self.side].ravel()

    def laid_out(self, of_squares: NDArray[Any]) -> NDArray[Any]:
        """For each cell what its square has. Several vectors, one a row, are laid out in one block of memory."""
        if self.side == 1:
            return of_squares
        rows, columns, side = *self._shape, self.side
        several = of_squares.shape[:-1]
        wide = np.repeat(of_squares, side, axis=-1).reshape(*several, rows // side, 1, columns)
        # One pass over the table, line by line: `np.repeat` along the other axis goes cell by cell, at twice the price.
        table = np.empty((*several, rows // side, side, columns), dtype=of_squares.dtype)
        table[...] = wide
        return table.reshape(*several, rows * columns)
