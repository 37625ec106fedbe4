"""Sums over ticks: what stays wrong is added up, what is new in every tick by its square."""

import numpy as np
import pytest

from hubbub.confidential import Counts
from hubbub.errors import InvalidParameter
from hubbub.noise import simulation
from hubbub.privacy import Guarantee, User
from hubbub.release import Lpa
from hubbub.released import Grid, JointErrors, Keys, Release, Tick
from hubbub.released.joint import Causes
from hubbub.spatial import RoadCells, RoadGrid, Roads, made_up, total, total_over

ONE = np.ones(4)


class Walk(JointErrors):
    """One cause, known exactly: a random walk that is measured again in every tick (for comparing with an oracle)."""

    kind = "walk of a test"

    def causes(self, keys, values, cells):  # noqa: ARG002
        load, variance, kept = (self.arrays[name] for name in ("load", "variance", "kept"))
        return Causes(float(values[cells].sum()), load, variance, kept)


def release(tick, joint=None, **changed):
    facts = {"measurements": np.full(4, 4), "noise_variance": 1.0, "joint": joint, **changed}
    return Release(Tick(tick), Grid(2, 2), 4 * ONE, ONE, 2 * ONE, 6 * ONE, **facts)


def test_the_variance_of_a_span_is_that_of_the_whole_covariance():
    """An independent oracle: the joint covariance of all errors of a Kalman filter, inverted at once."""
    ticks, drift, noise = 7, 0.5, 2.0
    loads = np.array([1.0, -2.0, 3.0, 1.0, 0.5, 2.0, 1.0])
    prior = np.array([[drift * (1 + min(i, j)) for j in range(ticks)] for i in range(ticks)])
    before, joints = 0.0, []
    for load in loads:
        expected = before + drift
        before = expected * noise / (expected + noise)
        arrays = {"load": load, "variance": before, "kept": before / expected}
        joints.append(Walk({name: np.array([value]) for name, value in arrays.items()}))
    # Row i of gains: what the filter makes of all noisy values up to tick i.
    gains = np.zeros((ticks, ticks))
    for i in range(ticks):
        seen = prior[: i + 1, : i + 1] + noise * np.eye(i + 1)
        gains[i, : i + 1] = np.linalg.solve(seen, prior[: i + 1, i])
    off = gains - np.eye(ticks)
    covariance = off @ prior @ off.T + noise * gains @ gains.T
    told = total_over([release(i, joint) for i, joint in enumerate(joints)], [0]).total
    assert told.standard_error**2 == pytest.approx(loads @ covariance @ loads)


def test_a_span_of_an_empty_area_is_not_made_of_what_was_cut_at_zero():
    """Each tick by itself is cut at zero. A hundred cut ticks would add up to a crowd where nobody ever was."""
    grid, ticks, covered = Grid(8, 8), 60, 0
    with simulation(7) as source:
        for _ in range(20):
            stream = Lpa(grid, Guarantee.pure(User(horizon=ticks), 1), source=source)
            releases = [stream.release(Counts.of(grid, Tick(t), np.zeros(64, dtype=int))) for t in range(ticks)]
            span = total_over(releases, np.arange(16))
            covered += span.total.lower <= 0 <= span.total.value <= span.total.upper
    # With cut ticks, none of the twenty covers. 95 of 100 do: 9 or fewer of 20 have a chance below 1e-9.
    assert covered >= 10


def test_without_knowing_more_errors_of_ticks_go_together():
    span = total_over([release(tick) for tick in range(9)], [0, 1, 2, 3])
    assert (span.total.value, span.total.standard_error, span.ticks) == (144.0, 18.0, 9)
    assert (span.mean.value, span.mean.standard_error) == (16.0, 2.0)
    assert not span.total.predicted
    nobody = {"measurements": None, "noise_variance": None}
    assert total_over([release(0, **nobody)], [0]).mean.predicted


def test_a_span_of_one_tick_is_that_tick():
    only = release(3, correlated=True)
    assert total_over([only], [0, 1]).total.to_dict() == total(only, [0, 1]).to_dict()


def test_ticks_with_other_causes_go_together_fully():
    walk = Walk({"load": np.array([1.0, 1.0]), "variance": np.array([8.0, 1.0]), "kept": np.zeros(2)})
    span = total_over([release(0, walk), release(1)], [0])
    assert span.total.standard_error == pytest.approx(3 + 1)


def test_what_vehicles_do_in_each_tick_is_not_added_up_as_if_it_stayed():
    roads = RoadCells(RoadGrid.over(made_up(120, seed=2), 48, 48))
    with simulation(1) as source:
        stream = Roads(roads, Guarantee.pure(User(horizon=40), 20), source=source)
        along = 30 * stream.units.cell_share  # spread along each stretch, as vehicles are that move on it
        truth = [np.random.default_rng(i).poisson(along) for i in range(40)]
        releases = [stream.release(Counts.of(roads, Tick(i), one)) for i, one in enumerate(truth)]
    some = np.arange(100, 160)
    together = sum(total(one, some).standard_error for one in releases)
    apart = np.sqrt(sum(total(one, some).standard_error ** 2 for one in releases))
    told = total_over(iter(releases), some).total
    assert apart < told.standard_error < 0.8 * together
    assert told.lower <= sum(one[some].sum() for one in truth) <= told.upper


@pytest.mark.parametrize("ticks", [[], [1, 0], [2, 2]])
def test_spans_that_are_none(ticks):
    with pytest.raises(InvalidParameter, match="tick"):
        total_over([release(tick) for tick in ticks], [0])


def test_another_domain_is_no_part_of_a_span():
    other = Release(Tick(1), Keys(["a"]), ONE[:1], ONE[:1], ONE[:1], ONE[:1])
    with pytest.raises(InvalidParameter, match="the same cells"):
        total_over([release(0), other], [0])
    with pytest.raises(InvalidParameter, match="asks for others"):
        total_over([release(0)], [4])
