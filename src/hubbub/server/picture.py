"""What a viewer is told about a tick: the release in numbers and in words."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hubbub.detectors import Change, ChangeDetector
from hubbub.detectors.change import beyond_noise
from hubbub.released import Discovered, Domain, Release, Value, plus_minus, same_whole
from hubbub.released import total as area_total
from hubbub.released.value import PREDICTED
from hubbub.server import clock
from hubbub.server.ranking import Rank, Ranking
from hubbub.server.sums import REACH, share_of, total_of

COMPARE = 360
"""How many ticks back the total is compared with: an hour, at ten seconds."""

FROM_EARLIER = "The latest tick is predicted, not measured: numbers in italics follow from earlier ticks."
NO_NUMBERS = (
    "The latest tick was not measured, and nothing tells how far the numbers have moved since. The next tick that is "
    "measured brings them back."
)


LOST = "The latest list was lost: it was charged, and is never drawn again."
NO_NUMBER = Value(math.nan, math.nan, math.nan, math.nan)

MOST_WATCHED = 50_000
"""Keys in which changes are looked for: the detector keeps and compares some thirty ticks of each."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The total now against the total `ago`. A difference within the noise is not called a change.

    >>> Trend(Value(8.1, 1.2, 5.5, 10.7), "1 hour", True).text
    '▲ 8.1 ± 1.2 % against 1 hour ago'
    """

    percent: Value
    ago: str
    beyond: bool

    @property
    def text(self) -> str:
        if not self.beyond:
            return f"no change beyond the noise against {self.ago} ago"
        sign, size = ("▲", self.percent.value) if self.percent.value > 0 else ("▼", -self.percent.value)
        return f"{sign} {plus_minus(size, self.percent.standard_error)} % against {self.ago} ago"

    @property
    def words(self) -> str:
        said = [PREDICTED] if self.percent.predicted else []
        if self.beyond:
            said.insert(0, f"{'more' if self.percent.value > 0 else 'fewer'}, beyond the noise")
        return "; ".join(said)

    def to_dict(self) -> dict[str, Any]:
        return {"text": self.text, "words": self.words, "beyond_noise": self.beyond}


@dataclass(frozen=True, slots=True)
class Row:
    """One key at one tick."""

    key: str
    quantity: Value
    measurement: int | None
    share: Value | None
    rank: Rank | None
    surge: Change | None

    @property
    def words(self) -> str:
        return self.quantity.words

    @property
    def share_text(self) -> str:
        """To a tenth of a per cent, the error rounded up: more digits would be true, but nobody reads them."""
        if self.share is None:
            return ""
        return f"{self.share.value:.1f} ± {math.ceil(10 * self.share.standard_error - 1e-9) / 10:.1f} %"

    def to_dict(self) -> dict[str, Any]:
        return {
            "key": self.key,
            **self.quantity.described(),
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
    total: Value
    trend: Trend | None
    changes: tuple[Change, ...]

    @property
    def has_numbers(self) -> bool:
        """Whether there is anything to show of this tick."""
        return self.total.has_number or any(row.quantity.has_number for row in self.rows)

    @property
    def notice(self) -> str:
        """What a page says at its top; nothing where the tick was measured."""
        if not self.release.is_predicted:
            return ""
        return FROM_EARLIER if self.has_numbers else NO_NUMBERS

    @property
    def total_words(self) -> str:
        return self.total.words

    def to_dict(self) -> dict[str, Any]:
        tick = self.release.tick
        return {
            "tick": tick.index,
            "start": None if tick.start is None else tick.start.isoformat(),
            "length_seconds": None if tick.length is None else tick.length.total_seconds(),
            "moment": clock.moment(tick),
            "predicted": self.release.is_predicted,
            "notice": self.notice,
            "total": self.total.described(),
            "trend": None if self.trend is None else self.trend.to_dict(),
            "keys": [row.to_dict() for row in self.rows],
            "omitted": self.omitted,
            "decision": self.decision,
        }

    @property
    def decision(self) -> str:
        """Which release decided what is counted; empty where somebody listed the keys."""
        keys = self.release.keys
        return keys.decision if isinstance(keys, Discovered) else ""


class ListPicture(Picture):
    """A list of items as it is told. It has no total: one person is in it with many items. `other` is no item."""

    __slots__ = ()

    @property
    def notice(self) -> str:
        return LOST if self.release.is_predicted else ""

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "total": None}


class Pictures:
    """Draws a picture of each release in turn; remembers the totals and measurements that comparing takes.

    `lists`: each release is a list with keys of its own, and nothing is compared. `maps`: the keys are places, which
    the Map page fetches by itself; there may be a million of them, so no event names one.
    """

    def __init__(self, rows: int, *, lists: bool = False, maps: bool = False) -> None:
        self._rows, self._lists, self._maps = rows, lists, maps
        self._totals: deque[Value] = deque(maxlen=COMPARE + 1)
        self._detector = ChangeDetector()
        self._keys: Domain | None = None

    def draw(self, release: Release) -> Picture:
        """The next picture. Releases must come in the order of their ticks."""
        if self._lists:
            return self._listed(release)
        if self._maps:
            whole = area_total(release, np.arange(len(release.keys)))
            return Picture(release, (), len(release.keys), whole, None, ())
        total = total_of(release)
        changes = self._seen(release, total)
        marked = {change.key: change for change in changes}
        ranking = Ranking.of_release(release)
        rows = tuple(
            row_of(release, i, total, ranking.of(i), marked.get(release.keys.names[i]))
            for i in largest(release, self._rows)
        )
        return Picture(release, rows, len(release.keys) - len(rows), total, self._trend(release), tuple(changes))

    def _listed(self, release: Release) -> Picture:
        items = 0 if release.is_predicted else len(release.keys) - 1  # a lost list has the items of the one before
        ranking, rows = Ranking.of_release(release), []
        for i in range(min(items, self._rows)):
            quantity = release.at(i) if math.isfinite(release.standard_errors[i]) else NO_NUMBER
            measured = None if quantity is NO_NUMBER or release.measurements is None else int(release.measurements[i])
            rows.append(Row(release.keys.names[i], quantity, measured, None, ranking.of(i), None))
        return ListPicture(release, tuple(rows), items - len(rows), NO_NUMBER, None, ())

    def skim(self, releases: Iterable[Release]) -> list[Change]:
        """Go over older releases without drawing them; the changes they showed."""
        changes: list[Change] = []
        if self._lists or self._maps:
            return changes
        for release in releases:
            changes += self._seen(release, total_of(release))
        return changes

    def _seen(self, release: Release, total: Value) -> list[Change]:
        """Remember a release for those that follow; the changes that it shows."""
        if self._keys is None or (release.keys is not self._keys and release.keys != self._keys):
            if self._keys is None or not same_whole(self._keys, release.keys):
                self._totals.clear()  # nothing before can be compared with what comes
            self._keys = release.keys
            self._detector = ChangeDetector()
        self._totals.append(total)
        return self._detector.update(release) if len(release.keys) <= MOST_WATCHED else []

    def _trend(self, release: Release) -> Trend | None:
        if len(self._totals) < 2:
            return None
        # The first ticks of a stream still fill up with people who were there before: a young one looks half way back.
        first = 0 if len(self._totals) > COMPARE else len(self._totals) // 2 - 1
        before, after = self._totals[first], self._totals[-1]
        if not (before.is_above_zero and after.is_above_zero):
            return None
        percent = 100 * (after.value / before.value - 1)
        relative = math.hypot(before.standard_error / before.value, after.standard_error / after.value)
        error = 100 * after.value / before.value * relative
        reach = REACH * error
        change = Value(percent, error, percent - reach, percent + reach, predicted=release.is_predicted)
        ago = clock.ticks(len(self._totals) - 1 - first, release.tick)
        return Trend(change, ago, beyond_noise(before, after))


def row_of(release: Release, i: int, total: Value, rank: Rank | None, change: Change | None) -> Row:
    quantity = release.at(i)
    measured = None if release.measurements is None else int(release.measurements[i])
    share = share_of(quantity, total, correlated=release.correlated)
    return Row(release.keys.names[i], quantity, measured, share, rank, change)


def largest(release: Release, most: int) -> Sequence[int]:
    """The positions of the largest keys, in falling order; withheld ones last."""
    values = np.where(np.isfinite(release.values), release.values, -np.inf)
    if len(values) > most:
        chosen = np.argpartition(-values, most - 1)[:most]
        return [int(i) for i in chosen[np.argsort(-values[chosen], kind="stable")]]
    return [int(i) for i in np.argsort(-values, kind="stable")]
