"""The whole way from the bytes of each source to what is released: neighbours cannot be told apart.

`python -m tests.support.whole_way 100000` plays as many pairs as are wanted; here a few of each kind are played, and
faults that were put in are found.
"""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from tests.support.scripts import LONG, draw
from tests.support.whole_way import RECORDED, UNITS, Company, Memory, Play, excess, pairs
from tests.support.worlds import LogWorld, worlds

from hubbub.collect import Collector
from hubbub.collect.identity import Identity
from hubbub.collect.sources import FollowedFile, JsonLines
from hubbub.collect.sources.documents import gtfs_realtime
from hubbub.monitor.pipeline import Pipeline
from hubbub.privacy.unit import Event, Session, Window

LIVE, FILES = ["log, combined", "log, json", "spool", "feeds"], ["log", "jsonl", "csv", "parquet"]


@pytest.mark.parametrize("number", range(len(LIVE)))
@pytest.mark.parametrize("which", range(len(UNITS)))
def test_neighbours_of_live_sources_look_the_same(number, which, tmp_path):
    unit, stay = UNITS[which]
    found = list(pairs(worlds(tmp_path)[LIVE[number]], unit, stay, [len(LIVE) * which + number], people=3))
    assert len(found) >= 4
    assert [pair for pair in found if pair[2]] == []


@pytest.mark.parametrize("number", range(len(FILES)))
@pytest.mark.parametrize("which", range(len(RECORDED)))
def test_neighbours_of_files_look_the_same(number, which, tmp_path):
    unit, stay = RECORDED[which]
    found = list(pairs(worlds(tmp_path)[f"file, {FILES[number]}"], unit, stay, [4 * which + number], people=3))
    assert len(found) >= 4
    assert [pair for pair in found if pair[2]] == []


# ── faults that must be found ────────────────────────────────────────────────────────────────────────────────────────


def faults(make, unit, stay, company=Company, seeds=range(20), **options) -> set[str]:
    """What is told of the first script in which something is."""
    for seed in seeds:
        found = {wrong for _, _, wrong in pairs(make, unit, stay, [seed], 3, company, **options) if wrong}
        if found:
            return found
    return set()


def log(tmp_path):
    return worlds(tmp_path)["log, json"]


def test_a_session_counted_in_more_ticks_is_found(tmp_path):
    found = faults(log(tmp_path), Session(2, LONG), True, counted_as=Session(3, LONG))
    assert any("ticks change" in wrong or "was promised" in wrong for wrong in found)


def test_a_session_counted_under_more_keys_is_found(tmp_path):
    found = faults(log(tmp_path), Session(2, LONG), True, counted_as=Session(2, LONG, 2))
    assert any("a tick changes by 2" in wrong for wrong in found)


def test_a_feed_that_is_lost_with_one_of_its_vehicles_is_found(tmp_path, monkeypatch):
    """As the library reads it: whole, or not at all."""

    def whole_or_not_at_all(body):
        lines = gtfs_realtime(body)
        return b"-" if b"\n-" in b"\n" + lines else lines

    monkeypatch.setattr("tests.support.worlds.gtfs_realtime", whole_or_not_at_all)
    assert faults(worlds(tmp_path)["feeds"], Session(2, LONG), False)


class SkipsWhatIsEmpty(Company):
    """A tick without anybody is predicted."""

    class memory(Memory):
        def release(self, counts):
            return super().release(counts) if counts.values.reveal().any() else self.predict(counts.tick)


class ClosesWhenSomethingComes(Company):
    """Ticks close when somebody writes, as with a watermark."""

    class play(Play):
        def step(self, step):
            super().step(step)
            if step.what == "write":
                self.pipeline._cutter.look()


class TrustsEverybody(Company):
    """Whoever may have been counted before a restart is counted anew."""

    class play(Play):
        class collectors(Collector):
            def _go_on(self, resume):  # noqa: ARG002
                self._bound.begin(self._closed)


@pytest.mark.parametrize(
    ("company", "unit", "stay", "why"),
    [
        (SkipsWhatIsEmpty, Event(), False, "differs between neighbours|draws of|was drawn"),
        (ClosesWhenSomethingComes, Window(2), False, "when ticks are closed"),
        (TrustsEverybody, Session(2, LONG), timedelta(seconds=25), "ticks change|was promised"),
    ],
    ids=lambda part: getattr(part, "__name__", ""),
)
def test_a_fault_on_the_way_is_found(company, unit, stay, why, tmp_path):
    found = faults(log(tmp_path), unit, stay, company)
    assert found
    assert any(part in wrong for wrong in found for part in why.split("|"))


class OneBadLineSpoilsAll(JsonLines):
    def parse(self, block):
        events, malformed = super().parse(block)
        return (events.clear(), events.height) if malformed else (events, malformed)


def test_a_broken_line_that_changes_how_others_are_read_is_found(tmp_path):
    numbers = iter(range(10**6))

    class Spoilt(LogWorld):
        def open(self):
            self.source = FollowedFile(self.path, OneBadLineSpoilsAll())
            return self.source

    assert faults(lambda: Spoilt(tmp_path / str(next(numbers)), "json"), Event(), False)


def test_an_identity_that_depends_on_other_rows_is_found(tmp_path, monkeypatch):
    def of(self, events):
        first, second = honest(self, events)
        return first + np.uint64(events["person"].n_unique()), second

    honest = Identity.of
    monkeypatch.setattr(Identity, "of", of)
    assert faults(log(tmp_path), Session(2, LONG), False)


def test_a_line_of_the_monitor_that_tells_a_count_is_found(tmp_path, monkeypatch):
    def publish(self, ended):
        self._say(f"{ended.counts.values.reveal().sum()} people")
        honest(self, ended)

    honest = Pipeline._publish
    monkeypatch.setattr(Pipeline, "_publish", publish)
    assert any("what is said" in wrong for wrong in faults(log(tmp_path), Session(2, LONG), False))


# ── limits of memory ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_collector_that_is_full_stops_and_tells_nothing_else(tmp_path):
    """That it stopped is seen, and is a known limit; its words are the same for everybody, and no tick is dropped."""
    make, unit = log(tmp_path), Session(3, LONG)
    words, stopped, compared = set(), 0, 0
    for seed in range(4):
        script = draw(np.random.default_rng(seed), (), 4, unit)
        plays = []
        for leaving in (None, *script.units):
            play = Play(make(), script.only([who for who in script.units if who != leaving]), unit, True)
            play.limits = {"max_open": 3}
            given = play.run()
            told = [seen for _, what, seen in play.memory.seen.lines if what == "a refusal"]
            words |= set(told)
            plays.append((given, bool(told)))
            stopped += bool(told)
        for given, full in plays[1:]:
            if not full and not plays[0][1]:
                compared += 1
                assert excess(plays[0][0], given, unit) == ""
    assert stopped
    assert len(words) == 1
