"""The kinds of values that an option can have: checked in one place, read from text, written as plain JSON."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, fields
from fractions import Fraction
from typing import Any

import numpy as np

from hubbub.errors import InvalidParameter
from hubbub.exact import exact, positive, whole

_LARGEST_WHOLE = 2**63 - 1
_LARGEST = 1e100
"""Squares and products of larger numbers are no doubles any more."""


class Kind(ABC):
    """Which values an option takes. `words` say it to people: "a whole number from 1 on"."""

    words: str

    @abstractmethod
    def accept(self, value: Any, name: str) -> Any:
        """The value, if it is of this kind; otherwise a refusal that names the option."""

    def read(self, given: Any, name: str) -> Any:
        """From a command line (always text), or from TOML or JSON (plain values)."""
        return self.accept(_number(given) if isinstance(given, str) else given, name)

    def plain(self, value: Any) -> Any:
        """The one JSON form of a value: two values are the same option if this is the same."""
        return value

    def _wrong(self, given: Any, name: str) -> InvalidParameter:
        return InvalidParameter(f"`{name}` must be {self.words}; got {given!r}.")

    def _too_large(self, name: str, most: float) -> InvalidParameter:
        largest = f"{most:,}" if isinstance(most, int) else f"{most:g}"
        return InvalidParameter(f"`{name}` is too large: it can be {largest} at most.", f"It is {self.words}.")


class Whole(Kind):
    """A whole number from `least` on, and at most `most`."""

    def __init__(self, least: int = 1, most: int = _LARGEST_WHOLE) -> None:
        self.least = least
        self.most = most
        self.words = f"a whole number from {least} on"

    def accept(self, value: Any, name: str) -> int:
        if isinstance(value, int) and value > self.most:
            raise self._too_large(name, self.most)
        if self.least == 1:
            return whole(value, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < self.least:
            raise self._wrong(value, name)
        return value


class Number(Kind):
    """A finite number above `above`, or from `least` to `most`."""

    def __init__(self, *, above: float | None = None, least: float | None = None, most: float | None = None) -> None:
        self._low, self._strict, self._most = (least if above is None else above), above is not None, most
        if most is not None:
            self.words = f"a number from {self._low:g} to {most:g}"
        else:
            self.words = (
                f"a finite number above {above:g}" if self._strict else f"a finite number from {self._low:g} on"
            )

    def accept(self, value: Any, name: str) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._wrong(value, name)
        most = _LARGEST if self._most is None else self._most
        if most < value < math.inf:  # compared as it is: a long whole number is no float
            raise self._too_large(name, most)
        if value < -_LARGEST or not self._holds(float(value)):
            raise InvalidParameter(f"`{name}` must be {self.words}.")
        return float(value)

    def _holds(self, number: float) -> bool:
        low = -math.inf if self._low is None else self._low
        within = low < number if self._strict else low <= number
        return math.isfinite(number) and within and (self._most is None or number <= self._most)


class ExactNumber(Kind):
    """An exact number above 0, such as 2, 0.5 or "1/3"."""

    words = "an exact number above 0"

    def accept(self, value: Any, name: str) -> Fraction:
        return positive(value, name)

    def read(self, given: Any, name: str) -> Fraction:
        return positive(given, name)

    def plain(self, value: Any) -> str:
        return str(value)


class Share(Kind):
    """An exact part of a whole, such as 0, 0.2 or "1/5": never all of it."""

    words = "an exact number from 0 on and below 1"

    def accept(self, value: Any, name: str) -> Fraction:
        part = exact(value, name)
        if not 0 <= part < 1:
            raise self._wrong(value, name)
        return part

    def read(self, given: Any, name: str) -> Fraction:
        return self.accept(given, name)

    def plain(self, value: Any) -> str:
        return str(value)


class Truth(Kind):
    """true or false."""

    words = "true or false"

    def accept(self, value: Any, name: str) -> bool:
        if not isinstance(value, bool):
            raise self._wrong(value, name)
        return value

    def read(self, given: Any, name: str) -> bool:
        return self.accept({"true": True, "false": False}.get(given, given) if isinstance(given, str) else given, name)


class Word(Kind):
    """One of some words."""

    def __init__(self, *known: str) -> None:
        self.known = known
        self.words = f"one of {', '.join(known)}"

    def accept(self, value: Any, name: str) -> str:
        if value not in self.known:
            raise self._wrong(value, name)
        return str(value)

    def read(self, given: Any, name: str) -> str:
        return self.accept(given, name)


class Numbers(Kind):
    """Numbers above 0; in text with commas between them."""

    words = "numbers above 0, such as 7,365.25"

    def accept(self, value: Any, name: str) -> tuple[float, ...]:
        each = Number(above=0.0)
        if isinstance(value, str) or not hasattr(value, "__iter__"):
            raise self._wrong(value, name)
        return tuple(each.accept(_python(one), name) for one in value)

    def read(self, given: Any, name: str) -> tuple[float, ...]:
        parts = [_number(part) for part in given.split(",") if part.strip()] if isinstance(given, str) else given
        return self.accept(parts, name)

    def plain(self, value: Any) -> list[float]:
        return list(value)


class PerKey(Kind):
    """One number from 0 on for all keys, or one for each."""

    words = "one finite number from 0 on, or one for each key"

    def accept(self, value: Any, name: str) -> Any:
        try:
            numbers = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise self._wrong(value, name) from None
        except OverflowError:
            raise self._too_large(name, _LARGEST) from None
        if numbers.ndim > 1 or isinstance(value, (bool, str)) or not np.isfinite(numbers).all() or (numbers < 0).any():
            raise InvalidParameter(f"`{name}` must be {self.words}.")
        if (numbers > _LARGEST).any():
            raise self._too_large(name, _LARGEST)
        return float(numbers) if not numbers.ndim else numbers

    def plain(self, value: Any) -> Any:
        return value if isinstance(value, float) else value.tolist()


class Record(Kind):
    """A few numbers with names of their own; in text as JSON."""

    def __init__(self, made: type[Any]) -> None:
        self.made = made
        self.words = f"a table of {', '.join(field.name for field in fields(made))}"

    def accept(self, value: Any, name: str) -> Any:
        if not isinstance(value, self.made):
            raise self._wrong(value, name)
        return value

    def read(self, given: Any, name: str) -> Any:
        facts = given
        if isinstance(given, str):
            try:
                facts = json.loads(given)
            except ValueError:
                raise self._wrong(given, name) from None
        known = {field.name for field in fields(self.made)}
        if not isinstance(facts, Mapping) or not known.issuperset(facts):
            raise self._wrong(given, name)
        return self.accept(self.made(**facts), name)

    def plain(self, value: Any) -> dict[str, Any]:
        return asdict(value)


def _number(text: str) -> Any:
    """Text as the number it is written as; what is no number stays text, for the refusal to show."""
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return text


def _python(number: Any) -> Any:
    """NumPy's numbers as Python's own."""
    return number.item() if isinstance(number, np.generic) else number
