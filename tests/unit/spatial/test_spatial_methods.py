"""What the mechanisms of a map do beside what all mechanisms do, which the conformance suite checks."""

from fractions import Fraction

import numpy as np
import pytest

from hubbub.checks import Subject, check_releaser
from hubbub.confidential import Counts
from hubbub.errors import InvalidParameter, NoiseOverflow
from hubbub.lab.moving import Traffic
from hubbub.methods import make_mechanism
from hubbub.noise import simulation
from hubbub.privacy import Guarantee, Session, User, Window
from hubbub.released import Cost, Grid, Snapshot, Tick
from hubbub.released.skewed import interval
from hubbub.spatial import Quadtree, RoadCells, RoadGrid, RoadNetwork, Roads, Temporal, made_up
from hubbub.spatial.noisy_sums import NoisySums, Parts
from hubbub.spatial.quadtree import parts_of
from hubbub.spatial.road_units import RoadUnits, stretches_of, through_traffic

CITY = made_up(150, seed=1)
GRID = RoadGrid.over(CITY, 64, 64)
ROADS = RoadCells(GRID)
YEAR = Guarantee.pure(User(horizon=100), 1)
QUIET = ["never_charges_more_than_stated", "restore_gives_the_same_future", "neighbours_look_the_same",
         "missing_ticks_are_predicted", "lost_ticks_stay_charged", "other_keys_cost_nothing"]  # fmt: skip


def counts(tick, keys=ROADS, many=30):
    return Counts.of(keys, Tick(tick), np.full(len(keys), many))


def three_cells():
    """A road over three cells: the smallest road map that the checks take."""
    return RoadGrid(3, 1, network=RoadNetwork([0.1, 2.9], [0.5, 0.5], start=[0], end=[1]), bounds=(0, 0, 3, 1))


# ── on roads the promises are the same ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("check", QUIET)
@pytest.mark.parametrize(
    ("method", "keys"),
    [(Roads, RoadCells(three_cells())), (Quadtree, three_cells()), (Temporal, three_cells()), (Quadtree, Grid(3, 1))],
    ids=lambda one: getattr(one, "__name__", repr(one)),
)
def test_promises_are_kept_on_a_map(method, keys, check):
    assert check_releaser(Subject(method, keys=keys), only=[check]) == [check]


# ── sums ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_sums_are_exact_beyond_what_floats_hold():
    parts = Parts(np.array([1, 0, 1, 1]), 2)
    assert parts.sums(np.array([2**52, 7, 2**52 - 1, 2**52])).tolist() == [7, 3 * 2**52 - 1]


def test_gaussian_noise_of_sums_is_made_for_all_items_in_one_part():
    """Two counts of one unit in one part change its sum by two: the variance is four times that of one, not twice."""
    cost = Cost(rho=Fraction(1, 2))
    one, two = (
        NoisySums(Guarantee.zcdp(Session(max_ticks=1, max_items=items), "1/2")).variance(cost) for items in (1, 2)
    )
    assert two == pytest.approx(4 * one, rel=1e-3)


def test_laplace_noise_of_sums_is_made_for_all_items():
    noise = NoisySums(Guarantee.pure(Session(max_ticks=1, max_items=3), 1)).noise(Cost(epsilon=Fraction(1, 2)))
    assert noise.scale == 6


# ── quadtree ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("depth", [0, 1, 3, 14])
def test_a_part_is_split_while_it_is_mixed_and_not_too_deep(depth):
    part = parts_of(GRID, depth).reshape(64, 64)
    dense = GRID.dense.reshape(64, 64)
    assert set(np.unique(part)) == set(range(part.max() + 1))
    for one in range(part.max() + 1):
        rows, columns = np.nonzero(part == one)
        side = rows.max() - rows.min() + 1
        assert side == columns.max() - columns.min() + 1
        assert side * side == len(rows)
        mixed = 0 < dense[part == one].sum() < len(rows)
        assert not mixed or side == 64 >> min(depth, 6)
        if not mixed and side < 64:  # its parent was mixed, or it would not have been split
            top, left = rows.min() // (2 * side) * 2 * side, columns.min() // (2 * side) * 2 * side
            above = dense[top : top + 2 * side, left : left + 2 * side]
            assert 0 < above.sum() < above.size


def test_a_grid_that_is_no_power_of_two_is_split_too():
    part = parts_of(Grid(5, 3), 14)
    assert len(np.unique(part)) == 15
    assert len(np.unique(parts_of(Grid(5, 3), 1))) == 2  # a square of eight: west of four columns, and east
    assert parts_of(Grid(1, 1), 8).tolist() == [0]


def test_a_part_is_shared_out_evenly():
    with simulation(1) as source:
        tree = Quadtree(Grid(8, 8), Guarantee.pure(User(horizon=1), 20), source=source, depth=1)
        release = tree.release(Counts.of(tree.keys, Tick(0), np.arange(64)))
    table = release.values.reshape(8, 8)
    assert np.allclose(table[:4, :4], np.arange(64).reshape(8, 8)[:4, :4].mean(), atol=0.2)
    assert len(np.unique(table)) == 4
    assert release.correlated
    assert (release.lower == 0).all()
    assert (release.upper >= np.arange(64)).all()  # no cell holds more than all of its part


# ── temporal ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_sparse_cells_are_hardly_moved_and_dense_ones_are():
    with simulation(2) as source:
        stream = Temporal(GRID, YEAR, source=source, trust=1 / 50, start="zero")
        releases = [stream.release(counts(tick, GRID, 50)) for tick in range(30)]
    moved = np.abs(releases[-1].values - releases[-2].values)
    assert moved[GRID.dense].mean() > 20 * moved[~GRID.dense].mean()
    assert releases[-1].values[~GRID.dense].max() < 1


def test_the_errors_that_are_told_are_those_of_the_noise_that_was_added():
    """Taking the noise for larger than it is changes the gain, not how wrong the first value is."""
    one, two = (Temporal(Grid(2, 2), YEAR, trust=trust) for trust in (1.0, 0.02))
    errors = [each.release(counts(0, Grid(2, 2))).standard_errors[0] for each in (one, two)]
    assert errors[0] == errors[1]


# ── roads ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_a_cell_is_a_share_of():
    units = RoadUnits.of(ROADS)
    assert np.allclose(np.bincount(units.stretches.of, units.cell_share), 1)
    assert np.allclose(np.bincount(units.group, units.stretch_share), 1)
    assert (units.groups.of == units.group[units.stretches.of]).all()
    assert np.bincount(units.stretches.of).min() >= 1


def test_roads_in_a_row_are_one_stretch():
    """A road in three pieces to a crossing, from which two others leave; and a ring, which has no end."""
    x, y = [0, 1, 2, 3, 4, 3, 9, 10, 9], [0, 0, 0, 0, 0, 1, 0, 0, 1]
    network = RoadNetwork(x, y, start=[0, 1, 2, 3, 3, 6, 7, 8], end=[1, 2, 3, 4, 5, 7, 8, 6])
    stretch = stretches_of(network)
    assert len(set(stretch[:3])) == 1
    assert len(set(stretch[5:])) == 1
    assert len(set(stretch)) == 4


def test_the_bridge_between_two_towns_is_the_busiest():
    towns = RoadNetwork([0, 1, 0, 5, 6, 6], [0, 0, 1, 0, 0, 1], start=[0, 1, 2, 3, 4, 5, 1], end=[1, 2, 0, 4, 5, 3, 3])
    assert through_traffic(towns).argmax() == 6
    apart = RoadNetwork([0, 1, 5, 6], [0] * 4, start=[0, 2], end=[1, 3])
    assert np.isfinite(through_traffic(apart)).all()


def test_looks_are_further_and_further_apart_and_all_of_the_budget_is_used():
    stream = Roads(ROADS, YEAR)
    costs = [stream.release(counts(tick)).cost.epsilon for tick in range(100)]
    looks = [tick for tick, cost in enumerate(costs) if cost > costs[2]]
    assert looks == [0, 1, 3, 7, 15, 31, 63]
    assert sum(costs) == stream.spent == 1


@pytest.mark.parametrize("unit", [User(max_ticks=3, horizon=50), User(horizon=1), Session(max_ticks=4), Window(3)])
def test_no_unit_pays_more_than_was_promised(unit):
    stream = Roads(ROADS, Guarantee.pure(unit, 1))
    for tick in range(unit.horizon or 12):
        stream.release(counts(tick))
    assert stream.spent == 1


def test_a_look_that_was_lost_is_not_taken_again():
    stream = Roads(ROADS, YEAR)
    stream.predict(Tick(0), lost=stream.cost(Tick(0)))
    assert stream.cost(Tick(1)) == stream.cost(Tick(3))  # the next look is as it was planned
    for tick in range(1, 100):
        stream.release(counts(tick))
    assert stream.spent <= 1


def test_a_late_look_is_taken_when_there_is_something_to_look_at():
    stream = Roads(ROADS, YEAR)
    first = stream.release(counts(5)).cost
    assert stream.cost(Tick(6)).epsilon < first.epsilon
    assert stream.cost(Tick(7)) == first


@pytest.fixture(scope="module")
def city():
    """A made-up city with much traffic, released once."""
    truth = list(Traffic(CITY, first=40_000, new=2000, trip=20, ticks=20).counts(ROADS, seed=1))
    with simulation(4) as source:
        stream = Roads(ROADS, Guarantee.pure(User(horizon=20), 1), source=source)
        releases = [stream.release(Counts.of(ROADS, Tick(tick), one)) for tick, one in enumerate(truth)]
    return truth, releases, stream


def test_roads_are_far_closer_than_noise_on_every_cell(city):
    truth, releases, _ = city
    truth = np.array(truth)

    def error(releases):
        return np.abs(np.array([release.values for release in releases]) - truth).sum() / truth.sum()

    with simulation(4) as source:
        lpa = make_mechanism("lpa", ROADS, Guarantee.pure(User(horizon=20), 1), source=source)
        noisy = [lpa.release(Counts.of(ROADS, Tick(tick), one)) for tick, one in enumerate(truth)]
    assert error(releases) < 0.5
    assert error(releases) < error(noisy) / 2


def test_cells_add_up_to_areas(city):
    _, releases, stream = city
    generator = np.random.default_rng(3)
    for size in (1, 40, len(ROADS)):
        some = generator.choice(len(ROADS), size, replace=False)
        asked = stream.area(some)
        assert asked.value == pytest.approx(releases[-1].values[some].sum())
        assert asked.lower <= asked.value <= asked.upper
    one = stream.area([7, 7])
    assert one.value == pytest.approx(releases[-1].values[7])
    assert one.standard_error == pytest.approx(releases[-1].standard_errors[7], rel=1e-3)  # kept in two bytes


def test_the_error_of_an_area_is_not_that_of_independent_cells(city):
    _, releases, stream = city
    everything = stream.area(np.arange(len(ROADS)))
    apart = np.sqrt((releases[-1].standard_errors ** 2).sum())
    together = releases[-1].standard_errors.sum()
    assert everything.standard_error < together
    half = stream.area(np.flatnonzero(stream.units.group == 0)[stream.units.group[stream.units.group == 0]])
    assert half.standard_error > 0
    assert apart != pytest.approx(everything.standard_error, rel=0.01)


def test_an_area_before_anything_was_released():
    with pytest.raises(InvalidParameter, match="Nothing was released"):
        Roads(ROADS, YEAR).area([0])


def test_point_numbers_are_smaller_and_never_below_zero(city):
    truth, releases, stream = city
    with simulation(4) as source:
        point = Roads(ROADS, stream.guarantee, source=source, numbers="point")
        points = [point.release(Counts.of(ROADS, Tick(tick), one)) for tick, one in enumerate(truth)]
    values, truth = np.array([one.values for one in points]), np.array(truth)
    additive = np.array([one.values for one in releases])
    assert (values <= additive + 1e-9).all()
    assert (values >= 0).all()

    def relative(given):
        return (np.abs(given - truth) / np.maximum(truth, 1)).mean()

    assert relative(values) < relative(additive)
    assert all((one.lower <= one.values).all() and (one.values <= one.upper).all() for one in points)


def test_a_grid_with_other_cells_is_refused():
    with pytest.raises(InvalidParameter, match="RoadCells"):
        Roads(GRID, YEAR)


def test_a_long_gap_widens_what_is_known_and_keeps_it_finite(city):
    _, releases, stream = city
    again = Roads(ROADS, stream.guarantee)
    again.restore(Snapshot.from_bytes(stream.snapshot().to_bytes()))
    later = again.belief.later(10_000).unseen()
    value, variance = later.cells()
    assert np.isfinite(value).all()
    assert (variance > releases[-1].standard_errors ** 2).mean() > 0.99
    near, far = (again.belief.later(ticks).trend.covariance[0, 0] for ticks in (500, 501))
    assert far > near


def test_noise_that_64_bits_cannot_add_is_refused_by_the_noise_alone(monkeypatch):
    sums = NoisySums(YEAR)

    class Far:
        def sample(self, many):
            return np.full(many, 2**62 + 1)

    monkeypatch.setattr(sums, "noise", lambda _: Far())
    with pytest.raises(NoiseOverflow):
        sums.measure(counts(0), Parts(np.zeros(len(ROADS), dtype=np.int64), 1), Cost(epsilon=Fraction(1)))


def test_quiet_roads_are_doubted_more_than_busy_ones():
    units = RoadUnits.of(ROADS)
    density = units.stretch_share / np.bincount(units.stretches.of)
    quiet, busy = np.argmin(density), np.argmax(density)
    assert units.doubt[quiet] > units.doubt[busy]
    assert units.doubt.min() >= 0.1
    assert units.doubt.max() <= 10
    assert (RoadUnits.of(Grid(3, 3)).doubt == 1).all()  # where no map says anything all keys are alike


def test_wide_roads_are_expected_to_be_busier():
    """Two ways of the same length between two towns: one over a wide road, one over a narrow one."""
    x, y = [0, 5, 5, 10, -1, 11], [0, 1, -1, 0, 0, 0]
    network = RoadNetwork(x, y, start=[0, 1, 0, 2, 4, 3], end=[1, 3, 2, 3, 0, 5], kind=[0, 0, 4, 4, 1, 1])
    traffic = through_traffic(network)
    assert traffic[0] + traffic[1] > 2 * (traffic[2] + traffic[3])


def test_intervals_are_of_whole_vehicles_and_hold_what_a_gamma_distribution_does():
    draw = np.random.default_rng(5)
    for mean, variance in ((3.0, 5.0), (40.0, 200.0), (5000.0, 5000.0)):
        lower, upper = interval(np.array(mean), np.array(variance))
        assert lower == np.floor(lower)
        assert upper == np.ceil(upper)
        drawn = draw.poisson(draw.gamma(mean**2 / (variance - mean or 1), (variance - mean or 1) / mean, 200_000))
        held = np.mean((lower <= drawn) & (drawn <= upper))
        assert 0.94 < held < 0.99
    assert interval(np.array(0.0), np.array(0.0)) == (0, 0)
