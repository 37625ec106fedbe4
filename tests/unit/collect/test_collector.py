"""The collector by example: time, filters, keys, limits, duplicates, and what it refuses."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest

from hubbub.collect import Batch, Collector, Filters, KeyDomain, Live, Replay, Resume, Source, SteadyClock, collected
from hubbub.collect.calendar import Calendar
from hubbub.collect.identity import Identity
from hubbub.collect.person_bound import PersonBound
from hubbub.collect.rows import Rows
from hubbub.collect.sources import KafkaSource, NatsSource, QueueSource
from hubbub.collect.stay import Stay
from hubbub.errors import ConfidentialLeak, InvalidInput, InvalidParameter, MissingExtra, Overloaded
from hubbub.privacy.unit import Event, Session, Unit, User, Window

START = datetime(2026, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
SESSION = Session(3, timedelta(minutes=30))


def seconds(number):
    return START + timedelta(seconds=number)


def batch(*rows, **facts):
    return Batch.of([{"time": seconds(t), "person": who, "path": path} for t, who, path in rows], **facts)


def replay(unit=SESSION, minutes=10, **options):
    lateness = options.pop("lateness", None)
    return Collector(
        ["/", "/news"], unit, MINUTE, Replay(START, START + minutes * MINUTE, lateness, gather=1), **options
    )


def shown(counts):
    return [c.values.reveal().tolist() for c in counts]


class Hands:
    def __init__(self):
        self.now = START

    def __call__(self):
        return self.now


def live(unit=SESSION, resume=None, **options):
    clock = Hands()
    time = Live(lateness=timedelta(seconds=30), max_ahead=timedelta(seconds=10), start=START)
    return Collector(["/", "/news"], unit, MINUTE, time, clock=clock, resume=resume, **options), clock


def test_a_session_stays_on_its_page_between_requests_but_not_after_the_last():
    engine = replay(Session(9, timedelta(minutes=30)), minutes=6)
    engine.add(batch((0, "a", "/"), (200, "a", "/news")))
    assert shown(engine.flush()) == [[1, 0, 0], [1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert engine.delay == timedelta(minutes=30)


def test_one_event_far_in_the_future_makes_nobody_late():
    engine, clock = live(Event())
    clock.now = seconds(5)
    assert engine.add(batch((1, "a", "/"), (10**6, "b", "/"), complete=seconds(5))) == []
    assert engine.add(batch((2, "c", "/"), complete=seconds(6))) == []
    clock.now = seconds(90)
    assert shown(engine.add(batch(complete=seconds(90)))) == [[2, 0, 0]]
    clock.now = seconds(95)
    engine.add(batch((3, "d", "/"), (70, "e", "/"), complete=seconds(80)))  # the clock went back: no harm
    numbers = engine.statistics.for_curator()
    assert (numbers["late"], numbers["ahead"], numbers["waiting"]) == (1, 1, 1)
    clock.now = seconds(121)
    assert shown(engine.flush()) == [[1, 0, 0]]


def test_ticks_wait_for_a_source_that_is_behind():
    engine, clock = live(Event())
    clock.now = seconds(1000)
    assert engine.add(batch((30, "a", "/"))) == []  # a backlog: nothing is complete, so nothing is late
    assert len(engine.add(batch((40, "b", "/"), complete=seconds(1000)))) == 16


def test_a_duplicate_batch_is_counted_once_and_its_key_is_forgotten_in_time():
    engine, clock = live(Event())
    for _ in range(3):
        engine.add(batch((1, "a", "/"), key="k"))
    clock.now = seconds(200)
    assert shown(engine.add(batch(complete=seconds(200))))[0] == [1, 0, 0]
    assert engine.statistics.for_curator()["duplicates"] == 2
    assert len(engine._seen) == 0
    engine.add(batch((1, "a", "/"), key="k"))
    assert engine.statistics.for_curator()["late"] == 1
    whole = replay(Event())
    whole.add(batch((1, "a", "/"), key="k"))
    whole.add(batch((1, "a", "/"), key="k"))
    assert shown(whole.flush())[0] == [1, 0, 0]


def test_filters_and_keys():
    domain = KeyDomain({"front": "/", "news": "/news/*"}, lower=True)
    rows = [
        ("/?a=1", "Firefox", 200, "GET"),
        ("http://site/NEWS/%41#x", "Firefox", 304, "GET"),
        ("/style.CSS?v=2", "Firefox", 200, "GET"),
        ("/", "Googlebot/2.1", 200, "GET"),
        ("/", "Firefox", 404, "GET"),
        ("/", "Firefox", 200, "POST"),
        ("/else", None, 200, None),
    ]
    facts = [
        {"time": START, "person": str(i), "path": p, "agent": a, "status": s, "method": m}
        for i, (p, a, s, m) in enumerate(rows)
    ]
    engine = Collector(domain, Window(1), MINUTE, Replay(START, START + MINUTE))
    engine.add(Batch.of(facts, malformed=2, oversized=1))
    assert shown(engine.flush()) == [[1, 1, 1]]
    numbers = engine.statistics.for_curator()
    assert [numbers[n] for n in ("bots", "assets", "not_shown", "unknown", "malformed", "oversized")] == [
        1,
        1,
        2,
        1,
        2,
        1,
    ]
    bare = Collector(KeyDomain(["/"], other=None), Window(1), MINUTE, Replay(START, START + MINUTE))
    bare.add(Batch.of([*facts, {"time": START - MINUTE, "person": "x", "path": "/"}]))
    assert shown(bare.flush()) == [[1]]
    assert bare.statistics.for_curator()["outside"] == 1


def test_a_file_of_keys(tmp_path):
    path = tmp_path / "keys"
    path.write_text("# public\n/\nstory = /s/*\n\n")
    domain = KeyDomain.from_file(path)
    assert domain.keys.names == ("/", "story", "other")
    assert domain.codes(pl.Series(["/s/1", "/", "/s"])).tolist() == [1, 0, 2]
    path.write_text("/\n/\n")
    with pytest.raises(InvalidParameter, match="listed twice"):
        KeyDomain.from_file(path)
    with pytest.raises(InvalidInput, match="cannot be read"):
        KeyDomain.from_file(tmp_path)
    with pytest.raises(InvalidParameter, match="also where unknown"):
        KeyDomain(["other"])
    with pytest.raises(InvalidParameter, match="two keys"):
        KeyDomain({"a": "/x", "b": "/x"})


def test_a_replay_that_is_out_of_order_by_more_is_refused_and_stays_so():
    engine = replay(lateness=timedelta(seconds=60))
    engine.add(batch((100, "a", "/"), (45, "b", "/")))
    with pytest.raises(InvalidInput, match="out of order"):
        engine.add(batch((120, "a", "/"), (50, "b", "/")))
    with pytest.raises(InvalidInput, match="out of order"):
        engine.add(batch())
    with pytest.raises(InvalidInput, match="out of order"):
        engine.flush()


def test_limits_stop_instead_of_leaving_someone_out():
    engine = replay(max_open=1, lateness=timedelta(0))
    with pytest.raises(InvalidInput, match="more than 1 open sessions"):
        engine.add(batch((0, "a", "/"), (0, "b", "/"), (300, "b", "/")))
    with pytest.raises(InvalidInput, match="wait for their tick"):
        replay(max_waiting=1).add(batch((0, "a", "/"), (0, "b", "/")))


def test_sessions_that_are_over_are_forgotten():
    engine = replay(Session(3, MINUTE), minutes=600, lateness=timedelta(0), stay=False)
    for i in range(200):
        engine.add(batch((i * 120, f"p{i}", "/")))
        assert engine.statistics.open <= 2


def test_a_mistaken_identity_is_found():
    bound = PersonBound(Calendar(START, MINUTE), 2, max_ticks=3)
    one = np.array([7], np.uint64)
    time, key = np.array([0], np.int64), np.array([0], np.int32)
    bound.advance(Rows(one, np.array([1], np.uint64), time, key), 0)
    with pytest.raises(InvalidInput, match="same 64-bit hash"):
        bound.advance(Rows(one, np.array([2], np.uint64), time, key), 1)


def test_agents_tell_clients_apart_when_asked_to():
    rows = [{"time": START, "person": "proxy", "path": "/", "agent": agent} for agent in ("Firefox", "Safari")]
    for identify, expected in ((("person",), 1), (("person", "agent"), 2)):
        engine = replay(identify=identify, minutes=1)
        engine.add(Batch.of(rows))
        assert shown(engine.flush())[0][0] == expected


def test_the_past_of_a_stream_is_kept_as_positions_only():
    engine, clock = live(Session(2, timedelta(minutes=2)), stay=False)
    engine.add(batch(positions={"p": "0"}))
    for minute in range(20):
        clock.now = START + minute * MINUTE
        engine.add(batch((minute * 60 - 1, "a", "/"), positions={"p": str(minute)}, complete=clock.now))
    point = engine.resume_point(17)
    assert Resume.from_dict(point.to_dict()) == point
    assert point.since == START + 13 * MINUTE  # two ticks, a timeout of two, and ten seconds of clocks ahead
    again, clock = live(Session(2, timedelta(minutes=2)), resume=point, stay=False)
    clock.now = START + 25 * MINUTE
    again.add(batch((18 * 60 + 1, "new", "/"), (17 * 60 + 1, "older", "/")))
    counts = again.add(batch(complete=clock.now))
    assert [c.tick.index for c in counts] == [18, 19, 20, 21, 22, 23]
    assert again.statistics.for_curator()["rebuilding"] == 1


def test_a_source_of_three_lines_works():
    class Once(Source):
        left = 1

        def poll(self, timeout=1.0):  # noqa: ARG002
            self.left -= 1
            return batch((0, "a", "/")) if self.left == 0 else None

    with Once() as source:
        assert source.open({})
        assert not source.open({"x": "1"})
        source.settle({})
        assert len(list(collected(source, replay()))) == 10
        assert list(collected(source, replay(), stop=lambda: True)) == []


def test_a_queue_takes_each_batch_once_and_says_when_it_is_safe():
    clock = Hands()
    queue = QueueSource(max_bytes=200, clock=clock)
    line = b'{"time": "2026-01-01T00:00:00Z", "person": "a", "path": "/"}'
    first = queue.push(line + b"\nnoise", "k")
    assert (first.accepted, first.malformed, first.duplicate, first.settled) == (1, 1, False, False)
    assert queue.push(line, "k").duplicate
    with pytest.raises(Overloaded, match="not taken"):
        queue.push(line * 3)
    taken = queue.poll(0)
    assert taken.key == "k"
    assert queue.poll(0).complete == START
    queue.settle(taken.positions)
    assert queue.push(line, "k").settled
    assert queue.open({})
    assert not queue.open(taken.positions)
    queue.push(line)
    queue.close()
    assert queue.poll(0).events.height == 1
    assert queue.poll(0) is None


def test_nothing_confidential_is_printed_or_pickled():
    engine = replay()
    mine = batch((0, "secret-person", "/"))
    engine.add(mine)
    counts = engine.flush()
    assert "secret" not in repr(mine) + repr(engine.statistics) + repr(Rows.none()) + repr(counts)
    with pytest.raises(ConfidentialLeak):
        pickle.dumps(counts)


def test_a_clock_that_is_set_back_goes_on():
    wall, steady = [1000.0], [0.0]
    clock = SteadyClock(lambda: wall[0], lambda: steady[0])
    wall[0], steady[0] = 400.0, 10.0
    assert clock().timestamp() == 1009.5
    assert clock.ahead == timedelta(seconds=-609.5)


class Strange(Unit):
    max_ticks = max_items = 1
    noun = bound = "strange"

    def composition(self):
        raise AssertionError("a unit that the collector does not know is refused before this is asked")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: replay(Session(3)), "never ends"),
        (lambda: replay(Strange()), "no bound for the unit"),
        (lambda: replay(max_open=0), "max_open"),
        (lambda: replay(stay="yes"), "`stay` is True"),
        (lambda: replay(stay=timedelta(hours=1)), "timeout"),
        (lambda: Stay.of(timedelta(0)), "`stay` must lie"),
        (lambda: replay(identify=("agent",)), "`identify`"),
        (lambda: Identity("person"), "`identify`"),
        (lambda: Filters(bots="bot"), "`bots`"),
        (lambda: Filters(statuses=((300, 200),)), "`statuses`"),
        (lambda: Live(lateness=-MINUTE), "`lateness`"),
        (lambda: Live(start=datetime(2026, 1, 1)), "time zone"),
        (lambda: Replay(START, START), "`end` must lie after"),
        (lambda: Replay(START, START + MINUTE, -MINUTE), "`lateness`"),
        (lambda: Calendar(START, timedelta(0)), "longer than nothing"),
        (lambda: Resume(-2, START), "`tick`"),
        (lambda: live(resume=Resume(3, START + timedelta(seconds=1))), "cannot be resumed"),
    ],
)
def test_what_cannot_be_right_is_refused(make, words):
    with pytest.raises(InvalidParameter, match=words):
        make()


def test_events_without_their_columns_are_refused():
    with pytest.raises(InvalidInput, match="no column `person`"):
        Batch.of(pl.DataFrame({"time": [START]}))
    with pytest.raises(InvalidInput, match="time zone"):
        Batch.of(pl.DataFrame({"time": [datetime(2026, 1, 1)], "person": ["a"], "path": ["/"]}))


@pytest.mark.parametrize(("source", "module"), [(NatsSource, "nats"), (KafkaSource, "confluent_kafka")])
def test_a_missing_extra_is_named(source, module, monkeypatch):
    import importlib

    real = importlib.import_module

    def absent(name, *rest):
        if name.startswith(module):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(MissingExtra, match="pip install"):
        source("x")


def test_a_stream_without_memory_counts_on_after_a_restart():
    for unit in (Event(), Window(2), User(40, 40)):
        engine, clock = live(unit, resume=Resume(1, START).forgotten(seconds(400)))
        clock.now = seconds(400)
        engine.add(batch((130, "a", "/")))
        assert shown(engine.add(batch(complete=seconds(400))))[0] == [1, 0, 0]
