"""What an estimator knows of keys that were not there before: nothing is learned twice when a domain changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.released import Discovered, Domain

Array = NDArray[np.float64]

NEW = -1
"""The source of a key that was not there before."""


@dataclass(frozen=True, slots=True, eq=False)
class Heritage:
    """Count and variance that are believed of each key now, and where each key stood before; `NEW` where nowhere."""

    level: Array
    variance: Array
    sources: NDArray[np.intp]

    @property
    def kept(self) -> NDArray[np.bool_]:
        return np.asarray(self.sources != NEW)


def inherit(before: Domain, after: Domain, level: Array, variance: Array) -> Heritage | None:
    """The belief about the keys of `after`, from what was believed of those of `before`; None if no key stays.

    A key that stays keeps its belief. One that is new is thought to be like its kind, the other keys, give or take all
    of it. Where there is an `other`, everything new was part of it until now and everything that retired is part of it
    from now on: so new keys begin with no more than it had, and what they take it loses. All of this is made from
    noisy values.

    >>> found = Discovered(["/"], decision="site.keys tick 0")
    >>> more = Discovered(["/", "/news"], decision="site.keys tick 1")
    >>> inherit(found, more, np.array([80.0, 20.0]), np.array([4.0, 4.0])).level.tolist()
    [80.0, 10.0, 10.0]
    """
    places = {name: place for place, name in enumerate(before.names)}
    sources = np.array([places.get(name, NEW) for name in after.names], dtype=np.intp)
    kept = sources != NEW
    if not kept.any():
        return None
    new = int((~kept).sum())
    levels, variances = np.zeros(len(sources)), np.zeros(len(sources))
    levels[kept], variances[kept] = level[sources[kept]], variance[sources[kept]]
    other = _other(before, after)
    kind = np.delete(level, other[0]) if other is not None else level
    expected = float(np.mean(np.maximum(kind, 0.0))) if len(kind) else np.inf
    if other is not None:
        was, now = other
        had = max(float(level[was]), 0.0)
        expected = min(expected, had / (new + 1))
        gone = np.setdiff1d(np.arange(len(level)), sources[kept])
        levels[now] = max(had + float(level[gone].sum()) - new * expected, 0.0)
        variances[now] += float(variance[gone].sum()) + new * expected**2
    levels[~kept] = expected
    variances[~kept] = expected**2 + (float(np.mean(variance)) if len(variance) else 0.0)
    return Heritage(levels, variances, sources)


def _other(before: Domain, after: Domain) -> tuple[int, int] | None:
    """Where `other` stands in both, if both have one of the same name."""
    if isinstance(before, Discovered) and isinstance(after, Discovered) and before.other == after.other:
        return len(before) - 1, len(after) - 1
    return None
