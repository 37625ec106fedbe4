"""The line of names at the top of a table, told from a first line of counts."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from hubbub.errors import InvalidInput
from hubbub.series.times import looks_like_time

EMPTY = ("", "na", "n/a", "nan", "null", "none", "-")
"""What is written where nothing was counted."""

_NO_NAMES = (
    "Expected one row per tick with one column per key (and perhaps tick or date), or rows of tick, key, count; a line "
    "of names on top. If numbers are the names, write a word beside them: zip 10115."
)
_NOTE = re.compile(r"\s*[\[(]\w{1,3}[\])]$|\s[pebr]$")  # a footnote; provisional, estimated, break, revised
_MARKS = " \t\r\n\u00a0\u2007\u2009\u202f\"'`´‘’“”„«»*†‡§¶#^~°=%()[]¹²³⁰⁴⁵⁶⁷⁸⁹ª"
_GROUPED = re.compile(r"[+\-−]?\d{1,3}(?:(?P<by>[,.'’_]|\s)\d{2,3})(?:(?P=by)\d{2,3})*(?:[.,]\d+)?")
_PLAIN = re.compile(r"[+\-−]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+\-−]?\d+)?")


def looks_like_count(cell: str) -> bool:
    """Whether a cell is nothing but a number, once separators of thousands, quotes and footnote marks are taken off.

    >>> [looks_like_count(cell) for cell in ("987654", "987,654", "987 654*", "'5'", "-1.5", "5 [1]", "+3e4")]
    [True, True, True, True, True, True, True]
    >>> [looks_like_count(cell) for cell in ("week 3", "2026 cases", "0-4", "65+", "10.0.0.1", "n/a", "")]
    [False, False, False, False, False, False, False]
    """
    bare = _NOTE.sub("", cell.strip()).strip(_MARKS)
    return any(way.fullmatch(bare) for way in (_PLAIN, _GROUPED))


def is_data(head: Sequence[str]) -> bool:
    """Whether every cell of a first line is a number, a time, or what stands where there is none."""
    return bool(head) and all(_is_cell(cell) or cell.lower() in EMPTY for cell in head)


def check_names(head: Sequence[str], called: str, public: Container[str] = ()) -> None:
    """Refuse a first line that holds counts or times in place of names: they would be published. Those that the caller
    gave (`public`) are names, whatever they look like."""
    doubtful = [cell for cell in head if cell not in public]
    if is_data(doubtful) or any(_is_cell(cell) for cell in doubtful):
        raise InvalidInput(
            f"{called} has no line of names at its top: the first row would be taken for names, and published.",
            _NO_NAMES,
        )


def _is_cell(cell: str) -> bool:
    return looks_like_time(cell) or looks_like_count(cell)
