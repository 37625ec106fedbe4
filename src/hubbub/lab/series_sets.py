"""Which series may be looked at while something is chosen, and which only check what was chosen.

The split was made before the first result on any of these series was seen (but for those of the paper, on which the
method had been tuned before). Look at `TUNING` as often as you like. Run `HELD_OUT` when everything is decided, and
report it whatever it says; whoever chooses by it must find other series to check with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from hubbub.errors import InvalidInput
from hubbub.lab import more_series as more
from hubbub.lab.public_series import SERIES, PublicSeries
from hubbub.lab.simulated_series import FAMILIES, simulated

Load = Callable[[], PublicSeries]


def _drawn(seeds: tuple[int, ...]) -> dict[str, Load]:
    return {f"{family} {seed}": partial(simulated, family, seed) for family in FAMILIES for seed in seeds}


TUNING: Mapping[str, Load] = MappingProxyType(
    {
        **SERIES,
        "hourly bicycles": more.hourly_bicycles,
        "old people": more.old_people,
        "syndromic 2": partial(more.syndromic, 2),
        "citations": partial(more.histogram, "citations", "HEPTH.n4096"),
        **_drawn((1, 2)),
    }
)

HELD_OUT: Mapping[str, Load] = MappingProxyType(
    {
        "later unemployment": more.later_unemployment,
        "all influenza": more.all_influenza,
        "small children": more.small_children,
        "later bicycles": more.later_bicycles,
        "syndromic 1": partial(more.syndromic, 1),
        "syndromic 3": partial(more.syndromic, 3),
        "patents": partial(more.histogram, "patents", "PATENT.n4096"),
        "bids": partial(more.histogram, "bids", "bids_m"),
        "requests": more.requests,
        "at work": more.at_work,
        "impressions": more.impressions,
        "sports pages": more.sports_pages,
        **_drawn((101, 102)),
    }
)

SETS: Mapping[str, Mapping[str, Load]] = MappingProxyType({"paper": SERIES, "tuning": TUNING, "held-out": HELD_OUT})


def series_set(name: str) -> Mapping[str, Load]:
    """The series of a set, by name.

    >>> len(series_set("held-out")), set(series_set("tuning")) & set(series_set("held-out"))
    (28, set())
    """
    if name not in SETS:
        raise InvalidInput(f"There is no set of series {name!r}.", f"Known: {', '.join(SETS)}.")
    return SETS[name]
