"""A whole series of counts, with its place in time and its gaps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import cast

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts, Sealed
from hubbub.errors import InvalidParameter
from hubbub.mechanism import Mechanism, OnlineMechanism
from hubbub.released import Domain, Release, Tick


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CountSeries(Sealed):
    """Confidential counts, one row per tick and one column per key; checked, so releasing them cannot fail half-way.

    A tick that is not `present` is a gap: it is predicted, never measured. Its row of `values` holds zeros.

    >>> from hubbub.released import Keys
    >>> series = CountSeries(Keys(["flu"]), np.array([[5], [0], [7]]), np.array([True, False, True]))
    >>> series, series.tick(2), series.gaps
    (<3 ticks, 1 key, 1 gap, confidential>, Tick(index=2), 1)
    """

    keys: Domain
    values: NDArray[np.int64]
    present: NDArray[np.bool_]
    start: datetime | None = None
    length: timedelta | None = None
    months: int = 0

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        parts = [_many(len(self), "tick"), _many(len(self.keys), "key"), *([_many(self.gaps, "gap")] * bool(self.gaps))]
        return f"<{', '.join(parts)}, confidential>"

    @property
    def gaps(self) -> int:
        return int((~self.present).sum())

    def tick(self, index: int) -> Tick:
        """Tick `index` with its place in time; whole months follow the calendar."""
        if self.start is None or self.length is None:
            return Tick(index)
        if not self.months:
            return Tick(index, self.start + index * self.length, self.length)
        month = 12 * self.start.year + self.start.month - 1 + index * self.months
        return Tick(index, datetime(month // 12, month % 12 + 1, 1, tzinfo=UTC), self.length)

    def released_by(self, mechanism: Mechanism) -> Iterator[Release]:
        """One release a tick, in order: a tick that is present is measured, a gap is predicted."""
        if not mechanism.traits.online:
            if self.gaps:
                raise InvalidParameter(
                    f"`{mechanism.name}` looks at the whole series at once, and {_many(self.gaps, 'tick')} of it "
                    "were not counted.",
                    "Use an online method, or gaps=zero if nothing happened in them.",
                )
            yield from mechanism.release_series(self._counts(index) for index in range(len(self)))
            return
        online = cast(OnlineMechanism, mechanism)
        for index in range(len(self)):
            yield online.release(self._counts(index)) if self.present[index] else online.predict(self.tick(index))

    def _counts(self, index: int) -> Counts:
        return Counts.of(self.keys, self.tick(index), self.values[index])


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
