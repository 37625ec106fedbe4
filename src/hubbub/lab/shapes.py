"""What happens to a site: shapes for the tests of adaptive methods.

A shape says how arrivals differ from the model's, tick by tick and page by page. `Crowd` then draws people who arrive
so, and move and leave as the model says; the counts are real people's, with their randomness.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.models import NavigationModel

Array = NDArray[np.float64]
Shape = Callable[[int, int, int], Array]
"""(ticks, keys, the page it happens to) -> what each tick's arrivals on each page are multiplied by."""


def _page(ticks: int, keys: int, page: int, factors: Array) -> Array:
    factor = np.ones((ticks, keys))
    factor[:, page] = factors
    return factor


def _tick(ticks: int) -> Array:
    return np.arange(ticks, dtype=np.float64)


def calm(ticks: int, keys: int, page: int) -> Array:  # noqa: ARG001 - all shapes are called alike
    """Nothing happens."""
    return np.ones((ticks, keys))


def flash_crowd(ticks: int, keys: int, page: int) -> Array:
    """Ten times the arrivals on one page, for ten ticks from the middle on."""
    t = _tick(ticks) - ticks // 2
    return _page(ticks, keys, page, np.where((t >= 0) & (t < 10), 10.0, 1.0))


def page_dies(ticks: int, keys: int, page: int) -> Array:
    """From the middle on, nobody arrives on one page."""
    return _page(ticks, keys, page, np.where(_tick(ticks) < ticks // 2, 1.0, 0.0))


def slow_doubling(ticks: int, keys: int, page: int) -> Array:
    """One page's arrivals double within the middle half."""
    return _page(ticks, keys, page, np.clip(4.0 * _tick(ticks) / ticks, 1.0, 3.0) / 2.0 + 0.5)


def new_page(ticks: int, keys: int, page: int) -> Array:
    """A page that has hardly any arrivals gets fifty times as many, for good."""
    return _page(ticks, keys, page, np.where(_tick(ticks) < ticks // 2, 0.1, 5.0))


def nightly_cycle(ticks: int, keys: int, page: int) -> Array:  # noqa: ARG001
    """Arrivals everywhere go up and down by four fifths, with a period of 48 ticks."""
    return np.repeat((1.0 + 0.8 * np.sin(2 * np.pi * _tick(ticks) / 48))[:, None], keys, axis=1)


def site_doubles(ticks: int, keys: int, page: int) -> Array:  # noqa: ARG001
    """Arrivals everywhere double from one tick to the next."""
    return np.repeat(np.where(_tick(ticks) < ticks // 2, 1.0, 2.0)[:, None], keys, axis=1)


def oscillation(ticks: int, keys: int, page: int) -> Array:
    """One page's arrivals change between half and five times the usual, every eight ticks."""
    return _page(ticks, keys, page, np.where(_tick(ticks) // 8 % 2 == 0, 0.5, 5.0))


def ramp(ticks: int, keys: int, page: int) -> Array:
    """One page's arrivals grow fivefold, evenly, over the second half."""
    return _page(ticks, keys, page, 1.0 + 4.0 * np.clip(2.0 * _tick(ticks) / ticks - 1.0, 0.0, 1.0))


def threefold_rise(ticks: int, keys: int, page: int) -> Array:
    """From the middle on, one page has three times its arrivals."""
    return _page(ticks, keys, page, np.where(_tick(ticks) < ticks // 2, 1.0, 3.0))


def swap(ticks: int, keys: int, page: int) -> Array:
    """From the middle on, one page has four times its arrivals and the next a quarter: two links changed places."""
    factor = threefold_rise(ticks, keys, page)
    factor[ticks // 2 :, page] = 4.0
    factor[ticks // 2 :, (page + 1) % keys] = 0.25
    return factor


def sawtooth(ticks: int, keys: int, page: int) -> Array:
    """One page's arrivals grow evenly from nothing to the double, and fall back to nothing every 25 ticks."""
    return _page(ticks, keys, page, (_tick(ticks) % 25) / 12.0)


SHAPES: dict[str, Shape] = {
    shape.__name__: shape
    for shape in (
        calm, flash_crowd, page_dies, slow_doubling, new_page, nightly_cycle, site_doubles, oscillation, ramp,
        threefold_rise, swap, sawtooth,
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """People who arrive in a shape and move as a model says."""

    model: NavigationModel

    def counts(
        self, shape: Shape, page: int, ticks: int, rng: np.random.Generator, bouncing: float = 0.0
    ) -> NDArray[np.int64]:
        """One row per tick. Each session moves by itself; the start is the model's.

        `bouncing` more people a tick, for ten ticks from the middle on, look at the page and leave at once: a crowd
        that no model of links foresees.
        """
        factors = shape(ticks, len(self.model.keys), page)
        matrix = self.model.matrix.toarray()
        chances = np.vstack([matrix, np.maximum(1.0 - matrix.sum(0), 0.0)])
        chances /= chances.sum(0)
        here = rng.poisson(self.model.initial)
        rows = [here]
        for k in range(1, ticks):
            moved = sum(rng.multinomial(int(n), chances[:, j])[:-1] for j, n in enumerate(here))
            here = np.asarray(moved + rng.poisson(self.model.arrivals * factors[k]), dtype=np.int64)
            rows.append(here)
        counts = np.array(rows)
        if bouncing:
            counts[ticks // 2 : ticks // 2 + 10, page] += rng.poisson(bouncing, len(counts[ticks // 2 :][:10]))
        return counts
