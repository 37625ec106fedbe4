"""The collector by example: time, filters, keys, limits, duplicates, and what it refuses."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest
from tests.support.collected import collected
from tests.support.listed import Listed

from hubbub.collect import Batch, Collector, Filters, KeyDomain, Live, Replay, Resume, Source, SteadyClock
from hubbub.collect.calendar import Calendar
from hubbub.collect.identity import Identity
from hubbub.collect.person_bound import PersonBound
from hubbub.collect.rows import Rows
from hubbub.collect.sources import KafkaSource, NatsSource
from hubbub.collect.stay import Stay
from hubbub.confidential import Cut
from hubbub.errors import ConfidentialLeak, InvalidInput, InvalidParameter, MissingExtra, PrivacyRefusal
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


def at(number, tick, **facts):
    """A cut that closes the ticks up to `tick`, made when the clock said `number` seconds."""
    return Cut(tick, seconds(number), {}, **facts)


def cut(engine, *place, **facts):
    return shown(ended.counts for ended in engine.cut(at(*place, **facts)))


def test_one_event_far_in_the_future_makes_nobody_late():
    engine, _ = live(Event())
    assert engine.add(batch((1, "a", "/"), (10**6, "b", "/"))) == []
    assert engine.add(batch((2, "c", "/"))) == []
    assert cut(engine, 90, 0) == [[2, 0, 0]]
    engine.add(batch((3, "d", "/"), (70, "e", "/")))
    numbers = engine.statistics.for_curator()
    assert (numbers["late"], numbers["ahead"], numbers["waiting"]) == (1, 1, 1)
    assert cut(engine, 150, 1) == [[1, 0, 0]]


def test_a_cut_closes_all_ticks_that_are_due_and_the_clock_may_go_back():
    engine, _ = live(Event())
    engine.add(batch((30, "a", "/")))
    assert len(cut(engine, 1000, 15)) == 16
    assert cut(engine, 900, 14) == []


def test_what_follows_a_cut_is_late_for_its_ticks_though_it_is_read_in_the_same_breath():
    engine, _ = live(Event())
    engine.add(batch((1, "a", "/")))
    assert cut(engine, 90, 0) == [[1, 0, 0]]
    engine.add(batch((1, "b", "/"), (61, "c", "/")))
    assert cut(engine, 150, 1) == [[1, 0, 0]]
    assert engine.statistics.late == 1


def test_what_was_not_measured_says_why():
    engine, _ = live(Event())
    assert [ended.doubt for ended in engine.cut(at(90, 0, doubt="the clock was set"))] == ["the clock was set"]
    engine.add(Batch.of([], lost=True))
    doubts = [ended.doubt for ended in engine.cut(at(210, 2))]
    assert doubts == ["records were lost unread"] * 2
    assert [ended.doubt for ended in engine.cut(at(270, 3))] == ["records were lost unread"], "it was open at 210 s"
    assert [ended.doubt for ended in engine.cut(at(330, 4))] == [""]


def test_the_clock_is_looked_at_when_a_live_stream_is_over():
    engine, clock = live(Event())
    engine.add(batch((1, "a", "/"), (10**6, "b", "/")))
    clock.now = seconds(70)
    assert shown(engine.flush()) == [[1, 0, 0]]
    assert engine.statistics.ahead == 1


def test_a_stream_begins_with_a_whole_tick():
    clock = Hands()
    clock.now = seconds(70)
    engine = Collector(["/"], Event(), MINUTE, Live(), clock=clock)
    assert engine.calendar.start == seconds(120)


def test_who_somebody_is_does_not_depend_on_the_rows_beside():
    """One row with an agent made every other row of its batch another visitor."""
    rows = [{"time": seconds(1), "person": "a", "path": "/"}, {"time": seconds(2), "person": "b", "path": "/"}]
    odd = {"time": seconds(3), "person": "c", "path": "/", "agent": "x"}
    identity = Identity(("person", "agent"))
    alone, _ = identity.of(Batch.of(rows).events)
    beside, _ = identity.of(Batch.of([*rows, odd]).events)
    assert alone.tolist() == beside[:2].tolist()


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


def test_a_restart_reads_again_from_a_cut_that_is_old_enough():
    records = [{"time": seconds(60 * minute + 1), "person": "a", "path": "/"} for minute in range(20)]
    cuts = [Cut(n, seconds(60 * (n + 1) + 30), {"at": str(n + 1)}, "listed") for n in range(-1, 19)]
    session, source = Session(2, timedelta(minutes=2)), Listed(records)
    engine, _ = live(session, stay=False)
    resume = Resume.of(cuts, 17, engine.calendar.start, engine.needed_from(17), source, lambda: seconds(1200))
    # Two ticks, a timeout of two, and ten seconds of clocks ahead before the end of tick 17.
    assert (resume.cut.tick, source.at, [cut.tick for cut in resume.again]) == (12, 13, [13, 14, 15, 16, 17, 18])
    assert resume.since == resume.cut.time
    again, _ = live(session, resume=resume, stay=False)
    given = []
    for made in resume.again:
        again.add(source.poll(made.frontier))
        given += again.cut(made)
    assert [ended.counts.tick.index for ended in given] == [18]
    assert shown(ended.counts for ended in given) == [[0, 0, 0]], "it had used up its bound long before"
    assert given[0].doubt == ""
    assert again.statistics.for_curator()["rebuilding"] == 5


def test_a_past_that_is_not_proved_is_distrusted():
    cuts = [Cut(n, seconds(60 * (n + 1) + 30), {"at": "0"}, "listed") for n in range(-1, 19)]
    engine, _ = live(Session(2, timedelta(minutes=2)), stay=False)
    for source, kept in (
        (Listed([{}] * 7, proves=False), cuts),  # emptied, cut off, exchanged
        (Listed([{}] * 7, name="another"), cuts),  # another machine's
        (Listed([{}] * 7, name="b"), [*cuts, Cut(19, seconds(1300), {"at": "1"}, "c")]),
    ):
        resume = Resume.of(kept, 18, engine.calendar.start, engine.needed_from(18), source, lambda: seconds(1400))
        assert (resume.since, resume.again, source.at) == (seconds(1400), (), 7)
        again, _ = live(Session(2, timedelta(minutes=2)), resume=resume, stay=False)
        # From now on: ten seconds of clocks ahead, a timeout of two minutes, two ticks.
        whole = [ended.counts.tick.index for ended in again.cut(at(3000, 30)) if not ended.doubt]
        assert whole[0] == -(-(1400 + 10 + 120 + 120) // 60)


def test_a_source_of_three_lines_works():
    class Once(Source):
        left = 1

        def poll(self, until):  # noqa: ARG002
            self.left -= 1
            return batch((0, "a", "/")) if self.left == 0 else None

    with Once() as source:
        assert not source.open({})
        assert source.frontier() == {}
        assert (source.identity, source.trouble) == ("Once", "")
        source.wait(0)
        source.settle({})
        assert len(list(collected(source, replay()))) == 10


def test_nothing_confidential_is_printed_or_pickled():
    engine = replay()
    mine = batch((0, "secret-person", "/"))
    engine.add(mine)
    counts = engine.flush()
    assert "secret" not in repr(mine) + repr(engine.statistics) + repr(Rows.none()) + repr(counts)
    with pytest.raises(ConfidentialLeak):
        pickle.dumps(counts)


def moment(number):
    return datetime.fromtimestamp(number, UTC)


def test_a_clock_that_is_set_is_followed_once_it_has_held():
    for step in (60.0, -30.0):
        wall, steady = [1000.0], [0.0]
        clock = SteadyClock(lambda wall=wall: wall[0], lambda steady=steady: steady[0])
        times = []
        for second in range(1, 25):
            steady[0], wall[0] = second, 1000 + second + (step if second >= 5 else 0)
            times.append(clock().timestamp() - 1000)
        assert times[:14] == list(range(1, 15)), "nothing happens for ten seconds"
        assert times[14:] == [second + step for second in range(15, 25)]
        assert clock.ahead == timedelta(0)
        low, high = sorted([1005, 1014 + step])
        assert clock.doubtful(moment(low), moment(low + 1))
        assert clock.doubtful(moment(high - 2), moment(high + 10))
        assert not clock.doubtful(moment(min(1004, 1005 + step) - 10), moment(min(1004, 1005 + step)))
        assert not clock.doubtful(moment(1200), moment(1300))


def test_a_clock_that_is_wrong_for_a_moment_is_not_followed():
    wall, steady = [1000.0], [0.0]
    clock = SteadyClock(lambda: wall[0], lambda: steady[0])
    wall[0], steady[0] = 90_000.0, 5.0
    assert clock().timestamp() == 1005
    wall[0], steady[0] = 1012.0, 12.0
    assert clock().timestamp() == 1012
    wall[0], steady[0] = 1020.5, 20.0  # a drift is leaned to
    assert clock().timestamp() == pytest.approx(1020.4)


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
        (lambda: Resume(-2, START, Cut(-1, START, {})), "`tick`"),
        (lambda: live(resume=Resume(3, START + timedelta(seconds=1), Cut(3, START, {}))), "cannot be resumed"),
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
        resume = Resume(1, START, Cut(1, seconds(400), {}), since=seconds(400))
        engine, _ = live(unit, resume=resume)
        engine.add(batch((130, "a", "/"), (490, "b", "/")))
        ended = engine.cut(at(630, 8))
        assert shown(e.counts for e in ended)[0] == [1, 0, 0]
        assert [bool(e.doubt) for e in ended] == [True] * 5 + [False] * 2, "events before the break may be gone"


def test_a_person_stream_refuses_to_resume_half_way():
    live(User(3, 40), resume=Resume(5, START, Cut(-1, START, {})))
    with pytest.raises(PrivacyRefusal, match="only from its beginning"):
        live(User(3, 40), resume=Resume(5, START, Cut(-1, START, {}), since=START))
