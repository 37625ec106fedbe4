"""What a stream counts: known to the public before the first count, or released like everything else."""

from __future__ import annotations

import hashlib
import importlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from hubbub.errors import SchemaMismatch, UnknownKey

_KINDS: dict[str, type[Domain]] = {}

_ELSEWHERE = {
    "hexagons": "hubbub.spatial.hexagons",
    "road-cells": "hubbub.spatial.road_map",
    "road-grid": "hubbub.spatial.road_map",
    "zones": "hubbub.spatial.zones",
}
"""Kinds whose classes stand in rooms above this one, loaded when one of them is read: a store may hold a map, and be
opened by a program that never thought of maps."""


class Domain(ABC):
    """An ordered set of keys; position i of every vector of the stream belongs to key i.

    | kind | what is counted | class |
    |---|---|---|
    | `keys` | a list of names | `Keys` |
    | `grid` | cells in columns and rows; no name is kept for any of them | `Grid` |
    | `hierarchy` | nodes, each with a parent or at the top | `Hierarchy` |
    | `discovered` | names that a release found, for as long as it says | `Discovered` |
    | `hexagons`, `zones`, `road-grid`, `road-cells` | places of a map | `hubbub.spatial` |

    A domain is a value: two are equal if they count the same in the same order. `to_dict` is what the store keeps and
    what a stream's promise is made about; `domain_from` reads it again.
    """

    kind: ClassVar[str]

    def __init_subclass__(cls) -> None:
        _KINDS[cls.kind] = cls

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """The name of each key. It may be made when asked for: a grid of a million cells keeps none."""

    @abstractmethod
    def position(self, name: str) -> int:
        """Where the key of this name stands; `UnknownKey` if there is none."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values from which the same domain can be made."""

    @classmethod
    @abstractmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Domain: ...

    @property
    def shape(self) -> tuple[int, ...]:
        """How a vector of this domain is laid out for people: flat, or as rows and columns."""
        return (len(self),)

    @property
    def reach(self) -> int:
        """In how many keys one and the same thing may count at once; a unit's `max_items` must allow for as many."""
        return 1

    @property
    def noun(self) -> str:
        """What one of them is called in a sentence."""
        return "key"

    @cached_property
    def digest(self) -> str:
        """The same for equal domains, and for no others; a stored state names its domain by it."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()

    def unknown(self, name: object) -> UnknownKey:
        return UnknownKey(
            f"The {self.noun} {name!r} is not one of the stream's {len(self):,} {self.noun}s.",
            "Keys change by a released decision alone, since a new key would itself tell of someone.",
        )

    @abstractmethod
    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and self.position(name) >= 0
        except UnknownKey:
            return False

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Domain) and self.kind == other.kind and self.digest == other.digest

    def __hash__(self) -> int:
        return hash((self.kind, self.digest))


def domain_from(facts: Mapping[str, Any] | Sequence[str]) -> Domain:
    """The domain that `to_dict` described. A bare list is one of named keys.

    >>> domain_from(["front", "news"])
    Keys(front, news: 2)
    >>> domain_from({"kind": "grid", "columns": 3, "rows": 2})
    Grid(3 x 2)
    """
    described = {"kind": "keys", "names": facts} if not isinstance(facts, Mapping) else dict(facts)
    kind = described.pop("kind", None)
    if kind not in _KINDS and kind in _ELSEWHERE:
        importlib.import_module(_ELSEWHERE[kind])
    if kind not in _KINDS:
        raise SchemaMismatch(
            f"The stream counts by a domain of kind {kind!r}, which this version of Hubbub does not know.",
            "Use the version that made it.",
        )
    return _KINDS[kind].from_dict(described)
