"""From events to what each session looked at in a period: what a list of pages is made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.collect.calendar import Calendar
from hubbub.collect.memory import Memory
from hubbub.collect.pair_set import PairSet
from hubbub.collect.person_bound import full, no_mistaken_identity
from hubbub.collect.rows import Rows, by_person, ends, starts
from hubbub.collect.vocabulary import UNLISTED
from hubbub.confidential import Sealed

HELD = 1_000
"""Different pages that are held of a session; a list counts far fewer."""

_LONG_AGO = -(2**62)
_NEVER = -1


@dataclass(frozen=True, slots=True, repr=False)
class Looked(Sealed):
    """Who looked at what: a session's number and a page's number, each pair once, sorted by both."""

    sessions: NDArray[np.int64]
    pages: NDArray[np.int32]

    def __repr__(self) -> str:
        return "Looked(<confidential>)"


class Finder(Sealed):
    """Puts every session into the one period in which it begins, with the pages that it looked at in that period.

    So a session counts in one list at most, whatever it does and however long it lasts. Which period that is, and with
    which pages, follows from the session's own requests and from what was read again after a restart, never from
    anybody else's. A session of which it is not known when it began is left out.

    Periods are given out once, in order: what comes for one that was given out is left out.
    """

    def __init__(
        self, periods: Calendar, timeout: int, *, held: int = HELD, max_open: int = 10_000_000, given: int = -1
    ) -> None:
        self._periods, self._timeout, self._held, self._max_open = periods, timeout, held, max_open
        self._memory = Memory.empty()  # `tick` is a session's period, `key` its number in that period
        self._pairs: dict[int, PairSet] = {}
        self._sessions: dict[int, int] = {}
        self._distrusted = _LONG_AGO
        self._given = given

    @property
    def open(self) -> int:
        """How many sessions are remembered."""
        return len(self._memory)

    @property
    def held(self) -> int:
        """How many pairs are held."""
        return sum(map(len, self._pairs.values()))

    @property
    def pages(self) -> list[NDArray[np.int32]]:
        """The numbers of pages that are in use."""
        return [pairs.codes for pairs in self._pairs.values()]

    def distrust(self, until: int) -> None:
        """After a restart: a session first seen before `until` may have begun before, and may have been counted."""
        self._distrusted = until

    def advance(self, rows: Rows, complete: int) -> None:
        """Take `rows`, all that happened since the last call and before the time `complete`."""
        rows = by_person(rows)
        someone = starts(rows.person)
        place, known = self._memory.find(rows.person[someone])
        no_mistaken_identity(rows, someone, self._memory, place, known)
        previous = np.full(len(rows), _LONG_AGO, np.int64)
        previous[1:] = rows.time[:-1]
        previous[someone] = np.where(known, self._memory.last[place], _LONG_AGO) if len(self._memory) else _LONG_AGO
        fresh = (previous == _LONG_AGO) | (rows.time - previous > self._timeout)  # the first request of a session
        begins = someone | fresh
        session = np.cumsum(begins) - 1
        period, number = self._sessions_of(rows, begins, fresh, someone, place)
        mine = period[session]
        counted = (self._periods.indices(rows.time) == mine) & (mine > self._given) & (rows.key != UNLISTED)
        for one in np.unique(mine[counted]).tolist():
            chosen = counted & (mine == one)
            self._pairs.setdefault(one, PairSet(self._held)).add(number[session[chosen]], rows.key[chosen])
        last = ends(rows.person)
        latest = Memory(
            rows.person[last], rows.check[last], rows.time[last],
            mine[last], number[session[last]].astype(np.int32), np.zeros(int(last.sum()), np.int32),
        )  # fmt: skip
        _, again = latest.find(self._memory.person)
        memory = self._memory.where(~again).merged(latest)
        self._memory = memory.where(complete - memory.last <= self._timeout)
        if len(self._memory) > self._max_open:
            raise full("open sessions", self._max_open, "max_open")

    def _sessions_of(
        self,
        rows: Rows,
        begins: NDArray[np.bool_],
        fresh: NDArray[np.bool_],
        someone: NDArray[np.bool_],
        place: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The period of each session among these rows, and its number there."""
        first = np.flatnonzero(begins)
        period = self._periods.indices(rows.time[first])
        new = fresh[first]
        period[new & (rows.time[first] < self._distrusted)] = _NEVER
        number = np.zeros(len(first), np.int64)
        goes_on = first[~new]
        where = place[np.cumsum(someone)[goes_on] - 1]
        period[~new], number[~new] = self._memory.tick[where], self._memory.key[where]
        for one in np.unique(period[new]).tolist():
            these = np.flatnonzero(new & (period == one))
            before = self._sessions.get(one, 0)
            number[these] = before + np.arange(len(these))
            self._sessions[one] = before + len(these)
        return period, number

    def take(self, period: int) -> Looked:
        """What belongs to a period that is over; it and all before it are forgotten."""
        pairs = self._pairs.get(period, PairSet(self._held))
        self._given = max(self._given, period)
        for kept in (self._pairs, self._sessions):
            for one in [one for one in kept if one <= self._given]:
                del kept[one]
        return Looked(*pairs.columns())

    def __repr__(self) -> str:
        return "Finder(<confidential>)"
