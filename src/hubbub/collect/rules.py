"""What each unit asks of the collector."""

from __future__ import annotations

from datetime import timedelta

from hubbub.collect.bound import Bound, EventBound
from hubbub.collect.calendar import Calendar, microseconds
from hubbub.collect.person_bound import PersonBound
from hubbub.collect.stay import Stay
from hubbub.errors import InvalidParameter
from hubbub.privacy.unit import Event, Session, Unit, User, Window


def bound_of(unit: Unit, calendar: Calendar, keys: int, stay: Stay, max_open: int) -> Bound:
    if isinstance(unit, Event):
        return EventBound(calendar, keys)
    if isinstance(unit, Window):
        return PersonBound(calendar, keys, max_ticks=None, max_items=unit.max_items)
    if isinstance(unit, User):
        # All ticks allowed means that there is nothing to remember.
        most = None if unit.max_ticks == unit.horizon else unit.max_ticks
        return PersonBound(calendar, keys, max_ticks=most, max_items=unit.max_items, max_open=max_open)
    if isinstance(unit, Session):
        if unit.timeout is None:
            raise InvalidParameter(
                "A session without a timeout never ends, and would have to be remembered for ever.",
                f"Use Session(max_ticks={unit.max_ticks}, timeout=timedelta(minutes=30)).",
            )
        return PersonBound(
            calendar,
            keys,
            max_ticks=unit.max_ticks,
            max_items=unit.max_items,
            timeout=microseconds(unit.timeout),
            stay=stay,
            max_open=max_open,
        )
    raise InvalidParameter(
        f"Collecting knows no bound for the unit {type(unit).__name__}.", "Use Event, Window, Session or User."
    )


def wait_of(unit: Unit, calendar: Calendar, stay: Stay) -> int:
    """How many more ticks must be complete before one is final: a session may come back within its timeout."""
    if isinstance(unit, Session) and unit.timeout is not None and stay.between:
        return -(-microseconds(unit.timeout) // microseconds(calendar.length))
    return 0


def rebuild_span(unit: Unit, calendar: Calendar) -> timedelta | None:
    """How much of the stream must be read again after a restart to know every session that can still count."""
    if isinstance(unit, Session) and unit.timeout is not None:
        return unit.timeout + unit.max_ticks * calendar.length
    if isinstance(unit, User) and unit.max_ticks < unit.horizon:
        return None
    return timedelta(0)
