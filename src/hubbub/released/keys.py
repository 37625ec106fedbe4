"""Named keys: the plainest domain."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, ClassVar

from hubbub.errors import InvalidParameter
from hubbub.released.domain import Domain


class Keys(Domain):
    """An ordered set of names, known to the public; position i of every vector of the stream belongs to name i.

    >>> keys = Keys(["front", "news"])
    >>> keys.position("news"), len(keys)
    (1, 2)
    """

    kind: ClassVar[str] = "keys"

    def __init__(self, names: Iterable[str]) -> None:
        self._names, self._positions = listed(names)

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    def position(self, name: str) -> int:
        try:
            return self._positions[name]
        except (KeyError, TypeError):
            raise self.unknown(name) from None

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "names": list(self._names)}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Keys:
        return cls(facts["names"])

    @cached_property
    def digest(self) -> str:
        # Of the bare list, as states have named it since the first version.
        return hashlib.sha256(json.dumps(self._names).encode()).hexdigest()

    def __len__(self) -> int:
        return len(self._names)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Keys) and self._names == other._names)

    def __hash__(self) -> int:
        return hash(self._names)

    def __repr__(self) -> str:
        shown = ", ".join(self._names[:3])
        return f"Keys({shown}{', …' if len(self) > 3 else ''}: {len(self):,})"


def listed(names: Iterable[str]) -> tuple[tuple[str, ...], dict[str, int]]:
    """The names and where each stands; refused if one is empty, twice there, or no name."""
    if isinstance(names, str):
        raise InvalidParameter(
            f"`keys` must be a list of names; got the single string {names!r}.", f"Use keys=[{names!r}]."
        )
    listing = tuple(names)
    if not listing:
        raise InvalidParameter("`keys` is empty: there would be nothing to count.", "Name at least one key.")
    for name in listing:
        if not isinstance(name, str) or not name:
            raise InvalidParameter(f"A key must be a non-empty string; got {name!r}.", "Write str(key) where needed.")
    positions = {name: i for i, name in enumerate(listing)}
    if len(positions) < len(listing):
        twice = next(name for i, name in enumerate(listing) if positions[name] != i)
        raise InvalidParameter(f"The key {twice!r} is listed twice; each key is one series.", "Remove one of them.")
    return listing, positions
