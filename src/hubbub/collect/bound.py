"""What every bound on contributions does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hubbub.collect.calendar import Calendar
from hubbub.collect.rows import Rows
from hubbub.confidential import Sealed


@dataclass(frozen=True, slots=True, repr=False)
class Bounded(Sealed):
    """What is left to count, as numbers `tick * keys + key` (each worth one), and how many events fell away."""

    cells: NDArray[np.int64]
    beyond: int = 0
    superseded: int = 0

    def __repr__(self) -> str:
        return "Bounded(<confidential>)"


class Bound(Protocol):
    """Enforces a unit's bound on ticks that are complete. Ticks are given once, in order.

    Whatever the rule, what it keeps of one unit depends on that unit's own rows only. `docs/proofs/bounding.md` rests
    on this sentence.
    """

    @property
    def open(self) -> int:
        """How many units are remembered."""

    @property
    def keys(self) -> NDArray[np.int32]:
        """Where the remembered units were last."""

    def advance(self, rows: Rows, through: int) -> Bounded:
        """Bound `rows`, which are all that belong to the ticks after the last call up to `through`."""

    def begin(self, through: int) -> None:
        """After a restart: the ticks up to `through` were dealt with before."""

    def distrust(self, until: int) -> None:
        """After a restart: a unit first seen before `until` may have been counted already; count it no more."""


class EventBound:
    """Each event counts once, under one key: nothing to enforce, nothing to remember."""

    open = 0
    keys = np.empty(0, np.int32)

    def __init__(self, calendar: Calendar, keys: int) -> None:
        self._calendar, self._keys = calendar, keys

    def advance(self, rows: Rows, through: int) -> Bounded:
        del through
        return Bounded(self._calendar.indices(rows.time) * self._keys + rows.key)

    def begin(self, through: int) -> None:
        """Nothing hangs over from one tick to the next."""
        del through

    def distrust(self, until: int) -> None:
        """An event lies in one tick, and no tick is counted twice."""
        del until
