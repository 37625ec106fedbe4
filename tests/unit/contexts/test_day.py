"""A day outlives a restart, and nothing is decided twice."""

import copy
import os
import sys
import threading

import pytest
from tests.support.context_chains import EXAMPLE_2, EXAMPLE_5
from tests.support.forks import in_a_fork

from hubbub.contexts import ContextChain, Probabilistic, Secret, Simulatable
from hubbub.errors import (
    ConfidentialLeak,
    GuaranteeChanged,
    InvalidInput,
    InvalidParameter,
    StoreUnavailable,
    TickOutOfOrder,
    UnknownKey,
)

SCHEDULE = Simulatable.plan(EXAMPLE_5, [Secret("s1", "s2")], "1/3", exact=True)
PATH = ["w3", "x2", "y2", "z1"]


@pytest.fixture
def place(tmp_path):
    return tmp_path / "monday.day"


def test_a_restart_at_any_tick_goes_on(place):
    for tick, context in enumerate(PATH):
        with SCHEDULE.start_day(place) as day:
            assert day.outputs == PATH[:tick]
            for before in range(tick):
                with pytest.raises(TickOutOfOrder, match="nothing is decided twice"):
                    day.offer(before, context)
            assert day.offer(tick, context) == context
    with SCHEDULE.start_day(place) as day:
        assert day.outputs == PATH


def test_a_coin_is_on_disk_before_it_is_shown(place):
    policy = Probabilistic.plan(EXAMPLE_2, [Secret("s")], "1/4", levels=3, exact=True)
    seen = set()
    for number in range(40):
        mine = place.with_name(str(number))
        with policy.start_day(mine) as day:
            shown = day.offer(0, "x")
        with policy.start_day(mine) as again:
            assert again.outputs == [shown]
            with pytest.raises(TickOutOfOrder):
                again.offer(0, "x")
        seen.add(shown)
    assert seen == {None, "x"}


def test_what_is_on_disk_was_shown(place):
    with SCHEDULE.start_day(place) as day:
        day.offer(0, "w1")
        day.offer(1, "x1")
        day.offer(2, "s1")
    kept = place.read_text()
    assert kept.splitlines()[1:] == [f"0 {EXAMPLE_5.number('w1')}", f"1 {EXAMPLE_5.number('x1')}", "2 -"]
    assert "s1" not in kept
    assert place.stat().st_mode & 0o077 == 0


def test_a_power_cut_at_any_byte(place):
    with SCHEDULE.start_day(place) as day:
        for tick, context in enumerate(PATH):
            day.offer(tick, context)
    whole = place.read_bytes()
    head = whole.index(b"\n") + 1
    for cut in range(len(whole)):
        place.write_bytes(whole[:cut])
        if 0 < cut < head:  # ticks may have followed, and who decides them again tosses again
            with pytest.raises(InvalidInput, match="cut short in its first line"):
                SCHEDULE.start_day(place)
            continue
        with SCHEDULE.start_day(place) as day:
            decided = whole[head:cut].count(b"\n") if cut > head else 0
            outputs = day.outputs
            assert outputs[:decided] == PATH[:decided]
            assert outputs[decided:] in ([], [None])  # the tick that was being written stays silent
            if len(outputs) < 4:
                day.offer(len(outputs), PATH[len(outputs)])


def test_a_line_that_was_cut_off_after_missed_ticks(place):
    """The next tick is silent. The tick of the line was told nobody, and may be decided: for the first time, then."""
    policy = Probabilistic.plan(
        ContextChain(("s", "x"), (0, 1), [[(0, 1), (0, 1)]] * 11), [Secret("s")], "1/4", levels=3, exact=True
    )
    for torn in ("1", "10", "10 ", "10 1"):
        policy.start_day(place).close()
        place.write_text(place.read_text() + torn)
        with policy.start_day(place) as day:
            assert day.outputs == [None]
            assert day.offer(10, "x") == "x"
        place.unlink()


def test_what_is_no_file_or_too_long_is_not_read(place):
    with pytest.raises(InvalidInput, match="not the file of a day"):
        SCHEDULE.start_day("/dev/full")
    SCHEDULE.start_day(place).close()
    place.write_bytes(place.read_bytes() + b"0 -\n" * 100_000)
    with pytest.raises(InvalidInput, match="not the file of a day"):
        SCHEDULE.start_day(place)


def test_missed_ticks_are_suppressed_and_end_a_schedule():
    day = SCHEDULE.start_day()
    assert day.offer(0, "w3") == "w3"
    assert day.offer(2, "y2") is None
    assert day.offer(3, "z1") is None
    assert day.outputs == ["w3", None, None, None]


def test_a_clock_that_is_set_back_or_runs_over_the_day():
    day = SCHEDULE.start_day()
    day.offer(2, "y2")
    with pytest.raises(TickOutOfOrder, match="set back"):
        day.offer(1, "x2")
    for tick in (4, -1, 1.5, True, None):
        with pytest.raises(InvalidParameter, match="ticks 0 to 3"):
            day.offer(tick, "x2")


def test_an_unknown_context_is_suppressed_and_told():
    day = SCHEDULE.start_day()
    with pytest.raises(UnknownKey) as refused:
        day.offer(0, "clinic")
    assert "clinic" not in str(refused.value)
    assert day.outputs == [None]
    with pytest.raises(TickOutOfOrder):
        day.offer(0, "w3")


def test_two_processes_do_not_decide_about_one_day(place):
    with SCHEDULE.start_day(place), pytest.raises(StoreUnavailable, match="Another process"):
        SCHEDULE.start_day(place)


@pytest.mark.parametrize("kept", [True, False])
def test_a_process_that_was_forked_off_decides_nothing(place, kept):
    """The lock on the file is shared with it: both would toss for one tick."""
    with SCHEDULE.start_day(place if kept else None) as day:
        day.offer(0, "w3")
        assert in_a_fork(lambda: day.offer(1, "x2")) == "StoreUnavailable"
        assert day.offer(1, "x2") == "x2"
    if kept:
        with SCHEDULE.start_day(place) as again:
            assert again.outputs == ["w3", "x2"]


def test_threads_that_share_a_day_leave_a_file_that_tells_it(place):
    chain = ContextChain(("s", "x"), ("1/2", "1/2"), [[("1/2", "1/2")] * 2] * 199)
    policy = Probabilistic.plan(chain, [Secret("s")], "1/4", levels=3)
    answers, usual = [], sys.getswitchinterval()

    def work(day):
        for tick in range(200):
            try:
                answers.append((tick, day.offer(tick, "x")))
            except TickOutOfOrder:
                continue

    try:
        sys.setswitchinterval(1e-6)
        with policy.start_day(place) as day:
            workers = [threading.Thread(target=work, args=(day,)) for _ in range(4)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
    finally:
        sys.setswitchinterval(usual)
    with policy.start_day(place) as again:
        assert [(tick, shown) for tick, shown in enumerate(again.outputs)] == sorted(answers)


def test_another_policy_does_not_go_on(place):
    with SCHEDULE.start_day(place) as day:
        day.offer(0, "w3")
    with pytest.raises(GuaranteeChanged, match="another policy"):
        Simulatable.plan(EXAMPLE_5, [Secret("s1")], "1/3").start_day(place)


@pytest.mark.parametrize("lines", ["0 99\n", "x 1\n", "9 1\n", "1 0\n0 0\n", "0 one\n"])
def test_a_file_that_was_changed(place, lines):
    SCHEDULE.start_day(place).close()
    place.write_text(place.read_text() + lines)
    with pytest.raises(InvalidInput, match="was changed"):
        SCHEDULE.start_day(place)


def test_a_file_of_something_else(place, tmp_path):
    place.write_text("dear diary\n")
    with pytest.raises(InvalidInput, match="not the file of a day"):
        SCHEDULE.start_day(place)
    assert place.read_text() == "dear diary\n"
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        SCHEDULE.start_day(tmp_path / "none" / "day")


def test_a_disk_that_refuses_ends_the_day_until_it_is_opened_again(place, monkeypatch):
    with SCHEDULE.start_day(place) as day:
        day.offer(0, "w3")
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", lambda *_: 0)
            with pytest.raises(StoreUnavailable, match="Show nothing"):
                day.offer(1, "x2")
        with pytest.raises(StoreUnavailable, match="closed"):
            day.offer(2, "y2")
    with SCHEDULE.start_day(place) as again:
        assert again.outputs == ["w3"]


def test_a_day_keeps_to_itself():
    day = SCHEDULE.start_day()
    day.offer(0, "w3")
    assert repr(day) == "Day(tick 1 of 4, 1 shown)"
    with pytest.raises(ConfidentialLeak):
        copy.copy(day)
