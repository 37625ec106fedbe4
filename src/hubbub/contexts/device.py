"""The device's half: reads a compiled policy and decides. Copy this file; it needs Python's standard library alone.

A file that cannot be read, or is of another version, suppresses everything. `docs/contexts.md` describes the format.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import struct
from collections.abc import Callable
from typing import Any

VERSION, NEVER = 1, 0xFFFF
KINDS = ("coins", "schedule", "pieces")
_HEAD = struct.Struct(">4sBBHHHHH")


def parse(data: bytes) -> dict[str, Any]:
    """The policy as plain values; ValueError if it is not whole, changed, or of another version."""
    plain = data[:13] == b'{"checksum":"'
    body, checksum = (data[79:], data[13:77]) if plain else (data[:-32], data[-32:].hex().encode())
    if hashlib.sha256(body).hexdigest().encode() != checksum:
        raise ValueError("the checksum does not fit")
    table: dict[str, Any] = json.loads(data) if plain else _binary(body)
    if plain and (table["format"] != "hubbub-context-policy" or table["version"] != VERSION):
        raise ValueError("another version")
    size, ticks, kind, parts = len(table["contexts"]), table["ticks"], KINDS.index(table["kind"]), table["parts"]
    levels = table["levels"] if kind != 1 else []
    tables = [table[name] for name in (["levels"], ["following", "expected"], ["pieces"])[kind]]
    fits = all(len(rows) == ticks + (kind > 0) and all(len(row) == size for row in rows) for rows in tables)
    fits &= all(len(row) == size and all(0 <= level <= parts for level in row) for row in levels)
    fits &= kind < 2 or all(0 <= k < len(levels) for row in table["pieces"] for piece in row for k in piece)
    if not fits:
        raise ValueError("the table has another shape, or a chance above 1")
    return table


def _binary(data: bytes) -> dict[str, Any]:
    magic, version, kind, ticks, size, parts, names, delta = _HEAD.unpack_from(data)
    at = _HEAD.size + names + delta
    names, delta = json.loads(data[_HEAD.size : at - delta]), data[at - delta : at].decode()
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
        try:
            self._table = parse(data)
            self._numbers = {name: number for number, name in enumerate(self._table["contexts"])}
        except Exception:  # whatever is wrong with the file: nothing is shown
            self._table, self._numbers = {"ticks": 0}, {}
        self.readable = bool(self._numbers)

    def offer(self, tick: int, context: str) -> str | None:
        """Decide once: a tick that is not after the last one, or beyond the day, is suppressed, and so is what
        follows a missed one in a policy of pieces."""
        table = self._table
        try:
            number = self._numbers.get(context)
            if not self.tick < tick < table["ticks"]:
                return None
        except TypeError:
            return None
        self.silent |= table["kind"] == "pieces" and tick > self.tick + 1
        self.tick = tick
        if number is None or self.silent or not self._shows(table, tick, number):
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
