"""What every mechanism does alike: charge first, keep order, predict over gaps, never spend on a refusal."""

from fractions import Fraction

import numpy as np
import pytest

from hubbub.confidential import Counts
from hubbub.errors import (
    BudgetExceeded,
    GuaranteeChanged,
    HorizonReached,
    InvalidParameter,
    NoiseOverflow,
    SchemaMismatch,
    TickOutOfOrder,
    UnknownKey,
)
from hubbub.methods import make_mechanism
from hubbub.noise import DiscreteGaussian, DiscreteLaplace, simulation
from hubbub.privacy import Event, Guarantee, Session, User, Window
from hubbub.release import Lpa
from hubbub.release.perturbation import Perturbation
from hubbub.released import Cost, Keys, Tick

KEYS = Keys(["front", "news"])
SESSIONS = Guarantee.pure(Session(max_ticks=20), 1)


def counts(tick, values=(812, 240), keys=KEYS):
    return Counts.of(keys, Tick(tick), list(values))


def test_a_release_carries_its_cost_its_noise_and_an_interval():
    release = Lpa(KEYS, SESSIONS).release(counts(0))
    assert release.cost == Cost(epsilon=Fraction(1, 20))
    assert release.noise_variance == pytest.approx(2 * 20**2, rel=0.01)
    assert (release.lower <= release.values).all()
    assert (release.values <= release.upper).all()
    assert (release.values == np.maximum(release.measurements, 0)).all()


@pytest.mark.parametrize(
    ("guarantee", "noise"),
    [
        (Guarantee.pure(Session(max_ticks=20), 1), DiscreteLaplace(20)),
        (Guarantee.pure(Session(max_ticks=20, max_items=3), 1), DiscreteLaplace(60)),
        (Guarantee.pure(Event(), 2), DiscreteLaplace(Fraction(1, 2))),
        (Guarantee.pure(Window(12), 1), DiscreteLaplace(12)),
        (Guarantee.pure(User(max_ticks=2, horizon=365), 1), DiscreteLaplace(2)),
        (Guarantee.zcdp(Session(max_ticks=20), Fraction(1, 2)), DiscreteGaussian(20)),
        (Guarantee.zcdp(Session(max_ticks=20, max_items=3), Fraction(1, 2)), DiscreteGaussian(60)),
    ],
)
def test_noise_follows_the_unit(guarantee, noise):
    release = Lpa(KEYS, guarantee).release(counts(0))
    assert release.noise_variance == pytest.approx(noise.variance)


def test_an_approximate_guarantee_uses_gaussian_noise_within_its_rho():
    lpa = Lpa(KEYS, Guarantee.approximate(Event(), 1, Fraction(1, 10**6)))
    release = lpa.release(counts(0))
    assert release.cost.rho == lpa.guarantee.budget
    assert lpa.guarantee.to_dict()["epsilon"] == "1"


def test_a_session_stream_runs_for_ever():
    lpa = Lpa(KEYS, Guarantee.pure(Session(max_ticks=2), 1))
    for tick in range(50):
        lpa.release(counts(tick))
    assert lpa.spent == 1


def test_a_user_stream_ends_at_its_horizon():
    lpa = Lpa(KEYS, Guarantee.pure(User(horizon=3), 1))
    for tick in range(3):
        lpa.release(counts(tick))
    with pytest.raises(HorizonReached, match="new stream"):
        lpa.release(counts(3))
    with pytest.raises(HorizonReached):
        lpa.predict(Tick(3))
    assert lpa.spent == 1
    assert lpa.next_tick == 3


def test_a_tick_is_released_once():
    lpa = Lpa(KEYS, SESSIONS)
    lpa.release(counts(4))
    for tick in (4, 3):
        with pytest.raises(TickOutOfOrder, match="released already"):
            lpa.release(counts(tick))
        with pytest.raises(TickOutOfOrder):
            lpa.predict(Tick(tick))
    with pytest.raises(TickOutOfOrder, match="ahead"):
        lpa.release(counts(2_000_000))
    assert lpa.spent == Fraction(1, 20)


def test_other_keys_are_refused():
    lpa = Lpa(KEYS, SESSIONS)
    with pytest.raises(UnknownKey, match="other keys"):
        lpa.release(counts(0, [1], Keys(["sports"])))
    assert lpa.spent == 0


def test_a_prediction_costs_nothing_and_says_it_knows_nothing():
    lpa = Lpa(KEYS, SESSIONS)
    first = lpa.release(counts(0))
    predicted = lpa.predict(Tick(1))
    assert predicted.is_predicted
    assert predicted.cost.is_free
    assert (predicted.values == first.values).all()
    assert np.isinf(predicted.upper).all()
    assert lpa.spent == Fraction(1, 20)


def test_a_lost_tick_stays_charged():
    lpa = Lpa(KEYS, SESSIONS)
    lost = lpa.predict(Tick(0), lost=Cost(epsilon=Fraction(1, 20)))
    assert lost.is_predicted
    assert lost.cost == Cost(epsilon=Fraction(1, 20))
    assert lpa.spent == Fraction(1, 20)


def test_a_lost_cost_beyond_the_budget_is_refused():
    lpa = Lpa(KEYS, SESSIONS)
    with pytest.raises(BudgetExceeded):
        lpa.predict(Tick(0), lost=Cost(epsilon=Fraction(2)))
    assert lpa.spent == 0
    assert lpa.next_tick == 0


def test_the_same_bytes_after_a_restore_give_the_same_future():
    with simulation(5) as source:
        lpa = Lpa(KEYS, SESSIONS, source=source)
        lpa.release(counts(0))
        taken = lpa.snapshot()
    with simulation(6) as source:
        lpa = Lpa(KEYS, SESSIONS, source=source)
        lpa.restore(taken)
        again = lpa.release(counts(1))
        assert lpa.spent == Fraction(1, 10)
    with simulation(6) as source:
        other = Lpa(KEYS, SESSIONS, source=source)
        other.restore(taken)
        assert (other.release(counts(1)).measurements == again.measurements).all()


def test_measuring_for_nothing_is_refused():
    with pytest.raises(InvalidParameter, match="predicted"):
        Perturbation(SESSIONS).noise(Cost.nothing())


@pytest.mark.parametrize("value", [2**62 + 1, -(2**62) - 1])
def test_a_sum_never_wraps(value, monkeypatch):
    monkeypatch.setattr(DiscreteLaplace, "sample", lambda _, n: np.full(n, value))
    with pytest.raises(NoiseOverflow, match="too large"):
        Perturbation(SESSIONS).measure(counts(0), Cost(epsilon=Fraction(1)))


def test_few_tables_are_kept_however_many_costs_there_are():
    perturbation = Perturbation(SESSIONS)
    for k in range(1, 200):
        perturbation.noise(Cost(epsilon=Fraction(1, k)))
    assert len(perturbation._noises) <= 64


def test_an_unknown_method_names_the_known_ones():
    with pytest.raises(InvalidParameter, match=r"Known methods: .*lpa"):
        make_mechanism("magic", KEYS, SESSIONS)


def test_the_state_of_another_stream_is_refused():
    lpa = Lpa(KEYS, SESSIONS)
    lpa.release(counts(0))
    taken = lpa.snapshot()
    with pytest.raises(SchemaMismatch, match="other keys"):
        Lpa(Keys(["news", "front"]), SESSIONS).restore(taken)
    other = Lpa(KEYS, Guarantee.pure(Session(max_ticks=20), 2))
    with pytest.raises(GuaranteeChanged, match="another guarantee"):
        other.restore(taken)
    assert other.spent == 0
