"""What does not protect: hiding items that fewer than k users have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hubbub.exact import whole


@dataclass(frozen=True, slots=True)
class KQueryAnonymity:
    """The exact counts of all items that at least `k` users have (Adar 2007). **No guarantee**: a baseline.

    Whoever can write to the log undoes it: k - 1 invented users who type a guess make the item appear exactly if one
    real user typed it, too. Two lists, before and after somebody came, differ by that somebody. See docs/items.md.

    >>> log = [(f"fake {i}", "ann has gout") for i in range(9)] + [("ann", "ann has gout")]
    >>> KQueryAnonymity(10).publish(log), KQueryAnonymity(10).publish(log[:-1])
    ({'ann has gout': 10}, {})
    """

    k: int

    def __post_init__(self) -> None:
        whole(self.k, "k")

    def publish(self, pairs: Iterable[tuple[str, str]]) -> dict[str, int]:
        """Items with their exact counts, from pairs of user and item. Takes plain pairs: nothing here is protected."""
        counts: dict[str, int] = {}
        for _, item in set(pairs):
            counts[item] = counts.get(item, 0) + 1
        return {item: count for item, count in sorted(counts.items()) if count >= self.k}
