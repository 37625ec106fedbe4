"""Spans of time as people write them in a settings file."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Any

from pydantic import BeforeValidator

_UNITS = {"ms": 0.001, "s": 1, "min": 60, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def duration(text: Any) -> timedelta:
    """`"10s"`, `"5 min"`, `"2h"`, `"1d"`: a number and a unit.

    >>> duration("90 s"), duration("0.5h")
    (datetime.timedelta(seconds=90), datetime.timedelta(seconds=1800))
    """
    if isinstance(text, timedelta):
        return text
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*", text) if isinstance(text, str) else None
    if found is None or found[2] not in _UNITS:
        raise ValueError(f'is not a span of time; got {text!r}. Write a number and a unit, e.g. "10s", "5min", "2h"')
    span = timedelta(seconds=float(found[1]) * _UNITS[found[2]])
    if span <= timedelta(0):
        raise ValueError("must be longer than nothing")
    return span


def ticks_or_duration(given: Any) -> timedelta | int:
    """A whole number of ticks, or a span of time.

    >>> ticks_or_duration(3600), ticks_or_duration("1h")
    (3600, datetime.timedelta(seconds=3600))
    """
    if isinstance(given, int) and not isinstance(given, bool):
        if given < 1:
            raise ValueError(f"must be at least one tick; got {given}")
        return given
    return duration(given)


Duration = Annotated[timedelta, BeforeValidator(duration)]
TicksOrDuration = Annotated[timedelta | int, BeforeValidator(ticks_or_duration)]
