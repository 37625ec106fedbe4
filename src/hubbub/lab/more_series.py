"""More single series of public counts, beside those of the paper: for tuning, and for checking what was tuned."""

from __future__ import annotations

import csv
import gzip
import io
import lzma
from datetime import UTC, date, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from hubbub.lab.data import find
from hubbub.lab.msnbc import msnbc
from hubbub.lab.public_series import PublicSeries, gzip_rows, whole

_DAY, _WEEK, _MONTH = timedelta(days=1), timedelta(days=7), timedelta(days=30)


def hourly_bicycles() -> PublicSeries:
    """Bicycles an hour over the Fremont Bridge, three weeks from Monday 2 June 2014."""
    totals = _fremont()
    first = datetime(2014, 6, 2)
    hours = [totals[first + timedelta(hours=h)] for h in range(504) if first + timedelta(hours=h) in totals]
    return PublicSeries("hourly bicycles", whole(hours), timedelta(hours=1))


def later_bicycles() -> PublicSeries:
    """Bicycles a day, 540 days from 2016 on."""
    days: dict[date, float] = {}
    for hour, total in _fremont().items():
        days[hour.date()] = days.get(hour.date(), 0.0) + total
    chosen = [days[day] for day in sorted(days) if day >= date(2016, 1, 1)][:540]
    return PublicSeries("later bicycles", whole(chosen), _DAY)


def later_unemployment() -> PublicSeries:
    """The unemployment of the paper, from where its span ends: November 2011 to August 2025."""
    rows = gzip_rows("unemployment/LNU03000018.csv.gz")
    return PublicSeries("later unemployment", whole([float(row[-1]) for row in rows[1:]][478:]), _MONTH)


def all_influenza() -> PublicSeries:
    """Weekly outpatients of all ages with influenza-like illness, 261 weeks from week 40 of 2012."""
    rows = gzip_rows("cdc_ilinet/ilinet_national_sum_of_regions.csv.gz")
    return PublicSeries("all influenza", _weeks(rows, "ILITOTAL", (2012, 40), 261), _WEEK)


def small_children() -> PublicSeries:
    """The same of up to four years, in region 9 (the south-west)."""
    return PublicSeries("small children", _region("Region 9", "AGE 0-4", (2012, 40), 261), _WEEK)


def old_people() -> PublicSeries:
    """The same of 65 and more years, in region 4 (the south-east), 209 weeks from week 40 of 2010."""
    return PublicSeries("old people", _region("Region 4", "AGE 65", (2010, 40), 209), _WEEK)


def syndromic(signal: int) -> PublicSeries:
    """The first simulation of a syndromic signal, its first two years by the day."""
    with lzma.open(find(f"syndromic_sim16/simulated_totals_sig{signal}.csv.xz"), "rt") as file:
        rows = list(csv.reader(file))
    return PublicSeries(f"syndromic {signal}", whole([float(row[0]) for row in rows[1:729]]), _DAY)


def histogram(name: str, file: str) -> PublicSeries:
    """A histogram of DPBench read from left to right, eight of its bins per tick: 512 ticks without a calendar."""
    bins = np.load(io.BytesIO(gzip.decompress(find(f"dpbench/1D/{file}.npy.gz").read_bytes())))
    return PublicSeries(name, bins.reshape(512, 8).sum(axis=1).astype(np.int64), None)


def requests() -> PublicSeries:
    """Requests a minute to a web server on 1 August 1995."""
    with gzip.open(find("nasa_http_19950801/nasa_19950801_hostids.tsv.gz"), "rt") as file:
        times = np.array([int(row[1]) for row in list(csv.reader(file, delimiter="\t"))[1:]])
    return PublicSeries("requests", np.bincount((times - times.min()) // 60), timedelta(minutes=1))


def at_work() -> PublicSeries:
    """How many of 25,000 people are at work, by the half hour of one day (ATUS)."""
    days = [row[1] for row in gzip_rows("atus_day_sequences/atus_sample_25k.csv.gz")[1:]]
    letters = np.array([list(day) for day in days])
    return PublicSeries("at work", (letters == "F").sum(axis=0).astype(np.int64), timedelta(minutes=30))


def impressions() -> PublicSeries:
    """Advertisements shown an hour, 24 to 30 November 2019 (Open Bandit, a sample of 10,000)."""
    with lzma.open(find("open_bandit_small/bts/all/all.csv.xz"), "rt") as file:
        rows = list(csv.reader(file))
    at = rows[0].index("timestamp")
    first = datetime(2019, 11, 24, tzinfo=UTC)
    hours = [int((datetime.fromisoformat(row[at]) - first) / timedelta(hours=1)) for row in rows[1:]]
    return PublicSeries("impressions", np.bincount(hours), timedelta(hours=1))


def sports_pages() -> PublicSeries:
    """Of each 2,000 sessions of msnbc in the order of the file, those that saw a page on sports."""
    pool = msnbc()
    hits = np.concatenate([[0], np.cumsum(pool.visits == pool.keys.position("sports"))])
    saw = hits[pool.bounds[1:]] > hits[pool.bounds[:-1]]
    blocks = saw[: len(saw) // 2000 * 2000].reshape(-1, 2000).sum(axis=1)
    return PublicSeries("sports pages", blocks.astype(np.int64), None)


def _fremont() -> dict[datetime, float]:
    rows = gzip_rows("fremont_bridge/FremontBridge.csv.gz")[1:]
    return {datetime.strptime(row[0], "%m/%d/%Y %I:%M:%S %p"): sum(float(c or 0) for c in row[1:]) for row in rows}


def _region(region: str, column: str, first: tuple[int, int], weeks: int) -> NDArray[np.int64]:
    rows = gzip_rows("cdc_ilinet/ILINet_hhs_regions.csv.gz")
    of = rows[0].index("REGION")
    return _weeks([rows[0], *(row for row in rows[1:] if row[of] == region)], column, first, weeks)


def _weeks(rows: list[list[str]], column: str, first: tuple[int, int], weeks: int) -> NDArray[np.int64]:
    year, week, at = (rows[0].index(name) for name in ("YEAR", "WEEK", column))
    times = [(int(row[year]), int(row[week])) for row in rows[1:]]
    begin = times.index(first) + 1
    return whole([float(row[at]) for row in rows[begin : begin + weeks]])
