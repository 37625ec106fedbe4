"""The Kalman filter that keeps only the diagonal of the covariance: O(links) a tick, for a million keys.

p' = (M∘M) p + q, then a scalar correction a key. What is dropped are the correlations between keys; when that is
harmless is worked out in docs/proofs/diagonal.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hubbub.filters.scalar import ScalarState, correct

__all__ = ["Links", "Matrix", "ScalarState", "correct", "predict", "process_variance"]

Array = NDArray[np.float64]
Matrix: TypeAlias = Any
"""A sparse matrix in CSR form; SciPy's own types say less than they cost."""
_csr: Any = csr_array


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """A sparse transition matrix with its squares, its diagonal and its column sums, worked out once.

    The squares share the index arrays of the matrix, so a link costs 8 + 8 + 4 bytes.
    """

    matrix: Matrix
    squares: Matrix
    own: Array

    @classmethod
    def of(cls, matrix: Matrix) -> Links:
        kept = _csr(matrix, dtype=np.float64)
        kept.sum_duplicates()
        if kept.nnz < 2**31:
            kept.indices = kept.indices.astype(np.int32, copy=False)
            kept.indptr = kept.indptr.astype(np.int32, copy=False)
        squares = _csr((kept.data**2, kept.indices, kept.indptr), shape=kept.shape, copy=False)
        return cls(kept, squares, np.asarray(kept.diagonal(), dtype=np.float64))

    @classmethod
    def staying(cls, size: int, chance: float) -> Links:
        """Nobody follows a link; whoever is on a page stays for another tick with this chance."""
        places = np.arange(size, dtype=np.int32)
        return cls.of(_csr((np.full(size, chance), places, np.arange(size + 1, dtype=np.int32)), shape=(size, size)))


def predict(state: ScalarState, links: Links, process: Array | float, drive: Array | float = 0.0) -> ScalarState:
    """One step in time: x' = M x + `drive` + w, var(w) = `process` (its diagonal)."""
    mean = links.matrix @ state.mean
    mean += drive
    variance = links.squares @ state.variance
    variance += process
    return ScalarState(mean, variance)


def process_variance(links: Links, counts: Array, arrivals: Array | float) -> Array:
    """The diagonal of diag(M x + a) - M diag(x) M': sessions move as a multinomial, and arrive as a Poisson process."""
    people = np.maximum(counts, 0.0)
    variance: Array = links.matrix @ people + arrivals - links.squares @ people
    return np.maximum(variance, 0.0, out=variance)
