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


Duration = Annotated[timedelta, BeforeValidator(duration)]
