"""`hb.Ranges`: the first lines of somebody who asks for totals."""

import pytest

import hubbub as hb
from hubbub.noise import simulation


def test_totals_with_their_interval():
    ranges = hb.Ranges(["front", "news"], unit="session", max_ticks=2, epsilon=1, window=50)
    for _ in range(30):
        release = ranges.release({"front": 1_000, "news": 0})
    assert (release.tick.index, ranges.next_tick, ranges.spent) == (29, 30, 1)
    total = ranges.total(0, 29, "front")
    assert isinstance(total, hb.Value)
    assert abs(total - 30_000) < 60 * total.standard_error
    ranges.release({"front": 1, "news": 1}, tick=40)
    assert ranges.total(29, 40, "news").missing == 10
    assert "Keys(front, news: 2), window of 50 ticks" in repr(ranges)


def test_every_kind_of_budget():
    assert hb.Ranges(["a"], unit="event", rho=1, window=5).guarantee.kind == "zcdp"
    assert hb.Ranges(["a"], unit=hb.Event(), epsilon=1, delta="1e-9", window=5).guarantee.kind == "approximate"
    assert hb.Ranges(["a"], unit="event", epsilon=50, window=5, allow_weak=True).guarantee.epsilon == 50


def test_refused():
    with pytest.raises(hb.InvalidParameter, match="A budget is"):
        hb.Ranges(["a"], unit="event", window=5)
    with simulation(1) as source, pytest.raises(hb.InsecureRandomness):
        hb.Ranges(["a"], unit="event", epsilon=1, window=5, source=source)
