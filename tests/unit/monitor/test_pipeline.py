"""The pipeline by itself: real collector, real store, a clock set by hand.

A weak epsilon makes noise vanish, so that counts can be read off the releases.
"""

import threading
import time
from datetime import UTC, datetime, timedelta

import pytest
from tests.support.listed import Listed
from tests.support.patience import until

from hubbub.collect import Batch, Collector, KeyDomain, Live, Replay
from hubbub.collect.clock import SteadyClock
from hubbub.collect.cutter import CLOCK_WAS_SET, EVENTS_REFUSED, NOBODY_COULD_SEND, SOURCE_AWAY
from hubbub.confidential import Counts
from hubbub.errors import PrivacyRefusal, StoreUnavailable
from hubbub.monitor.pipeline import CLOCK_BEHIND, Pipeline
from hubbub.privacy import Guarantee, Session
from hubbub.release import Lpa
from hubbub.released import Tick
from hubbub.store import Store

START = datetime(2026, 1, 1, tzinfo=UTC)
TICK = timedelta(seconds=10)
UNIT = Session(max_ticks=3, timeout=timedelta(seconds=60))
DOMAIN = KeyDomain(["/a", "/b"], other=None)


class Hands:
    """A clock that is set by hand, and says so of itself where a test wants it."""

    def __init__(self):
        self.now, self.set_within = START, None

    def __call__(self):
        return self.now

    def doubtful(self, begins, ends):
        return self.set_within is not None and begins < self.set_within < ends


class Stage:
    """A store, a source's records and a clock that outlive the pipelines that run on them."""

    def __init__(self, folder):
        self.clock, self.records, self.said = Hands(), [], []
        self.store = Store.open(folder / "site.db")

    def pipeline(self, time=None, store=None, grace=timedelta(0), **facts):
        guarantee = Guarantee.pure(UNIT, 3000, allow_weak=True)
        self.curator = (store or self.store).curate("site", Lpa(DOMAIN.keys, guarantee))
        self.source = Listed(self.records, **facts)
        when = time or Live(timedelta(0), start=START)

        def collect(resume):
            return Collector(DOMAIN, UNIT, TICK, when, stay=False, clock=self.clock, resume=resume)

        return Pipeline(
            store or self.store, self.curator, self.source, collect,
            clock=self.clock, say=self.said.append, grace=grace,
        )  # fmt: skip

    def send(self, person, path, ago=0):
        time = self.clock.now - timedelta(seconds=ago)
        self.records.append({"time": time, "person": person, "path": path})

    def pass_time(self, pipeline, ticks=1):
        for _ in range(ticks):
            self.clock.now += TICK
            drain(pipeline)

    def counts(self):
        """What was measured, tick by tick; None where it was predicted."""
        return [
            None if release.measurements is None else release.measurements.tolist()
            for release in self.store.releases("site")
        ]


@pytest.fixture
def stage(tmp_path):
    made = Stage(tmp_path)
    yield made
    made.store.close()


def drain(pipeline, steps=8):
    for _ in range(steps):
        pipeline.step()


def test_events_become_releases_tick_by_tick(stage):
    pipeline = stage.pipeline()
    for person in ("x", "y"):
        stage.send(person, "/a")
    stage.pass_time(pipeline)
    stage.send("x", "/b")
    stage.pass_time(pipeline, 2)
    assert stage.counts() == [[2, 0], [0, 1], [0, 0]]
    assert stage.said[0].startswith("tick 0  2026-01-01 00:00:00  released 2 keys")
    status = pipeline.status()
    assert (status["last_tick"], status["lag_seconds"], status["ticks_settled"]) == (2, 0.0, 3)
    assert status["events"] == 3
    assert status["trouble"] is None


def test_ticks_close_on_time_though_records_never_cease(stage):
    """As it was: a poll that returned rows closed nothing, so one busy visitor stopped all releases."""
    pipeline = stage.pipeline(at_once=3)
    for _ in range(40):
        stage.send("busy", "/a")
        stage.clock.now += timedelta(seconds=1)
        pipeline.step()
        pipeline.step()
    assert len(stage.counts()) >= 3


def test_late_is_judged_by_when_it_came_and_not_by_when_it_is_read(stage):
    pipeline = stage.pipeline()
    stage.send("x", "/a")
    stage.clock.now += TICK
    pipeline._cutter.look()  # the clock's own thread does this, whatever the pipeline is doing
    stage.send("y", "/a", ago=5)  # for tick 0, after it was closed, before anything was read
    stage.clock.now += TICK
    drain(pipeline)
    assert stage.counts() == [[1, 0], [0, 0]]


@pytest.mark.parametrize("clean", [True, False])
def test_a_restart_counts_nothing_twice_and_keeps_the_bound(stage, clean):
    pipeline = stage.pipeline()
    for _ in range(2):
        stage.send("x", "/a")
        stage.pass_time(pipeline)
    stage.send("y", "/b")  # written, not yet counted
    if clean:
        pipeline.close()
    else:
        stage.curator.close()
    again = stage.pipeline()
    for _ in range(3):
        stage.send("x", "/a")
        stage.pass_time(again)
    counts = stage.counts()
    assert counts[:2] == [[1, 0], [1, 0]]
    assert [row[1] for row in counts] == [0, 0, 1, 0, 0], "y was there before the restart"
    assert sum(row[0] for row in counts) == UNIT.max_ticks, "x had used two of three ticks before the restart"
    assert stage.store.verify("site").ok


@pytest.mark.parametrize("change", [{"proves": False}, {"name": "another"}])
def test_a_source_that_cannot_prove_its_past_gives_nobody_the_bound_again(stage, change):
    pipeline = stage.pipeline()
    for _ in range(3):
        stage.send("x", "/a")
        stage.pass_time(pipeline)
    pipeline.close()
    again = stage.pipeline(**change)
    for _ in range(12):
        stage.send("x", "/a")
        stage.send("y", "/b")
        stage.pass_time(again)
    counts = stage.counts()
    assert counts[:3] == [[1, 0]] * 3
    # 30 s + ten of clocks ahead + a timeout of 60 + three ticks: until then everything is predicted, and free.
    assert counts[3:13] == [None] * 10
    assert all(row == [0, 0] for row in counts[13:]), "both have been there all along, and are distrusted"
    assert stage.store.budget("site").settled == 15
    assert any("after a break" in line for line in stage.said)


def test_a_past_that_was_lost_once_stays_lost(stage):
    """The next start found its past again and read it with the cuts of one that had not: what lay between was nowhere,
    and came out as nothing, measured."""
    pipeline = stage.pipeline()
    for _ in range(3):
        stage.send("x", "/a")
        stage.pass_time(pipeline)
    stage.curator.close()
    stage.send("x", "/a")  # which the next one does not read
    broken = stage.pipeline(proves=False)
    stage.pass_time(broken)
    stage.curator.close()
    again = stage.pipeline()
    stage.pass_time(again, 11)
    counts = stage.counts()
    assert counts[:3] == [[1, 0]] * 3
    # 40 s, the first cut after the break, + ten of clocks ahead + a timeout of 60 + three ticks.
    assert counts[3:14] == [None] * 11
    assert counts[14:] == [[0, 0]]


def test_without_the_key_of_its_places_the_past_is_lost(stage, tmp_path, monkeypatch):
    """Its places are sealed: whoever has the store alone cannot read them, and neither can we without the key."""
    pipeline = stage.pipeline()
    for _ in range(3):
        stage.send("x", "/a")
        stage.pass_time(pipeline)
    stage.curator.close()
    monkeypatch.setenv("HUBBUB_STATE", str(tmp_path / "emptied"))
    with Store.open(tmp_path / "site.db") as elsewhere:
        again = stage.pipeline(store=elsewhere)
        assert again._past_lost
        stage.pass_time(again, 2)
        assert stage.counts() == [[1, 0]] * 3 + [None, None]
        again.close()
        assert stage.pipeline(store=elsewhere)._cuts[0].frontier  # its own places it can read


def test_who_stands_by_begins_anew_where_the_other_did(stage, tmp_path):
    first = stage.pipeline()
    stage.pass_time(first)
    with Store.open(tmp_path / "site.db") as beside:
        second = stage.pipeline(store=beside)
        stage.clock.now += TICK
        drain(first)
        stage.send("late", "/a")  # so that the second one's cut is another
        drain(second)
        assert second._standing_by
        stage.curator.close()
        third = stage.pipeline(proves=False)  # it takes the place of the first
        stage.clock.now += TICK
        drain(third)
        drain(second)
        assert second._cuts[0].begins_anew
        assert second._collector._whole_from > 3
        assert stage.counts()[2] is None


def test_a_clock_that_was_set_back_lets_nobody_in_again(stage):
    """Whoever was counted up to the later time by the old clock may come back until that time is over."""
    pipeline = stage.pipeline()
    stage.send("x", "/a")
    stage.pass_time(pipeline)
    pipeline.close()
    stage.clock.now -= timedelta(hours=1)
    again = stage.pipeline(proves=False)
    assert again._collector._whole_from == 1 + 1 + 6 + 3, "10 s + ten of clocks ahead + a timeout + three ticks"


def test_what_is_known_to_be_wrong_is_predicted(stage):
    pipeline = stage.pipeline()
    stage.clock.set_within = START + timedelta(seconds=5)
    stage.send("x", "/a")
    stage.pass_time(pipeline)
    stage.clock.set_within = None
    stage.pass_time(pipeline)
    assert stage.counts() == [None, [0, 0]]
    assert CLOCK_WAS_SET in stage.said[0]
    stage.source.away = True
    stage.pass_time(pipeline)
    assert stage.counts() == [None, [0, 0]], "ticks wait for a source that is away"
    assert pipeline.status()["trouble"] == "The source is away."
    stage.pass_time(pipeline, 7)
    assert stage.counts()[2:] == [None] * 8, "but not for ever"
    assert SOURCE_AWAY in stage.said[-1]
    stage.source.away = False
    stage.send("y", "/a")
    stage.pass_time(pipeline)
    assert stage.counts()[-1] == [1, 0]


@pytest.mark.parametrize("restarted", [False, True])
def test_events_that_bear_the_new_time_of_a_clock_that_was_set_are_not_missed_in_silence(stage, restarted):
    """As it was: a machine was paused, the monitor killed right after. What had come by then was far ahead of the old
    time and dropped; the next process knew the new time alone, and its ticks were published as measured."""
    wall, steady = [START.timestamp()], [0.0]

    def clock():
        return SteadyClock(wall=lambda: wall[0], steady=lambda: steady[0])

    def pass_time(pipeline, seconds):
        for _ in range(seconds):
            wall[0], steady[0] = wall[0] + 1, steady[0] + 1
            drain(pipeline, 3)

    def send(ahead=0):
        moment = datetime.fromtimestamp(wall[0] + ahead, UTC)
        stage.records.append({"time": moment, "person": str(len(stage.records)), "path": "/a"})

    stage.clock = clock()
    pipeline = stage.pipeline()
    pass_time(pipeline, 25)
    wall[0] += 65  # ticks 2 to 8; it is 00:01:30 now, and the monitor's clock goes on from 25 for ten seconds
    send()
    send(ahead=8)  # another machine's clock
    pass_time(pipeline, 6)
    if restarted:
        pipeline.close()
        stage.clock = clock()
        pipeline = stage.pipeline()
    pass_time(pipeline, 40)
    counts = stage.counts()
    assert counts[:2] == [[0, 0], [0, 0]]
    assert counts[2:11] == [None] * 9, "from the old time to the new one, and as far as an event may be ahead"
    assert counts[-1] == [0, 0]


def test_a_source_that_is_away_for_a_moment_loses_nothing(stage):
    pipeline = stage.pipeline()
    stage.send("x", "/a")
    stage.source.away = True
    stage.pass_time(pipeline, 2)
    assert stage.counts() == []
    stage.source.away = False
    drain(pipeline)
    assert stage.counts() == [[1, 0], [0, 0]]


def test_while_the_monitor_is_down_nobody_can_send_to_it(stage, monkeypatch):
    monkeypatch.setattr(Listed, "waits_for_us", False)
    pipeline = stage.pipeline()
    stage.send("x", "/a")
    stage.pass_time(pipeline)
    pipeline.close()
    stage.clock.now += 3 * TICK
    again = stage.pipeline()
    stage.send("y", "/a")
    stage.pass_time(again)
    assert stage.counts() == [[1, 0], None, None, None, [1, 0]]
    assert NOBODY_COULD_SEND in stage.said[-2]


@pytest.mark.parametrize("restarted", [False, True])
def test_nobody_can_send_before_the_server_is_up(stage, monkeypatch, restarted):
    """As it was: a start that took long published zeros for the time in which nobody was there to take events."""
    monkeypatch.setattr(Listed, "waits_for_us", False)
    if restarted:
        stage.pipeline().close()
    pipeline = stage.pipeline()
    stage.clock.now += 3 * TICK  # until it serves, and then runs
    running = threading.Thread(target=pipeline.run)
    running.start()
    try:
        until(lambda: len(stage.counts()) == 3, "the ticks of the start are out")
        stage.send("x", "/a")
        stage.clock.now += TICK
        until(lambda: len(stage.counts()) == 4, "the next tick is out")
    finally:
        pipeline.stop.set()
        running.join()
    assert stage.counts() == [None, None, None, [1, 0]]


def test_a_past_that_was_sought_in_vain_is_lost_up_to_the_end_of_the_search(stage, monkeypatch):
    """As it was: zeros for ticks whose lines came while a log's past was looked for."""
    pipeline = stage.pipeline()
    stage.pass_time(pipeline, 2)
    pipeline.close()

    def search(source, positions):
        if int(positions.get("at", "0")) < len(stage.records):
            stage.clock.now += 20 * TICK if positions else timedelta(0)
            return False
        return Listed_open(source, positions)

    Listed_open = Listed.open
    stage.send("x", "/a")
    monkeypatch.setattr(Listed, "open", search)
    again = stage.pipeline(proves=False)
    stage.pass_time(again, 12)
    counts = stage.counts()
    assert counts[:2] == [[0, 0]] * 2
    assert counts[2:32] == [None] * 30, "the search, the greatest lead of an event, and a session's past"
    assert counts[32:] == [[0, 0]] * 2


def test_events_that_were_refused_are_not_taken_for_none(stage, monkeypatch):
    monkeypatch.setattr(Listed, "waits_for_us", False)
    pipeline = stage.pipeline()
    stage.pass_time(pipeline)
    monkeypatch.setattr(Listed, "takes_events", False)
    stage.pass_time(pipeline)
    monkeypatch.setattr(Listed, "takes_events", True)
    stage.pass_time(pipeline)  # it was noticed only now that they are taken again
    stage.pass_time(pipeline)
    assert stage.counts() == [[0, 0], None, None, [0, 0]]
    assert stage.store.budget("site").settled == 4
    assert EVENTS_REFUSED in stage.said[1]


@pytest.mark.parametrize("runs", [False, True])
def test_a_busy_machine_is_no_pause_where_the_clock_is_set_by_hand(stage, monkeypatch, runs):
    """Whatever plays events through by a clock of its own may take its time; where the clock runs, that is a pause."""
    monkeypatch.setattr(Listed, "waits_for_us", False)
    seconds = iter(range(0, 10**6, 5))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(seconds)))
    if runs:
        stage.clock.steady = time.monotonic
    pipeline = stage.pipeline()
    for _ in range(4):
        stage.pass_time(pipeline)
    assert stage.counts() == [[0, 0], *([None] * 3 if runs else [[0, 0]] * 3)]


@pytest.mark.parametrize("restarted", [False, True])
def test_a_clock_that_was_set_back_is_told(stage, restarted):
    """As it was: no tick came for a day, and all was said to be well."""
    pipeline = stage.pipeline()
    stage.pass_time(pipeline, 3)
    assert (pipeline.trouble, pipeline.clock_behind) == ("", timedelta(0))
    stage.clock.now -= timedelta(days=1)
    if restarted:
        pipeline.close()
        pipeline = stage.pipeline()
    drain(pipeline)
    assert (pipeline.trouble, pipeline.clock_behind) == (CLOCK_BEHIND, timedelta(days=1))
    stage.clock.now += timedelta(days=1)
    stage.pass_time(pipeline)
    assert (pipeline.trouble, pipeline.clock_behind) == ("", timedelta(0))
    assert len(stage.counts()) == 4


def test_a_stop_is_heard_between_the_ticks_of_one_cut(stage):
    """As it was: after a long rest thousands of ticks had to be out before a monitor could be stopped."""
    pipeline = stage.pipeline()
    stage.send("x", "/a")
    stage.clock.now += 5 * TICK

    def stop_after_two(line):
        stage.said.append(line)
        if len(stage.said) == 2:
            pipeline.stop.set()

    pipeline._say = stop_after_two
    drain(pipeline)
    pipeline.close()
    assert stage.counts() == [[1, 0], [0, 0]]
    again = stage.pipeline()
    drain(again)
    assert stage.counts() == [[1, 0], *[[0, 0]] * 4], "the next start goes on with the same cut"


def test_while_the_store_is_away_nothing_is_lost(stage, monkeypatch):
    pipeline = stage.pipeline()
    stage.send("x", "/a")
    stage.clock.now += TICK
    real, failures = pipeline._curator.release, iter([StoreUnavailable("gone"), StoreUnavailable("gone")])

    def flaky(counts):
        for error in failures:
            raise error
        return real(counts)

    monkeypatch.setattr(pipeline._curator, "release", flaky)
    drain(pipeline)
    assert stage.counts() == [[1, 0]]
    assert sum("waiting" in line for line in stage.said) == 1, "once, and after a minute again"


def test_a_cut_that_could_not_be_written_is_written_before_its_tick_is_released(stage, monkeypatch):
    pipeline = stage.pipeline()
    stage.clock.now += TICK
    real, failures = stage.store.keep_cut, iter([StoreUnavailable("gone")] * 3)

    def flaky(stream, cut):
        for error in failures:
            raise error
        return real(stream, cut)

    monkeypatch.setattr(stage.store, "keep_cut", flaky)
    pipeline._cutter.look()
    assert stage.store.cuts("site")[-1].tick == -1
    drain(pipeline)
    assert stage.counts() == [[0, 0]]
    assert stage.store.cuts("site")[-1].tick == 0


def test_a_stop_while_the_store_is_away_ends_it(stage, monkeypatch):
    pipeline = stage.pipeline()
    stage.clock.now += TICK

    def gone(counts):
        raise StoreUnavailable("gone")

    monkeypatch.setattr(pipeline._curator, "release", gone)
    pipeline.stop.set()
    with pytest.raises(StoreUnavailable):
        drain(pipeline)


def test_a_tick_that_another_curator_took_is_left_to_it(stage):
    pipeline = stage.pipeline()
    other = Lpa(DOMAIN.keys, Guarantee.pure(UNIT, 3000, allow_weak=True))
    with stage.store.curate("site", other) as curator:
        curator.release(Counts.of(DOMAIN.keys, Tick(0, START, TICK), [7, 7]))
    stage.pass_time(pipeline, 2)
    assert stage.counts()[0] == [7, 7]
    assert len(stage.counts()) == 2
    assert any("not ours" in line for line in stage.said)


def test_old_cuts_and_records_are_forgotten(stage, monkeypatch):
    monkeypatch.setattr("hubbub.monitor.pipeline.FORGET_SECONDS", -1.0)
    pipeline = stage.pipeline()
    for _ in range(30):
        stage.send("x", "/a")
        stage.pass_time(pipeline)
    # Three ticks, a timeout of six and ten seconds of clocks ahead: ten ticks back from the newest.
    assert [cut.tick for cut in stage.store.cuts("site")] == list(range(19, 30))
    assert stage.source.settled == 20

    def gone(stream, before):
        raise StoreUnavailable("gone")

    monkeypatch.setattr(stage.store, "forget_cuts", gone)
    stage.pass_time(pipeline)
    assert any("old cuts not forgotten" in line for line in stage.said)


def test_what_the_clock_s_thread_meets_ends_the_pipeline(stage, monkeypatch):
    pipeline = stage.pipeline()

    def broken():
        raise OSError("the disk")

    monkeypatch.setattr(stage.source, "frontier", broken)
    stage.clock.now += TICK
    with pytest.raises(OSError, match="the disk"):
        pipeline.run()


def test_a_live_source_that_is_over_gives_out_what_has_ended(stage):
    pipeline = stage.pipeline()
    stage.send("x", "/a")
    pipeline.step()
    stage.clock.now += timedelta(seconds=10)
    stage.source.closed = True
    while pipeline.step():
        pass
    assert stage.counts() == [[1, 0]]


def test_a_live_source_that_is_over_still_tells_what_is_wrong(stage):
    """Ticks after a break, and those whose cut had a doubt, came out as measured."""
    pipeline = stage.pipeline()
    stage.pass_time(pipeline)
    pipeline.close()
    again = stage.pipeline(proves=False)
    stage.clock.now += 2 * TICK
    stage.source.closed = True
    while again.step():
        pass
    assert stage.counts() == [[0, 0], None, None]


def test_two_pipelines_on_one_source_take_turns_and_agree(stage, tmp_path):
    """One closes the ticks, the other follows its cuts; when the first is gone the second goes on without a gap."""
    first = stage.pipeline()
    with Store.open(tmp_path / "site.db") as beside:
        second = stage.pipeline(store=beside)
        for tick in range(6):
            stage.send("x", "/a")
            stage.send(f"v{tick}", "/b")
            stage.clock.now += TICK
            if tick < 3:
                drain(first)
                stage.send("late", "/b", ago=5)  # behind the first one's cut, before the second one looks
            drain(second)
        assert any("standing by" in line for line in stage.said)
        # The first is gone since tick 2: after two ticks and a while the second takes over.
        stage.pass_time(second, 2)
        assert any("taking over" in line for line in stage.said)
        counts = stage.counts()
        assert counts[:6] == [[1, 1]] * 3 + [[0, 1]] * 3, "x has used up its three ticks, whoever counted them"
        assert counts[6:] == [[0, 0]] * 2
        # And when the first comes back it finds the other's cuts.
        drain(first)
        stage.clock.now += TICK
        drain(second)
        drain(first)
        assert len(stage.counts()) == 9
        second.close()


def test_a_newcomer_gives_the_one_at_work_time_for_its_cut(stage, tmp_path):
    """As it was: a newcomer with a log of its own could be the faster one, and all went dark that it had not seen."""
    first = stage.pipeline()
    stage.pass_time(first)
    with Store.open(tmp_path / "site.db") as beside:
        second = stage.pipeline(store=beside, name="of its own", grace=timedelta(seconds=1))
        for ago in (0, 0.5):
            stage.clock.now += TICK + timedelta(seconds=ago)
            drain(second)
            drain(first)
        stage.clock.now += timedelta(seconds=1)
        drain(second)
        assert [line for line in stage.said if "standing by" in line] == ["cut 1  made by another monitor; standing by"]
        assert stage.counts() == [[0, 0]] * 3
        second.close()


def test_grace_is_for_the_first_cut_alone(stage):
    first = stage.pipeline()
    stage.pass_time(first)
    first.close()
    second = stage.pipeline(grace=timedelta(seconds=1))
    stage.pass_time(second)
    assert len(stage.counts()) == 1
    stage.clock.now += timedelta(seconds=1)
    drain(second)
    assert len(stage.counts()) == 2
    stage.clock.now += TICK - timedelta(seconds=1)
    drain(second)
    assert len(stage.counts()) == 3


def test_a_standby_with_a_source_of_its_own_takes_over_without_zeros(stage, tmp_path):
    first = stage.pipeline()
    with Store.open(tmp_path / "site.db") as beside:
        records, stage.records = stage.records, []
        second, mine = stage.pipeline(store=beside, name="of its own"), stage.source
        for _ in range(3):
            records.append({"time": stage.clock.now, "person": "x", "path": "/a"})
            mine.records.append({"time": stage.clock.now, "person": "x", "path": "/a"})
            stage.clock.now += TICK
            drain(first)
            drain(second)
        assert stage.counts() == [[1, 0]] * 3
        assert mine.settled > 0, "what will not be read again need not be kept"
        for _ in range(5):
            mine.records.append({"time": stage.clock.now, "person": "x", "path": "/a"})
            stage.pass_time(second)
        assert stage.counts()[3:] == [None] * 5, "predicted, since nobody knows whom the other counted"
        second.close()


def test_a_recorded_file_is_read_again_if_it_is_the_same(stage, tmp_path, monkeypatch):
    class Once(Listed):
        mark = "one file"

        def frontier(self):
            return {"file": self.mark}

        def poll(self, until):  # noqa: ARG002
            if self.at:
                return None
            self.at = 1
            return Batch.of(self.records)

    stage.records += [{"time": START, "person": "x", "path": "/a"}]
    recorded = Replay(START, START + 3 * TICK)

    def pipeline():
        guarantee = Guarantee.pure(UNIT, 3000, allow_weak=True)
        curator = stage.store.curate("site", Lpa(DOMAIN.keys, guarantee))

        def collect(resume):
            return Collector(DOMAIN, UNIT, TICK, recorded, stay=False, clock=stage.clock, resume=resume)

        return Pipeline(stage.store, curator, Once(stage.records), collect, clock=stage.clock)

    made = pipeline()
    real = made._curator.release
    made._curator.release = lambda counts: real(counts) if counts.tick.index < 2 else (_ for _ in ()).throw(OSError())
    with pytest.raises(OSError):
        made.run()
    assert len(stage.counts()) == 2
    Once.mark = "another file"
    with pytest.raises(PrivacyRefusal, match="has changed"):
        pipeline()
    Once.mark = "one file"
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("HUBBUB_STATE", str(tmp_path / "emptied"))
        stage.store = Store.open(tmp_path / "site.db")
        with pytest.raises(PrivacyRefusal, match="only on the machine that released them"):
            pipeline()
    stage.store = Store.open(tmp_path / "site.db")
    pipeline().run()
    assert stage.counts() == [[1, 0], [0, 0], [0, 0]]
