"""The bound, against a slow and plain second implementation, and against neighbouring streams."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hubbub.collect import Batch, Collector, Filters, Live, Replay
from hubbub.errors import PrivacyRefusal
from hubbub.privacy.unit import Event, Session, Unit, User, Window

START = datetime(2026, 1, 1, tzinfo=UTC)
KEYS = ["/a", "/b", "/c"]
TICK = 10  # seconds
SPAN = 400

events = st.lists(
    st.tuples(st.integers(0, SPAN - 1), st.sampled_from("vwxyz"), st.sampled_from([*KEYS, "/elsewhere"])), max_size=60
)
stays = st.sampled_from([True, False, timedelta(seconds=25)])
units: st.SearchStrategy[Unit] = st.one_of(
    st.just(Event()),
    st.builds(Window, st.integers(1, 5), st.integers(1, 3)),
    st.builds(
        lambda most, t, c: Session(most, timedelta(seconds=t), c),
        st.integers(1, 6),
        st.integers(25, 90),
        st.integers(1, 3),
    ),
    st.builds(lambda most, c: User(most, 40, c), st.integers(1, 40), st.integers(1, 3)),
)


def batch(rows, **facts):
    return Batch.of(
        [{"time": START + timedelta(seconds=t), "person": who, "path": path} for t, who, path in rows], **facts
    )


def collector(unit, stay, time=None, **options):
    time = time or Replay(START, START + timedelta(seconds=SPAN))
    return Collector(KEYS, unit, timedelta(seconds=TICK), time, stay=stay, filters=Filters.none(), **options)


def vectors(counts):
    """The lab's way of looking: tests only."""
    return np.array([c.values.reveal() for c in counts])


def sessions_of(rows, unit):
    """{(person, number): rows in order of time} by the definition: a gap longer than the timeout cuts."""
    timeout = unit.timeout.total_seconds() if isinstance(unit, Session) else float("inf")
    found, last, number = defaultdict(list), {}, defaultdict(int)
    for t, who, path in sorted(rows, key=lambda row: row[0]):
        if who in last and t - last[who] > timeout:
            number[who] += 1
        last[who] = t
        found[who, number[who]].append((t, who, path))
    return found


def plain(rows, unit, stay):
    """One session after the other, one tick after the other."""
    out = np.zeros((SPAN // TICK, len(KEYS) + 1), np.int64)
    place = {path: i for i, path in enumerate(KEYS)}
    if isinstance(unit, Event):
        for t, _, path in rows:
            out[t // TICK, place.get(path, 3)] += 1
        return out
    most = unit.max_ticks if not isinstance(unit, Window) else 10**9
    for session in sessions_of(rows, unit).values():
        asked = defaultdict(list)
        for t, _, path in session:
            asked[t // TICK].append((t, place.get(path, 3)))
        present, here, since = [], None, None
        for tick in range(SPAN // TICK):
            if tick in asked:
                keys = []
                for _, key in reversed(asked[tick]):
                    if key not in keys:
                        keys.append(key)
                present.append((tick, keys[: unit.max_items]))
                since, here = asked[tick][-1]
            elif here is not None and isinstance(unit, Session):
                returns = stay is True and tick < max(asked)
                lingers = isinstance(stay, timedelta) and (since + stay.total_seconds()) // TICK >= tick
                if returns or lingers:
                    present.append((tick, [here]))
        for tick, keys in present[:most]:
            for key in keys:
                out[tick, key] += 1
    return out


@given(rows=events, unit=units, stay=stays, cuts=st.lists(st.integers(0, 60), max_size=5))
@settings(max_examples=80, deadline=None)
def test_the_arrays_do_what_the_plain_loop_does_however_the_stream_is_cut(rows, unit, stay, cuts):
    whole = collector(unit, stay)
    edges = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    for low, high in pairwise(edges):
        assert whole.add(batch(rows[low:high])) == []
    assert (vectors(whole.flush()) == plain(rows, unit, stay)).all()


@given(rows=events, unit=units, stay=stays, size=st.integers(1, 20), lateness=st.integers(0, 60))
@example(  # a session that lingers into the tick in which the same person's next one begins
    rows=[(0, "v", "/a"), (26, "v", "/a")],
    unit=Session(3, timedelta(seconds=25)),
    stay=timedelta(seconds=25),
    size=1,
    lateness=0,
)
@settings(max_examples=80, deadline=None)
def test_ticks_that_are_given_out_on_the_way_are_the_same(rows, unit, stay, size, lateness):
    ordered = sorted(rows, key=lambda row: row[0] // max(lateness, 1))  # out of order by less than the lateness
    time = Replay(START, START + timedelta(seconds=SPAN), timedelta(seconds=lateness), gather=1)
    engine, given_out = collector(unit, stay, time), []
    for low in range(0, len(ordered), size):
        given_out += engine.add(batch(ordered[low : low + size]))
    given_out += engine.flush()
    assert [c.tick.index for c in given_out] == list(range(SPAN // TICK))
    assert (vectors(given_out) == plain(ordered, unit, stay)).all()


@given(rows=events, unit=units, stay=stays, data=st.data())
@settings(max_examples=80, deadline=None)
def test_removing_one_unit_changes_what_the_sensitivity_says_and_nothing_of_the_others(rows, unit, stay, data):
    if not rows:
        return
    if isinstance(unit, Event):
        gone = [data.draw(st.sampled_from(rows))]
    else:
        gone = data.draw(st.sampled_from(sorted(sessions_of(rows, unit).values())))
    rest = list(rows)
    for row in gone:
        rest.remove(row)
    full, less, alone = (vectors(_run(part, unit, stay)) for part in (rows, rest, gone))
    assert (full - less == alone).all()  # the others' contributions are untouched
    assert alone.min() >= 0
    assert alone.max() <= 1
    assert (alone.sum(axis=1) <= unit.max_items).all()
    if isinstance(unit, Window):
        windows = np.lib.stride_tricks.sliding_window_view(alone.sum(axis=1), unit.ticks)
        assert windows.sum(axis=1).max() <= unit.sensitivity
    else:
        assert (alone.sum(axis=1) > 0).sum() <= unit.max_ticks
        assert alone.sum() <= unit.sensitivity


def _run(rows, unit, stay):
    engine = collector(unit, stay)
    engine.add(batch(rows))
    return engine.flush()


class FakeClock:
    def __init__(self):
        self.now = START

    def __call__(self):
        return self.now


def live(unit, stay, resume=None, clock=None, skip=0):
    """A live collector with a clock that is set by hand."""
    clock = clock or FakeClock()
    clock.now = START + timedelta(seconds=skip)
    time = Live(lateness=timedelta(seconds=15), max_ahead=timedelta(seconds=30), start=START)
    engine = collector(unit, stay, time, clock=clock, resume=resume)
    return engine, clock


@given(
    arrivals=st.lists(
        st.tuples(st.integers(0, SPAN - 1), st.integers(-40, 40), st.sampled_from("vwxyz"), st.sampled_from(KEYS)),
        max_size=60,
    ),
    unit=units,
    stay=stays,
    data=st.data(),
)
@settings(max_examples=60, deadline=None)
def test_a_live_stream_treats_everyone_alone(arrivals, unit, stay, data):
    """Late and early events included: each person's part is the same whether the others are there or not."""
    arrivals = sorted(arrivals, key=lambda row: row[0])

    def played(rows):
        engine, clock = live(unit, stay)
        out, rows = [], list(rows)
        for now in range(0, SPAN + 20, 20):
            clock.now = START + timedelta(seconds=now)
            came = [(a + d, who, path) for a, d, who, path in rows if now - 20 <= a < now and a + d >= 0]
            out += engine.add(batch(came, complete=clock.now))
        return vectors(out + engine.flush())[: SPAN // TICK]

    if isinstance(unit, Event):
        return
    together = played(arrivals)
    apart = [played([row for row in arrivals if row[2] == who]) for who in "vwxyz"]
    assert (together == sum(apart)).all()


@given(
    rows=st.lists(st.tuples(st.integers(0, SPAN - 1), st.sampled_from("vw"), st.sampled_from(KEYS)), max_size=60),
    limit=st.integers(1, 6),
    timeout=st.integers(25, 60),
    stay=stays,
    crash=st.integers(1, SPAN // TICK),
    goes_back=st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_the_bound_holds_across_a_restart(rows, limit, timeout, stay, crash, goes_back):
    rows = sorted(rows, key=lambda row: row[0])
    unit = Session(limit, timedelta(seconds=timeout))

    def feed(engine, clock, begin, first_row, stop_after=None):
        """Positions are row numbers. Until it has caught up the source does not claim to be complete."""
        out, at = [], first_row
        for now in range(begin, SPAN + 200, TICK):
            clock.now = START + timedelta(seconds=now)
            upto = sum(t < now for t, _, _ in rows)
            out += engine.add(batch(rows[at:upto], positions={"p": str(upto)}, complete=clock.now))
            at = max(at, upto)
            if stop_after is not None and now // TICK >= stop_after:
                break
        return out

    engine, clock = live(unit, stay)
    before = feed(engine, clock, 0, 0, stop_after=crash)
    last = before[-1].tick.index if before else -1
    resume = engine.resume_point(last)
    position = int(resume.positions.get("p", 0))
    if not goes_back:
        position = sum(t < crash * TICK for t, _, _ in rows)
        resume = resume.forgotten(clock.now)
    engine, clock = live(unit, stay, resume=resume, skip=crash * TICK)
    after = feed(engine, clock, crash * TICK, position)
    indices = [c.tick.index for c in before + after]
    assert indices == list(range(len(indices)))
    total = vectors(before + after)[: SPAN // TICK]
    sound = plain(rows, unit, stay)
    if stay is True and goes_back:
        assert (total == sound).all()  # exact: whoever is not known again had used up the bound
    assert (total <= sound).all()  # never more of any session than without the restart


@given(
    arrivals=st.lists(
        st.tuples(st.integers(0, SPAN - 1), st.integers(-80, 30), st.sampled_from(KEYS)), min_size=1, max_size=60
    ),
    limit=st.integers(1, 6),
    stay=stays,
    crash=st.integers(1, SPAN // TICK),
    goes_back=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_late_events_that_a_restart_reads_again_do_not_stretch_the_bound(arrivals, limit, stay, crash, goes_back):
    """One long session, many events too late: what was dropped before the restart may be read in time after it."""
    rows = sorted((a, max(a + d, 0), "v", path) for a, d, path in arrivals)
    unit = Session(limit, timedelta(seconds=4 * SPAN))
    engine, clock = live(unit, stay)

    def feed(engine, begin, at, end):
        out = []
        for now in range(begin, end, TICK):
            clock.now = START + timedelta(seconds=now)
            upto = sum(row[0] < now for row in rows)
            came = [row[1:] for row in rows[at:upto]]
            out += engine.add(batch(came, positions={"p": str(upto)}, complete=clock.now))
            at = max(at, upto)
        return out

    before = feed(engine, 0, 0, crash * TICK)
    resume = engine.resume_point(before[-1].tick.index if before else -1)
    at = int(resume.positions.get("p", 0))
    if not goes_back:
        at, resume = sum(row[0] < crash * TICK for row in rows), resume.forgotten(clock.now)
    engine, _ = live(unit, stay, resume=resume, clock=clock, skip=crash * TICK)
    total = vectors(before + feed(engine, crash * TICK, at, 7 * SPAN))
    assert (total.sum(axis=1) > 0).sum() <= limit


def test_a_person_stream_refuses_to_resume_half_way():
    engine, clock = live(User(3, 40), True)
    resume = engine.resume_point(5)
    assert resume.since is None
    live(User(3, 40), True, resume=resume)
    with pytest.raises(PrivacyRefusal, match="only from its beginning"):
        live(User(3, 40), True, resume=resume.forgotten(clock()))
