"""A domain that changes: what was known of keys stays known, and of new ones it is known what their kind is like."""

import numpy as np
import pytest

from hubbub.confidential import Counts
from hubbub.methods import make_mechanism
from hubbub.noise import simulation
from hubbub.privacy import Guarantee, Session
from hubbub.release.heritage import NEW, inherit
from hubbub.released import Discovered, Keys, Tick

PROMISE = Guarantee.pure(Session(max_ticks=20), 1)
FEW = Discovered([f"/{i}" for i in range(8)], decision="site.keys tick 0")
MORE = Discovered([f"/{i}" for i in range(2, 11)], decision="site.keys tick 1")
LEVELS = {f"/{i}": 90 + 20 * i for i in range(11)}


def true(keys):
    named = [LEVELS[name] for name in keys.names[:-1]]
    return np.array([*named, 100 + sum(LEVELS.values()) - sum(named)])


def errors(method, heir, seed, ticks=3):
    """Squared errors of kept keys, new keys and `other` in the first ticks after the change."""
    with simulation(seed) as source:
        stream = make_mechanism(method, FEW, PROMISE, source=source)
        for tick in range(40):
            stream.release(Counts.of(FEW, Tick(tick), true(FEW)))
        if heir:
            stream.change_domain(MORE)
        else:
            stream = make_mechanism(method, MORE, PROMISE, source=source)
        seen = [stream.release(Counts.of(MORE, Tick(40 + tick), true(MORE))).values for tick in range(ticks)]
    squared = np.mean((np.array(seen) - true(MORE)) ** 2, axis=0)
    return np.array([squared[:6].mean(), squared[6:9].mean(), squared[9]])


@pytest.mark.parametrize("method", ["navigation", "ukf", "mkf"])
def test_keys_that_stay_go_on_and_new_ones_are_not_worse_off(method):
    heirs = np.mean([errors(method, True, seed) for seed in range(40)], axis=0)
    fresh = np.mean([errors(method, False, seed) for seed in range(40)], axis=0)
    assert heirs[0] < 0.4 * fresh[0], "what was known of keys that stay is lost"
    assert heirs[1] < 1.1 * fresh[1], "new keys are worse off than without a guess"


def test_what_retires_falls_to_other_and_what_is_new_comes_from_it():
    level, variance = np.array([*np.arange(8.0) * 10, 400.0]), np.full(9, 4.0)
    known = inherit(FEW, MORE, level, variance)
    assert known.level[:6].tolist() == [20, 30, 40, 50, 60, 70]
    assert known.sources[6:9].tolist() == [NEW] * 3
    assert known.level.sum() == pytest.approx(level.sum())
    assert (known.variance[6:] > 4).all()


@pytest.mark.parametrize("before", [Keys(["a"]), Discovered(other="rest")])
def test_nothing_is_made_up_where_no_key_stays(before):
    assert inherit(before, MORE, np.array([5.0]), np.array([1.0])) is None


def test_negative_beliefs_make_no_negative_key():
    known = inherit(Discovered(), FEW, np.array([-7.0]), np.array([30.0]))
    assert (known.level >= 0).all()
    assert np.isfinite(known.variance).all()


@pytest.mark.parametrize("method", ["navigation", "ukf", "mkf", "lpa"])
def test_a_state_after_the_change_is_restored_as_it_was(method):
    with simulation(1) as source:
        stream = make_mechanism(method, FEW, PROMISE, source=source)
        for tick in range(5):
            stream.release(Counts.of(FEW, Tick(tick), true(FEW)))
        stream.change_domain(MORE)
        again = make_mechanism(method, MORE, PROMISE, source=source)
        again.restore(stream.snapshot())
        one, two = (mechanism.predict(Tick(5)) for mechanism in (stream, again))
    assert one.values.tolist() == two.values.tolist()
    assert one.lower.tolist() == two.lower.tolist()
