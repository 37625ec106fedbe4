"""A range request on the server: from the window of ranges, and the peer that adds up the same ticks one by one.

`python -m benchmarks live_ranges`. Times are processor time of one process that asks and answers over HTTP. The store
is written in bulk, with made-up seals: its ledger is not what is measured here.
"""

from __future__ import annotations

import math
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import sqlalchemy as sa

from hubbub.confidential import Confidential, Counts
from hubbub.monitor.paired import RangePlan, open_curator
from hubbub.privacy import Event, Guarantee
from hubbub.ranges import PairWindow, RangeStream
from hubbub.release import Lpa
from hubbub.released import Cost, Keys, Release, Tick
from hubbub.server import ServerSettings, Serving, create_app
from hubbub.store import Store, schema
from hubbub.store.checkpoint import Checkpoint, account_text
from hubbub.store.packing import PackedRelease

KEYS = Keys(["front", "news", "sports", "weather"])
TICKS = 20_000
WHOLE = Guarantee.pure(Event(), 1)
LENGTHS = (1_000, 20_000)
ASKED = 60


def main() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "site.db") as store:
        fill(store)
        rows = requests(store)
    return rows + errors()


def fill(store: Store) -> None:
    """Both streams, as a monitor would have left them after 20,000 ticks."""
    open_curator(store, "site", KEYS, WHOLE, Lpa, RangePlan(TICKS)).close()
    live = part = WHOLE.part("1/2")
    ranges = RangeStream(KEYS, part, window=TICKS)
    counts = np.full((TICKS, len(KEYS)), 50)
    increments = ranges.release_many(Confidential(counts))
    _write(store, "site.ranges", map(_released, range(TICKS), increments), ranges)
    releaser = Lpa(KEYS, live)
    one = releaser.release(Counts.of(KEYS, Tick(0), [50] * len(KEYS)))
    noise = np.random.default_rng(1).integers(-5, 6, counts.shape)  # not for privacy: it stands for measurements
    _write(store, "site", map(_released, range(TICKS), counts + noise, [one.noise_variance] * TICKS), releaser)


def _released(tick: int, measured: Any, variance: float | None = 8.0) -> Release:
    values, spread = measured.astype(float), np.full(len(KEYS), 3.0)
    return Release(Tick(tick), KEYS, values, spread, values, values, measured, variance, Cost(Fraction(1, 2)))


def _write(store: Store, name: str, releases: Iterable[Release], mechanism: Any) -> None:
    stream, seal = store.stream(name), bytes(32)

    def rows() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        for release in releases:
            where = {"stream": stream.id, "tick": release.tick.index}
            amounts = {"epsilon": "1/2", "rho": "0", "settled_epsilon": "1/2", "settled_rho": "0"}
            chain = {"previous": seal, "hash": seal, "seal": seal, "reserved": 0, "purpose": "release"}
            line = {**where, **amounts, **chain, "place": release.tick.index + 1, "state": "settled", "owner": ""}
            packed = PackedRelease.of(release)
            yield line, where | {field: getattr(packed, field) for field in PackedRelease.__slots__}

    lines, packed = zip(*rows(), strict=True)
    state = Checkpoint.made(
        TICKS - 1, TICKS, mechanism.snapshot().to_bytes(), account_text(mechanism._account), TICKS, 0, seal
    )
    with store.database.write() as connection:
        connection.execute(sa.insert(schema.debits), list(lines))
        connection.execute(sa.insert(schema.releases), list(packed))
        connection.execute(sa.update(schema.states).where(schema.states.c.stream == stream.id).values(state.to_row()))


def requests(store: Store) -> list[dict[str, Any]]:
    settings = ServerSettings(public=True, port=0, poll_seconds=30)
    rows = []
    took: dict[tuple[str, int], float] = {}
    for source in ("ranges", "measurements"):
        app = create_app(store, settings=settings)
        with Serving(app) as serving, httpx.Client(base_url=serving.address, timeout=60) as client:
            if source == "measurements":
                app.state.desk.feed._ranges.clear()  # the same store, as if it had no ranges
            for length in LENGTHS:
                path = f"/v1/streams/site/range?from={TICKS - length}&to={TICKS - 1}&key=news"
                began = time.process_time()
                assert client.get(path).json()["source"] == source
                first = 1000 * (time.process_time() - began)
                if (source, length) == ("ranges", LENGTHS[0]):
                    rows.append(
                        _row("first range after the start: 20,000 ticks of both streams read", first, None, None)
                    )
                took[source, length] = _median(client, path, ASKED if source == "ranges" else 5)
    for length in LENGTHS:
        ours, peer = took["ranges", length], took["measurements", length]
        row = _row(
            f"a range request of {length:,} ticks", ours, f"sum of the same measurements ({peer:.0f} ms)", ours / peer
        )
        rows.append(row | {"goal": "<= 20 ms", "limit": 20.0})
    return rows


def _median(client: httpx.Client, path: str, times: int) -> float:
    spans = []
    for _ in range(times):
        began = time.process_time()
        client.get(path)
        spans.append(1000 * (time.process_time() - began))
    return statistics.median(spans)


def _row(what: str, value: float, peer: str | None, ratio: float | None, unit: str = "ms") -> dict[str, Any]:
    return {"what": what, "value": value, "unit": unit, "peer": peer, "ratio": ratio, "goal": None, "limit": None}


def errors() -> list[dict[str, Any]]:
    """What the pair gains and costs: its standard error against a live stream that keeps the whole epsilon."""
    live = part = WHOLE.part("1/2")
    rows = []
    for length in (1, 10, 60, 360, 3600):
        ranges = RangeStream(KEYS, part, window=3600)
        ranges.history.restore([length] * 64)
        releaser, alone = Lpa(KEYS, live), Lpa(KEYS, WHOLE)
        table = np.full((3600, len(KEYS)), 50)
        increments = ranges.release_many(Confidential(table))
        one = releaser.release(Counts.of(KEYS, Tick(0), table[0]))
        whole = alone.release(Counts.of(KEYS, Tick(0), table[0]))
        window = PairWindow.of(
            KEYS, 3600, ranges.snapshot(), map(_released, range(3600), increments),
            map(_released, range(3600), table, [one.noise_variance] * 3600),
        )  # fmt: skip
        starts = np.linspace(0, 3600 - length, 50).astype(int).tolist()
        mean = math.sqrt(statistics.fmean(window.total(s, s + length - 1, [0]).standard_error ** 2 for s in starts))
        assert whole.noise_variance is not None
        peer = math.sqrt(length * whole.noise_variance)
        what = f"standard error of {length:,} ticks (epsilon 1, one event, window 3,600, share 1/2)"
        rows.append(_row(what, mean, f"adding up ticks with the whole epsilon ({peer:.1f})", mean / peer, "counts"))
    return rows


if __name__ == "__main__":
    from benchmarks.__main__ import show

    show("bench_live_ranges", main())
