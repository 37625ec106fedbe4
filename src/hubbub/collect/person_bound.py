"""The bound of sessions, people and windows: a few keys a tick, a few ticks in all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.collect.bound import Bounded
from hubbub.collect.calendar import Calendar
from hubbub.collect.memory import Memory
from hubbub.collect.rows import Rows, by_person, ends, starts
from hubbub.collect.stay import Stay
from hubbub.confidential import Sealed
from hubbub.errors import HubbubError, InvalidInput

_LONG_AGO = -(2**62)
_UNLIMITED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class _Groups(Sealed):
    """One entry for each (session, tick) with a request: first and last row, and what came before it."""

    first: NDArray[np.int64]  # row
    last: NDArray[np.int64]  # row
    tick: NDArray[np.int64]
    begins: NDArray[np.bool_]  # the first group of its session among these rows
    before_tick: NDArray[np.int64]  # tick, time and key of the session's request before this group
    before_time: NDArray[np.int64]
    before_key: NDArray[np.int32]
    fill_from: NDArray[np.int64]  # the first tick since then that has not been dealt with
    known: NDArray[np.bool_]  # False where the session has no request before
    used: NDArray[np.int64]  # ticks counted before this call, by session
    left: Memory  # remembered sessions whose person came back only after their end


class PersonBound(Sealed):
    """At most `max_items` keys a tick and `max_ticks` ticks for each session (or person, if there is no timeout).

    In a tick with more than `max_items` keys the last ones are kept; of more than `max_ticks` ticks the first ones.
    Both rules look at one session alone. Everything is done on whole arrays: sort by person and time, cut where the
    gap is longer than the timeout, number the ticks of each session.
    """

    def __init__(
        self,
        calendar: Calendar,
        keys: int,
        *,
        max_ticks: int | None,
        max_items: int = 1,
        timeout: int | None = None,
        stay: Stay | None = None,
        max_open: int = 10_000_000,
    ) -> None:
        self._calendar, self._keys = calendar, keys
        self._max_ticks = _UNLIMITED if max_ticks is None else max_ticks
        self._forgetful = max_ticks is None  # nothing to remember from one tick to the next
        self._max_items, self._timeout, self._max_open = max_items, timeout, max_open
        self._stay = stay or Stay(False)
        self._memory = Memory.empty()
        self._through = -1
        self._distrusted = _LONG_AGO

    @property
    def open(self) -> int:
        return len(self._memory)

    @property
    def keys(self) -> NDArray[np.int32]:
        return self._memory.key

    def begin(self, through: int) -> None:
        self._through = through

    def distrust(self, until: int) -> None:
        if not self._forgetful:
            self._distrusted = until

    def advance(self, rows: Rows, through: int) -> Bounded:
        rows = by_person(rows)
        groups = self._groups(rows)
        fill = self._fill(groups)
        session = np.cumsum(groups.begins) - 1
        width = fill + 1
        done = np.cumsum(width) - width
        before = groups.used[session] + done - done[groups.begins][session]
        room = np.clip(self._max_ticks - before, 0, None)
        counted = room > fill
        parts = [
            self._cells_of_requests(rows, groups, counted),
            self._cells_of_stays(groups.fill_from, np.minimum(fill, room), groups.before_key),
        ]
        at_end = np.append(groups.begins[1:], True)[: len(groups.tick)]
        latest = Memory(
            rows.person[groups.last[at_end]],
            rows.check[groups.last[at_end]],
            rows.time[groups.last[at_end]],
            groups.tick[at_end],
            rows.key[groups.last[at_end]],
            np.minimum(before + width, self._max_ticks)[at_end].astype(np.int32),
        )
        parts += self._remember(latest, groups.left, through)
        lengths = groups.last - groups.first + 1
        kept = len(parts[0])
        beyond = int(lengths[~counted].sum())
        return Bounded(np.concatenate(parts), beyond=beyond, superseded=len(rows) - beyond - kept)

    def _groups(self, rows: Rows) -> _Groups:
        tick = self._calendar.indices(rows.time)
        someone = starts(rows.person)
        people = rows.person[someone]
        place, found = self._memory.find(people)
        no_mistaken_identity(rows, someone, self._memory, place, found)
        old = self._memory
        previous = np.empty(len(rows), np.int64)
        previous[1:] = rows.time[:-1]
        previous[someone] = np.where(found, old.last[place], _LONG_AGO) if len(old) else _LONG_AGO
        cut = someone & (previous == _LONG_AGO)
        if self._timeout is not None:
            cut |= rows.time - previous > self._timeout
        begins_row = cut | someone
        head = begins_row.copy()
        head[1:] |= tick[1:] != tick[:-1]
        first = np.flatnonzero(head)
        last = np.append(first[1:], len(rows))[: len(first)] - 1
        begins = begins_row[first]
        before_tick = np.empty(len(first), np.int64)
        before_key = np.empty(len(first), np.int32)
        before_tick[1:], before_key[1:] = tick[last[:-1]], rows.key[last[:-1]]
        fill_from = before_tick + 1
        used = np.zeros(int(begins.sum()), np.int64)
        goes_on = someone & ~cut  # a session that was open before
        if len(old):
            rank = np.cumsum(someone) - 1
            at, where = goes_on[first], place[rank[first[goes_on[first]]]]
            before_tick[at], before_key[at] = old.tick[where], old.key[where]
            # Lingering was counted up to the last call; staying between requests only becomes known now.
            fill_from[at] = old.tick[where] + 1 if self._stay.between else self._through + 1
            used[(np.cumsum(begins) - 1)[at]] = old.used[where]
        begun = rows.time[first[begins]]
        unknown = cut[first[begins]] & (begun < self._distrusted)
        used[unknown] = self._max_ticks
        left = old.where(place[found & cut[someone]])
        return _Groups(
            first,
            last,
            tick[first],
            begins,
            before_tick,
            previous[first],
            before_key,
            fill_from,
            ~cut[first],
            used,
            left,
        )

    def _fill(self, groups: _Groups) -> NDArray[np.int64]:
        """How many ticks without a request lie before each group in which its session stays where it was."""
        if self._stay.between:
            until = groups.tick - 1
        elif self._stay.linger is not None:
            until = np.minimum(groups.tick - 1, self._calendar.indices(groups.before_time + self._stay.linger))
        else:
            return np.zeros(len(groups.tick), np.int64)
        return np.where(groups.known, np.clip(until - groups.fill_from + 1, 0, None), 0)

    def _cells_of_requests(self, rows: Rows, groups: _Groups, counted: NDArray[np.bool_]) -> NDArray[np.int64]:
        if self._max_items == 1:
            return groups.tick[counted] * self._keys + rows.key[groups.last[counted]]
        group = np.repeat(np.arange(len(groups.tick)), groups.last - groups.first + 1)
        # The last row of each key in each group, then the last few of those.
        names = group * self._keys + rows.key
        order = np.argsort(names, kind="stable")
        finals = np.sort(order[ends(names[order])])
        of = group[finals]
        back = np.searchsorted(of, of, side="right") - 1 - np.arange(len(of))
        chosen = finals[(back < self._max_items) & counted[of]]
        return groups.tick[group[chosen]] * self._keys + rows.key[chosen]

    def _cells_of_stays(
        self, begin: NDArray[np.int64], length: NDArray[np.int64], key: NDArray[np.int32]
    ) -> NDArray[np.int64]:
        some = length > 0
        begin, length, key = begin[some], length[some], key[some]
        step = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
        return (np.repeat(begin, length) + step) * self._keys + np.repeat(key, length)

    def _remember(self, latest: Memory, left: Memory, through: int) -> list[NDArray[np.int64]]:
        """Put the sessions' new ends into the memory, let those linger that do, and forget those that are over."""
        parts = []
        over = Memory.empty()
        if not self._forgetful:
            final = ends(latest.person)
            over, latest = latest.where(~final), latest.where(final)
            old = self._memory
            _, again = latest.find(old.person)
            self._memory = old.where(~again).merged(latest)
        if self._stay.linger is not None:
            for memory in (left, over, self._memory):
                until = np.minimum(self._calendar.indices(memory.last + self._stay.linger), through)
                begin = np.maximum(memory.tick, self._through) + 1
                length = np.clip(until - begin + 1, 0, self._max_ticks - memory.used)
                parts.append(self._cells_of_stays(begin, length, memory.key))
                memory.used[:] += length.astype(np.int32)
        if self._timeout is not None:
            # The next request of anybody lies in a later tick: whoever is silent until then is over.
            alive = self._calendar.begins(through + 1) - self._memory.last <= self._timeout
            if not alive.all():
                self._memory = self._memory.where(alive)
        self._through = through
        if len(self._memory) > self._max_open:
            raise full("open sessions", self._max_open, "max_open")
        return parts


def full(what: str, limit: int, name: str) -> HubbubError:
    return InvalidInput(
        f"There are more than {limit:,} {what}; collecting has stopped.",
        f"Raise `{name}`. Leaving out some of them would make what is counted of one depend on the others.",
    )


def no_mistaken_identity(
    rows: Rows, someone: NDArray[np.bool_], old: Memory, place: NDArray[np.int64], found: NDArray[np.bool_]
) -> None:
    among = (rows.check[1:] != rows.check[:-1]) & ~someone[1:]
    checks = rows.check[someone]
    if among.any() or (len(old) and (checks[found] != old.check[place[found]]).any()):
        raise InvalidInput(
            "Two people have the same 64-bit hash (a chance of one in 10^7 with a million people).",
            "Start the collector again: it draws new hash keys, and resumes where it was.",
        )
