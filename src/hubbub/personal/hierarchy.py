"""What every hierarchy of contexts can do."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar

from hubbub.errors import InvalidInput, InvalidParameter, UnknownKey
from hubbub.personal.node import Node

KINDS: dict[str, type[ContextHierarchy]] = {}


class ContextHierarchy(ABC):
    """A public tree whose leaves are contexts, numbered so that those below any node follow one another.

    | kind | contexts | class |
    |---|---|---|
    | `categories` | names with parents: categories, queries, zones, hexagons, cells of a grid | `Categories` |
    | `decimals` | latitude and longitude, cut after so many decimals; no cell is kept | `Decimals` |
    | `combined` | one of each of several hierarchies, made coarser one at a time | `Combined` |

    It is public: it is made before anybody's context is seen, and no context ever changes it.
    """

    kind: ClassVar[str]

    def __init_subclass__(cls) -> None:
        KINDS[cls.kind] = cls

    @property
    @abstractmethod
    def root(self) -> Node:
        """The top: nothing is said."""

    @abstractmethod
    def children(self, node: Node) -> Sequence[Node]:
        """In the order of their contexts; none below a context."""

    @abstractmethod
    def path(self, context: Any) -> tuple[Node, ...]:
        """From the top down to this context; `UnknownKey` if it is none."""

    @abstractmethod
    def named(self, name: str) -> Node:
        """The node of this name; `UnknownKey` if there is none."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, from which a client works too."""

    @property
    def contexts(self) -> int:
        """How many there are."""
        return self.root.leaves

    @abstractmethod
    def is_context(self, node: Node) -> bool:
        """Whether nothing lies below it."""

    def leaf(self, context: Any) -> int:
        """The number of a context."""
        return self.path(context)[-1].first

    @abstractmethod
    def way(self, leaf: int) -> tuple[Node, ...]:
        """From the top down to the context with this number."""

    def leaves(self, node: Node | None = None) -> Iterator[Node]:
        """All contexts below a node, one after the other."""
        top = self.root if node is None else node
        return (self.way(number)[-1] for number in range(top.first, top.first + top.leaves))

    @cached_property
    def digest(self) -> str:
        """The same for equal hierarchies, and for no others."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ContextHierarchy) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


def hierarchy_from(facts: Any) -> ContextHierarchy:
    """The hierarchy that `to_dict` described.

    >>> hierarchy_from({"kind": "decimals", "south": 61, "west": -150, "north": 62, "east": -149, "digits": 2})
    Decimals(61,-150 to 62,-149, 2 digits)
    """
    try:
        described = dict(facts)
        return KINDS[described.pop("kind")]._from(described)  # type: ignore[attr-defined, no-any-return]
    except (KeyError, TypeError, AttributeError, RecursionError):
        raise InvalidInput(
            "This is not the description of a hierarchy of contexts.",
            "Give what `to_dict` made, or write it as docs/personal.md shows.",
        ) from None


def check_words(names: Iterable[str]) -> None:
    """Refuse what no file and no request can hold: half of a character that takes two places in UTF-16."""
    try:
        "".join(names).encode()
    except UnicodeEncodeError:
        raise InvalidParameter(
            "A name holds half a character (a lone surrogate), which cannot be written in UTF-8.",
            "Read the names as UTF-8, or name it otherwise.",
        ) from None
    except TypeError:
        raise InvalidParameter("A name is no text.", "Name everything by texts.") from None


def unknown_context() -> UnknownKey:
    # Which one it was may be what the person hides.
    return UnknownKey(
        "A context is not among the hierarchy's.",
        "Add it to the hierarchy on both sides, or name the context that it belongs to.",
    )


def unknown_node() -> UnknownKey:
    return UnknownKey(
        "There is no such node in the hierarchy.", "Client and server must have the same hierarchy: compare `digest`."
    )
