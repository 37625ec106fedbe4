"""Two streams that differ in one unit, as much as its bound allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hubbub.confidential import Counts
from hubbub.errors import InvalidParameter
from hubbub.exact import whole
from hubbub.privacy.unit import Unit
from hubbub.released import Domain, Tick


@dataclass(frozen=True, slots=True)
class Pair:
    """A stream with one unit more, and the same stream without it."""

    with_unit: tuple[Counts, ...]
    without: tuple[Counts, ...]


def neighbours(
    unit: Unit,
    keys: Domain,
    ticks: int,
    *,
    level: int = 100,
    present: Sequence[int] | None = None,
    items: int | None = None,
) -> Pair:
    """Constant counts of `level`, and the same with one unit more in the ticks `present`.

    By default it is present in as many consecutive ticks as its bound allows, from the second tick on if there is
    room (so that a change is seen), each time in as many keys as the bound allows. Giving more `present` ticks or
    `items` makes a pair as a collector without bounds would.

    >>> from hubbub.privacy.unit import Session
    >>> from hubbub.released import Keys
    >>> neighbours(Session(max_ticks=2), Keys(["front", "news"]), ticks=4).with_unit[1]
    Counts(tick=1, 2 keys, <confidential>)
    """
    whole(ticks, "ticks", "A stream has at least one tick.")
    if present is None:
        if unit.max_ticks > ticks:
            raise InvalidParameter(
                f"`ticks` must be at least the unit's max_ticks; got ticks={ticks}, max_ticks={unit.max_ticks}.",
                "Otherwise the unit's whole effect would not be seen.",
            )
        start = 1 if ticks > unit.max_ticks else 0
        present = range(start, start + unit.max_ticks)
    touched = min(len(keys), unit.max_items) if items is None else items
    base, more = [level] * len(keys), [level + (i < touched) for i in range(len(keys))]
    here = set(present)
    without = tuple(Counts.of(keys, Tick(t), base) for t in range(ticks))
    with_unit = tuple(Counts.of(keys, Tick(t), more if t in here else base) for t in range(ticks))
    return Pair(with_unit, without)
