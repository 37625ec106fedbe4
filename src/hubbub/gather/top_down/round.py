"""What a client is told of one round: which number means what. All of it is public."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hubbub.errors import InvalidInput, QueryMismatch
from hubbub.exact import whole
from hubbub.gather.query import Query
from hubbub.gather.top_down.own_entries import Entry
from hubbub.gather.top_down.tree import ContextTree

VERSION = 1


@dataclass(frozen=True)
class Round:
    """One level of a walk: of each of `nodes`, how often each of its items was shown and clicked; of each of `below`,
    how many entries lie there.

    Its digest is in the name of its query, so servers and clients who agree about the query agree about this.
    With `picks` every entry is a click, and an item has one number instead of two.
    """

    walk: str
    level: int
    levels: int
    tree: str
    """The digest of the hierarchy."""
    max_items: int
    nodes: tuple[str, ...]
    items: tuple[tuple[str, ...], ...]
    below: tuple[str, ...]
    picks: bool = False

    @property
    def query_name(self) -> str:
        """What the query is called that asks for this, and no other."""
        digest = hashlib.sha256(b"hubbub gather round\n" + _text(self.to_dict()).encode()).hexdigest()
        return f"{self.walk}, level {self.level + 1} of {self.levels}, asks {digest[:32]}"

    @property
    def length(self) -> int:
        """How many numbers a client answers with."""
        return self.outcomes * sum(map(len, self.items)) + len(self.below)

    @property
    def outcomes(self) -> int:
        return 1 if self.picks else 2

    @property
    def weight(self) -> int:
        """What the numbers of one client add up to at most: an entry counts for its item, and in the level below."""
        return max(1, self.max_items * (bool(sum(map(len, self.items))) + bool(self.below)))

    @cached_property
    def places(self) -> dict[tuple[str, str], int]:
        """Where a node's item has its first number: shown without a click, then clicked; or picked alone."""
        pairs = ((node, item) for node, some in zip(self.nodes, self.items, strict=True) for item in some)
        return {pair: self.outcomes * at for at, pair in enumerate(pairs)}

    @cached_property
    def places_below(self) -> dict[str, int]:
        first = self.length - len(self.below)
        return {name: first + at for at, name in enumerate(self.below)}

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each number, all different: JSON lists of node, item and outcome, or of a node below."""
        outcomes = ("picked",) if self.picks else ("not clicked", "clicked")
        of_items = [(*pair, outcome) for pair in self.places for outcome in outcomes]
        return tuple(json.dumps(one, ensure_ascii=False) for one in [*of_items, *((name,) for name in self.below)])

    def vector(self, tree: ContextTree, entries: Sequence[Entry]) -> list[int]:
        """A client's answer: each entry counts once for its item, and once in the level below."""
        numbers = [0] * self.length
        asked = set(self.nodes)
        for entry in entries[: self.max_items]:
            path = [node.name for node in tree.path(entry.context)]
            here = next((name for name in path if name in asked), None)
            place = None if here is None else self.places.get((here, entry.item))
            if place is not None:
                numbers[place + (entry.clicked and not self.picks)] += 1
            lower = next((self.places_below[name] for name in path if name in self.places_below), None)
            if lower is not None:
                numbers[lower] += 1
        return numbers

    def expect(self, query: Query) -> None:
        """Refuse a query that asks for something else."""
        if query.name != self.query_name:
            raise QueryMismatch("This round and this query are not about the same numbers.")

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "version": VERSION, "walk": self.walk, "level": self.level, "levels": self.levels, "tree": self.tree,
            "max_items": self.max_items, "nodes": list(self.nodes), "items": [list(some) for some in self.items],
            "below": list(self.below), "picks": self.picks,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, data: Any) -> Round:
        """The inverse of `to_dict`; whatever is not one is refused."""
        try:
            if data["version"] != VERSION:
                raise InvalidInput(f"A round of version {data['version']!r}; this program knows {VERSION}.", "Update.")
            made = cls(
                str(data["walk"]), whole(data["level"] + 1, "level") - 1, whole(data["levels"], "levels"),
                str(data["tree"]), whole(data["max_items"], "max_items"), tuple(data["nodes"]),
                tuple(tuple(some) for some in data["items"]), tuple(data["below"]), bool(data["picks"]),
            )  # fmt: skip
            sound = _text(made.to_dict()) == _text(data) and len(made.items) == len(made.nodes)
            sound = sound and len(made.places) * made.outcomes + len(made.places_below) == made.length
        except (AttributeError, KeyError, TypeError) as error:
            raise InvalidInput(f"This is no round: {type(error).__name__}.", "Was it changed on the way?") from None
        if not sound:
            raise InvalidInput("This round does not say what it means.", "Was it changed on the way?")
        return made


def _text(facts: Any) -> str:
    return json.dumps(facts, sort_keys=True, separators=(",", ":"))
