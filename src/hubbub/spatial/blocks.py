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
        # Rows first: whole lines of memory are added, and a quarter of the work is left for the columns.
        lines = values.reshape(rows // side, side, columns).sum(axis=1)
        folded: NDArray[np.int64] = lines.reshape(-1, columns // side, side).sum(axis=2)
        return folded.ravel()

    def first(self, of_cells: NDArray[Any]) -> NDArray[Any]:
        """Of something that is the same in all cells of a square: that of each square."""
        return of_cells.reshape(self._shape)[:: self.side, :: self.side].ravel()

    def laid_out(self, of_squares: NDArray[Any]) -> NDArray[Any]:
        """For each cell what its square has."""
        if self.side == 1:
            return of_squares
        rows, columns, side = *self._shape, self.side
        wide = np.repeat(of_squares.reshape(rows // side, columns // side), side, axis=1)
        return np.repeat(wide, side, axis=0).ravel()
