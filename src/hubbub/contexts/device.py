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
_HEAD = struct.Struct(">4sBBHHHHH")


def parse(data: bytes) -> dict[str, Any]:
    """The policy as plain values; ValueError if it is not whole, changed, or of another version."""
    if data[:1] == b"{":
        if data[:13] != b'{"checksum":"' or hashlib.sha256(data[79:]).hexdigest().encode() != data[13:77]:
            raise ValueError("the checksum does not fit")
        table: dict[str, Any] = json.loads(data)
        if table["format"] != "hubbub-context-policy" or table["version"] != VERSION:
            raise ValueError("another version")
    else:
        if len(data) < _HEAD.size + 32 or hashlib.sha256(data[:-32]).digest() != data[-32:]:
            raise ValueError("the checksum does not fit")
        table = _binary(data[:-32])
    names, ticks = table["contexts"], table["ticks"]
    rows = table["levels"] if table["kind"] == "coins" else table["following"]
    if len(rows) != ticks + (table["kind"] != "coins") or any(len(row) != len(names) for row in rows):
        raise ValueError("the table has another shape")
    if table["kind"] == "coins" and not all(0 <= level <= table["parts"] for row in rows for level in row):
        raise ValueError("a chance above 1")
    if table["kind"] != "coins" and [len(row) for row in table["expected"]] != [len(names)] * len(rows):
        raise ValueError("the table has another shape")
    return table


def _binary(data: bytes) -> dict[str, Any]:
    magic, version, kind, ticks, size, parts, names, delta = _HEAD.unpack_from(data)
    if magic != b"HBCP" or version != VERSION or kind not in (0, 1):
        raise ValueError("another version")
    start = _HEAD.size
    table: dict[str, Any] = {"kind": ("coins", "schedule")[kind], "ticks": ticks, "parts": parts}
    table["contexts"] = json.loads(data[start : start + names])
    table["delta"] = data[start + names : start + names + delta].decode()
    start, rows = start + names + delta, ticks + kind
    numbers = struct.unpack_from(f">{rows * size}H", data, start)
    table["levels" if kind == 0 else "following"] = [list(numbers[r * size : r * size + size]) for r in range(rows)]
    start, width = start + 2 * rows * size, (size + 7) // 8 if kind else 0
    if len(data) != start + rows * size * width:
        raise ValueError("the table has another length")
    if kind:
        flags = [int.from_bytes(data[start + k * width : start + (k + 1) * width], "big") for k in range(rows * size)]
        table["expected"] = [[f"{flag:x}" for flag in flags[r * size : r * size + size]] for r in range(rows)]
    return table


class Mask:
    """One day of decisions. `offer` returns the context, or None if it is suppressed; it never raises."""

    def __init__(self, data: bytes, below: Callable[[int], int] = secrets.randbelow) -> None:
        self._below, self.tick, self.last_tick, self.last_context = below, -1, -1, -1
        self.readable, self._numbers, self._ticks, self._levels, self._parts = False, {}, 0, None, 1
        try:
            table = parse(data)
            self._numbers = {name: number for number, name in enumerate(table["contexts"])}
            self._ticks, self._parts, self._levels = table["ticks"], table["parts"], table.get("levels")
            if self._levels is None:
                self._following = table["following"]
                self._expected = [[int(flags, 16) for flags in row] for row in table["expected"]]
            self.readable = True
        except Exception:  # whatever is wrong with the file: nothing is shown
            self._numbers = {}

    def offer(self, tick: int, context: str) -> str | None:
        """Decide once: a tick that is not after the last one, or beyond the day, is suppressed. Ticks may be missed."""
        try:
            number = self._numbers.get(context)
            if not self.tick < tick < self._ticks:
                return None
        except TypeError:
            return None
        self.tick = tick
        if number is None:
            return None
        if self._levels is not None:
            level = self._levels[tick][number]
            shown = level < self._parts and (level == 0 or self._below(self._parts) >= level)
        else:
            row, last = self.last_tick + 1, max(self.last_context, 0)
            shown = self._following[row][last] == tick and bool(self._expected[row][last] >> number & 1)
        if not shown:
            return None
        self.last_tick, self.last_context = tick, number
        return context
