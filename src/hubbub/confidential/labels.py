"""Counts that bring their names along, whatever they are kept in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from hubbub.errors import InvalidCounts

_BY_NAME = "Give a mapping of names to counts; or a plain list in the order of the keys, if that is what is meant."


def named(values: Any) -> Mapping[str, Any] | None:
    """The counts by name, if they have names; None where all that is known of each is its place.

    Mappings have names, and so have a Series of pandas whose index was set, a row of a table, of a database and a named
    tuple. The numbers from 0 on that a Series has by itself say nothing.

    >>> from collections import namedtuple
    >>> named(namedtuple("Row", "news front")(240, 812)), named([240, 812])
    ({'news': 240, 'front': 812}, None)
    """
    if isinstance(values, Mapping):
        return values
    if isinstance(values, np.ndarray) or type(values) in (list, tuple):
        return None
    if hasattr(values, "columns"):  # its rows and columns may stand in another order than the keys
        raise InvalidCounts(
            f"A tick is one count per key; got a table ({type(values).__name__}).",
            "Give its one row by name, e.g. as a mapping; of a grid, its bare cells (`to_numpy()`), row by row.",
        )
    if _is_bare(getattr(values, "index", None)):
        return None
    pairs = _pairs(values)
    return None if pairs is None else _told(pairs)


def _pairs(values: Any) -> Iterable[tuple[Any, Any]] | None:
    if callable(getattr(values, "items", None)):
        found: Iterable[tuple[Any, Any]] = values.items()
        return found
    if isinstance(values, tuple) and hasattr(values, "_fields"):
        return zip(values._fields, values, strict=True)
    if callable(getattr(values, "keys", None)):
        return zip(values.keys(), values, strict=True)
    return None


def _told(pairs: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    """The pairs as a mapping. A label that is no name is not echoed: it may have come out of the data."""
    told: dict[str, Any] = {}
    for name, value in pairs:
        if not isinstance(name, str):
            raise InvalidCounts(f"Counts came with labels that are no names (of type {type(name).__name__}).", _BY_NAME)
        if name in told:
            raise InvalidCounts("Counts came with a label twice.", "Add them up first: one count per key.")
        told[name] = value
    return told


def _is_bare(index: Any) -> bool:
    """Whether it is the index that pandas gives to what has none."""
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)
