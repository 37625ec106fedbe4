"""Single series of public counts, and the synthetic ones of the papers."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidInput
from hubbub.lab.data import find

FIRST_WEEK = (2006, 40)
FIRST_DAY = date(2013, 4, 1)
"""Bicycles from an April on, as the paper's traffic; its own loop detector data are not public any more."""
_SEED = 2014


@dataclass(frozen=True, slots=True, eq=False)
class PublicSeries:
    """One count per tick, with the calendar that everybody knows."""

    name: str
    counts: NDArray[np.int64]
    tick_length: timedelta | None

    def __len__(self) -> int:
        return len(self.counts)


def unemployment() -> PublicSeries:
    """Monthly unemployment level, Black or African American, 16-19 years, 1972 to October 2011, in thousands (FRED)."""
    rows = gzip_rows("unemployment/LNU03000018.csv.gz")
    values = [float(row[-1]) for row in rows[1:]][:478]
    return PublicSeries("unemployment", whole(values), timedelta(days=30))


def all_unemployed() -> PublicSeries:
    """Monthly US unemployment level 1967 to 2015, in thousands (FRED, UNEMPLOY)."""
    rows = gzip_rows("unemployment/economics_UNEMPLOY.csv.gz")
    at = rows[0].index("unemploy")
    return PublicSeries("all unemployed", whole([float(row[at]) for row in rows[1:]]), timedelta(days=30))


def influenza() -> PublicSeries:
    """Weekly outpatients of 5-24 years with influenza-like illness, 209 weeks from week 40 of 2006 (CDC ILINet)."""
    rows = gzip_rows("cdc_ilinet/ilinet_national_sum_of_regions.csv.gz")
    head = rows[0]
    year, week, age = (head.index(name) for name in ("YEAR", "WEEK", "AGE 5-24"))
    times = [(int(row[year]), int(row[week])) for row in rows[1:]]
    first = times.index(FIRST_WEEK) + 1
    return PublicSeries("influenza", whole([float(row[age]) for row in rows[first : first + 209]]), timedelta(days=7))


def bicycles() -> PublicSeries:
    """Bicycles a day over the Fremont Bridge, 540 days from April 2013 (Seattle Open Data)."""
    rows = gzip_rows("fremont_bridge/FremontBridge.csv.gz")
    totals: dict[date, float] = {}
    for row in rows[1:]:
        day = datetime.strptime(row[0].split(" ")[0], "%m/%d/%Y").date()
        totals[day] = totals.get(day, 0.0) + sum(float(cell or 0) for cell in row[1:])
    days = [totals[day] for day in sorted(totals) if day >= FIRST_DAY][:540]
    return PublicSeries("bicycles", whole(days), timedelta(days=1))


def linear(ticks: int = 1000) -> PublicSeries:
    """Fan 2014: a random walk with Q = 10^5; it starts at 5000, which the paper leaves open, and is kept above 0."""
    steps = np.random.default_rng(_SEED).normal(0, np.sqrt(1e5), ticks)
    walk = np.empty(ticks)
    at = 5000.0
    for k, step in enumerate(steps):
        at = abs(at + step)
        walk[k] = at
    return PublicSeries("linear", whole(walk), None)


def logistic(ticks: int = 1000) -> PublicSeries:
    """Fan 2014: 5000/(1 + e^-k) with process noise of variance 10^5."""
    k = np.arange(ticks)
    noise = np.random.default_rng(_SEED + 1).normal(0, np.sqrt(1e5), ticks)
    return PublicSeries("logistic", whole(5000 / (1 + np.exp(-k)) + noise), None)


def sinusoid(ticks: int = 1000) -> PublicSeries:
    """Fan 2014: 5000 sin(pi k/6 + pi/2) with Q = 10^5. A count cannot be negative: it is lifted by twice its size."""
    k = np.arange(ticks)
    noise = np.random.default_rng(_SEED + 2).normal(0, np.sqrt(1e5), ticks)
    # A tick is called a month, so that a period of 12 is part of the public calendar.
    values = 5000 * (2 + np.sin(np.pi / 6 * k + np.pi / 2)) + noise
    return PublicSeries("sinusoid", whole(values), timedelta(days=30))


SERIES: Mapping[str, Callable[[], PublicSeries]] = MappingProxyType(
    {
        "unemployment": unemployment,
        "influenza": influenza,
        "bicycles": bicycles,
        "all unemployed": all_unemployed,
        "linear": linear,
        "logistic": logistic,
        "sinusoid": sinusoid,
    }
)


def load(name: str) -> PublicSeries:
    """The series of that name.

    >>> len(load("sinusoid"))
    1000
    """
    if name not in SERIES:
        raise InvalidInput(f"There is no series {name!r}.", f"Known: {', '.join(SERIES)}.")
    return SERIES[name]()


def gzip_rows(name: str) -> list[list[str]]:
    """A gzipped CSV of the data folder, with its heading."""
    with gzip.open(find(name), "rt", newline="") as file:
        return list(csv.reader(file))


def whole(values: NDArray[np.float64] | list[float]) -> NDArray[np.int64]:
    """Counts are whole and not negative."""
    counts: NDArray[np.int64] = np.maximum(np.rint(np.asarray(values)), 0).astype(np.int64)
    return counts
