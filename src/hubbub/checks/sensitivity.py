"""What one unit can do to the numbers that get noise, exactly, and whether that is what it is charged for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations
from math import comb
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from hubbub.checks.failure import expect
from hubbub.checks.response import Noise, Response
from hubbub.noise import DiscreteLaplace
from hubbub.privacy import Unit, Window

Places: TypeAlias = NDArray[np.intp]

TOLERANCE = 1e-3
"""Published numbers are whole, so an impulse of 2^15 tells a weight to 1/2^15, and norms of hundreds to this."""

BLANK = 1e-4
"""Below this part of the largest, an inner product is what rounding left of zero."""

ENUMERATED = 20_000
"""So many placements are tried one by one; where there are more, runs, strides and a greedy search."""


@dataclass(frozen=True)
class Sensitivity:
    """`found` is what a unit at `placement` costs; `at_most` bounds every unit; `charged` is what the account says.

    In epsilon (sum of changes over scales) or in rho (sum of squared changes over twice the variances).
    """

    currency: str
    found: float
    at_most: float
    charged: float
    placement: tuple[int, ...]
    segments: int

    @property
    def kept(self) -> bool:
        return max(self.found, self.at_most) <= self.charged * (1 + TOLERANCE)

    def __str__(self) -> str:
        ticks = ", ".join(map(str, self.placement[:8])) + (", …" if len(self.placement) > 8 else "")
        return (
            f"charged {self.currency} = {self.charged:.4g}; a unit in ticks {ticks} costs {self.found:.4g}, "
            f"{self.found / self.charged:.3f} x; any unit at most {self.at_most:.4g}"
        )


def sensitivity_of(response: Response, unit: Unit) -> Sensitivity:
    """The worst unit over the whole stream that was read: all segments, all restarts, any placement.

    W says what one more in a tick does to each noisy number: `noises` W = `counts`, so that shifting the noises by W d
    gives the same output as the unit d does. Every such W proves a bound, and for numbers that can be read off what is
    published it is the only one.
    """
    shifts = shifts_of(response)
    residual = float(np.abs(response.noises @ shifts - response.counts).max(initial=0.0))
    expect(
        residual <= 64 / 2**15,
        f"What is published is no function of noisy sums: the noise leaves {residual:.3g} of a count uncovered.",
    )
    pure = isinstance(response.draws[0].noise, DiscreteLaplace)
    amounts = np.array([_price(draw.noise) for draw in response.draws])
    most = min(unit.max_ticks, len(response.ticks))
    if pure:
        each = amounts @ np.abs(shifts)
        cost, placement = float(np.sort(each)[-most:].sum()), np.sort(np.argsort(each, kind="stable")[-most:])
        if isinstance(unit, Window):
            cost, placement = max(((float(each[run].sum()), run) for run in _runs(response, most)), key=_first)
        at_most = cost  # the norm of a sum is at most the sum of norms
        cost = float(amounts @ np.abs(shifts[:, placement].sum(axis=1)))
    else:
        gram = shifts.T @ (amounts[:, None] * shifts)
        cost, placement = _worst(response, unit, gram, most)
        at_most = most * _rate(response, shifts, amounts, most)
    return Sensitivity(
        "epsilon" if pure else "rho",
        unit.max_items * cost,
        unit.max_items * at_most,
        float(response.charged),
        tuple(response.ticks[placement].tolist()),
        len(set(response.segments.tolist())),
    )


def check_sensitivity(response: Response, unit: Unit) -> Sensitivity:
    """The same, refused if it is more than what is charged."""
    result = sensitivity_of(response, unit)
    expect(result.kept, f"A unit costs more than it is charged for: {result}.")
    return result


def _price(noise: Noise) -> float:
    """What a change by one (pure), or the square of it (zCDP), costs under this noise."""
    if isinstance(noise, DiscreteLaplace):
        return float(1 / noise.scale)
    return float(1 / (2 * noise.variance_parameter))


def _first(pair: tuple[float, Places]) -> float:
    return pair[0]


# ── what a unit does to the noisy numbers ────────────────────────────────────────────────────────────────────────────


def shifts_of(response: Response) -> NDArray[np.float64]:
    """W, one row per noise and one column per measured tick, segment by segment.

    Where there are as many noises as published numbers, they can be read off, and W is solved for. A strategy that
    looks ahead has more noises than it publishes numbers: there W is which ticks a node spans, as the strategy says.
    """
    shifts = np.zeros((len(response.draws), len(response.ticks)))
    owners = np.array([draw.segment for draw in response.draws])
    for segment, strategy in enumerate(response.strategies):
        ticks, drawn = np.flatnonzero(response.segments == segment), np.flatnonzero(owners == segment)
        if not len(ticks):
            continue
        if strategy is not None and strategy.looks_ahead:
            for n in drawn.tolist():
                span, index = strategy.spans[response.draws[n].level], response.draws[n].index
                shifts[n, ticks[index * span : (index + 1) * span]] = 1.0
            continue
        # Drawn ahead, and not used by any tick of the script: no part of what was published.
        used = drawn[np.abs(response.noises[:, drawn]).max(axis=0) > 0]
        noises, counts = (np.diff(part[ticks], axis=0, prepend=0) for part in (response.noises, response.counts))
        if ticks[0]:
            noises[0] -= response.noises[ticks[0] - 1]
            counts[0] -= response.counts[ticks[0] - 1]
        shifts[np.ix_(used, ticks)] = np.linalg.lstsq(noises[:, used], counts[:, ticks], rcond=None)[0]
    return shifts


# ── the worst placement ──────────────────────────────────────────────────────────────────────────────────────────────


def _runs(response: Response, most: int) -> Iterator[Places]:
    """The measured ticks within each `most` consecutive ticks."""
    for start in range(int(response.ticks[0]), int(response.ticks[-1]) + 1):
        inside = np.flatnonzero((response.ticks >= start) & (response.ticks < start + most))
        if len(inside):
            yield inside


def _worst(response: Response, unit: Unit, gram: NDArray[np.float64], most: int) -> tuple[float, Places]:
    """The placement of at most `most` ticks that costs most, of those tried; changes by one are all of one sign."""
    count = len(gram)
    tried: Iterable[Places]
    if isinstance(unit, Window):
        tried = _runs(response, most)
    elif comb(count, most) <= ENUMERATED:
        tried = (np.array(chosen) for chosen in combinations(range(count), most))
    else:
        places = np.arange(count)
        runs = (places[start : start + most] for start in range(count - most + 1))
        rows = (places[start::step][:most] for step in (2, 3, 4, 8, 16, 32, 64) for start in range(min(step, count)))
        grown = (_grown(gram, start, most) for start in range(0, count, max(1, count // 32)))
        tried = chain(runs, rows, grown)
    return max(((float(gram[np.ix_(at, at)].sum()), at) for at in tried), key=_first)


def _grown(gram: NDArray[np.float64], start: int, most: int) -> Places:
    """From one tick on, always the tick that adds most."""
    chosen = [start]
    gains = np.diag(gram) + 2 * gram[start]
    gains[start] = -np.inf
    while len(chosen) < most:
        best = int(np.argmax(gains))
        chosen.append(best)
        gains += 2 * gram[best]
        gains[best] = -np.inf
    return np.sort(np.array(chosen))


def _rate(response: Response, shifts: NDArray[np.float64], amounts: NDArray[np.float64], most: int) -> float:
    """A bound of rho for each tick of a unit, whichever `most` ticks it has, whatever the signs of its changes.

    The numbers of one level fall into blocks that share no tick (a node, or a Toeplitz tree). The i-th and the j-th
    tick of a unit in a block, counted from 0, lie no earlier than at i and j, and no nearer than j - i: so their inner
    product is at most H(i, j), the largest over such places, and n ticks cost at most the sum of H over i, j < n. A
    unit with n(b) ticks in block b pays at most its largest rate times the sum of the n(b); levels add up, and of
    segments the costliest counts.
    """
    costliest = 0.0
    for segment in set(response.segments.tolist()):
        ticks = response.segments == segment
        levels: dict[int, list[int]] = {}
        for n, draw in enumerate(response.draws):
            if draw.segment == segment:
                levels.setdefault(draw.level, []).append(n)
        total = 0.0
        for rows in levels.values():
            part = shifts[rows][:, ticks]
            gram = np.abs(part.T @ (amounts[rows][:, None] * part))
            total += max((_block_rate(gram[np.ix_(at, at)], most) for at in _blocks(gram)), default=0.0)
        costliest = max(costliest, total)
    return costliest


def _blocks(gram: NDArray[np.float64]) -> list[Places]:
    joined = csr_array(gram > BLANK * gram.max(initial=0.0))
    count, names = connected_components(joined, directed=False)
    return [np.flatnonzero(names == name) for name in range(count)]


def _block_rate(gram: NDArray[np.float64], most: int) -> float:
    """The largest bound for n ticks over n, n up to `most`."""
    size = len(gram)
    bounds = np.zeros(min(most, size))
    beyond = np.zeros(0)
    for gap in range(size - 1, -1, -1):
        here = np.diagonal(gram, gap).copy()
        here[:-1] = np.maximum(here[:-1], beyond)
        beyond = np.maximum.accumulate(here[::-1])[::-1]  # H(i, i + gap), over i
        together = np.cumsum(beyond) * (1 if gap == 0 else 2)
        if gap < len(bounds):
            bounds[gap:] += together[: len(bounds) - gap]
    return float((bounds / np.arange(1, len(bounds) + 1)).max())
