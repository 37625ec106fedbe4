"""A sum over keys is never given an interval that is too narrow."""

import math

import numpy as np
import pytest
from tests.support.city import City

from hubbub.ranges import PairWindow, RangeWindow
from hubbub.ranges.fenwick import Fenwick
from hubbub.ranges.segment import Segment
from hubbub.released import Keys, Release, Tick, Value, total_over
from hubbub.server.formats import part_of
from hubbub.server.sums import Sum, share_of, sum_of, total_of

KEYS = Keys(["a", "b", "c"])
ONE = np.ones(3)


def release(tick=0, variance=4.0, correlated=False):
    measured = np.array([100, 200, 300])
    return Release(Tick(tick), KEYS, ONE, ONE, ONE, ONE, measured, variance, correlated=correlated)


def test_independent_errors_add_up_in_squares():
    assert total_of(release()).standard_error == pytest.approx(math.sqrt(12))
    assert sum_of([release(0), release(1)], [0, 2]).standard_error == pytest.approx(math.sqrt(16))
    assert total_of(release(variance=np.array([1.0, 4.0, 9.0]))).standard_error == pytest.approx(math.sqrt(14))


def test_errors_that_go_together_are_added_as_they_are():
    """Three keys that got one and the same noise: the sum errs by three times as much."""
    assert total_of(release(correlated=True)).standard_error == pytest.approx(3 * 2)
    assert sum_of([release(0, correlated=True), release(1, correlated=True)]).standard_error == pytest.approx(
        math.sqrt(72)
    )
    assert total_of(release(variance=np.array([1.0, 4.0, 9.0]), correlated=True)).standard_error == pytest.approx(6)
    rng = np.random.default_rng(1)
    shared = rng.laplace(0, math.sqrt(2), 20_000)  # one noise for all three keys
    told = total_of(release(correlated=True))
    assert np.mean(np.abs(3 * shared) <= told.upper - told.value) >= 0.945
    assert np.mean(np.abs(3 * shared) <= 2.12 * math.sqrt(12)) < 0.9, "the control: squares alone are too narrow"


def test_each_key_has_its_own_error():
    adding = Sum()
    for tick in range(4):
        adding.add(release(tick, np.array([1.0, 4.0, 9.0])))
    assert [one.standard_error for one in adding.each(3)] == pytest.approx([2.0, 4.0, 6.0])


def test_a_share_of_what_goes_together():
    part, whole = Value(340, 10, 320, 360), Value(1000, 30, 940, 1060)
    apart, together = share_of(part, whole), share_of(part, whole, correlated=True)
    assert together.standard_error == pytest.approx(34 * (10 / 340 + 30 / 1000))
    assert together.standard_error > apart.standard_error


def test_what_is_sent_tells_of_it():
    one = release(variance=np.array([1.0, 4.0, 9.0]), correlated=True)
    part = part_of(one, [one.keys.names[0], one.keys.names[2]])
    assert (part.noise_variance.tolist(), part.correlated) == ([1.0, 9.0], True)


@pytest.mark.parametrize(("variance", "correlated"), [(4.0, True), (np.array([1.0, 4.0, 9.0]), False)])
def test_a_pair_does_not_mix_in_live_noise_that_it_cannot_weigh(variance, correlated):
    """Ticks that both have measured are answered by the ranges alone; ticks of the live stream alone are added."""
    window = RangeWindow(KEYS, 8, pure=True)
    window.open(Segment(0, Fenwick(1), (5.0,)))
    window.append(np.array([1, 2, 3]))
    pair = PairWindow(window)
    live = release(0, variance, correlated)
    pair._note(0, live)
    answer = pair.total(0, 0)
    assert (answer.value, answer.weight, answer.standard_error) == (6.0, 1.0, pytest.approx(math.sqrt(15)))
    window.skip(1)
    pair._note(1, release(1, variance, correlated))
    both = pair.total(0, 1)
    assert (both.value, both.missing) == (606.0, 0)
    assert both.standard_error == pytest.approx(math.sqrt(15 + live.variance_of_sum()))
    errors = [one.standard_error for one in pair.each(0, 1)]
    assert errors == pytest.approx(np.sqrt(5 + live.variances).tolist())


def test_sums_of_a_map_use_what_its_releases_say_of_their_errors(tmp_path, monkeypatch):
    """Measured were areas: beside each place stands its share of one, which says nothing of the place itself."""
    monkeypatch.setenv("HUBBUB_STATE", str(tmp_path / "state"))
    city = City(tmp_path, "roads").run(8)
    releases = list(city.store.releases("city"))
    assert all(one.joint is not None for one in releases)
    some = [0, 3, 7, 20, 31]
    for positions in (None, some):
        told = sum_of(releases, positions)
        wanted = total_over(releases, np.arange(len(city.place)) if positions is None else positions).total
        assert told.value == pytest.approx(wanted.value)
        assert told.standard_error == pytest.approx(wanted.standard_error)
        assert told.lower <= wanted.lower
        assert told.upper >= wanted.upper - 1  # in whole vehicles there
    adding = Sum()
    for one in releases:
        adding.add(one)
    for at, value in zip(some, adding.each(len(city.place), some), strict=True):
        assert value.value == pytest.approx(sum(one.values[at] for one in releases))
        assert value.standard_error == pytest.approx(sum(one.standard_errors[at] for one in releases))
    unknown = np.full(len(city.place), math.nan)
    adding.add(Release(Tick(8), city.place, unknown, unknown, unknown, unknown))
    assert adding.quantity.upper == math.inf, "of a tick that nobody knows, a sum knows nothing"
    city.close()
