"""The public domain of a stream: what is counted, in which order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from hubbub.errors import InvalidParameter, UnknownKey


class Keys:
    """An ordered set of names, known to the public; position i of every vector of the stream belongs to name i.

    >>> keys = Keys(["front", "news"])
    >>> keys.position("news"), len(keys)
    (1, 2)
    """

    def __init__(self, names: Iterable[str]) -> None:
        if isinstance(names, str):
            raise InvalidParameter(
                f"`keys` must be a list of names; got the single string {names!r}.", f"Use keys=[{names!r}]."
            )
        self.names: tuple[str, ...] = tuple(names)
        if not self.names:
            raise InvalidParameter("`keys` is empty: there would be nothing to count.", "Name at least one key.")
        for name in self.names:
            if not isinstance(name, str) or not name:
                raise InvalidParameter(
                    f"A key must be a non-empty string; got {name!r}.", "Write str(key) where needed."
                )
        if len(self._positions) < len(self.names):
            twice = next(name for i, name in enumerate(self.names) if self._positions[name] != i)
            raise InvalidParameter(f"The key {twice!r} is listed twice; each key is one series.", "Remove one of them.")

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def position(self, name: str) -> int:
        try:
            return self._positions[name]
        except KeyError:
            raise UnknownKey(
                f"The key {name!r} is not one of the stream's {len(self):,} keys.",
                "Keys are fixed when a stream is made, since a new key would itself tell of someone.",
            ) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._positions

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Keys) and self.names == other.names

    def __hash__(self) -> int:
        return hash(self.names)

    def __repr__(self) -> str:
        shown = ", ".join(self.names[:3])
        return f"Keys({shown}{', …' if len(self) > 3 else ''}: {len(self):,})"
