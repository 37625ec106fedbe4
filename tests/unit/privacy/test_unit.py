"""Units: what they bound, what they say, what they refuse."""

from __future__ import annotations

from datetime import timedelta

import pytest

from hubbub.errors import InvalidParameter
from hubbub.privacy import Event, Session, Unit, User, Window
from hubbub.privacy.unit import unit_from_dict

UNITS: list[Unit] = [
    Event(),
    Window(12),
    Window(3, max_items=2),
    Session(max_ticks=20),
    Session(max_ticks=20, timeout=timedelta(minutes=30), max_items=3),
    User(horizon=365),
    User(max_ticks=2, horizon=365, max_items=4),
]


@pytest.mark.parametrize("unit", UNITS, ids=repr)
def test_stored_and_read_again(unit: Unit) -> None:
    assert unit_from_dict(unit.to_dict()) == unit


@pytest.mark.parametrize("unit", UNITS, ids=repr)
def test_sensitivity_and_words(unit: Unit) -> None:
    assert unit.sensitivity == unit.max_ticks * unit.max_items == unit.squared_sensitivity
    assert unit.bound.endswith(".")
    assert unit.noun
    if unit.max_items > 1:
        assert f"{unit.max_items} keys per tick" in unit.bound
    with pytest.raises((AttributeError, TypeError)):  # which one depends on whether it is a field
        unit.max_ticks = 1000


def test_bounds_in_numbers() -> None:
    assert Event().sensitivity == 1
    assert Window(12).sensitivity == 12
    assert Session(max_ticks=20, max_items=3).sensitivity == 60
    assert User(horizon=365).sensitivity == 365
    assert User(max_ticks=2, horizon=365).sensitivity == 2
    assert [u.horizon for u in (Event(), Window(2), Session(2), User(1, 9))] == [None, None, None, 9]


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "3"])
def test_wrong_bounds(wrong: int) -> None:
    for make in (
        lambda: Window(wrong),
        lambda: Window(1, max_items=wrong),
        lambda: Session(max_ticks=wrong),
        lambda: Session(max_ticks=1, max_items=wrong),
        lambda: User(horizon=wrong),
        lambda: User(max_ticks=wrong, horizon=9),
        lambda: User(horizon=9, max_items=wrong),
    ):
        with pytest.raises(InvalidParameter, match="whole number from 1 on"):
            make()


def test_wrong_combinations() -> None:
    with pytest.raises(InvalidParameter, match="timeout"):
        Session(max_ticks=1, timeout=timedelta(0))
    with pytest.raises(InvalidParameter, match="needs a horizon"):
        User(max_ticks=3)
    with pytest.raises(InvalidParameter, match="max_ticks=10, horizon=9"):
        User(max_ticks=10, horizon=9)
    with pytest.raises(InvalidParameter, match="no unit 'Household'"):
        unit_from_dict({"unit": "Household", "max_ticks": 1, "max_items": 1})


@pytest.mark.parametrize(
    ("name", "numbers", "unit"),
    [
        ("event", {}, Event()),
        ("session", {"max_ticks": 20, "timeout": timedelta(minutes=5)}, Session(20, timedelta(minutes=5))),
        ("window", {"max_ticks": 7, "max_items": 2}, Window(7, 2)),
        ("user", {"horizon": 52}, User(horizon=52)),
        ("user", {"max_ticks": 2, "horizon": 52, "max_items": 3}, User(2, 52, 3)),
    ],
)
def test_units_by_name(name, numbers, unit):
    assert Unit.parse(name, **numbers) == unit


@pytest.mark.parametrize(
    ("name", "numbers", "match"),
    [
        ("family", {}, "no unit 'family'"),
        ("session", {}, "needs `max_ticks`"),
        ("window", {}, "needs `max_ticks`"),
        ("user", {}, "needs a horizon"),
        ("event", {"max_ticks": 2}, "has no `max_ticks`; got 2"),
        ("event", {"max_items": 2}, "has no `max_items`"),
        ("session", {"max_ticks": 2, "horizon": 9}, "has no `horizon`"),
        ("window", {"max_ticks": 2, "timeout": timedelta(1)}, "has no `timeout`"),
        ("user", {"horizon": 9, "timeout": timedelta(1)}, "has no `timeout`"),
    ],
)
def test_what_a_unit_has_no_use_for_is_refused(name, numbers, match):
    with pytest.raises(InvalidParameter, match=match):
        Unit.parse(name, **numbers)


def test_a_unit_that_is_one_already_has_its_numbers() -> None:
    unit = Session(max_ticks=20)
    assert Unit.parse(unit) is unit
    with pytest.raises(InvalidParameter, match="`max_ticks` 5 beside it"):
        Unit.parse(unit, max_ticks=5)
