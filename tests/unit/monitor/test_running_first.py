"""The first start of a stream: what was there before, and ticks that began before anybody looked.

A weak epsilon makes noise vanish, so that counts can be read off the releases.
"""

from datetime import UTC, datetime, timedelta

import pytest

from hubbub.collect.cutter import NOT_YET_STARTED
from hubbub.errors import StoreUnavailable
from hubbub.monitor.assembly import open_pipeline
from hubbub.monitor.settings import MonitorSettings
from hubbub.store import Store

START = datetime(2026, 1, 1, tzinfo=UTC)


class Hands:
    def __init__(self):
        self.now = START

    def __call__(self):
        return self.now


class Stage:
    def __init__(self, folder):
        self.clock, self.said, self.log = Hands(), [], folder / "access.log"
        self.log.touch()
        self.store = Store.open(folder / "site.db")
        self.settings = MonitorSettings.model_validate(
            {
                "stream": {"name": "site", "tick": "10s"},
                "source": {"kind": "log", "path": str(self.log)},
                "keys": {"names": ["/a"], "other": False},
                "privacy": {"protect": "event", "epsilon": 1000, "allow_weak": True},
                "collect": {"lateness": "1s"},
                "method": {"name": "lpa"},
                "store": {"url": str(folder / "site.db")},
            }
        )

    def open(self):
        return open_pipeline(
            self.settings, self.store, clock=self.clock, on_release=lambda _: None, say=self.said.append
        )[0]

    def write(self):
        stamp = self.clock.now.strftime("%d/%b/%Y:%H:%M:%S +0000")
        with self.log.open("a") as log:
            log.write(f'host - - [{stamp}] "GET /a HTTP/1.1" 200 5 "-" "Mozilla/5.0"\n')

    def pass_time(self, seconds, pipeline=None):
        for _ in range(seconds):
            self.write()
            self.clock.now += timedelta(seconds=1)
            if pipeline is not None:
                pipeline.catch_up()

    def counts(self):
        return [None if r.measurements is None else r.measurements.tolist()[0] for r in self.store.releases("site")]


@pytest.fixture
def stage(tmp_path):
    made = Stage(tmp_path)
    yield made
    made.store.close()


def die(*_):
    raise StoreUnavailable("the process died here")


def test_ticks_that_began_before_the_first_look_are_not_measured(stage, monkeypatch):
    """As it was: killed between making the stream and its first cut, it said 0 for every tick until it was back."""
    stage.pass_time(3)
    with monkeypatch.context() as fault:
        fault.setattr(Store, "keep_cut", die)
        with pytest.raises(StoreUnavailable):
            stage.open()
    stage.pass_time(32)  # nobody is there; tick 0 began at 10 s
    pipeline = stage.open()
    stage.pass_time(37, pipeline)
    assert stage.counts() == [None, None, None, 10, 10, 10]
    assert [NOT_YET_STARTED in line for line in stage.said] == [True] * 3 + [False] * 3


def test_and_that_is_still_known_after_a_crash(stage, monkeypatch):
    with monkeypatch.context() as fault:
        fault.setattr(Store, "keep_cut", die)
        with pytest.raises(StoreUnavailable):
            stage.open()
    stage.pass_time(15)
    stage.open()  # and it dies before the first tick is out
    stage.pass_time(17)
    pipeline = stage.open()
    stage.pass_time(10, pipeline)
    assert stage.counts() == [None, 10, 10]


def test_a_start_that_takes_longer_than_the_rest_of_a_tick(stage, monkeypatch):
    """As it was: what was written to tick 0 while the store was being opened was missing from it."""
    opened = Store.curate

    def slowly(*words, **settings):
        stage.pass_time(12)
        return opened(*words, **settings)

    monkeypatch.setattr(Store, "curate", slowly)
    pipeline = stage.open()
    stage.pass_time(30, pipeline)
    assert stage.counts() == [None, 10, 10]
