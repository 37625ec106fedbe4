"""What a viewer is told about a tick: the release in numbers and in words."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hubbub.detect import Change, ChangeDetector
from hubbub.detect.change import beyond_noise
from hubbub.released import Release
from hubbub.server import clock
from hubbub.server.quantity import Quantity
from hubbub.server.ranking import Rank, Ranking
from hubbub.server.sums import REACH, share_of, total_of

COMPARE = 360
"""How many ticks back the total is compared with: an hour, at ten seconds."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The total now against the total `ago`. A difference within the noise is not called a change.

    >>> Trend(Quantity(8.1, 1.2, 5.5, 10.7), "1 hour", True).text
    '▲ 8.1 ± 1.2 % against 1 hour ago'
    """

    percent: Quantity
    ago: str
    beyond: bool

    @property
    def text(self) -> str:
        if not self.beyond:
            return f"no change beyond the noise against {self.ago} ago"
        sign, size = ("▲", self.percent.value) if self.percent.value > 0 else ("▼", -self.percent.value)
        shown = Quantity(size, self.percent.error, 0, 0)
        return f"{sign} {shown.text} % against {self.ago} ago"

    @property
    def words(self) -> str:
        if not self.beyond:
            return ""
        return f"{'more' if self.percent.value > 0 else 'fewer'}, beyond the noise"

    def to_dict(self) -> dict[str, Any]:
        return {"text": self.text, "words": self.words, "beyond_noise": self.beyond}


@dataclass(frozen=True, slots=True)
class Row:
    """One key at one tick."""

    key: str
    quantity: Quantity
    measurement: int | None
    share: Quantity | None
    rank: Rank | None
    surge: Change | None

    @property
    def share_text(self) -> str:
        """To a tenth of a per cent, the error rounded up: more digits would be true, but nobody reads them."""
        if self.share is None:
            return ""
        return f"{self.share.value:.1f} ± {math.ceil(10 * self.share.error - 1e-9) / 10:.1f} %"

    def to_dict(self) -> dict[str, Any]:
        return {
            "key": self.key,
            **self.quantity.to_dict(),
            "words": self.quantity.words,
            "measurement": self.measurement,
            "share": None if self.share is None else round(self.share.value, 2),
            "share_text": self.share_text or None,
            "rank": None if self.rank is None else str(self.rank),
            "group": None if self.rank is None else self.rank.group,
            "highest": None if self.rank is None else self.rank.highest,
            "lowest": None if self.rank is None else self.rank.lowest,
            "change": None if self.surge is None else {"kind": self.surge.kind, "reason": self.surge.reason},
        }


@dataclass(frozen=True, slots=True)
class Picture:
    """A release as it is shown: the largest keys, their total, what changed."""

    release: Release
    rows: tuple[Row, ...]
    omitted: int
    total: Quantity
    trend: Trend | None
    changes: tuple[Change, ...]

    def to_dict(self) -> dict[str, Any]:
        tick = self.release.tick
        return {
            "tick": tick.index,
            "start": None if tick.start is None else tick.start.isoformat(),
            "length_seconds": None if tick.length is None else tick.length.total_seconds(),
            "moment": clock.moment(tick),
            "predicted": self.release.is_predicted,
            "total": self.total.to_dict(),
            "trend": None if self.trend is None else self.trend.to_dict(),
            "keys": [row.to_dict() for row in self.rows],
            "omitted": self.omitted,
        }


class Pictures:
    """Draws a picture of each release in turn; remembers the totals and measurements that comparing takes."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._totals: deque[Quantity] = deque(maxlen=COMPARE + 1)
        self._detector = ChangeDetector()

    def draw(self, release: Release) -> Picture:
        """The next picture. Releases must come in the order of their ticks."""
        total = total_of(release)
        self._totals.append(total)
        changes = self._detector.update(release)
        marked = {change.key: change for change in changes}
        ranking = Ranking.of_release(release)
        rows = tuple(
            row_of(release, i, total, ranking.of(i), marked.get(release.keys.names[i]))
            for i in largest(release, self._rows)
        )
        return Picture(release, rows, len(release.keys) - len(rows), total, self._trend(release), tuple(changes))

    def skim(self, releases: Iterable[Release]) -> list[Change]:
        """Go over older releases without drawing them; the changes they showed."""
        found = []
        for release in releases:
            self._totals.append(total_of(release))
            found += self._detector.update(release)
        return found

    def _trend(self, release: Release) -> Trend | None:
        if len(self._totals) < 2:
            return None
        # The first ticks of a stream still fill up with people who were there before: a young one looks half way back.
        first = 0 if len(self._totals) > COMPARE else len(self._totals) // 2 - 1
        before, after = self._totals[first], self._totals[-1]
        if before.state != "measured" or after.state != "measured":
            return None
        percent = 100 * (after.value / before.value - 1)
        error = 100 * after.value / before.value * np.hypot(before.error / before.value, after.error / after.value)
        beyond = beyond_noise(before.value, before.error, after.value, after.error)
        reach = REACH * float(error)
        quantity = Quantity(percent, float(error), percent - reach, percent + reach)
        return Trend(quantity, clock.ticks(len(self._totals) - 1 - first, release.tick), beyond)


def row_of(release: Release, i: int, total: Quantity, rank: Rank | None, change: Change | None) -> Row:
    quantity = quantity_at(release, i)
    measured = None if release.measurements is None else int(release.measurements[i])
    return Row(release.keys.names[i], quantity, measured, share_of(quantity, total), rank, change)


def quantity_at(release: Release, i: int) -> Quantity:
    return Quantity(
        float(release.values[i]), float(release.standard_errors[i]), float(release.lower[i]), float(release.upper[i])
    )


def largest(release: Release, most: int) -> Sequence[int]:
    """The positions of the largest keys, in falling order; withheld ones last."""
    values = np.where(np.isfinite(release.values), release.values, -np.inf)
    if len(values) > most:
        chosen = np.argpartition(-values, most - 1)[:most]
        return [int(i) for i in chosen[np.argsort(-values[chosen], kind="stable")]]
    return [int(i) for i in np.argsort(-values, kind="stable")]
