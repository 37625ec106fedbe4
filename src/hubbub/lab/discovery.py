"""Keys that nobody listed: how many page views fall under what lists found, on a real day of a web server.

A list is made of the sessions of a period. It explains some of the page views of that period, and, live, some of those
of the next: there the keys are what the last `KEPT` lists found. Beside it an oracle's list of the same length, which
has the truly most viewed pages of the very period that is looked at, and no privacy at all.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hubbub.collect.calendar import Calendar, microseconds
from hubbub.collect.domain import KeyDomain
from hubbub.collect.filters import Filters
from hubbub.collect.finder import Finder
from hubbub.collect.rows import Rows
from hubbub.collect.vocabulary import Vocabulary
from hubbub.itemlogs import ItemLists, ItemLog, TickLog
from hubbub.lab.data import find
from hubbub.lab.experiment_result import ExperimentResult, Lines, Row, Table, points_of
from hubbub.noise import ByteSource, simulation
from hubbub.privacy import Guarantee, Session
from hubbub.released import Discovered, Tick

EPSILON, DELTA = 1, "1e-9"
TIMEOUT = timedelta(minutes=30)
PERIODS = {"1 hour": timedelta(hours=1), "1 day": timedelta(days=1)}
MAX_ITEMS = (1, 2, 5, 10, 20, 50)
KEPT = 3
"""For how many periods a key stays after a list has named it."""

WORDS = (
    "NASA's web server on 1 August 1995, 06:00 to 18:52: {sessions:,} sessions with {views:,} page views of {pages:,} "
    "different pages, no list given. epsilon = {epsilon} for each session, delta = {delta}; a session counts in the "
    "one period in which it begins, so every list has all of that. Means of {runs} runs. `live` is about the page "
    f"views of the period after a list, under the keys of the last {KEPT} lists; there is no day after the day. "
    "`oracle`: the truly most viewed pages, as many as the list names."
)


@dataclass(frozen=True, slots=True)
class Day:
    """The page views of a log, in the order of time, and who made them."""

    rows: Rows
    names: Sequence[str]

    @property
    def sessions(self) -> int:
        order = np.lexsort((self.rows.time, self.rows.person))
        person, time = self.rows.person[order], self.rows.time[order]
        return int(1 + ((person[1:] != person[:-1]) | (np.diff(time) > microseconds(TIMEOUT))).sum())


@dataclass(frozen=True, slots=True)
class Period:
    """What a period's list is made from, and the page views that it should explain: how often each page was seen."""

    log: ItemLog
    views: NDArray[np.int64]


def nasa() -> Day:
    """Pages that were shown, without pictures: what a monitor counts."""
    text = gzip.decompress(find("nasa_http_19950801/nasa_19950801_hostids.tsv.gz").read_bytes())
    frame = pl.read_csv(text, separator="\t", quote_char=None, encoding="utf8-lossy").rename({"response": "status"})
    filters = Filters()
    frame = frame.filter(~filters.not_shown(frame))
    places = KeyDomain(["/"]).places(frame.get_column("url"))
    shown = ~filters.assets_among(places)
    vocabulary = Vocabulary()
    codes = vocabulary.codes(places.filter(shown))
    frame = frame.filter(shown)
    people = frame.get_column("host_id").to_numpy().astype(np.uint64)
    times = frame.get_column("unix_time").to_numpy() * 1_000_000
    everything = np.arange(1, len(vocabulary) + 1, dtype=np.int32)
    return Day(Rows(people, people, times.astype(np.int64), codes), vocabulary.names(everything))


def periods_of(day: Day, length: timedelta) -> list[Period]:
    """The day cut into periods, as a monitor would gather it: tick by tick."""
    calendar = Calendar.around(datetime.fromtimestamp(int(day.rows.time.min()) / 1e6, UTC), length)
    finder, number = Finder(calendar, microseconds(TIMEOUT)), calendar.indices(day.rows.time)
    found = []
    for index in range(int(number.max()) + 1):
        here = number == index
        finder.advance(day.rows.where(here), calendar.begins(index + 1))
        looked = finder.take(index)
        who, users = np.unique(looked.sessions, return_inverse=True)
        log = ItemLog.from_codes(
            users.astype(np.uint32), (looked.pages - 1).astype(np.uint32), day.names if len(who) else []
        )
        found.append(Period(log, np.bincount(day.rows.key[here] - 1, minlength=len(day.names))))
    return found


def share(views: NDArray[np.int64], pages: Sequence[int]) -> float:
    """Which part of the page views these pages have."""
    return float(views[list(pages)].sum() / views.sum())


def best(views: NDArray[np.int64], length: int) -> list[int]:
    return [int(page) for page in np.argsort(-views, kind="stable")[:length]]


def run(day: Day, periods: Sequence[Period], max_items: int, source: ByteSource) -> dict[str, float]:
    """One run of a day: means over its periods, each with the weight of its page views."""
    unit = Session(max_ticks=1, timeout=TIMEOUT)
    promise = Guarantee.approximate(unit, EPSILON, DELTA, aside="5e-10")
    lists = ItemLists(Discovered(), promise, max_items=max_items, count_share=0, source=source)
    place = {name: i for i, name in enumerate(day.names)}
    kept: dict[int, int] = {}
    seen: dict[str, list[tuple[float, float]]] = {"same": [], "same, oracle": [], "live": [], "live, oracle": []}
    length: list[float] = []
    for index, period in enumerate(periods):
        weight, live = float(period.views.sum()), list(kept)
        if index and weight:
            seen["live"].append((share(period.views, live), weight))
            seen["live, oracle"].append((share(period.views, best(period.views, len(live))), weight))
        listed = [place[name] for name in lists.release(TickLog(Tick(index), period.log)).keys.names[:-1]]
        length.append(len(listed))
        if weight:
            seen["same"].append((share(period.views, listed), weight))
            seen["same, oracle"].append((share(period.views, best(period.views, len(listed))), weight))
        kept = {page: until for page, until in kept.items() if until > index + 1}
        kept |= dict.fromkeys(listed, index + 1 + KEPT)
    return {"keys": float(np.mean(length)), **{name: _mean(pairs) for name, pairs in seen.items()}}


def _mean(pairs: Sequence[tuple[float, float]]) -> float:
    """Of numbers with weights."""
    weights = sum(weight for _, weight in pairs)
    return sum(number * weight for number, weight in pairs) / weights if weights else float("nan")


def discovery_result(quick: bool, seed: int, total: Callable[[int], Any], done: Callable[[], Any]) -> ExperimentResult:
    """For each period and each bound on a session's pages: what was found, and which part of the page views that is."""
    runs = 3 if quick else 20
    total(len(PERIODS) * len(MAX_ITEMS) * runs)
    day = nasa()
    rows: list[Row] = []
    for name, length in PERIODS.items():
        cut = periods_of(day, length)
        for max_items in MAX_ITEMS:
            results = []
            for number in range(runs):
                with simulation(seed + number) as source:
                    results.append(run(day, cut, max_items, source))
                done()
            row: Row = {"period": name, "max_items": max_items}
            for measure in results[0]:
                values = np.array([result[measure] for result in results])
                row[measure] = float(values.mean())
                row[f"{measure}_error"] = float(values.std(ddof=1) / np.sqrt(runs))
            rows.append(row)
    measures = ("same", "same, oracle", "live", "live, oracle")
    cells = [
        [
            row["period"], str(row["max_items"]), f"{row['keys']:.1f}",
            *("-" if np.isnan(row[measure]) else f"{100 * row[measure]:.1f} %" for measure in measures),
        ]
        for row in rows
    ]  # fmt: skip
    words = WORDS.format(
        sessions=day.sessions, views=len(day.rows), pages=len(day.names), epsilon=EPSILON, delta=DELTA, runs=runs
    )
    plot = Lines(
        "share", "Page views under discovered keys", "pages of a session that count", "share",
        points_of(rows, "period", "max_items", "same", "same_error"), log_x=True,
    )  # fmt: skip
    table = Table("Page views under keys that nobody listed", ("period", "max_items", "keys", *measures), cells)
    return ExperimentResult(rows, [table], words, [plot])
