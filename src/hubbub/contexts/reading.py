"""Days of contexts from text files."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

from hubbub.errors import InvalidInput

LONG = ["day", "tick", "context"]
_SIGNS = frozenset("+@=~\r\n")


def read_days(path: str | Path) -> list[tuple[str, ...]]:
    """Days from a CSV file: the columns day, tick and context; or, without a heading, one day a line.

    In the first form ticks count from 0, and a day in which one is missing is refused: what was not observed must not
    be learned as if it had been.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.", "Give a CSV file of days.") from None
    except UnicodeDecodeError:
        raise _no_csv(str(path)) from None
    return days_in(text, str(path))


def days_in(text: str, name: str = "The table") -> list[tuple[str, ...]]:
    """The same from a text; refusals call it `name`.

    >>> days_in("home,work\\nhome,home")
    [('home', 'work'), ('home', 'home')]
    """
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(StringIO(text, newline="")) if row]
    except csv.Error:
        raise _no_csv(name) from None
    if not rows:
        raise InvalidInput(f"{name} is empty.", "Give at least one day.")
    if len(rows[0]) == 1 and ";" in rows[0][0]:
        raise InvalidInput(f"{name} has semicolons where commas belong.", "Save it again with commas.")
    if [cell.lower() for cell in rows[0]] == LONG:
        return _speakable(name, _long(name, rows[1:]))
    if any(not cell for row in rows for cell in row):
        raise InvalidInput(f"{name} has an empty cell.", "Give each tick a context, or leave out the day.")
    return _speakable(name, [tuple(row) for row in rows])


def _speakable(name: str, days: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Names that a line of `hubbub mask run` and `--sensitive` can say: else they could not be protected there."""
    if any(set(context) & _SIGNS for context in {context for day in days for context in day}):
        raise InvalidInput(
            f"{name} has a context with one of + @ = ~ or a line break in its name.",
            "Name it otherwise: commands write secrets with these signs.",
        )
    return days


def _no_csv(name: str) -> InvalidInput:
    return InvalidInput(f"{name} is no CSV file in UTF-8.", "Give one day a line, contexts with commas.")


def _long(path: str, rows: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    days: dict[str, dict[int, str]] = {}
    for line, row in enumerate(rows, 2):
        if len(row) != 3 or not row[1].isdecimal() or not row[2]:
            raise InvalidInput(f"{path}, line {line}: not a day, a tick from 0 on and a context.", "Mend the line.")
        day = days.setdefault(row[0], {})
        if int(row[1]) in day:
            raise InvalidInput(f"{path}, line {line}: a second context for a tick.", "Keep one context for each tick.")
        day[int(row[1])] = row[2]
    ticks = max((len(day) for day in days.values()), default=0)
    for number, day in enumerate(days.values(), 1):
        if set(day) != set(range(ticks)):
            raise InvalidInput(
                f"{path}: the day with number {number} lacks a tick; the others have {ticks}.", "Leave out such days."
            )
    return [tuple(day[tick] for tick in range(ticks)) for day in days.values()]
