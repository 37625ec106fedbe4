"""Days of a person, as the Contexts page takes them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from hubbub.contexts.reading import days_in
from hubbub.errors import InvalidInput
from hubbub.lab.context_people import Days
from hubbub.lab.playground.asked import DaysAsked
from hubbub.lab.playground.people import days_of

MOST_CONTEXTS = 60
MOST_TICKS = 288
_MINUTES = 24 * 60


@dataclass(frozen=True)
class Observed:
    """All days have the same number of ticks."""

    days: Days = field(repr=False)

    @classmethod
    def of(cls, asked: DaysAsked) -> Observed:
        if asked.table is None:
            return cls(days_of(asked.person or ""))
        found = cls(days_in(asked.table))
        if len({len(day) for day in found.days}) != 1:
            raise InvalidInput(
                "The days of the table have different numbers of ticks.", "Cut all days into the same ticks."
            )
        if len(found.contexts) > MOST_CONTEXTS or found.ticks > MOST_TICKS:
            raise InvalidInput(
                f"The page takes at most {MOST_CONTEXTS} contexts and {MOST_TICKS} ticks a day; this table has "
                f"{len(found.contexts)} and {found.ticks}.",
                "Join contexts or take longer ticks; or use `hubbub mask fit` and `hubbub mask plan`.",
            )
        return found

    @property
    def ticks(self) -> int:
        return len(self.days[0])

    @property
    def contexts(self) -> tuple[str, ...]:
        """The most frequent first: they get the colours that are easiest to tell apart."""
        counted = Counter(name for day in self.days for name in day)
        return tuple(name for name, _ in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))

    def to_dict(self) -> dict[str, Any]:
        total = len(self.days) * self.ticks
        counted = Counter(name for day in self.days for name in day)
        return {
            "days": len(self.days),
            "ticks": self.ticks,
            # A day is taken to begin at midnight, where its ticks are whole minutes.
            "minutes": None if _MINUTES % self.ticks else _MINUTES // self.ticks,
            "contexts": [{"name": name, "share": counted[name] / total} for name in self.contexts],
        }
