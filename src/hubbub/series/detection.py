"""Alarms in a released series. Only released values are looked at, so it costs no budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeAlias, overload

from hubbub.detectors import Alert, EarsDetector, EarsSettings, PooledAlert, PooledDetector, PooledSettings
from hubbub.errors import InvalidInput, InvalidParameter
from hubbub.released import Release
from hubbub.released.shown import Shown
from hubbub.series.released_files import read_released
from hubbub.series.released_series import when
from hubbub.series.releasing import Progress

BASELINES = {"pooled": 30, "C1": 7, "C2": 9, "C3": 11}
"""The detectors by name, and how many ticks each needs before it says anything."""

_SHOWN = 40

AnyAlert: TypeAlias = Alert | PooledAlert


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Alerts(Sequence[AnyAlert]):
    """The alerts of a series, in the order of its ticks, and how they were found."""

    alerts: tuple[AnyAlert, ...]
    detector: str
    weekdays: bool
    ticks: int

    @property
    def too_short(self) -> str:
        """A word if the series is shorter than the baseline: then no alarm means nothing. Empty otherwise."""
        first = BASELINES[self.detector]
        if self.ticks > first:
            return ""
        return f"{self.detector} needs {first} ticks of baseline before it says anything; there are {self.ticks:,}."

    @overload
    def __getitem__(self, at: int) -> AnyAlert: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[AnyAlert, ...]: ...
    def __getitem__(self, at: int | slice) -> AnyAlert | tuple[AnyAlert, ...]:
        return self.alerts[at]

    def __iter__(self) -> Iterator[AnyAlert]:
        return iter(self.alerts)

    def __len__(self) -> int:
        return len(self.alerts)

    @property
    def shown(self) -> Shown:
        """The last of them."""
        title = f"{len(self):,} alarms of {self.detector}" if self.alerts else f"No alarm in {self.ticks:,} ticks."
        rows = [[when(one.tick), one.key, one.reason] for one in self.alerts[-_SHOWN:]]
        below = [f"These are the last {_SHOWN}; `to_dict` (--json) has all."] if len(self) > _SHOWN else []
        return Shown(title, ["tick", "key", "why"] if rows else [], rows, below)

    def to_dict(self) -> dict[str, Any]:
        rows = [
            {
                "tick": one.tick.index,
                "when": when(one.tick),
                "key": one.key,
                "statistic": one.statistic,
                "reason": one.reason,
            }
            for one in self.alerts
        ]
        return {"detector": self.detector, "weekdays": self.weekdays, "ticks": self.ticks, "alerts": rows}

    def __str__(self) -> str:
        return "\n".join(map(str, self.alerts)) or self.shown.title

    def __repr__(self) -> str:
        return f"<Alerts: {len(self):,} of {self.detector} in {self.ticks:,} ticks>"

    def _repr_html_(self) -> str:
        return self.shown.html


def detect(
    released: Sequence[Release] | str | Path,
    detector: str = "pooled",
    *,
    threshold: float | None = None,
    weekdays: bool | None = None,
    progress: Progress | None = None,
) -> Alerts:
    """Which ticks are far above what came before, and why: of releases, or of a file that holds them.

    `detector` is pooled (several ticks together), or EARS C1, C2 or C3. `weekdays` are taken out where ticks are days,
    unless you say otherwise. Alarms above `threshold`: left out 3, for C3 2,
    and for pooled a limit that each series learns.

    >>> from hubbub.series import release_series
    >>> quiet = release_series({"flu": [50] * 20}, epsilon=1, unit="event", method="lpa")
    >>> detect(quiet, threshold=100)
    <Alerts: 0 of pooled in 20 ticks>
    """
    if detector not in BASELINES:
        raise InvalidParameter(f"There is no detector {detector!r}.", f"Known: {', '.join(BASELINES)}.")
    releases = read_released(Path(released)) if isinstance(released, (str, Path)) else released
    if isinstance(releases, Mapping) or not all(isinstance(one, Release) for one in releases):
        raise InvalidInput(
            f"Alarms are found in releases; got {type(released).__name__} that holds something else.",
            "Release the counts first: `hb.detect(hb.release_series(…))`.",
        )
    if not releases:
        raise InvalidInput("There is no release to look at.", "Give at least one tick.")
    keys, daily = releases[0].keys, releases[0].tick.length == timedelta(days=1)
    knows = daily if weekdays is None else weekdays
    watching: EarsDetector | PooledDetector
    if detector == "pooled":
        watching = PooledDetector(keys, PooledSettings(threshold=threshold, knows_weekdays=knows))
    else:
        watching = EarsDetector(keys, EarsSettings(detector, knows_weekdays=knows, threshold=threshold))
    alerts: list[AnyAlert] = []
    for done, release in enumerate(releases, 1):
        alerts += watching.see(release)
        if progress is not None:
            progress(done, len(releases))
    return Alerts(tuple(alerts), detector, knows, len(releases))
