"""What a cell of the store may hold. SQLite takes anything anywhere, so whoever reads a row looks at it first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from types import NoneType
from typing import Any

import sqlalchemy as sa

from hubbub.errors import LedgerBroken

RESTORE = "Somebody changed the store. `hubbub ledger verify STORE` tells where; restore it from a backup."

_AMOUNT = re.compile(r"[0-9]+(/0*[1-9][0-9]*)?")
_LONGEST = 4_000
_FIRST, _LAST = -62_135_596_800_000_000, 253_402_300_799_999_999  # the years 1 to 9999, in microseconds since 1970


class Shape:
    """The kinds of cells that rows of these columns have; `times` are whole microseconds that some calendar has."""

    def __init__(self, columns: Sequence[sa.ColumnElement[Any]], times: Sequence[str] = ()) -> None:
        self._columns = [_column(one) for one in columns]
        self._times = [at for at, column in enumerate(self._columns) if column.name in times]
        self._known: set[tuple[type, ...]] = set()

    def fits(self, cells: tuple[Any, ...]) -> bool:
        """Whether every cell is of its column's kind."""
        kinds = tuple(map(type, cells))
        if kinds not in self._known:
            if not all(kind in _kinds(column) for column, kind in zip(self._columns, kinds, strict=True)):
                return False
            self._known.add(kinds)
        for at in self._times:
            time = cells[at]
            if time is not None and not _FIRST <= time <= _LAST:
                return False
        return True

    def checked(self, row: Sequence[Any], of: str) -> tuple[Any, ...]:
        """The row, if it fits. `of` says whose it is: "the stream 'site', line 3"."""
        cells = tuple(row)
        if not self.fits(cells):
            raise next(
                broken(column, of)
                for at, (column, cell) in enumerate(zip(self._columns, cells, strict=True))
                if type(cell) not in _kinds(column)
                or (at in self._times and cell is not None and not _FIRST <= cell <= _LAST)
            )
        return cells


def broken(column: Any, of: str) -> LedgerBroken:
    return LedgerBroken(
        f"The store was changed: `{column.name}` in `{column.table.name}` ({of}) holds what Hubbub never writes there.",
        RESTORE,
    )


def amount_of(text: str, what: str) -> Fraction:
    """An exact amount, as the store writes it: never negative, and no more digits than any sum has.

    >>> amount_of("1/20", "the share of the stream 'site'")
    Fraction(1, 20)
    """
    if not isinstance(text, str) or len(text) > _LONGEST or not _AMOUNT.fullmatch(text):
        raise LedgerBroken(f"The store was changed: {what} is no amount.", RESTORE)
    return Fraction(text)


@contextmanager
def as_written(what: str) -> Iterator[None]:
    """For what is read out of a text or bytes: whatever fails in here was changed, and is said to be."""
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError):
        raise LedgerBroken(f"The store was changed: {what} cannot be read.", RESTORE) from None


def _column(element: sa.ColumnElement[Any]) -> Any:
    return element.element if isinstance(element, sa.Label) else element


def _kinds(column: Any) -> set[type]:
    kinds = {column.type.python_type}
    if column.nullable:
        kinds.add(NoneType)
    return kinds
