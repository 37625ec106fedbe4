"""A day of a real web server, replayed as an access log; totals checked by an independent count."""

from __future__ import annotations

import csv
import gzip
import os
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from tests.support.collected import collected

from hubbub.collect import Collector, Filters, KeyDomain, Replay
from hubbub.collect.sources import AccessLog, LineFile
from hubbub.privacy.unit import Event, Session

ROOT = Path(os.environ.get("HUBBUB_DATA", Path(__file__).parents[3] / "../shared/data"))
FILE = ROOT / "nasa_http_19950801" / "nasa_19950801_hostids.tsv.gz"
START = datetime(1995, 8, 1, 6, tzinfo=UTC)
END = START + timedelta(hours=13)
ZONE = timedelta(hours=-4)


@pytest.fixture(scope="module")
def rows():
    if not FILE.exists():
        pytest.skip(f"{FILE.name} is somebody else's data and not in the repository: set HUBBUB_DATA")
    with gzip.open(FILE, "rt", encoding="utf-8", errors="replace") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture(scope="module")
def log(rows, tmp_path_factory):
    """As the server wrote it: local time with its offset, in the order of the file, packed."""
    path = tmp_path_factory.mktemp("nasa") / "access.log.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for row in rows:
            local = datetime.fromtimestamp(int(row["unix_time"]), UTC) + ZONE
            stamp = local.strftime("%d/%b/%Y:%H:%M:%S -0400")
            request = f"{row['method']} {row['url']} HTTP/1.0"
            file.write(f'host{row["host_id"]} - - [{stamp}] "{request}" {row["response"]} {row["bytes"]}\n')
    return path


def collect(log, unit, pages, **options):
    engine = Collector(KeyDomain(pages), unit, timedelta(minutes=5), Replay(START, END), **options)
    with LineFile(log, AccessLog()) as source:
        vectors = np.array([counts.values.reveal() for counts in collected(source, engine)])
    return vectors, engine.statistics.for_curator()


def test_every_request_is_counted(rows, log):
    assert len(rows) == 30_969  # the data's own description
    pages = [url for url, _ in Counter(row["url"].split("?")[0] for row in rows).most_common(20) if "%" not in url]
    vectors, numbers = collect(log, Event(), pages, filters=Filters.none())
    assert numbers["events"] == len(rows)
    assert numbers["malformed"] == numbers["outside"] == 0
    assert vectors.sum() == len(rows)
    expected = np.zeros_like(vectors)
    for row in rows:
        tick = (int(row["unix_time"]) - int(START.timestamp())) // 300
        place = row["url"].split("?")[0]
        expected[tick, pages.index(place) if place in pages else len(pages)] += 1
    assert (vectors == expected).all()


def test_sessions_of_the_day(rows, log):
    """Sessions of hosts, 30 minutes, at most 6 ticks, counted only when they request: by a plain loop."""
    pages = ["/", "/ksc.html"]
    vectors, numbers = collect(
        log, Session(6, timedelta(minutes=30)), pages, stay=False, filters=Filters((), (), ((200, 200),), ("GET",))
    )
    shown = [row for row in rows if row["response"] == "200" and row["method"] == "GET"]
    by_host = defaultdict(list)
    for row in shown:
        by_host[row["host_id"]].append((int(row["unix_time"]), row["url"].split("?")[0]))
    expected, dropped = np.zeros_like(vectors), 0
    for visits in by_host.values():
        ticks, last = {}, None
        for time, place in [*sorted(visits, key=lambda visit: visit[0]), (2**40, "")]:
            if last is not None and time - last > 1800:
                for order, (tick, (where, times)) in enumerate(ticks.items()):
                    if order < 6:
                        expected[tick, pages.index(where) if where in pages else 2] += 1
                    else:
                        dropped += times
                ticks = {}
            tick = (time - int(START.timestamp())) // 300
            ticks[tick] = (place, ticks.get(tick, ("", 0))[1] + 1)
            last = time
    assert (vectors == expected).all()
    assert numbers["beyond_bound"] == dropped
    assert dropped > 0
