"""`areas`: a public tree, sums that fit, prices that add up, and errors that go together."""

from fractions import Fraction

import numpy as np
import pytest

from hubbub.checks import Subject, check_releaser
from hubbub.confidential import Counts
from hubbub.errors import SchemaMismatch
from hubbub.methods import METHODS, usual_on_map
from hubbub.noise import simulation
from hubbub.privacy import Guarantee, Session, User, Window
from hubbub.released import Cost, Grid, JointErrors, Keys, Tick, total, total_over
from hubbub.spatial import AreaErrors, Areas, AreaTree, Hexagons, RoadCells, RoadGrid, Zones, area, made_up
from hubbub.spatial.area_belief import consistent

HEXAGONS = Hexagons.covering((8.15, 53.10, 8.25, 53.16), resolution=8)
GRID = Grid(24, 24, bounds=(0, 0, 24, 24))
YEAR = Guarantee.pure(User(horizon=100), 1)
QUIET = ["never_charges_more_than_stated", "restore_gives_the_same_future", "neighbours_look_the_same",
         "missing_ticks_are_predicted", "lost_ticks_stay_charged", "other_keys_cost_nothing"]  # fmt: skip


def square(left):
    return {"type": "Polygon", "coordinates": [[[left, 0], [left + 2, 0], [left + 2, 2], [left, 2], [left, 0]]]}


ZONES = Zones({"harbour": square(0), "market": square(2), "park": square(4)})


def run(keys=GRID, promise=YEAR, ticks=5, seed=1, rate=40.0, **options):
    draw = np.random.default_rng(seed)
    rates = rate * draw.lognormal(-0.3, 0.8, len(keys))
    truth = [draw.poisson(rates) for _ in range(ticks)]
    with simulation(seed) as source:
        stream = Areas(keys, promise, source=source, **options)
        return stream, truth, [stream.release(Counts.of(keys, Tick(i), one)) for i, one in enumerate(truth)]


@pytest.mark.parametrize("check", QUIET)
@pytest.mark.parametrize("keys", [ZONES, Grid(3, 1), Hexagons(HEXAGONS.names[:3])], ids=repr)
def test_promises_are_kept_on_a_map(keys, check):
    assert check_releaser(Subject(Areas, keys=keys), only=[check]) == [check]


# ── the tree is made of the map alone ────────────────────────────────────────────────────────────────────────────────


def test_hexagons_lie_in_their_parents():
    tree = AreaTree.of(HEXAGONS)
    coarse, of = HEXAGONS.parents(7)
    assert [level.many for level in tree.levels] == [len(coarse), len(HEXAGONS)]
    assert tree.levels[0].of.tolist() == of.tolist()


def test_places_are_halved_by_where_they_lie():
    tree = AreaTree.of(GRID)
    assert [level.many for level in tree.levels] == [16, 128, 576]
    for level in tree.levels[:-1]:
        sizes = np.bincount(level.of)
        assert sizes.max() - sizes.min() <= len(tree.levels) + 3
        for part in range(level.many):
            rows, columns = np.divmod(np.flatnonzero(level.of == part), 24)
            assert (np.ptp(rows) + 1) * (np.ptp(columns) + 1) <= 2 * sizes[part], "an area is a block, not scattered"


@pytest.mark.parametrize("keys", [Keys(["a"]), Keys(["a", "b"]), ZONES, Grid(1, 1), Grid(33, 1), Grid(90, 7)], ids=repr)
def test_small_and_narrow_maps(keys):
    tree = AreaTree.of(keys)
    assert tree.levels[-1].of.tolist() == list(range(len(keys)))
    for at in range(len(tree.levels)):
        assert tree.added(at, tree.expected[at]) == pytest.approx(np.ones(tree.above(at)))
    _, truth, releases = run(keys, ticks=3)
    assert len(releases[-1].values) == len(truth[-1])


def test_which_method_a_map_gets():
    roads = RoadGrid.over(made_up(50), 16, 16)
    wanted = {RoadCells(roads): "roads", roads: "areas", HEXAGONS: "areas", ZONES: "areas", GRID: "areas"}
    assert {keys: usual_on_map(keys) for keys in wanted} == wanted
    assert set(wanted.values()) <= set(METHODS)


# ── prices ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("keys", [GRID, HEXAGONS, ZONES], ids=repr)
@pytest.mark.parametrize(
    "promise",
    [YEAR, Guarantee.pure(User(max_ticks=3, horizon=50), "0.7"), Guarantee.zcdp(User(horizon=64), "1/3")],
    ids=str,
)
def test_nobody_pays_more_than_was_promised_whichever_ticks_they_are_in(keys, promise):
    unit = promise.unit
    stream = Areas(keys, promise)
    costs = []
    for tick in range(unit.horizon):
        cost = stream.cost(Tick(tick))
        costs.append(cost.epsilon + cost.rho)
        if stream._is_look(Tick(tick)):
            stream._looked_at(Tick(tick))
    most = sum(sorted(costs)[-unit.max_ticks :])
    assert most <= promise.budget
    if unit.max_ticks == unit.horizon:
        assert most == promise.budget, "nothing is left over"


@pytest.mark.parametrize("unit", [Session(max_ticks=4), Window(5)])
def test_without_a_horizon_every_tick_is_a_look_at_the_same_price(unit):
    _, _, releases = run(HEXAGONS, Guarantee.pure(unit, 1), ticks=6)
    assert {release.cost for release in releases} == {Cost(epsilon=Fraction(1, unit.max_ticks))}
    assert all("kept_2" in release.joint.arrays for release in releases[1:])


def test_a_look_that_was_lost_is_not_repeated():
    stream = Areas(GRID, YEAR)
    stream.predict(Tick(0), stream.cost(Tick(0)))
    assert stream._looked == 1
    seen = stream.release(Counts.of(GRID, Tick(1), np.full(576, 30)))
    assert "fresh_3" in seen.joint.arrays, "the next look"


# ── sums ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_sums_are_joined_as_least_squares_does():
    tree = AreaTree.of(Grid(10, 10))
    coarse, places = tree.levels
    draw = np.random.default_rng(3)
    noisy = [(draw.normal(600, 30, coarse.many), 900.0), (draw.normal(100, 10, places.many), 50.0)]
    (told, variance), _ = consistent(tree, noisy)
    # The oracle: all noisy sums as rows of one weighted least squares problem in the places.
    design = np.concatenate([np.eye(coarse.many)[:, coarse.of], np.eye(places.many)])
    weights = np.concatenate([np.full(coarse.many, 1 / 900), np.full(places.many, 1 / 50)])
    precision = design.T @ (weights[:, None] * design)
    wanted = np.linalg.solve(precision, design.T @ (weights * np.concatenate([noisy[0][0], noisy[1][0]])))
    assert told == pytest.approx(np.bincount(coarse.of, wanted))
    sums = np.eye(coarse.many)[:, coarse.of]
    assert variance == pytest.approx(np.diag(sums @ np.linalg.inv(precision) @ sums.T))


def test_places_add_up_and_none_is_below_zero():
    stream, _, releases = run(rate=3.0)
    for release in releases:
        assert (release.values >= 0).all()
        assert (release.lower <= release.values).all()
        assert (release.values <= release.upper).all()
    assert releases[-1].values.sum() == pytest.approx(stream._belief.trend.mean[0])


def test_with_much_budget_it_is_right():
    _, truth, releases = run(promise=Guarantee.pure(User(horizon=3), 20), ticks=3, rate=400.0)
    off = np.abs(releases[0].values - truth[0]).sum() / truth[0].sum()
    assert off < 0.01


def test_a_tick_that_nobody_measured_is_divided_as_the_one_before():
    stream, _, releases = run()
    missed = stream.predict(Tick(5))
    assert missed.is_predicted
    shares = missed.values / missed.values.sum()
    assert total(missed, np.arange(100)).standard_error > total(releases[-1], np.arange(100)).standard_error
    stream.predict(Tick(60))
    later = stream.predict(Tick(61))
    assert later.values / later.values.sum() == pytest.approx(shares)


# ── errors that go together ──────────────────────────────────────────────────────────────────────────────────────────


def test_one_place_has_the_error_that_its_release_tells():
    _, _, releases = run(HEXAGONS)
    for release in releases:
        told = [total(release, [at]).standard_error for at in range(20)]
        assert told == pytest.approx(release.standard_errors[:20], rel=2e-3)


def test_errors_of_shares_make_up_for_each_other_in_the_whole():
    _, _, releases = run(promise=Guarantee.pure(User(horizon=100), "0.2"))
    release = releases[-1]
    west, east = (area(GRID, box) for box in ((0, 0, 12, 24), (12, 0, 24, 24)))
    whole, *halves = (total(release, some).standard_error for some in (np.arange(576), west, east))
    assert whole < sum(halves)
    assert whole == pytest.approx(np.sqrt(release.joint.arrays["total"][0]) * release.values.sum()), "shares add up"
    assert halves[0] < release.standard_errors[west].sum() / 3


def test_spans_are_narrower_than_if_all_stayed():
    _, truth, releases = run(ticks=40)
    some = area(GRID, (3, 3, 9, 12))
    span = total_over(releases, some)
    assert span.ticks == 40
    assert span.total.standard_error < sum(total(one, some).standard_error for one in releases)
    assert span.total.lower <= sum(one[some].sum() for one in truth) <= span.total.upper


def test_its_bytes_are_few_and_damage_is_seen():
    _, _, releases = run()
    for release, bytes_each in zip(releases, (7, 7, 3, 7, 3), strict=True):
        assert len(release.joint.to_bytes()) < bytes_each * 720 + 500
        again = JointErrors.from_bytes(release.joint.to_bytes())
        assert isinstance(again, AreaErrors)
        cells = np.arange(50)
        told = total(release, cells).standard_error
        assert again.causes(GRID, release.values, cells).variance == pytest.approx(told**2, rel=1e-12)
    arrays = releases[1].joint.arrays
    for name in ("total", "lasting_1", "fresh_2", "kept_3"):
        short = AreaErrors({**arrays, name: arrays[name][:-1]})
        with pytest.raises(SchemaMismatch, match="cannot be read"):
            short.causes(GRID, releases[1].values, np.array([0]))
    with pytest.raises(SchemaMismatch, match="cannot be read"):
        AreaErrors({}).causes(GRID, releases[1].values, np.array([0]))


def test_where_noise_hides_places_the_money_goes_to_larger_areas_and_a_look_costs_the_same():
    few, many = (run(promise=YEAR, ticks=4, rate=rate) for rate in (0.5, 500.0))
    for stream, _, releases in (few, many):
        assert {release.cost for release in releases[:2]} == {releases[3].cost}
        assert len({sum(prices) for prices in stream._look_prices}) == 1
    assert "fresh_3" in few[2][0].joint.arrays, "of the first look nobody knows yet"
    assert "fresh_3" not in few[2][3].joint.arrays
    assert "fresh_3" in many[2][3].joint.arrays


def test_point_numbers_are_best_alone_and_areas_are_told_as_before():
    """Counts that are small beside their noise: one by one nothing is the best that can be said."""
    promise, some = Guarantee.pure(User(horizon=100), 2), np.arange(100)
    _, truth, additive = run(promise=promise, rate=6.0)
    _, _, alone = run(promise=promise, rate=6.0, numbers="point")
    values, sums = (np.array([one.values for one in releases]) for releases in (alone, additive))

    def relative(given):
        return (np.abs(given - np.array(truth)) / np.maximum(truth, 1)).mean()

    assert relative(values) < relative(sums)
    assert (values >= 0).all()
    assert (values <= sums + 1e-9).all()
    for one, other in zip(alone, additive, strict=True):
        assert (one.lower <= one.values).all()
        assert (one.values <= one.upper).all()
        told, wanted = total(one, some), total(other, some)
        assert told.value == pytest.approx(wanted.value, rel=1e-6), "they are not added up"
        assert told.standard_error == pytest.approx(wanted.standard_error, rel=1e-3)
        again = JointErrors.from_bytes(one.joint.to_bytes())
        assert again.causes(GRID, one.values, some).value == pytest.approx(wanted.value, rel=1e-6)
    with pytest.raises(SchemaMismatch):
        alone[0].joint.causes(ZONES, np.ones(3), np.arange(3))
