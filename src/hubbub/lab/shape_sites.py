"""Made-up sites for `hubbub reproduce shapes`: two to tune on, and others, by other hands, to check on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidInput
from hubbub.lab.site import POPULARITY
from hubbub.models import NavigationModel, Sessions
from hubbub.released import Keys

Array = NDArray[np.float64]
_SAMPLE = 20_000
_SPAN = 100
_LONGEST = 60


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """A site as it truly is: how people move, and how many arrive on each page a tick."""

    name: str
    matrix: Array
    arrivals: Array

    def truth(self) -> NavigationModel:
        return NavigationModel.of(Keys([f"page {i}" for i in range(len(self.arrivals))]), self.matrix, self.arrivals)

    def with_page(self, size: float) -> Site:
        """The same site with two pages more at its front: page 0 of this mean size, which nobody comes to by a link, so
        that its arrivals alone decide what happens to it, and page 1, four times as large, of the same kind."""
        inner = len(self.arrivals)
        matrix = np.zeros((inner + 2, inner + 2))
        matrix[2:, 2:] = self.matrix
        for page in (0, 1):
            matrix[page, page] = 0.5
            matrix[2:, page] = 0.25 * self.arrivals / self.arrivals.sum()
        return Site(self.name, matrix, np.concatenate([[0.5 * size, 2.0 * size], self.arrivals]))

    def fitted(self, rng: np.random.Generator) -> NavigationModel:
        """What `fit` learns of the site from public sessions of an ordinary time."""
        model = self.truth()
        rate = float(self.arrivals.sum())
        visits = _walks(self.matrix, self.arrivals, rng)
        lengths = (visits >= 0).sum(1)
        bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        sessions = Sessions(model.keys, visits[visits >= 0].astype(np.int32), bounds)
        return NavigationModel.fit(sessions, ticks=_SPAN, scale=rate * _SPAN / _SAMPLE)


def _walks(matrix: Array, arrivals: Array, rng: np.random.Generator) -> NDArray[np.int64]:
    """Sessions of people who walk by themselves: one row each, -1 once they are gone."""
    gone = len(arrivals)
    chances = np.zeros((gone + 1, gone + 1))
    chances[:gone, :gone] = matrix.T
    chances[:, gone] = 1.0 - chances[:, :gone].sum(1)
    steps = np.cumsum(chances, axis=1)
    here = rng.choice(gone, _SAMPLE, p=arrivals / arrivals.sum())
    rows = [here]
    for _ in range(_LONGEST - 1):
        here = np.minimum((rng.random(_SAMPLE)[:, None] > steps[here]).sum(1), gone)
        rows.append(here)
    visits = np.array(rows).T
    return np.where(visits == gone, -1, visits)


def steps() -> Site:
    """Tuning: twelve pages, each 0.62 times the one before; few links."""
    rng = np.random.default_rng(12)
    matrix = rng.dirichlet(np.full(12, 0.5), size=12).T * 0.25 + 0.5 * np.eye(12)
    return Site("steps", matrix, 300.0 * 0.62 ** np.arange(12.0))


def village() -> Site:
    """Tuning: sixty pages with a heavy tail of sizes; people stay, go on to the next two, or leave."""
    rng = np.random.default_rng(60)
    around = np.eye(60)
    matrix = 0.4 * around + 0.2 * np.roll(around, 1, axis=0) + 0.15 * np.roll(around, 2, axis=0)
    return Site("village", matrix, 1.0 + rng.pareto(1.2, 60) * 2.0)


def news() -> Site:
    """Held out: the seventeen sections of the demo's site, where whoever moves goes by popularity."""
    share = POPULARITY / POPULARITY.sum()
    return Site("news", 0.6 * np.eye(17) + 0.3 * share[:, None] * np.ones(17), 800.0 * share)


def shop() -> Site:
    """Held out: forty pages of lognormal sizes, each with five links out."""
    return _linked("shop", 40, 5, 6.0, 1.6, 40)


def archive() -> Site:
    """Held out: 497 pages, most of them visited by a few people or none."""
    return _linked("archive", 497, 4, 0.35, 1.5, 497)


def _linked(name: str, size: int, links: int, middle: float, spread: float, seed: int) -> Site:
    rng = np.random.default_rng(seed)
    matrix = np.zeros((size, size))
    for page in range(size):
        matrix[rng.choice(size, links, replace=False), page] += rng.dirichlet(np.ones(links)) * 0.35
    matrix += 0.35 * np.eye(size)
    return Site(name, matrix, rng.lognormal(np.log(middle), spread, size))


SETS: dict[str, tuple[Callable[[], Site], ...]] = {"tuning": (steps, village), "held-out": (news, shop)}
LONG: dict[str, tuple[Callable[[], Site], ...]] = {"tuning": (steps, village), "held-out": (news, shop, archive)}
"""Where it is asked how much is learned without a model: with many small pages, too."""


def named(which: str) -> str:
    """The name of a set, or a clear refusal."""
    if which not in SETS:
        raise InvalidInput(f"There is no set of sites {which!r}.", f"Choose one of: {', '.join(SETS)}.")
    return which
