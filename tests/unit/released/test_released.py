from datetime import UTC, datetime, timedelta
from fractions import Fraction

import numpy as np
import pytest

from hubbub.errors import InvalidParameter, SchemaMismatch, UnknownKey
from hubbub.released import Cost, Keys, Release, Snapshot, Tick, plus_minus

KEYS = Keys(["front", "news"])


@pytest.mark.parametrize("names", ["front", [], ["a", "a"], [""], [3]])
def test_bad_keys_are_refused(names):
    with pytest.raises(InvalidParameter):
        Keys(names)


def test_keys_know_their_places():
    assert KEYS.position("news") == 1
    assert "news" in KEYS
    assert list(KEYS) == ["front", "news"]
    assert Keys(["front", "news"]) == KEYS
    assert hash(Keys(["front", "news"])) == hash(KEYS)
    assert repr(Keys("abcd"[i] for i in range(4))) == "Keys(a, b, c, …: 4)"
    with pytest.raises(UnknownKey, match="'sports'"):
        KEYS.position("sports")


@pytest.mark.parametrize(
    "arguments",
    [
        (-1,),
        (True,),
        (1.0,),
        (0, datetime(2026, 1, 1, tzinfo=UTC), None),
        (0, datetime(2026, 1, 1), timedelta(seconds=1)),
        (0, datetime(2026, 1, 1, tzinfo=UTC), timedelta(0)),
    ],
)
def test_bad_ticks_are_refused(arguments):
    with pytest.raises(InvalidParameter):
        Tick(*arguments)


def test_ticks_follow_each_other():
    assert Tick(3).after() == Tick(4)
    assert str(Tick(3)) == "3"
    begun = Tick(0, datetime(2026, 1, 1, tzinfo=UTC), timedelta(hours=1))
    assert begun.after(24).start == datetime(2026, 1, 2, tzinfo=UTC)
    assert "start" in repr(begun)


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0.1},
        {"epsilon": Fraction(-1)},
        {"epsilon": Fraction(1), "rho": Fraction(1)},
        {"delta": 1e-9},
        {"delta": Fraction(-1)},
        {"delta": Fraction(1)},
    ],
)
def test_bad_costs_are_refused(wrong):
    with pytest.raises(InvalidParameter):
        Cost(**wrong)


def test_costs_read_well():
    assert repr(Cost.nothing()) == "Cost(nothing)"
    assert repr(Cost(rho=Fraction(1, 3))) == "Cost(rho=1/3)"
    assert repr(Cost(epsilon=Fraction(1, 3), delta=Fraction(1, 9))) == "Cost(epsilon=1/3, delta=1/9)"
    assert repr(Cost(delta=Fraction(1, 9))) == "Cost(delta=1/9)"


def test_a_slip_alone_is_not_free_and_a_zero_is_none():
    slip, zero = Cost(delta=Fraction(1, 9)), Cost(rho=Fraction(1, 3), delta=Fraction(0, 7))
    assert slip.slips
    assert not slip.is_free
    assert not zero.slips
    assert zero == Cost(rho=Fraction(1, 3))
    assert zero.to_dict() == {"epsilon": "0", "rho": "1/3"}
    for cost in (slip, zero, Cost.nothing()):
        assert Cost.from_dict(cost.to_dict()) == cost


def release(**changes):
    two = lambda *values: np.array(values, dtype=float)  # noqa: E731
    parts = {
        "tick": Tick(7),
        "keys": KEYS,
        "values": two(812.0, 40.2),
        "standard_errors": two(28.3, 60.0),
        "lower": two(752.0, 0.0),
        "upper": two(872.0, 160.0),
        "measurements": np.array([815, -12]),
        "noise_variance": 800.0,
        "cost": Cost(epsilon=Fraction(1, 20)),
    }
    return Release(**{**parts, **changes})


def test_a_release_is_a_small_table():
    assert str(release()) == "tick 7\nfront  812 ± 28\nnews   40 ± 60"
    many = Keys(f"k{i}" for i in range(25))
    wide = np.zeros(25)
    text = str(Release(Tick(0), many, wide.copy(), wide.copy(), wide.copy(), wide.copy()))
    assert text.endswith("… and 5 more keys")
    assert "(predicted)" in text


def test_a_release_as_json():
    facts = release().to_dict()
    assert facts["cost"] == {"epsilon": "1/20", "rho": "0"}
    assert facts["keys"][1]["measurement"] == -12
    predicted = release(measurements=None, noise_variance=None).to_dict()
    assert predicted["predicted"]
    assert predicted["keys"][0]["measurement"] is None
    timed = release(tick=Tick(0, datetime(2026, 1, 1, tzinfo=UTC), timedelta(seconds=10)))
    assert timed.to_dict()["start"] == "2026-01-01T00:00:00+00:00"


def test_an_endless_interval_is_null_in_json():
    facts = release(upper=np.array([np.inf, np.inf]), standard_errors=np.array([np.inf, 1.0])).to_dict()
    assert facts["keys"][0]["upper"] is None
    assert facts["keys"][0]["standard_error"] is None


@pytest.mark.parametrize("wrong", [{"values": np.zeros(3)}, {"measurements": None}, {"noise_variance": None}])
def test_a_release_that_does_not_fit_is_refused(wrong):
    with pytest.raises(InvalidParameter):
        release(**wrong)


def test_a_release_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        release().values[0] = 1.0


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (1237.4, 58, "1,240 ± 60"),
        (12480, 310, "12,480 ± 310"),
        (4.2, 0.96, "4.2 ± 1.0"),
        (-3, 400, "0 ± 400"),
        (float("nan"), 1, "unknown"),
        (5, float("inf"), "unknown"),
        (0.000123, 0.0000456, "0.00012 ± 0.00005"),
    ],
)
def test_rounding_to_honest_digits(value, error, text):
    assert plus_minus(value, error) == text


def test_a_snapshot_survives_bytes_and_refuses_what_it_is_not():
    taken = Snapshot("lpa", 1, {"a": [1, "x"]}, {"m": np.arange(6, dtype=np.int64).reshape(2, 3), "e": np.zeros(0)})
    again = Snapshot.from_bytes(taken.to_bytes())
    assert (again.kind, again.version, dict(again.facts)) == ("lpa", 1, {"a": [1, "x"]})
    assert again.arrays["m"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert again.arrays["e"].shape == (0,)
    with pytest.raises(SchemaMismatch, match="not of 'ukf'"):
        again.expect("ukf", 1)
    with pytest.raises(SchemaMismatch, match="not a state"):
        Snapshot.from_bytes(b"something else")
    with pytest.raises(SchemaMismatch, match="cut short"):
        Snapshot.from_bytes(taken.to_bytes()[:-1])
    with pytest.raises(SchemaMismatch, match="cut short"):
        Snapshot.from_bytes(taken.to_bytes() + b"x")
