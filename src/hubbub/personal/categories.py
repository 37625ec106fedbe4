"""A hierarchy of names with parents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from hubbub.errors import InvalidParameter
from hubbub.personal.hierarchy import ContextHierarchy, check_words, unknown_context, unknown_node
from hubbub.personal.node import Node
from hubbub.released import Hierarchy

ANYTHING = "*"
"""The top that is added where several nodes have no parent."""


class Places(Protocol):
    """A public map, such as `Grid`, `Hexagons` or `Zones`: places by name."""

    @property
    def names(self) -> Sequence[str]: ...


class Categories(ContextHierarchy):
    """Each node's name with its parent's, None at the top. Nodes without children are contexts.

    >>> food = Categories({"food": None, "cafe": "food", "bar": "food", "espresso": "cafe", "tea": "cafe"})
    >>> food.contexts, [node.name for node in food.path("tea")], food.named("cafe").leaves
    (3, ['food', 'cafe', 'tea'], 2)
    """

    kind: ClassVar[str] = "categories"

    def __init__(self, parents: Mapping[str, str | None]) -> None:
        if not isinstance(parents, Mapping) or not all(isinstance(name, str) and name for name in parents):
            raise InvalidParameter(
                "A hierarchy of categories is a mapping from each node's name to its parent's, or to None.",
                'Give {"food": None, "cafe": "food"}.',
            )
        given = dict(parents)
        check_words(given)
        if not given:
            raise InvalidParameter("A hierarchy has at least one context.", 'Give {"food": None, "cafe": "food"}.')
        tops = [name for name, parent in given.items() if parent is None]
        if len(tops) > 1:
            if ANYTHING in given:
                raise InvalidParameter(
                    f"Several nodes are at the top, and a node is called {ANYTHING!r}, which is the top above them.",
                    "Give all but one a parent.",
                )
            given = {ANYTHING: None, **{name: parent or ANYTHING for name, parent in given.items()}}
        tree = Hierarchy(given)  # refuses circles and parents that are not listed
        below: dict[str | None, list[str]] = {}
        for name in tree.names:
            below.setdefault(given[name], []).append(name)
        self._nodes: dict[str, Node] = {}
        self._children: dict[str, tuple[str, ...]] = {name: tuple(below.get(name, ())) for name in tree.names}
        self._parents = given
        self._order: list[str] = []
        self._lay_out(below[None][0])
        self._contexts = [name for name in self._order if not self._children[name]]

    @classmethod
    def over(cls, places: Places | Iterable[str], *levels: Callable[[str], str] | Mapping[str, str]) -> Categories:
        """Contexts with names, and for each level upwards what a name belongs to, as a function or a mapping.

        For hexagons: `Categories.over(hexagons, lambda cell: h3.cell_to_parent(cell, 7))`; for zones a mapping from
        each to its district.

        >>> Categories.over(["a1", "a2", "b1"], {"a1": "a", "a2": "a", "b1": "b"}).named("a").leaves
        2
        """
        here = list(places.names if hasattr(places, "names") else places)
        parents: dict[str, str | None] = {}
        for level in levels:
            above: dict[str, None] = {}
            for name in here:
                try:
                    parent = level[name] if isinstance(level, Mapping) else level(name)
                except (KeyError, ValueError):
                    raise InvalidParameter(
                        f"A level does not say what {name!r} belongs to.", "Every name needs one above it."
                    ) from None
                if parent in parents or parent in here:
                    raise InvalidParameter(
                        f"{parent!r} stands on two levels.", "Give nodes of different levels different names."
                    )
                parents[name] = parent
                above[parent] = None
            here = list(above)
        return cls({**dict.fromkeys(reversed(here)), **dict(reversed(parents.items()))})

    @classmethod
    def of_grid(cls, columns: int, rows: int) -> Categories:
        """Cells "column,row" of a `Grid`, in blocks of 2 by 2, 4 by 4 and so on, up to the whole.

        >>> [node.name for node in Categories.of_grid(4, 4).path("3,2")]
        ['0,0 x4', '2,2 x2', '3,2']
        """
        if not all(isinstance(number, int) and 1 <= number <= 4096 for number in (columns, rows)):
            raise InvalidParameter(f"A grid has 1 to 4,096 columns and rows; got {columns!r} and {rows!r}.")
        sizes = [1]
        while sizes[-1] < max(columns, rows):
            sizes.append(2 * sizes[-1])

        def name(x: int, y: int, size: int) -> str:
            return f"{x},{y}" if size == 1 else f"{x},{y} x{size}"

        parents: dict[str, str | None] = {}
        for size, above in zip(reversed(sizes), [None, *reversed(sizes[1:])], strict=True):
            for y in range(0, rows, size):
                for x in range(0, columns, size):
                    up = None if above is None else name(x // above * above, y // above * above, above)
                    parents[name(x, y, size)] = up
        return cls(parents)

    def _lay_out(self, top: str) -> None:
        """Number the contexts from left to right; by a list of its own, since trees may be deeper than Python's."""
        waiting: list[tuple[str, int, bool]] = [(top, 0, False)]
        first: dict[str, int] = {}
        number = 0
        while waiting:
            name, depth, done = waiting.pop()
            if done:
                self._nodes[name] = Node(name, first[name], number - first[name], depth)
                continue
            self._order.append(name)
            first[name] = number
            waiting.append((name, depth, True))
            children = self._children[name]
            number += not children
            waiting.extend((child, depth + 1, False) for child in reversed(children))

    @property
    def root(self) -> Node:
        return self._nodes[self._order[0]]

    def children(self, node: Node) -> Sequence[Node]:
        return [self._nodes[name] for name in self._children[node.name]]

    def is_context(self, node: Node) -> bool:
        return not self._children[node.name]

    def path(self, context: Any) -> tuple[Node, ...]:
        if not isinstance(context, str) or self._children.get(context, ("unknown",)):
            raise unknown_context()
        return self._up(context)

    def way(self, leaf: int) -> tuple[Node, ...]:
        return self._up(self._contexts[range(len(self._contexts))[leaf]])

    def _up(self, name: str) -> tuple[Node, ...]:
        found, here = [], name
        while here is not None:
            found.append(self._nodes[here])
            here = self._parents[here]  # type: ignore[assignment]
        return tuple(reversed(found))

    def named(self, name: str) -> Node:
        try:
            return self._nodes[name]
        except (KeyError, TypeError):
            raise unknown_node() from None

    def to_dict(self) -> dict[str, Any]:
        places = {name: place for place, name in enumerate(self._order)}
        above = [-1 if (up := self._parents[name]) is None else places[up] for name in self._order]
        return {"kind": self.kind, "names": list(self._order), "parents": above}

    @classmethod
    def _from(cls, facts: Mapping[str, Any]) -> Categories:
        names, above = list(facts["names"]), list(facts["parents"])
        if (
            len(set(names)) != len(above)
            or len(names) != len(above)
            or not all(isinstance(up, int) and -1 <= up < len(names) for up in above)
        ):
            raise KeyError
        return cls({name: None if up < 0 else names[up] for name, up in zip(names, above, strict=True)})

    def __repr__(self) -> str:
        return f"Categories({self.contexts:,} contexts, {len(self._nodes):,} nodes)"
