"""Shapes and the calendar: what a tick's length tells, and what is refused."""

from datetime import timedelta

import numpy as np
import pytest

from hubbub.errors import InvalidParameter
from hubbub.models.calendar import calendar_periods
from hubbub.models.shapes import Period, Shapes


@pytest.mark.parametrize(
    ("length", "periods"),
    [
        (None, ()),
        (timedelta(seconds=10), ()),
        (timedelta(minutes=30), (48.0, 336.0)),
        (timedelta(hours=12), (2.0, 14.0)),
        (timedelta(days=1), (7.0, 365.2425)),
        (timedelta(days=7), (365.2425 / 7,)),
        (timedelta(days=30), (12.0,)),
        (timedelta(days=91), (365.2425 / 91,)),
        (timedelta(days=365), ()),
    ],
)
def test_the_calendar_knows_the_rhythms(length, periods):
    assert calendar_periods(length) == pytest.approx(periods)


def test_weights_are_a_distribution_and_states_fit():
    for periods in ([], [7], [7, 365.25]):
        shapes = Shapes.usual(periods)
        assert np.exp(shapes.log_prior).sum() == pytest.approx(1)
        assert len(shapes.phase(3)) == shapes.size == 2 + len(shapes.season_variances())


@pytest.mark.parametrize("length", [1, 0, -7, float("nan"), float("inf"), True, "7"])
def test_a_period_is_at_least_two_ticks(length):
    with pytest.raises(InvalidParameter, match="2 ticks"):
        Period.of(length)


def test_short_periods_have_few_harmonics():
    assert [Period.of(p).harmonics for p in (2, 3, 4, 7, 12, 52.18)] == [1, 1, 2, 3, 2, 2]
