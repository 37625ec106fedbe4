"""What must not be given away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from hubbub.errors import InvalidParameter, UnknownKey
from hubbub.personal.combined import Combined
from hubbub.personal.hierarchy import ContextHierarchy
from hubbub.personal.node import Node


@dataclass(frozen=True)
class Sensitive:
    """That somebody is in one of the contexts below these nodes.

    | | protects |
    |---|---|
    | `Sensitive("clinic")` | that you are in the clinic, or in any context below the node of that name |
    | `Sensitive("clinic", "bar")` | that you are in one of the two |
    | `Sensitive({"place": "clinic"})` | that you are in the clinic, whatever the other attributes are |

    Two secrets that are kept each for itself are two of these.
    """

    names: tuple[str | Mapping[str, str], ...]

    def __init__(self, *names: str | Mapping[str, str]) -> None:
        sound = all(isinstance(name, str) or (isinstance(name, Mapping) and name) for name in names)
        if not names or not sound:
            raise InvalidParameter(
                "A sensitive thing is named by one or more nodes of the hierarchy.",
                'Write Sensitive("clinic"), or Sensitive({"place": "clinic"}) for one of several attributes.',
            )
        object.__setattr__(self, "names", names)

    def within(self, hierarchy: ContextHierarchy) -> Within:
        """The same as boxes of contexts, of which none holds a part of another."""
        boxes = [_box(hierarchy, name) for name in self.names]
        for place, box in enumerate(boxes):
            for other in boxes[place + 1 :]:
                if all(one.shared(two) for one, two in zip(box, other, strict=True)):
                    raise InvalidParameter(
                        "Two names of a sensitive thing have contexts in common, which would count twice.",
                        "Leave out the smaller one; where they only overlap, name the parts.",
                    )
        return Within(tuple(boxes))

    def __str__(self) -> str:
        said = [name if isinstance(name, str) else ", ".join(f"{k} {v}" for k, v in name.items()) for name in
                self.names]  # fmt: skip
        return " or ".join(said)


@dataclass(frozen=True)
class Within:
    """Boxes: one node of each attribute (of a single hierarchy, the node itself)."""

    boxes: tuple[tuple[Node, ...], ...]

    def inside(self, node: Node) -> int:
        """How many sensitive contexts lie below a node."""
        parts = node.parts or (node,)
        return sum(prod(one.shared(part) for one, part in zip(box, parts, strict=True)) for box in self.boxes)


def _box(hierarchy: ContextHierarchy, name: str | Mapping[str, str]) -> tuple[Node, ...]:
    try:
        if not isinstance(hierarchy, Combined):
            if not isinstance(name, str):
                raise InvalidParameter(
                    "This hierarchy has one attribute only.", 'Write Sensitive("clinic"), without an attribute.'
                )
            return (hierarchy.named(name),)
        if isinstance(name, str):
            return hierarchy.named(name).parts
        if not set(name) <= set(hierarchy.attributes):
            raise InvalidParameter(
                "A sensitive thing names an attribute that the hierarchy does not have.",
                f"There are {', '.join(hierarchy.attributes)}.",
            )
        return tuple(
            part.named(name[attribute]) if attribute in name else part.root
            for attribute, part in hierarchy.attributes.items()
        )
    except UnknownKey:
        raise UnknownKey(
            "A sensitive thing is not a node of the hierarchy.", "Name a context, or a node that covers it."
        ) from None


def as_sensitive(given: Sequence[Sensitive | str | Mapping[str, str]]) -> tuple[Sensitive, ...]:
    if isinstance(given, (str, Mapping, Sensitive)):
        given = [given]
    return tuple(one if isinstance(one, Sensitive) else Sensitive(one) for one in given)
