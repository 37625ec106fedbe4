"""A navigation model from public sessions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hubbub.errors import InvalidModel
from hubbub.exact import whole
from hubbub.filters.diagonal import Matrix
from hubbub.models.navigation import NavigationModel
from hubbub.models.sessions import Sessions

Array = NDArray[np.float64]
_csr: Any = csr_array
_FEWEST = 2
_AGES = 4
"""Sessions in their first, second and third tick move otherwise than older ones; more classes gain nothing."""
_OPENING_KEYS = 20_000
"""Above this many keys the opening is left out: it would weigh more than the links."""


def fit(sessions: Sessions, *, ticks: int | None = None, scale: float = 1.0) -> NavigationModel:
    """M[i, j] = #(j then i) / #j, where leaving counts as going nowhere (Fan et al. 2014, Eq. 24), and arrivals.

    Sessions with `starts` give the first tick's sessions apart from the later arrivals; without them, sessions are
    spread evenly over `ticks`. `scale` is how much larger the live stream is than the sample (20 for one of 5 %).
    """
    if len(sessions) < _FEWEST:
        raise InvalidModel(
            f"A model cannot be learned from {len(sessions)} session{'s' if len(sessions) != 1 else ''}.",
            "Give public sessions of a few hundred visitors, or no model: `navigation` then learns as it releases.",
        )
    if not np.isfinite(scale) or scale <= 0:
        raise InvalidModel(f"`scale` must be above 0; got {scale}.", "It is live traffic over training traffic.")
    size = len(sessions.keys)
    pairs = _moves(sessions)
    matrix = _chances(pairs, sessions.visits, size)
    first = sessions.visits[sessions.bounds[:-1]]
    at_first = np.zeros(len(sessions), dtype=bool)
    if sessions.starts is not None:
        begin = int(sessions.starts.min())
        span = max(int(sessions.starts.max()) - begin, 1) if ticks is None else max(whole(ticks, "ticks") - 1, 1)
        at_first = sessions.starts == begin
    elif ticks is not None:
        span = whole(ticks, "ticks", "Over how many ticks do the sessions spread?")
    else:
        raise InvalidModel(
            "The sessions do not say when they begin, so arrivals per tick are unknown.",
            "Give `ticks`, the number of ticks over which the sessions spread.",
        )
    arrivals: Array = np.bincount(first[~at_first], minlength=size).astype(np.float64) * (scale / span)
    # A page entered N times in the sample has a mean count (entries times stay) known to about sqrt(2/N): one part
    # for the number of entries and one for how long they stay; sessions that return to a page about double that.
    entries = np.bincount(first, minlength=size) + np.asarray(pairs.sum(axis=1) - pairs.diagonal()).ravel()
    errors = np.sqrt(4.0 * np.maximum(entries, 0.5)) * (scale / span)
    model = NavigationModel.of(sessions.keys, matrix, arrivals, None, errors)
    initial, opening = model.initial, model.opening
    doubt = np.zeros(size)
    if at_first.any():
        initial = np.bincount(first[at_first], minlength=size).astype(np.float64) * scale
        doubt = np.sqrt(initial * scale)
        if size <= _OPENING_KEYS:
            opening = _opening(sessions, matrix, initial, arrivals)
    return NavigationModel(sessions.keys, matrix, arrivals, initial, errors, doubt, opening)


def _moves(sessions: Sessions, kept: NDArray[np.bool_] | None = None) -> Matrix:
    """How often each page followed each other page; with `kept`, counting only visits for which it is true."""
    size, visits = len(sessions.keys), sessions.visits
    goes_on = np.ones(len(visits), dtype=bool)
    goes_on[sessions.bounds[1:] - 1] = False
    if kept is not None:
        goes_on &= kept
    from_here = np.flatnonzero(goes_on)
    pairs = _csr((np.ones(len(from_here)), (visits[from_here + 1], visits[from_here])), shape=(size, size))
    pairs.sum_duplicates()
    return pairs


def _chances(pairs: Matrix, visits: NDArray[np.int32], size: int) -> Matrix:
    seen = np.maximum(np.bincount(visits, minlength=size), 1)
    return _csr(pairs.multiply(1.0 / seen[None, :]))


def _opening(sessions: Sessions, matrix: Matrix, initial: Array, arrivals: Array) -> Array:
    """u(k): what has to be added to M x + a for the expected counts to be those of a chain that knows ages.

    A stream that begins with a crowd begins with sessions that are all in their first tick, and most of those leave
    sooner than the average session. Once arrivals and departures balance, the correction is gone.
    """
    age = np.arange(len(sessions.visits)) - np.repeat(sessions.bounds[:-1], sessions.lengths)
    chains = []
    for step in range(_AGES):
        kept = age == step if step < _AGES - 1 else age >= step
        chains.append(_chances(_moves(sessions, kept), sessions.visits[kept], len(initial)))
    cohorts = [initial] + [np.zeros(len(initial))] * (_AGES - 1)
    total, rows = initial, []
    for _ in range(int(sessions.lengths.max())):
        moved = [chain @ cohort for chain, cohort in zip(chains, cohorts, strict=True)]
        cohorts = [arrivals, *moved[:-2], moved[-2] + moved[-1]]
        after = np.sum(cohorts, axis=0)
        rows.append(after - (matrix @ total + arrivals))
        total = after
    return np.array(rows)
