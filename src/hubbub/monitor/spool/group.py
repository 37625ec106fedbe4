"""Batches that go to the disk together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import polars as pl

from hubbub.collect.sources import JsonLines
from hubbub.errors import InvalidInput
from hubbub.monitor.spool.frame import HEAD_BYTES, Key
from hubbub.monitor.spool.keys import KnownKeys
from hubbub.monitor.spool.receipt import Receipt
from hubbub.monitor.spool.together import read_together
from hubbub.server.errors import KeyReused

GROUP_BYTES = 8 * 2**20
LARGE_BYTES = 64 * 2**10
"""A batch larger than this is read in its sender's own thread, before it joins a group."""


@dataclass(slots=True)
class Waiting:
    """A batch on its way to the disk, and at last its answer. It holds raw events: it is not printed."""

    body: bytes
    name: bytes | None = None
    digest: bytes = b""
    parsed: tuple[pl.DataFrame, int] | None = None
    answer: Receipt | Callable[[], Exception] | None = None
    twins: list[Waiting] = field(default_factory=list)
    """The same batch again, sent while the first is still on its way."""

    @property
    def is_large(self) -> bool:
        return len(self.body) > LARGE_BYTES

    @property
    def size(self) -> int:
        """What it takes on disk, rounded up."""
        return len(self.body) + HEAD_BYTES + 64

    def receipt(self) -> Receipt:
        if isinstance(self.answer, Receipt):
            return self.answer
        assert self.answer is not None
        raise self.answer()

    def __repr__(self) -> str:
        return "Waiting(<confidential>)"


class Group:
    """Each batch gets an answer of its own; `fresh` are those that have none yet."""

    def __init__(self, fresh: list[Waiting]) -> None:
        self.fresh = fresh

    @classmethod
    def of(cls, waiting: list[Waiting]) -> Group:
        """Take the first that wait, as many as make a frame of a handy size."""
        count = size = 0
        for one in waiting:
            if count and size + one.size > GROUP_BYTES:
                break
            count, size = count + 1, size + one.size
        taken = waiting[:count]
        del waiting[:count]
        return cls(sorted(taken, key=lambda one: one.parsed is not None))

    def answer_repeated(self, keys: KnownKeys) -> None:
        """Batches that are known get the first answer again; the same one twice in this group waits for itself."""
        here: dict[bytes, Waiting] = {}
        fresh = []
        for one in self.fresh:
            if one.name is None:
                fresh.append(one)
                continue
            known = keys.find(one.name)
            first = here.setdefault(one.name, one)
            if known is not None:
                one.answer = _repeated(one, known)
            elif first is one:
                fresh.append(one)
            else:
                first.twins.append(one)
        self.fresh = fresh

    def read(self, lines: JsonLines) -> tuple[pl.DataFrame, list[tuple[int, int]]]:
        """The events of the fresh ones in their order, and how many lines of each were accepted and not."""
        small = [one for one in self.fresh if one.parsed is None]
        try:
            pieces: list[pl.DataFrame] = []
            counted: list[tuple[int, int]] = []
            if small:
                events, counted = read_together(lines, [one.body for one in small])
                pieces = [events]
        except Exception:  # a fault in a library: whoever set it off must not take the others along
            self._read_apart(lines, small)
            return self.read(lines) if self.fresh else (lines.parse(b"")[0], [])
        for one in self.fresh:
            if one.parsed is not None:
                pieces.append(one.parsed[0])
                counted.append((one.parsed[0].height, one.parsed[1]))
        return pl.concat(pieces), counted

    def _read_apart(self, lines: JsonLines, small: list[Waiting]) -> None:
        for one in small:
            try:
                one.parsed = lines.parse(one.body)
            except Exception:
                self.refuse(_unreadable, lambda other, one=one: other is one)  # type: ignore[misc]

    def keys(self, counted: list[tuple[int, int]], arrived: int) -> list[Key]:
        pairs = zip(self.fresh, counted, strict=True)
        return [Key(one.name, one.digest, *counts, arrived) for one, counts in pairs if one.name is not None]

    def accept(self, counted: list[tuple[int, int]]) -> None:
        for one, counts in zip(self.fresh, counted, strict=True):
            for twin in one.twins:
                twin.answer = _repeated(twin, (one.digest, *counts))
            one.answer = Receipt(*counts, duplicate=False)
        self.fresh = []

    def refuse(self, why: Callable[[], Exception], which: Callable[[Waiting], bool] | None = None) -> None:
        for one in self.fresh:
            if which is None or which(one):
                for each in (one, *one.twins):
                    each.answer = why
        self.fresh = [one for one in self.fresh if one.answer is None]


def _repeated(one: Waiting, known: tuple[bytes, int, int]) -> Receipt | Callable[[], Exception]:
    digest, accepted, malformed = known
    return Receipt(accepted, malformed, duplicate=True) if digest == one.digest else _another_body


def _another_body() -> KeyReused:
    return KeyReused(
        "This Idempotency-Key was used before, for another batch; nothing was taken.",
        "Give each batch a key of its own, a UUID for instance; a repetition must be the same to the last byte.",
    )


def _unreadable() -> InvalidInput:
    return InvalidInput("This batch cannot be read; nothing of it was taken.", "Send one JSON object a line.")
