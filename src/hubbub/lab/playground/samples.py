"""Series that anyone may look at: simulated ones, which are always there, and public ones where the data lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidInput
from hubbub.lab import public_series, shapes
from hubbub.lab.data import folder
from hubbub.models import NavigationModel
from hubbub.released import Keys

SEED = 31
TICKS = 240
_SITE = NavigationModel.of(Keys(["page"]), [[0.6]], [800.0])
"""Visitors of one page: about 2,000 at a time, of whom six in ten are still there a tick later."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One series to try on."""

    name: str
    label: str
    group: str
    make: Callable[[], NDArray[np.int64]]
    start: datetime | None = None
    length: timedelta | None = None
    months: int = 0

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "label": self.label, "group": self.group}


def _shape(shape: shapes.Shape) -> Callable[[], NDArray[np.int64]]:
    def make() -> NDArray[np.int64]:
        drawn: NDArray[np.int64] = shapes.Crowd(_SITE).counts(shape, 0, TICKS, np.random.default_rng(SEED))[:, 0]
        return drawn

    return make


def _public(name: str, ticks: int | None = None) -> Callable[[], NDArray[np.int64]]:
    return lambda: public_series.load(name).counts[:ticks]


_SIMULATED, _PUBLIC = "simulated", "public data"
_OCTOBER = datetime(2006, 10, 1, tzinfo=UTC)
"""The Sunday on which week 40 of 2006 begins, as the CDC counts weeks."""
_APRIL = datetime.combine(public_series.FIRST_DAY, time(), UTC)
_JANUARY = datetime(1972, 1, 1, tzinfo=UTC)

_ALWAYS = (
    Sample("daily-rhythm", "A page with a daily rhythm", _SIMULATED, _shape(shapes.nightly_cycle)),
    Sample("news-breaks", "A page when news breaks", _SIMULATED, _shape(shapes.flash_crowd)),
    Sample("growing", "A page that grows", _SIMULATED, _shape(shapes.ramp)),
    Sample("dying", "A page that nobody links to any more", _SIMULATED, _shape(shapes.page_dies)),
    Sample("calm", "A page where nothing happens", _SIMULATED, _shape(shapes.calm)),
    Sample("walk", "A random walk (Fan 2014)", _SIMULATED, _public("linear", 500)),
)

_WITH_DATA = (
    Sample(
        "influenza",
        "Influenza, weekly patients, ages 5 to 24",
        _PUBLIC,
        _public("influenza"),
        _OCTOBER,
        timedelta(days=7),
    ),
    Sample("bicycles", "Bicycles over a bridge, daily", _PUBLIC, _public("bicycles"), _APRIL, timedelta(days=1)),
    Sample(
        "unemployment",
        "Young unemployed, monthly, in thousands",
        _PUBLIC,
        _public("unemployment"),
        _JANUARY,
        timedelta(30),
        1,
    ),
)


def samples() -> tuple[Sample, ...]:
    """All that can be had on this machine. Simulated ones need no data."""
    return (*_ALWAYS, *_found(folder()))


@cache
def _found(place: Path) -> tuple[Sample, ...]:  # noqa: ARG001 - another folder holds other data
    return tuple(sample for sample in _WITH_DATA if _is_there(sample))


def load(name: str) -> Sample:
    """The sample of that name.

    >>> load("calm").make().shape
    (240,)
    """
    found = next((sample for sample in samples() if sample.name == name), None)
    if found is None:
        raise InvalidInput("There is no such sample here.", f"Known: {', '.join(sample.name for sample in samples())}.")
    return found


def _is_there(sample: Sample) -> bool:
    try:
        return len(sample.make()) > 0
    except InvalidInput:
        return False
