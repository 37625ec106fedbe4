"""Spans of time as people write them in a settings file."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator

_UNITS = {"ms": "0.001", "s": "1", "min": "60", "m": "60", "h": "3600", "d": "86400", "w": "604800"}

SHORTEST = timedelta(milliseconds=1)
"""No clock of a source tells less apart, and a tick of no length would divide by nothing."""

LONGEST = timedelta(days=36_525)
"""A hundred years: sums of a time and a few spans stay within the calendar."""

MOST_TICKS = 2**53
"""Ticks as a length: more than any stream will have, and still exact as a floating-point number."""


def duration(text: Any) -> timedelta:
    """`"10s"`, `"5 min"`, `"2h"`, `"1d"`: a number and a unit, from a millisecond to a hundred years.

    >>> duration("90 s"), duration("0.5h")
    (datetime.timedelta(seconds=90), datetime.timedelta(seconds=1800))
    """
    if isinstance(text, timedelta):
        return _within(text)
    # Only so many digits: a number is a person's choice here, and a long one would cost time before it is refused.
    match = re.fullmatch(r"\s*([0-9]{1,20}(?:\.[0-9]{1,20})?)\s*([a-z]+)\s*", text) if isinstance(text, str) else None
    if match is None or match[2] not in _UNITS:
        raise ValueError(
            f'is not a span of time; got {str(text)[:60]!r}. Write a number and a unit, e.g. "10s", "5min", "2h"'
        )
    seconds = Decimal(match[1]) * Decimal(_UNITS[match[2]])
    if seconds > int(LONGEST.total_seconds()):
        raise ValueError(f"is longer than a hundred years; got {text.strip()[:60]!r}")
    return _within(timedelta(microseconds=int(seconds * 1_000_000)))


def _within(span: timedelta) -> timedelta:
    if span <= timedelta(0):
        raise ValueError("must be longer than nothing")
    if span < SHORTEST:
        raise ValueError("must be at least a millisecond: no source tells shorter spans apart")
    if span > LONGEST:
        raise ValueError("is longer than a hundred years")
    return span


def ticks_or_duration(given: Any) -> timedelta | int:
    """A whole number of ticks, or a span of time.

    >>> ticks_or_duration(3600), ticks_or_duration("1h")
    (3600, datetime.timedelta(seconds=3600))
    """
    if isinstance(given, int) and not isinstance(given, bool):
        if given < 1:
            raise ValueError(f"must be at least one tick; got {given}")
        if given > MOST_TICKS:
            raise ValueError("is more ticks than any stream will have")
        return given
    return duration(given)


def truth_or_duration(given: Any) -> timedelta | bool:
    """True or false, or a span of time.

    >>> truth_or_duration(False), truth_or_duration("2min")
    (False, datetime.timedelta(seconds=120))
    """
    if isinstance(given, bool):
        return given
    try:
        return duration(given)
    except ValueError as error:
        raise ValueError(f"{error}, or true or false") from None


Duration = Annotated[timedelta, BeforeValidator(duration)]
TicksOrDuration = Annotated[timedelta | int, BeforeValidator(ticks_or_duration)]
TruthOrDuration = Annotated[timedelta | bool, BeforeValidator(truth_or_duration)]
