"""A navigation model from public sessions.

A log is a window: sessions were there before it began, and go on after it ended. What is learned must not depend on
where it was cut.

- Whoever is there at its first tick has an unknown age, and may have begun then or long before: such sessions tell how
  people move, but not how many arrive.
- A visit in its last tick was watched no further: it tells neither that the session goes on nor that it leaves.
- The bound `max_ticks` is no such cut: what the live stream counts does end there.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hubbub.errors import InvalidModel
from hubbub.exact import whole
from hubbub.models.ages import Ages
from hubbub.models.navigation import NavigationModel
from hubbub.models.sessions import Sessions

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Start: TypeAlias = Literal["balanced", "crowd"]
STARTS: tuple[Start, ...] = ("balanced", "crowd")
_csr: Any = csr_array
_FEWEST = 2
_OPENING_KEYS = 20_000
"""Above this many keys the opening is left out: it would weigh more than the links."""


def fit(
    sessions: Sessions,
    *,
    ticks: int | None = None,
    scale: float = 1.0,
    max_ticks: int | None = None,
    start: Start = "balanced",
) -> NavigationModel:
    """M[i, j] = #(j then i) / #j, where leaving counts as going nowhere (Fan et al. 2014, Eq. 24), and arrivals.

    | option | meaning |
    |---|---|
    | `ticks` | over how many ticks the sessions spread; needed where they have no `starts` |
    | `scale` | how much larger the live stream is than the sample (20 for one of 5 %) |
    | `max_ticks` | the live stream's bound; give whole sessions: how many are cut by it matters to its first ticks |
    | `start` | what the live stream begins with: a site in balance, or a crowd of which nobody was there before |
    """
    if start not in STARTS:
        raise InvalidModel(
            f"`start` must be balanced or crowd; got {start!r}.", "A site that runs already is balanced."
        )
    if len(sessions) < _FEWEST:
        raise InvalidModel(
            f"A model cannot be learned from {len(sessions)} session{'s' if len(sessions) != 1 else ''}.",
            "Give public sessions of a few hundred visitors, or no model: `navigation` then learns as it releases.",
        )
    if not np.isfinite(scale) or scale <= 0:
        raise InvalidModel(f"`scale` must be above 0; got {scale}.", "It is live traffic over training traffic.")
    counted = sessions if max_ticks is None else sessions.truncated(whole(max_ticks, "max_ticks"))
    size = len(sessions.keys)
    span, at_first = _span(sessions, ticks, start)
    first = sessions.visits[sessions.bounds[:-1]]
    arrivals: Array = np.bincount(first[~at_first], minlength=size).astype(np.float64) * (scale / span)
    known = ~at_first if start == "balanced" else np.ones(len(sessions), dtype=bool)
    ages = Ages(counted, _watched(counted, sessions, ticks, max_ticks), known)
    matrix, level = ages.matrix(arrivals), ages.total(arrivals)
    errors = np.sqrt(4.0 * np.maximum(_entries(counted), 0.5)) * (scale / span)
    if start == "crowd":
        initial = np.bincount(first[at_first], minlength=size).astype(np.float64) * scale
        doubt = np.sqrt(initial * scale)
        expected = ages.together(initial, arrivals)
    else:
        # The live stream has counted nobody before its first tick, so its bound first cuts after `max_ticks` of them.
        cut = counted.lengths.sum() < sessions.lengths.sum()
        uncut = Ages(sessions, _watched(sessions, sessions, ticks, None), known).total(arrivals) if cut else level
        initial = uncut
        stay = 1.0 / np.maximum(1.0 - matrix.diagonal(), 1.0 / counted.lengths.max())
        doubt = errors * stay * np.divide(uncut, level, out=np.ones(size), where=level > 0)
        expected = [uncut] * int(counted.lengths.max()) + [level] if cut else []
    opening = np.zeros((0, size))
    if len(expected) > 1 and size <= _OPENING_KEYS:
        opening = np.array([then - (matrix @ now + arrivals) for now, then in pairwise(expected)])
    return NavigationModel(sessions.keys, matrix, arrivals, initial, errors, doubt, opening)


def _span(sessions: Sessions, ticks: int | None, start: Start) -> tuple[int, Flags]:
    """Over how many ticks arrivals were watched, and which sessions were there at the first tick."""
    at_first = np.zeros(len(sessions), dtype=bool)
    if sessions.starts is None:
        if ticks is None:
            raise InvalidModel(
                "The sessions do not say when they begin, so arrivals per tick are unknown.",
                "Give `ticks`, the number of ticks over which the sessions spread.",
            )
        if start == "crowd":
            raise InvalidModel(
                "The sessions do not say when they begin, so nobody knows how many the crowd at the start had.",
                "Give sessions with a column `tick`, or start balanced.",
            )
        return whole(ticks, "ticks", "Over how many ticks do the sessions spread?"), at_first
    begin, latest = int(sessions.starts.min()), int(sessions.starts.max())
    if ticks is not None and latest - begin >= whole(ticks, "ticks"):
        raise InvalidModel(
            f"The sessions begin over {latest - begin + 1:,} ticks, and `ticks` says {ticks:,}.",
            "Leave `ticks` out: the sessions tell.",
        )
    at_first = sessions.starts == begin
    if at_first.all() and start == "balanced":
        raise InvalidModel(
            "All sessions begin at the first tick, so nobody knows how many arrive later.",
            "Give sessions of more ticks, or start with a crowd.",
        )
    return max(latest - begin if ticks is None else ticks - 1, 1), at_first


def _watched(counted: Sessions, whole_ones: Sessions, ticks: int | None, bound: int | None) -> Flags:
    """Visits of which the log tells what followed: all but those in its last tick, unless the bound ends them there."""
    watched = np.ones(len(counted.visits), dtype=bool)
    if whole_ones.starts is not None:
        ends = whole_ones.starts + whole_ones.lengths - 1
        last = max(whole_ones.last_tick, 0 if ticks is None else int(whole_ones.starts.min()) + ticks - 1)
        watched[counted.bounds[1:] - 1] = (ends < last) | (False if bound is None else counted.lengths == bound)
    return watched


def _entries(sessions: Sessions) -> Array:
    """How often each page was entered.

    A page entered N times in the sample has a mean count (entries times stay) known to about sqrt(2/N): one part for
    the number of entries and one for how long they stay; sessions that return to a page about double that.
    """
    stays = np.zeros(len(sessions.visits), dtype=bool)
    stays[1:] = sessions.visits[1:] == sessions.visits[:-1]
    stays[sessions.bounds[:-1]] = False
    return np.bincount(sessions.visits[~stays], minlength=len(sessions.keys)).astype(np.float64)
