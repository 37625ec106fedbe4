"""The list that anyone may see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import UnknownKey
from hubbub.itemlogs.claim import Claim
from hubbub.released import Value
from hubbub.released.patterns import LEAST, Pattern, patterns_of
from hubbub.released.shown import ROWS, Shown, more

COUNTED = (
    "A count is the noisy number of users who have the item, where each user counts for at most {m} items: {which}. "
    "Who has more of them is missing from the others, so counts may lie below the number of all who have an item."
)
CARD = (
    "Left out: every item that too few users share, that is too long, or that is no plain text. How many items, rows "
    "or users that were is not told, and the length of the list is as noisy as the list.",
    "An item that is missing may be frequent all the same; an item that is here may be less frequent than it looks.",
    "A threshold counts users. It does not know what an item says: one person's secret that many typed (a leaked "
    "password, an address in the news) passes it. Read a list before you publish it, and take out of it what you like: "
    "that costs nothing.",
    "Another list from the same log, or about the same users, adds to what this one reveals.",
)
"""What every list is handed out with."""


@dataclass(frozen=True, eq=False)
class Published:
    """Items with noisy counts, the most frequent first, and all that must be said beside them.

    >>> from hubbub.itemlogs.zealous import Zealous
    >>> from hubbub.itemlogs.log import ItemLog
    >>> log = ItemLog.of([(f"user {i}", "weather") for i in range(500)] + [("ann", "rare")])
    >>> published = Zealous(1, "1e-6", max_items=2).publish(log)
    >>> published, list(published), published["weather"].value > 400
    (<Published: 1 item, by zealous, epsilon = 1, delta = 1e-6 for each user>, ['weather'], True)
    """

    items: tuple[str, ...]
    counts: NDArray[np.int64] | None
    standard_error: NDArray[np.float64] | None
    lower: NDArray[np.float64] | None
    upper: NDArray[np.float64] | None
    method: str
    claim: Claim
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Public numbers of the method: thresholds, scales, how the budget was divided."""

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        counts: NDArray[np.int64] | None,
        standard_error: NDArray[np.float64] | None,
        lower: NDArray[np.float64] | None,
        upper: NDArray[np.float64] | None,
        *,
        method: str,
        claim: Claim,
        facts: Mapping[str, Any],
    ) -> Published:
        """In an order that tells nothing: by noisy count, then by name; never that of the log."""
        order = sorted(range(len(names)), key=lambda i: (0 if counts is None else -int(counts[i]), names[i]))
        place = np.array(order, dtype=np.intp)
        return cls(
            tuple(names[i] for i in order),
            None if counts is None else counts[place],
            None if standard_error is None else standard_error[place],
            None if lower is None else lower[place],
            None if upper is None else upper[place],
            method,
            claim,
            facts,
        )

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[str]:
        return iter(self.items)

    def __contains__(self, item: object) -> bool:
        return item in self._places

    def __getitem__(self, item: str) -> Value:
        """The noisy count of an item; one that was not published is unknown, which is not zero."""
        if item not in self._places:
            raise UnknownKey("The list has no such item.", "What is not in it may be rare or frequent: it is unknown.")
        return self._value(self._places[item])

    def value_at(self, place: int) -> Value:
        """The noisy count of the item at a place of the list, from 0."""
        return self._value(range(len(self.items))[place])

    @property
    def has_counts(self) -> bool:
        return self.counts is not None

    @property
    def guarantee(self) -> dict[str, Any]:
        """The promise for programs."""
        return self.claim.to_dict()

    @property
    def card(self) -> tuple[str, ...]:
        """What whoever uses the list should know."""
        m = f"{self.claim.max_items:,}"
        which = "drawn by lot from all of theirs" if self.method == "zealous" else "drawn by lot from those in the list"
        said = COUNTED.format(m=m, which=which) if self.has_counts else "There are no counts, only items."
        return (self.claim.sentence, said, *CARD)

    @property
    def shown(self) -> Shown:
        rows = [
            [item, str(self.value_at(i))] if self.has_counts else [item] for i, item in enumerate(self.items[:ROWS])
        ]
        columns = ["item", "users"] if self.has_counts else ["item"]
        return Shown(f"{_items(len(self))}, by {self.method}", columns, rows, more(len(self), "items"))

    def to_dict(self) -> dict[str, Any]:
        """One JSON document with everything."""
        return {
            "kind": "hubbub items",
            "version": 1,
            "method": self.method,
            "guarantee": self.guarantee,
            "facts": dict(self.facts),
            "card": list(self.card),
            "items": [
                {"item": item, **(self.value_at(i).to_dict() if self.has_counts else {})}
                for i, item in enumerate(self.items)
            ],
        }

    def patterns(self, least: int = LEAST) -> list[Pattern]:
        """Patterns for keys that at least so many of the items share: `/article/*` for `/article/12345` and its like.

        They are made from the published names, and cost nothing. Which of them are used is for people to decide.
        """
        return patterns_of(self.items, least)

    def write(self, path: str | Path) -> None:
        """As .csv (with the guarantee and the card beside it as .card.json), .json or .parquet."""
        from hubbub.itemlogs.published_files import write

        write(self, Path(path))

    def _repr_html_(self) -> str:
        from html import escape

        return self.shown.html + "".join(f"<p><small>{escape(text)}</small></p>" for text in self.card)

    def __str__(self) -> str:
        return str(self.shown)

    def __repr__(self) -> str:
        return f"<Published: {_items(len(self))}, by {self.method}, {self.claim.short}>"

    @property
    def _places(self) -> dict[str, int]:
        known: dict[str, int] | None = self.__dict__.get("_known")
        if known is None:
            known = {item: i for i, item in enumerate(self.items)}
            object.__setattr__(self, "_known", known)
        return known

    def _value(self, i: int) -> Value:
        if self.counts is None or self.standard_error is None or self.lower is None or self.upper is None:
            return Value(float("nan"), float("nan"), float("nan"), float("nan"))
        return Value(float(self.counts[i]), float(self.standard_error[i]), float(self.lower[i]), float(self.upper[i]))


def _items(count: int) -> str:
    return "1 item" if count == 1 else f"{count:,} items"
