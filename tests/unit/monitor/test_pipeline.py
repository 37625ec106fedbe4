"""The pipeline by itself: real collector, real store, a clock set by hand.

A weak epsilon makes noise vanish, so that counts can be read off the releases.
"""

import json
from datetime import UTC, datetime, timedelta

import pytest

from hubbub.collect import Collector, KeyDomain, Live
from hubbub.errors import StoreUnavailable
from hubbub.monitor.pipeline import Pipeline, where_to_resume
from hubbub.monitor.spool import Spool
from hubbub.privacy import Guarantee, Session
from hubbub.release import Lpa
from hubbub.store import Store

START = datetime(2026, 1, 1, tzinfo=UTC)
TICK = timedelta(seconds=10)
UNIT = Session(max_ticks=3, timeout=timedelta(seconds=60))
DOMAIN = KeyDomain(["/a", "/b"], other=None)


class Stage:
    """A store, a spool and a clock that outlive the pipelines that run on them."""

    def __init__(self, folder):
        self.now = START
        self.folder = folder
        self.store = Store.open(folder / "site.db")
        self.said = []

    def clock(self):
        return self.now

    def pipeline(self):
        guarantee = Guarantee.pure(UNIT, 3000, allow_weak=True)
        curator = self.store.curate("site", Lpa(DOMAIN.keys, guarantee))
        self.spool = Spool(self.folder / "spool", self.clock)
        resume = where_to_resume(self.store, curator, self.spool, self.clock)
        collector = Collector(
            DOMAIN, UNIT, TICK, Live(timedelta(0)), stay=False, clock=self.clock, resume=resume,
        )  # fmt: skip
        if resume is None:
            self.store.keep_place("site", collector.resume_point(-1).to_dict())
        return Pipeline(self.store, curator, self.spool, collector, clock=self.clock, say=self.said.append)

    def send(self, person, path):
        event = {"time": self.now.isoformat(), "person": person, "path": path}
        self.spool.push("site", json.dumps(event).encode(), None)

    def counts(self):
        return [release.measurements.tolist() for release in self.store.releases("site")]


@pytest.fixture
def stage(tmp_path):
    made = Stage(tmp_path)
    yield made
    made.store.close()


def drain(pipeline):
    for _ in range(5):
        pipeline.step()


def test_events_become_releases_tick_by_tick(stage):
    pipeline = stage.pipeline()
    for person in ("x", "y"):
        stage.send(person, "/a")
    stage.now += TICK
    drain(pipeline)
    stage.send("x", "/b")
    stage.now += 2 * TICK
    drain(pipeline)
    assert stage.counts() == [[2, 0], [0, 1], [0, 0]]
    assert stage.said[0].startswith("tick 0  2026-01-01 00:00:00  released 2 keys")
    status = pipeline.status()
    assert (status["last_tick"], status["lag_seconds"], status["ticks_settled"]) == (2, 0.0, 3)
    assert status["events"] == 3


@pytest.mark.parametrize("clean", [True, False])
def test_a_restart_counts_nothing_twice_and_keeps_the_bound(stage, clean):
    pipeline = stage.pipeline()
    for _ in range(2):
        stage.send("x", "/a")
        stage.now += TICK
        drain(pipeline)
    stage.send("y", "/b")  # acknowledged, not yet counted
    if clean:
        pipeline.close()
    else:
        stage.spool.close()  # as a crash leaves it: no place written, nothing handed back
    again = stage.pipeline()
    for _ in range(3):
        stage.send("x", "/a")
        stage.now += TICK
        drain(again)
    counts = stage.counts()
    assert counts[:2] == [[1, 0], [1, 0]]
    assert [row[1] for row in counts] == [0, 0, 1, 0, 0], "y was acknowledged before the restart"
    assert sum(row[0] for row in counts) == UNIT.max_ticks, "x had used two of three ticks before the restart"
    assert stage.store.verify("site").ok


def test_while_the_store_is_away_nothing_is_lost(stage, monkeypatch):
    pipeline = stage.pipeline()
    stage.send("x", "/a")
    stage.now += TICK
    real, failures = pipeline._curator.release, iter([StoreUnavailable("gone"), StoreUnavailable("gone")])

    def flaky(counts):
        for error in failures:
            raise error
        return real(counts)

    monkeypatch.setattr(pipeline._curator, "release", flaky)
    drain(pipeline)
    assert stage.counts() == [[1, 0]]
    assert sum("waiting" in line for line in stage.said) == 2


def test_a_stop_while_the_store_is_away_ends_it(stage, monkeypatch):
    pipeline = stage.pipeline()
    stage.now += TICK

    def gone(counts):
        raise StoreUnavailable("gone")

    monkeypatch.setattr(pipeline._curator, "release", gone)
    pipeline.stop.set()
    with pytest.raises(StoreUnavailable):
        pipeline.step()


def test_a_tick_that_another_curator_took_is_left_to_it(stage):
    pipeline = stage.pipeline()
    other = Lpa(DOMAIN.keys, Guarantee.pure(UNIT, 3000, allow_weak=True))
    with stage.store.curate("site", other) as curator:
        from hubbub.confidential import Counts
        from hubbub.released import Tick

        curator.release(Counts.of(DOMAIN.keys, Tick(0, START, TICK), [7, 7]))
    stage.now += 2 * TICK
    drain(pipeline)
    assert stage.counts()[0] == [7, 7]
    assert len(stage.counts()) == 2
    assert any("not ours" in line for line in stage.said)


def test_a_place_that_cannot_be_kept_is_no_harm(stage, monkeypatch):
    pipeline = stage.pipeline()

    def gone(stream, place):
        raise StoreUnavailable("gone")

    monkeypatch.setattr(stage.store, "keep_place", gone)
    stage.now += TICK
    drain(pipeline)
    assert len(stage.counts()) == 1
    assert any("place not kept" in line for line in stage.said)
