"""Who looked at what in a period: the vectors against a plain reading of the rule, one session at a time."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import timedelta

import numpy as np
import polars as pl
import pytest

from hubbub.collect.calendar import EPOCH, Calendar
from hubbub.collect.finder import Finder
from hubbub.collect.pair_set import PairSet
from hubbub.collect.rows import Rows
from hubbub.collect.vocabulary import UNLISTED, Vocabulary
from hubbub.errors import InvalidInput

SECOND = 1_000_000
PERIODS = Calendar(EPOCH, timedelta(seconds=100))
TIMEOUT = 30 * SECOND


def rows_of(events):
    """Events are (person, second, page)."""
    people = np.array([e[0] for e in events], np.uint64)
    times = np.array([e[1] * SECOND for e in events], np.int64)
    return Rows(people, people, times, np.array([e[2] for e in events], np.int32))


def found(finder, events, batch, last=600, distrusted=None, first=0):
    """Feed the events in batches of so many seconds; what each period gave, as a set of sets of pages."""
    if distrusted is not None:
        finder.distrust(distrusted * SECOND)
    given = {}
    for begin in range(first, last, batch):
        chosen = [e for e in events if begin <= e[1] < begin + batch]
        finder.advance(rows_of(chosen), (begin + batch) * SECOND)
        while (len(given) + 1) * 100 <= begin + batch:
            given[len(given)] = taken(finder, len(given))
    return given


def taken(finder, period):
    looked = finder.take(period)
    sessions = defaultdict(list)
    for who, page in zip(looked.sessions.tolist(), looked.pages.tolist(), strict=True):
        sessions[who].append(page)
    return sorted(map(tuple, sessions.values()))


def sessions_of(events):
    """By the rule, in plain steps: who, and a list of (second, page)."""
    everybody = defaultdict(list)
    for person, second, page in sorted(events, key=lambda e: (e[0], e[1])):
        everybody[person].append((second, page))
    for person, requests in everybody.items():
        session = []
        for second, page in requests:
            if session and second - session[-1][0] > TIMEOUT // SECOND:
                yield person, session
                session = []
            session.append((second, page))
        yield person, session


def expected(events, held=1000):
    given = defaultdict(list)
    for _, session in sessions_of(events):
        period = session[0][0] // 100
        pages = list(dict.fromkeys(page for second, page in session if second // 100 == period and page != UNLISTED))
        if pages:
            given[period].append(tuple(sorted(pages[:held])))
    return {period: sorted(given[period]) for period in range(6)}


def some_events(seed, people=8, many=150):
    dice = random.Random(seed)
    return sorted(
        ((dice.randrange(people), dice.randrange(600), dice.randrange(6)) for _ in range(many)), key=lambda e: e[1]
    )


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("batch", [1, 10, 50, 200])
def test_as_the_rule_says_however_it_is_cut_into_batches(seed, batch):
    events = some_events(seed)
    held = random.Random(seed).choice([1, 2, 1000])
    assert found(Finder(PERIODS, TIMEOUT, held=held), events, batch) == expected(events, held)


@pytest.mark.parametrize("seed", range(40))
def test_without_one_session_all_others_are_the_same(seed):
    events = some_events(seed)
    everyone = expected(events)
    for person, session in list(sessions_of(events))[:10]:
        rest = [e for e in events if not (e[0] == person and session[0][0] <= e[1] <= session[-1][0])]
        fewer = found(Finder(PERIODS, TIMEOUT), rest, 10)
        changed = [p for p in range(6) if fewer[p] != everyone[p]]
        assert len(changed) <= 1
        for period in changed:
            missing = list(everyone[period])
            for one in fewer[period]:
                missing.remove(one)
            assert len(missing) == 1


@pytest.mark.parametrize("seed", range(40))
def test_after_a_restart_nobody_counts_in_two_lists(seed):
    """What is read again begins in the middle of sessions: those that may have begun before are left out."""
    events = some_events(seed, many=400)
    restart, again = 250, 180  # the new process reads from second 180 on; periods 0 and 1 are out
    before = found(Finder(PERIODS, TIMEOUT), [e for e in events if e[1] < restart], 10, last=200)
    after = Finder(PERIODS, TIMEOUT, given=1)
    after.distrust((again + TIMEOUT // SECOND) * SECOND)
    rest = {}
    for begin in range(again, 600, 10):
        after.advance(rows_of([e for e in events if begin <= e[1] < begin + 10]), (begin + 10) * SECOND)
        if begin + 10 in (300, 400, 500, 600):
            rest[begin // 100] = taken(after, begin // 100)
    whole = expected(events)
    assert all(before[p] == whole[p] for p in (0, 1))
    for period, given in rest.items():
        left = list(whole[period])
        for one in given:
            left.remove(one)  # none that is not a whole session of that very period
        assert period == 2 or not left


def test_a_session_over_a_border_counts_where_it_began_with_what_it_saw_there():
    events = [(1, 90, 1), (1, 99, 2), (1, 101, 3), (1, 120, 4)]
    assert found(Finder(PERIODS, TIMEOUT), events, 10, last=200) == {0: [(1, 2)], 1: []}


def test_what_comes_for_a_period_that_is_out_is_left_out():
    finder = Finder(PERIODS, TIMEOUT)
    finder.advance(rows_of([(1, 50, 1)]), 100 * SECOND)
    assert taken(finder, 0) == [(1,)]
    finder.advance(rows_of([(2, 60, 2), (2, 110, 3)]), 200 * SECOND)
    assert taken(finder, 1) == [(3,)]  # more than the timeout later: another session


def test_memory_ends_with_sessions_and_periods():
    finder, dice = Finder(PERIODS, TIMEOUT), random.Random(1)
    sizes = []
    for second in range(0, 3000, 10):
        people = [(dice.randrange(10**9), second + dice.randrange(10), dice.randrange(1, 50)) for _ in range(100)]
        finder.advance(rows_of(sorted(people, key=lambda e: e[1])), (second + 10) * SECOND)
        if (second + 10) % 100 == 0:
            sizes.append((finder.open, finder.held))
            finder.take(second // 100)
            assert finder.held == 0
    assert max(open_ for open_, _ in sizes) <= 400
    assert max(held for _, held in sizes) <= 1000


def test_too_many_open_sessions_stop_it():
    with pytest.raises(InvalidInput, match="open sessions"):
        Finder(PERIODS, TIMEOUT, max_open=2).advance(rows_of([(1, 0, 1), (2, 0, 1), (3, 0, 1)]), 10)


def test_two_people_taken_for_one_stop_it():
    finder = Finder(PERIODS, TIMEOUT)
    finder.advance(rows_of([(1, 0, 1)]), 10 * SECOND)
    other = rows_of([(1, 11, 1)])
    with pytest.raises(InvalidInput, match="same 64-bit hash"):
        finder.advance(Rows(other.person, other.check + np.uint64(1), other.time, other.key), 20 * SECOND)


class TestPairs:
    @pytest.mark.parametrize("seed", range(20))
    def test_the_first_pages_of_each_session_once(self, seed):
        dice = random.Random(seed)
        held, pairs, kept = dice.choice([1, 3, 100]), PairSet(0), defaultdict(list)
        pairs = PairSet(held)
        for _ in range(60):
            batch = [(dice.randrange(20), dice.randrange(1, 9)) for _ in range(dice.choice([0, 1, 5, 100]))]
            pairs.add(np.array([w for w, _ in batch], np.int64), np.array([p for _, p in batch], np.int32))
            for who, page in batch:
                if page not in kept[who]:
                    kept[who].append(page)
        sessions, pages = pairs.columns()
        wanted = sorted((who, page) for who, all_of in kept.items() for page in all_of[:held])
        assert list(zip(sessions.tolist(), pages.tolist(), strict=True)) == wanted
        assert pairs.codes.tolist() == sorted({page for _, page in wanted})
        assert len(pairs) == len(wanted)

    def test_it_prints_nothing(self):
        assert "confidential" in repr(PairSet(3))


class TestVocabulary:
    def test_a_place_keeps_its_number_as_long_as_it_is_used(self):
        vocabulary = Vocabulary()
        first = vocabulary.codes(pl.Series(["/a", "/b", "/c"]))
        vocabulary.forget_all_but([first[:1], np.array([UNLISTED], np.int32)])
        assert len(vocabulary) == 1
        again = vocabulary.codes(pl.Series(["/c", "/a", "/d"]))
        assert again[1] == first[0]
        assert vocabulary.names(again) == ["/c", "/a", "/d"]
        assert sorted(again.tolist()) == [1, 2, 3]  # freed numbers go to others

    @pytest.mark.parametrize("place", ["/" + "x" * 200, "/a\nb", "/\x00", "/a\u202eb", "", "/\ue000"])
    def test_what_no_list_may_name_has_no_number(self, place):
        vocabulary = Vocabulary()
        assert vocabulary.codes(pl.Series([place, "/fine"])).tolist() == [UNLISTED, 1]
        assert len(vocabulary) == 1

    def test_nothing(self):
        assert Vocabulary().codes(pl.Series([], dtype=pl.String)).tolist() == []
