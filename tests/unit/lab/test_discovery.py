"""Lists of pages on a day of a web server, and what they explain of it."""

import numpy as np
import pytest

from hubbub.itemlogs import ItemLog
from hubbub.lab.discovery import PERIODS, Period, best, discovery_result, nasa, periods_of, run, share
from hubbub.noise import simulation


@pytest.fixture(scope="module")
def day():
    return nasa()


def test_every_session_is_in_one_period_and_every_page_view_in_one(day):
    for length in PERIODS.values():
        cut = periods_of(day, length)
        assert sum(len(np.unique(period.log.users.reveal())) for period in cut) == day.sessions
        assert sum(int(period.views.sum()) for period in cut) == len(day.rows)


def test_a_list_explains_no_more_than_the_best_of_its_length(day):
    with simulation(1) as source:
        found = run(day, periods_of(day, PERIODS["1 day"]), 10, source)
    assert 10 <= found["keys"] <= 40
    assert 0.4 < found["same"] <= found["same, oracle"] < 0.7
    assert np.isnan(found["live"])


def test_shares():
    views = np.array([5, 3, 0, 2])
    assert best(views, 2) == [0, 1]
    assert share(views, [0, 3]) == 0.7
    assert share(views, []) == 0


def test_a_page_stays_for_some_periods_and_then_retires(day):
    """Everybody looks at one page in the first hour, and at another ever after."""
    crowd = [(f"user {i}", "a") for i in range(2000)]
    other = [(f"user {i}", "b") for i in range(2000)]
    names = type(day)(day.rows, ["a", "b"])

    def period(pairs, a, b):
        log = ItemLog.of(pairs)
        return Period(log, np.array([a, b]))

    later = [period(other, 0, 100)] * 4
    with simulation(1) as source:
        found = run(names, [period(crowd, 100, 0), *later], 5, source)
    assert found["keys"] == 1
    # After the first hour only `a` is known; from then on `b` is.
    assert found["live"] == pytest.approx(3 / 4)


def test_the_whole_table():
    steps = []
    result = discovery_result(True, 7, steps.append, lambda: steps.append("done"))
    assert steps.count("done") == steps[0]
    assert len(result.tables[0].rows) == len(result.rows) == 12
    assert "2,851 sessions" in result.words
