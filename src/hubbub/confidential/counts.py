"""The confidential vector of one tick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential.confidential import Confidential
from hubbub.confidential.gathered import Gathered
from hubbub.confidential.labels import named
from hubbub.errors import InvalidCounts, UnknownKey
from hubbub.released import Domain, Tick

MAX_COUNT = 2**52
"""Above this a count plus its noise could leave what a 64-bit float holds exactly."""

_BOOLEANS = {bool, np.bool_}


@dataclass(frozen=True, slots=True)
class Counts(Gathered):
    """How often each key occurred in one tick, before any noise.

    >>> from hubbub.released import Keys
    >>> keys = Keys(["front", "news"])
    >>> Counts.of(keys, Tick(0), {"front": 812, "news": 240})
    Counts(tick=0, 2 keys, <confidential>)
    >>> Counts.of(keys, Tick(0), {"front": 812})
    Traceback (most recent call last):
    ...
    hubbub.errors.UnknownKey: No count was given for 'news' (1 of 2 keys missing). ...
    """

    keys: Domain
    tick: Tick
    values: Confidential[NDArray[np.int64]]

    @classmethod
    def of(cls, keys: Domain, tick: Tick, values: Mapping[str, Any] | Sequence[Any] | NDArray[Any]) -> Counts:
        """Check `values` and seal them. Errors never echo a value.

        They are a mapping or anything else that brings names along (a labelled Series of pandas, a row), a vector in
        the order of `keys`, or (for a grid) a table in the shape of `keys`.
        """
        by_name = named(values)
        ordered: Any = values if by_name is None else _in_order(keys, by_name)
        return cls(keys, tick, Confidential(_whole(keys, ordered)))

    def __repr__(self) -> str:
        return f"Counts(tick={self.tick}, {len(self.keys):,} {self.keys.noun}s, {self.values!r})"


def _in_order(keys: Domain, values: Mapping[str, Any]) -> list[Any]:
    """The values by position. Names are looked up, never listed: a grid would have to make a million of them."""
    ordered: list[Any] = [None] * len(keys)
    for name, value in values.items():
        ordered[keys.position(name)] = value
    missing = len(keys) - len(values)
    if missing:
        first = next(name for name in keys if name not in values)
        raise UnknownKey(
            f"No count was given for {first!r} ({missing:,} of {len(keys):,} {keys.noun}s missing).",
            "Give 0 where nothing was counted: a missing key would tell that nobody was there.",
        )
    return ordered


def _refuse_booleans(keys: Domain, values: Sequence[Any]) -> None:
    """NumPy makes a number of a boolean that stands among numbers."""
    if _BOOLEANS & set(map(type, values)):
        _refuse(
            keys,
            np.array([type(value) in _BOOLEANS for value in values]),
            "is a boolean, not a number",
            "Give how many were counted; for one that is there or not, 0 or 1.",
        )


def _whole(keys: Domain, values: Sequence[Any] | NDArray[Any]) -> NDArray[np.int64]:
    """The values as a fresh int64 vector, or an error that names the key but never the value."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, OverflowError):  # lists of several lengths; may quote a value
        raise InvalidCounts(
            f"Expected one count for each of {len(keys):,} {keys.noun}s; got lists among them.", "Give one number each."
        ) from None
    if array.shape not in ((len(keys),), keys.shape):
        raise InvalidCounts(f"Expected one count for each of {len(keys):,} {keys.noun}s; got shape {array.shape}.")
    if array.dtype.kind in "iuf" and not isinstance(values, np.ndarray):
        _refuse_booleans(keys, list(chain.from_iterable(values)) if array.ndim > 1 else values)
    array = array.reshape(-1)
    if array.dtype.kind == "O":
        array = _from_objects(keys, array)
    if array.dtype.kind not in "iuf":
        raise InvalidCounts(
            f"Counts must be whole numbers; got values of type {array.dtype.type.__name__}.",
            "Convert them to int first.",
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


def _from_objects(keys: Domain, array: NDArray[Any]) -> NDArray[Any]:
    """Python integers beyond 64 bits, None and other objects arrive as an object array."""
    kinds = np.array([isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in array])
    _refuse(keys, ~kinds, "is not a whole number", "Convert it to int first.")
    _refuse(keys, np.array([v > MAX_COUNT for v in array]), "is above 2^52", "Count in a coarser public unit.")
    _refuse(keys, np.array([v < 0 for v in array]), "is negative", "Counts of people cannot be below zero.")
    return array.astype(np.int64)


def _refuse(keys: Domain, wrong: NDArray[np.bool_], why: str, hint: str = "") -> None:
    if wrong.any():
        first = int(np.argmax(wrong))
        raise InvalidCounts(f"The count of {keys.names[first]!r} {why} ({int(wrong.sum()):,} such {keys.noun}s).", hint)
