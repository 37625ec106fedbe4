"""The bound, against a slow and plain second implementation, and against neighbouring streams."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hubbub.collect import Batch, Collector, Filters, Replay
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
