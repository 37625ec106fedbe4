"""A plan of a list: coverage against precision, for each choice of `max_items`, epsilon and delta."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from hubbub.released.shown import Shown


@dataclass(frozen=True, slots=True)
class ItemExpectation:
    """What one choice gives on average: a line of the plan.

    `coverage` is the share of the most frequent items that are published, `uses` the share of all pairs of user and
    item whose item is, `error` how far the counts of the former are off (None where none is published).
    """

    method: str
    max_items: int
    epsilon: str
    delta: str
    published: float
    coverage: float
    uses: float
    error: float | None


@dataclass(frozen=True, slots=True)
class ItemPlan:
    """Coverage against precision for each choice, on public data or on what an earlier list tells."""

    expectations: tuple[ItemExpectation, ...]
    source: str
    top: int
    runs: int
    note: str = ""
    """What to know about what it was tried on."""

    @property
    def best(self) -> ItemExpectation:
        """The choice that publishes most of what is frequent."""
        return max(self.expectations, key=lambda e: (e.coverage, e.uses, e.published))

    @property
    def shown(self) -> Shown:
        rows = [
            [e.method, e.max_items, e.epsilon, e.delta, f"{e.published:,.0f}", f"{100 * e.coverage:.0f} %",
             f"{100 * e.uses:.0f} %", "" if e.error is None else f"{100 * e.error:.0f} %"]
            for e in self.expectations
        ]  # fmt: skip
        columns = [
            "method",
            "max_items",
            "epsilon",
            "delta",
            "items",
            f"of the top {self.top:,}",
            "of all uses",
            "counts off by",
        ]
        best = self.best
        said = f"Most of the top {self.top:,} at max_items = {best.max_items} ({best.method}, epsilon {best.epsilon})."
        return Shown(f"Items that would be published from {self.source}", columns, rows, [said])

    def to_dict(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "top": self.top,
            "runs": self.runs,
            "note": self.note,
            "expectations": [asdict(e) for e in self.expectations],
        }

    def _repr_html_(self) -> str:
        return self.shown.html

    def __str__(self) -> str:
        return str(self.shown)

    def __repr__(self) -> str:
        return f"<ItemPlan: {len(self.expectations):,} choices on {self.source}>"
