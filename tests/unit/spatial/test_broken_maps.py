"""What was broken on purpose is caught by a replay of neighbours. Nothing here fails by chance."""

import numpy as np
import pytest
from tests.support.broken_maps import BROKEN, CELLS, OneLookTooMany

from hubbub.checks import CheckFailed, Subject, check_releaser
from hubbub.checks.replay import draw_pair, replay_releaser
from hubbub.confidential import Counts
from hubbub.errors import BudgetExceeded, HubbubError
from hubbub.privacy import Event, Guarantee, Session, User, Window
from hubbub.released import Snapshot, Tick
from hubbub.spatial import Roads

REPLAY = ["neighbours_look_the_same"]


@pytest.mark.parametrize(("broken", "keys"), BROKEN, ids=lambda one: getattr(one, "__name__", ""))
def test_what_was_broken_is_caught(broken, keys):
    with pytest.raises(CheckFailed):
        check_releaser(Subject(broken, keys=keys), only=REPLAY)


def counts(tick):
    return Counts.of(CELLS, Tick(tick), [20, 30, 40])


def test_a_look_too_many_is_refused_by_the_account():
    stream = OneLookTooMany(CELLS, Guarantee.pure(User(horizon=3), 1))
    for tick in range(2):
        stream.release(counts(tick))
    with pytest.raises(BudgetExceeded):
        stream.release(counts(2))
    assert stream.spent <= 1


UNITS = [
    *(User(horizon=1), User(horizon=2), User(horizon=3), User(max_ticks=1, horizon=9), User(max_ticks=2, horizon=14)),
    *(User(max_ticks=2, horizon=14, max_items=3), Session(max_ticks=1), Session(max_ticks=4, max_items=2)),
    *(Window(1), Window(5), Event()),
]


@pytest.mark.parametrize("unit", UNITS, ids=repr)
@pytest.mark.parametrize("kind", ["pure", "zcdp"])
def test_the_budget_holds_at_the_edges_of_horizons(unit, kind):
    """With gaps, lost ticks and restarts: neighbours differ by what was charged, and that is at most the budget."""
    guarantee = Guarantee.pure(unit, 1) if kind == "pure" else Guarantee.zcdp(unit, "1/2")
    for seed in range(4):
        pair = draw_pair(np.random.default_rng([3, seed]), unit, CELLS, unit.horizon or 14)  # not for privacy
        replayed = replay_releaser(lambda source: Roads(CELLS, guarantee, source=source), pair, seed)
        assert replayed.cost <= guarantee.budget


@pytest.mark.parametrize("unit", [unit for unit in UNITS if unit.horizon], ids=repr)
def test_no_horizon_ends_before_its_last_tick(unit):
    stream = Roads(CELLS, Guarantee.pure(unit, 1))
    spent = [stream.release(counts(tick)).cost.epsilon for tick in range(unit.horizon)]
    assert stream.spent <= 1
    looks = [tick for tick, cost in enumerate(spent) if cost > stream._total_price + stream._group_price]
    assert len(looks) == min(unit.horizon.bit_length(), unit.max_ticks or unit.horizon)


def test_a_restart_at_a_look_goes_on_as_without_one():
    one = Roads(CELLS, Guarantee.pure(User(horizon=40), 1))
    for tick in range(3):
        one.release(counts(tick))
    other = Roads(CELLS, Guarantee.pure(User(horizon=40), 1))
    other.restore(Snapshot.from_bytes(one.snapshot().to_bytes()))
    assert [other.cost(Tick(tick)) for tick in range(3, 9)] == [one.cost(Tick(tick)) for tick in range(3, 9)]
    one.release(counts(3))
    # Whoever crashed after paying for the look at tick 3 has lost it, and the next one is where it was planned.
    other.predict(Tick(3), lost=other.cost(Tick(3)))
    assert other.spent == one.spent
    assert [other.cost(Tick(tick)) for tick in (4, 6, 7)] == [one.cost(Tick(tick)) for tick in (4, 6, 7)]


@pytest.mark.parametrize("at", [0, 3, 15])
def test_a_look_whose_noise_failed_is_not_taken_again(monkeypatch, at):
    """Drawing had begun, so it is paid for; were it tried again, the budget would end before the horizon."""
    stream = Roads(CELLS, Guarantee.pure(User(horizon=20), 1))
    measure = stream._sums.measure
    for tick in range(20):
        if tick == at:
            monkeypatch.setattr(stream._sums, "measure", lambda *_: (_ for _ in ()).throw(HubbubError("no noise")))
            with pytest.raises(HubbubError, match="no noise"):
                stream.release(counts(tick))
            monkeypatch.setattr(stream._sums, "measure", measure)
        else:
            stream.release(counts(tick))
    assert stream.spent == 1
