"""A number with its error and interval: like a number where that is safe, and never without its words."""

import math

import numpy as np
import pytest

from hubbub.ranges import RangeAnswer
from hubbub.released import Keys, Release, Tick, Value

SOME = Value(1237.4, 58.0, 1115.0, 1360.0)


def test_it_counts_and_compares_like_its_number():
    assert float(SOME) == 1237.4
    assert int(SOME) == round(SOME) == 1237
    assert round(SOME, 1) == 1237.4
    assert (SOME + 1, 1 + SOME, SOME - 1, 1 - SOME) == (1238.4, 1238.4, 1236.4, -1236.4)
    assert (2 * SOME, SOME * 2, SOME / 2, 2 / Value(4, 1, 2, 6)) == (2474.8, 2474.8, 618.7, 0.5)
    assert SOME + Value(1, 1, 0, 2) == 1238.4
    assert type(SOME + 1) is float, "the sum has no error, so it must not look as if it had"
    assert (-SOME, abs(Value(-3, 1, 0, 0))) == (-1237.4, 3)
    assert 1000 < SOME <= 1237.4 <= SOME < 2000
    assert 2000 > SOME >= 1237.4 >= SOME > 1000
    assert SOME
    assert not Value(0, 1, 0, 2)


def test_numpy_leaves_the_work_to_it():
    assert np.float64(1) + SOME == 1238.4
    assert np.int64(1000) < SOME
    assert np.array([SOME, SOME], dtype=float).tolist() == [1237.4, 1237.4]


@pytest.mark.parametrize("act", [lambda v: v + "1", lambda v: v - [], lambda v: "1" * v, lambda v: v / None])
def test_what_is_no_number_is_refused(act):
    with pytest.raises(TypeError):
        act(SOME)


@pytest.mark.parametrize("compare", ["__lt__", "__le__", "__gt__", "__ge__", "__rsub__", "__rtruediv__"])
def test_what_is_no_number_is_not_compared(compare):
    assert getattr(SOME, compare)("1237.4") is NotImplemented


def test_equal_is_what_is_equal_in_all():
    assert Value(1237.4, 58.0, 1115.0, 1360.0) == SOME
    assert hash(Value(1237.4, 58.0, 1115.0, 1360.0)) == hash(SOME) == hash(1237.4)
    assert SOME == 1237.4
    assert Value(1237.4, 59.0, 1115.0, 1360.0) != SOME
    assert Value(1237.4, 58.0, 1115.0, 1360.0, predicted=True) != SOME
    assert SOME != "1237.4"
    assert RangeAnswer(1237.4, 58.0, 1115.0, 1360.0, "front", 0, 1) != SOME


def test_it_prints_with_its_error():
    assert str(SOME) == f"{SOME}" == "1,240 ± 60"
    assert f"{SOME:,.1f}" == "1,237.4"
    assert str(Value(5, math.inf, 0, math.inf)) == "not measured in this tick"


@pytest.mark.parametrize(
    ("value", "state", "words"),
    [
        (SOME, "measured", ""),
        (Value(1237.4, 58, 1115, 1360, predicted=True), "predicted", "predicted, not measured"),
        (Value(40, 60, 0, 160), "within_noise", "within the noise: may be zero"),
        (
            Value(40, 60, 0, 160, predicted=True),
            "within_noise",
            "predicted, not measured; within the noise: may be zero",
        ),
        (Value(5, math.inf, 0, math.inf, predicted=True), "unknown", "not measured in this tick"),
        (Value(math.nan, 1, 0, 1), "withheld", "withheld"),
        (Value(0, 0, 0, 0), "zero", "none"),
    ],
)
def test_what_must_be_said_beside_it(value, state, words):
    assert (value.state, value.words) == (state, words)
    assert value.described()["state"] == state
    assert value.is_above_zero == (state in ("measured", "predicted"))


def test_without_an_end_json_has_null():
    assert Value(5, 2, 1, math.inf).to_dict() == {"value": 5, "standard_error": 2, "lower": 1, "upper": None}


def test_a_release_gives_values():
    one = np.array([812.0])
    release = Release(Tick(0), Keys(["front"]), one, one / 29, one - 60, one + 60)
    assert release["front"] == Value(812.0, 28.0, 752.0, 872.0, predicted=True)
    assert release["front"] > 800
    measured = Release(Tick(0), Keys(["front"]), one, one, one, one, np.array([812]), 8.0)
    assert not measured.at(0).predicted


def test_a_range_says_of_what_it_is_the_total():
    answer = RangeAnswer(812.4, 28.3, 752.0, 872.0, "front", 10, 19, 1)
    assert str(answer) == "front, ticks 10 to 19: 812 ± 28 (1 ticks were not measured)"
    assert answer.to_dict() == {
        "key": "front", "first": 10, "last": 19, "value": 812.4, "standard_error": 28.3, "lower": 752.0, "upper": 872.0,
        "missing": 1,
    }  # fmt: skip
