"""The confidential vector of one tick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential.confidential import Confidential
from hubbub.errors import InvalidCounts, UnknownKey
from hubbub.released import Keys, Tick

MAX_COUNT = 2**52
"""Above this a count plus its noise could leave what a 64-bit float holds exactly."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How often each key occurred in one tick, before any noise.

    The bound of the stream's unit must already be enforced: a mechanism can add noise, not take people out again.

    >>> keys = Keys(["front", "news"])
    >>> Counts.of(keys, Tick(0), {"front": 812, "news": 240})
    Counts(tick=0, 2 keys, <confidential>)
    >>> Counts.of(keys, Tick(0), {"front": 812})
    Traceback (most recent call last):
    ...
    hubbub.errors.UnknownKey: No count was given for 'news' (1 of 2 keys missing). ...
    """

    keys: Keys
    tick: Tick
    values: Confidential[NDArray[np.int64]]

    @classmethod
    def of(cls, keys: Keys, tick: Tick, values: Mapping[str, Any] | Sequence[Any] | NDArray[Any]) -> Counts:
        """Check `values` (a mapping, or a vector in the order of `keys`) and seal them. Errors never echo a value."""
        if isinstance(values, Mapping):
            for name in values:
                keys.position(name)
            missing = [name for name in keys if name not in values]
            if missing:
                raise UnknownKey(
                    f"No count was given for {missing[0]!r} ({len(missing):,} of {len(keys):,} keys missing).",
                    "Give 0 where nothing was counted: a missing key would tell that nobody was there.",
                )
            values = [values[name] for name in keys]
        return cls(keys, tick, Confidential(_whole(keys, values)))

    def __repr__(self) -> str:
        return f"Counts(tick={self.tick}, {len(self.keys):,} keys, {self.values!r})"


def _whole(keys: Keys, values: Sequence[Any] | NDArray[Any]) -> NDArray[np.int64]:
    """The values as a fresh int64 vector, or an error that names the key but never the value."""
    array = np.asarray(values)
    if array.shape != (len(keys),):
        raise InvalidCounts(f"Expected one count for each of {len(keys):,} keys; got shape {array.shape}.")
    if array.dtype.kind == "O":
        array = _from_objects(keys, array)
    if array.dtype.kind not in "iuf":
        raise InvalidCounts(
            f"Counts must be whole numbers; got values of type {array.dtype.name}.", "Convert them to int first."
        )
    if array.dtype.kind == "f":
        _refuse(keys, np.isnan(array), "is not a number", "Give 0 where nothing was counted, or leave the tick out.")
        _refuse(keys, np.isinf(array), "is infinite")
        _refuse(
            keys,
            array != np.floor(array),
            "is a fraction",
            "Count in a finer public unit (cents instead of euros) so that counts are whole.",
        )
    _refuse(keys, array < 0, "is negative", "Counts of people cannot be below zero.")
    _refuse(keys, array > MAX_COUNT, "is above 2^52", "Count in a coarser public unit.")
    return array.astype(np.int64)


def _from_objects(keys: Keys, array: NDArray[Any]) -> NDArray[Any]:
    """Python integers beyond 64 bits, None and other objects arrive as an object array."""
    kinds = np.array([isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in array])
    _refuse(keys, ~kinds, "is not a whole number", "Convert it to int first.")
    _refuse(keys, np.array([v > MAX_COUNT for v in array]), "is above 2^52", "Count in a coarser public unit.")
    _refuse(keys, np.array([v < 0 for v in array]), "is negative", "Counts of people cannot be below zero.")
    return array.astype(np.int64)


def _refuse(keys: Keys, wrong: NDArray[np.bool_], why: str, hint: str = "") -> None:
    if wrong.any():
        first = int(np.argmax(wrong))
        raise InvalidCounts(f"The count of {keys.names[first]!r} {why} ({int(wrong.sum()):,} such keys).", hint)
