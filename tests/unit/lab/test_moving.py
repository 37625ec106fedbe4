"""Objects on roads: where they can be, how many there are, and that they arrive."""

import numpy as np
import pytest

from hubbub.errors import InvalidParameter
from hubbub.lab.moving import Traffic
from hubbub.spatial import RoadCells, RoadGrid, RoadNetwork, made_up

CITY = made_up(300, seed=2)
ROADS = RoadCells(RoadGrid.over(CITY, 200, 200))


def test_nobody_ever_stands_off_a_road():
    for x, y in Traffic(CITY, first=3000, new=200, trip=10, ticks=15).positions(seed=1):
        assert (ROADS.cells(x, y) >= 0).all()


def test_everybody_starts_somewhere_on_the_way_and_arrives():
    many = [len(x) for x, _ in Traffic(CITY, first=2000, new=1, trip=5, ticks=30).positions(seed=1)]
    assert many[0] == 2000
    assert many[-1] < 40


def test_as_many_arrive_as_leave():
    """About `new` times `trip` are on the way, once those from the start have arrived."""
    many = [len(x) for x, _ in Traffic(CITY, first=4000, new=400, trip=10, ticks=40).positions(seed=1)]
    assert 3000 < np.mean(many[20:]) < 5000


def test_a_longer_trip_is_a_slower_one():
    def covered(trip):
        places = Traffic(CITY, first=2000, new=1, trip=trip, ticks=2).counts(ROADS, seed=1)
        before, after = next(places), next(places)
        return np.abs(after - before).sum()

    assert covered(400) < covered(10)


def test_wide_roads_are_busier():
    total = sum(Traffic(CITY, first=5000, new=300, trip=15, ticks=10).counts(ROADS, seed=3))
    line, cell, share = ROADS.touched
    density = np.bincount(line, share * total[cell]) / CITY.lengths
    assert density[CITY.kind <= 1].mean() > 1.5 * density[CITY.kind > 1].mean()


def test_the_same_seed_moves_the_same_way():
    one, two, other = (next(Traffic(CITY, first=50, new=5).positions(seed=seed)) for seed in (1, 1, 2))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


def test_they_stay_in_the_largest_part():
    network = RoadNetwork([0, 1, 5, 6, 7], [0] * 5, start=[0, 2, 3], end=[1, 3, 4])
    for x, _ in Traffic(network, first=100, new=10, trip=3, ticks=5).positions(seed=1):
        assert (x >= 5).all()


def test_nobody_at_all_is_refused():
    with pytest.raises(InvalidParameter):
        Traffic(CITY, first=0)


def test_closed_roads_are_avoided_and_a_crowded_quarter_is_crowded():
    city = made_up(300, seed=2)
    cells = RoadCells(RoadGrid.over(city, 64, 64))
    some = {"first": 6000, "new": 300, "ticks": 10}
    busiest = int(np.argmax(np.bincount(cells.touched.line, minlength=len(city.start))))
    usual, closed, crowded = (
        sum(Traffic(city, **some, **how).counts(cells, seed=1)) for how in ({}, {"closed": (busiest,)}, {"crowd": 5.0})
    )
    on_it = cells.touched.cell[cells.touched.line == busiest]
    middle = on_it[len(on_it) // 2]
    assert closed[middle] < usual[middle]
    x, y = cells.centres(np.arange(len(cells)))
    quarter = (x < np.median(city.x)) & (y < np.median(city.y))
    assert crowded[quarter].sum() / crowded.sum() > 1.5 * usual[quarter].sum() / usual.sum()


def test_with_detours_more_drive_on_narrow_roads():
    """Who takes a lane for faster than it is drives through it."""
    narrow = ROADS.touched.cell[(CITY.kind >= 3)[ROADS.touched.line] & (ROADS.touched.share > 0.2)]
    usual, detours = (
        sum(Traffic(CITY, first=6000, new=300, ticks=5, detours=how).counts(ROADS, seed=1)) for how in (0.0, 1.0)
    )
    assert detours[narrow].sum() / detours.sum() > 1.1 * usual[narrow].sum() / usual.sum()
