"""Positions as arrays: what cannot be read is refused, and nobody's position is in the refusal."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.errors import InvalidInput

Array = NDArray[np.float64]


def positions(x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """Both coordinates as arrays of one shape. NumPy's own refusals would quote what was given.

    >>> positions(["8.2", "somewhere"], [53.1, 53.2])
    Traceback (most recent call last):
    ...
    hubbub.errors.InvalidInput: A position has a coordinate that is no number. ...
    """
    across, upward = _numbers(x), _numbers(y)
    if across is None or upward is None:  # outside of the handler: the first refusal is no part of this one
        raise InvalidInput(
            "A position has a coordinate that is no number.", "Give one number for x and one for y; NaN if unknown."
        )
    if across.shape != upward.shape and across.ndim and upward.ndim:
        raise InvalidInput(
            f"Positions need as many x as y; got {across.size:,} and {upward.size:,}.", "Give both of each."
        )
    return tuple(np.broadcast_arrays(across, upward))  # type: ignore[return-value]


def _numbers(given: ArrayLike) -> Array | None:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
