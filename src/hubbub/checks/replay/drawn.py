"""Noise that waits to be added to something."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hubbub.checks.failure import CheckFailed

if TYPE_CHECKING:
    from hubbub.checks.replay.tape import Row


class Drawn:
    """Stands where an array of noise stood. It can be cut and shaped like one, and be added to whole numbers, once.

    The sum goes through the tape, which sees what the noise was given. Whatever else is done with noise (multiplied,
    compared, turned into a plain array) would escape the tape, so it is refused.
    """

    __slots__ = ("_at", "_row")

    def __init__(self, row: Row, at: NDArray[np.intp]) -> None:
        self._row, self._at = row, at

    # ── the one thing it is for ──────────────────────────────────────────────────────────────────────────────────

    def __add__(self, given: Any) -> Any:
        if isinstance(given, Drawn):
            raise _otherwise("added to other noise")
        met = self._row.meet(self._at, given)
        return int(met) if not self._at.shape else met

    __radd__ = __add__

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "__call__" and ufunc is np.absolute:  # whether it fits into 64 bits may be asked of noise itself
            return np.abs(self._row.noise[self._at])
        if method != "__call__" or ufunc is not np.add:
            raise _otherwise(f"handed to `{ufunc.__name__}`")
        one, two = inputs
        met = two + one if isinstance(two, Drawn) else one + two
        for out in options.get("out") or ():
            if not isinstance(out, Drawn):
                out[...] = met
                return out
        return met

    def __array__(self, *_: object, **__: object) -> NDArray[np.int64]:
        raise _otherwise("turned into a plain array")

    # ── shapes ───────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def shape(self) -> tuple[int, ...]:
        return self._at.shape

    @property
    def size(self) -> int:
        return self._at.size

    def reshape(self, *shape: Any) -> Drawn:
        return Drawn(self._row, self._at.reshape(*shape))

    def __len__(self) -> int:
        return len(self._at)

    def __getitem__(self, place: Any) -> Drawn:
        return Drawn(self._row, np.asarray(self._at[place]))

    def __iter__(self) -> Iterator[Drawn]:
        return (self[i] for i in range(len(self)))

    def item(self) -> Drawn:
        """A single one, as `ndarray.item` gives a plain number."""
        return self.reshape(())

    def tolist(self) -> Any:
        return [part.tolist() for part in self] if self._at.shape else self


def _otherwise(what: str) -> CheckFailed:
    return CheckFailed(
        f"Noise was {what} instead of being added to whole numbers: a replay cannot tell what it hides. A mechanism "
        "whose noise is put together before it meets a count is checked by `replay_ranges`."
    )
