"""Names for the columns of a table that has none."""

from __future__ import annotations

import csv

from hubbub.series.headers import is_data
from hubbub.series.reading import separator
from hubbub.series.times import looks_like_time


def named(table: bytes) -> bytes:
    """The table with a line of names on top: its own, or plain ones where the first line is data already.

    The reader refuses a table without names, since its first row would become names, and names are published.

    >>> named(b"2026-01-01,5\\n2026-01-02,7\\n")
    b'time,count\\n2026-01-01,5\\n2026-01-02,7\\n'
    >>> named(b"5;7"), named(b"day,flu\\n1,5\\n")
    (b'count;count 2\\n5;7', b'day,flu\\n1,5\\n')
    """
    try:
        text = table.decode("utf-8-sig").strip("\r\n")
        between = separator(text)
        head = [cell.strip() for cell in next(csv.reader([text.split("\n", 1)[0]], delimiter=between), [])]
    except (UnicodeDecodeError, csv.Error):
        return table  # the reader says what is wrong with it
    if not is_data(head):
        return table
    has_time = looks_like_time(head[0])
    counts = ["count", *(f"count {number}" for number in range(2, len(head) + 1))]
    names = (["time", *counts] if has_time else counts)[: len(head)]
    return f"{between.join(names)}\n".encode() + table.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
