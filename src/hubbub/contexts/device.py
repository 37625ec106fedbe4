"""The device's half: reads a compiled policy and decides. Copy this file; it needs Python's standard library alone.

A file that cannot be read, or is of another version, suppresses everything. `docs/contexts.md` describes the format.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import struct
from collections.abc import Callable
from typing import Any

VERSION, NEVER, KINDS = 1, 0xFFFF, ("coins", "schedule", "pieces")
_STRING, _FRACTION = r'"(?:[^"\\]|\\.)*"', "[1-9][0-9]{0,999}(?:/[1-9][0-9]{0,999})?"
_HEAD = struct.Struct(">4sBBHHHHH")


def parse(data: bytes) -> dict[str, Any]:
    """The policy as plain values; raises at whatever is not as the format has it, so that all readers judge alike."""
    plain = data[:13] == b'{"checksum":"'
    body, checksum = (data[79:], data[13:77]) if plain else (data[:-32], data[-32:].hex().encode())
    if hashlib.sha256(body).hexdigest().encode() != checksum:
        raise ValueError("the checksum does not fit")
    table: dict[str, Any] = _json(data.decode()) if plain else _binary(body)
    about = [table.pop(name) for name in ("checksum", "format", "version") if plain][1:]
    names, ticks, parts, kind = table["contexts"], table["ticks"], table["parts"], KINDS.index(table["kind"])
    tables, size = (["levels"], ["following", "expected"], ["levels", "pieces"])[kind], len(names)
    fits = set(table) == {"contexts", "ticks", "parts", "kind", "delta", *tables}
    fits &= about in ([], ["hubbub-context-policy", VERSION]) and type(names) is list and len(set(names)) == size
    fits &= all(type(name) is str and name for name in names) and _whole([size, ticks], 1, NEVER - 1)
    fits &= bool(re.fullmatch(_FRACTION, table["delta"]))
    over, under = [int(number) for number in (table["delta"] + "/1").split("/")[:2]]
    fits &= over <= under and _whole([parts], 1, 255 if kind == 2 else NEVER)
    allowed: dict[str, Callable[[list[Any], int], bool]] = {
        "levels": lambda row, _: _whole(row, 0, parts),
        "following": lambda row, _: _whole(row, 0, NEVER),
        "expected": lambda row, _: all(re.fullmatch("[0-9a-f]+", one) and int(one, 16) < 1 << size for one in row),
        "pieces": lambda row, at: all(_whole(piece, 0, len(table["levels"]) - 1, ticks - at) for piece in row),
    }
    for name in tables if fits else ():
        rows = table[name]
        fits &= type(rows) is list and (len(rows) == ticks + (kind > 0) or (kind, name) == (2, "levels"))
        fits &= len(rows) <= NEVER and all(type(row) is list and len(row) == size for row in rows)
        fits &= fits and all(allowed[name](row, at) for at, row in enumerate(rows))
    if not fits:
        raise ValueError("another version, or a field that the format does not have")
    return table


def _whole(numbers: Any, low: int, high: int, most: int = NEVER) -> bool:
    fits = type(numbers) is list and len(numbers) <= most
    return fits and all(type(number) is int and low <= number <= high for number in numbers)


def _json(text: str) -> Any:
    """Numbers are whole and written as digits: a reader in another language cannot tell 1.0 from 1."""
    if not set(re.sub(_STRING, "", text)) <= set("[]{},: \t\r\n0123456789"):
        raise ValueError("not of strings and whole numbers alone")
    return json.loads(text)


def _binary(data: bytes) -> dict[str, Any]:
    magic, version, kind, ticks, size, parts, names, delta = _HEAD.unpack_from(data)
    at = _HEAD.size + names + delta
    names, delta = json.loads(data[_HEAD.size : at - delta].decode()), data[at - delta : at].decode()
    table: dict[str, Any] = {"kind": KINDS[kind], "ticks": ticks, "parts": parts, "contexts": names, "delta": delta}

    def numbers(count: int, width: int) -> list[int]:
        nonlocal at
        at += count * width
        return [int.from_bytes(data[k : k + width], "big") for k in range(at - count * width, at, width)]

    rows = range(ticks + (kind > 0))
    if kind < 2:
        table["levels" if kind == 0 else "following"] = [numbers(size, 2) for _ in rows]
    else:
        table["levels"] = [numbers(size, 1) for _ in range(numbers(1, 2)[0])]
        table["pieces"] = [[numbers(numbers(1, 2)[0], 2) for _ in range(size)] for _ in rows]
    if kind == 1:
        table["expected"] = [[f"{flags:x}" for flags in numbers(size, (size + 7) // 8)] for _ in rows]
    if magic != b"HBCP" or version != VERSION or at != len(data):
        raise ValueError("another version, or length")
    return table


class Mask:
    """One day of decisions. `offer` returns the context, or None if it is suppressed; it never raises."""

    def __init__(self, data: bytes, below: Callable[[int], int] = secrets.randbelow) -> None:
        self._below, self.silent, self.tick, self.last_tick, self.last_context = below, False, -1, -1, -1
        self._process = os.getpid()
        try:
            self._table = parse(data)
            self._numbers = {name: number for number, name in enumerate(self._table["contexts"])}
        except Exception:  # whatever is wrong with the file: nothing is shown
            self._table, self._numbers = {"ticks": 0}, {}
        self.readable = bool(self._numbers)

    def offer(self, tick: int, context: str) -> str | None:
        """Decide once. Suppressed are ticks that are not after the last one or beyond the day, what follows a missed
        one in a policy of pieces, and all that a process is asked that was forked off: its parent decides."""
        table = self._table
        if os.getpid() != self._process or type(tick) is not int or not self.tick < tick < table["ticks"]:
            return None
        self.silent |= table["kind"] == "pieces" and tick > self.tick + 1
        self.tick = tick
        try:
            if self.silent or not self._shows(table, tick, number := self._numbers[context]):
                return None
        except Exception:  # an unknown context, or a coin that cannot be tossed
            return None
        self.last_tick, self.last_context = tick, number
        return context

    def _shows(self, table: dict[str, Any], tick: int, number: int) -> bool:
        row, last, since = self.last_tick + 1, max(self.last_context, 0), tick - self.last_tick - 1
        if table["kind"] == "schedule":
            return table["following"][row][last] == tick and bool(int(table["expected"][row][last], 16) >> number & 1)
        piece = [tick] if table["kind"] == "coins" else table["pieces"][row][last][since:]
        level = table["levels"][piece[0]][number] if piece else table["parts"]
        return bool(level < table["parts"]) and (level == 0 or self._below(table["parts"]) >= level)
