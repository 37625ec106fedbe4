"""What the total is compared with."""

import numpy as np
import pytest

from hubbub.released import Cost, Keys, Release, Tick
from hubbub.server.picture import COMPARE, Pictures

KEYS = Keys(["front"])


def release(tick: int, value: int) -> Release:
    values = np.array([float(value)])
    return Release(
        Tick(tick), KEYS, values, np.array([5.0]), values - 10, values + 10, np.array([value]), 25.0, Cost.nothing()
    )


def trend_after(values):
    pictures = Pictures(rows=10)
    return [pictures.draw(release(tick, value)) for tick, value in enumerate(values)][-1].trend


def test_a_single_tick_is_compared_with_nothing():
    assert trend_after([100]) is None


@pytest.mark.parametrize(("calm", "ago"), [(4, "4 ticks"), (21, "12 ticks"), (101, "52 ticks")])
def test_a_stream_that_fills_up_is_no_rise_once_it_has_been_calm_as_long(calm, ago):
    trend = trend_after([100, 400, 700] + [1000] * calm)
    assert (trend.beyond, trend.ago) == (calm == 4, ago)


def test_an_old_stream_is_compared_over_the_whole_stretch():
    trend = trend_after([500] + [1000] * COMPARE)
    assert trend.beyond
    assert str(COMPARE) in trend.ago
