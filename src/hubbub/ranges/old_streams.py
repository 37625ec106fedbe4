"""Streams that were made while Toeplitz trees in a row shared one memory: what they may have cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from hubbub.privacy import Guarantee
from hubbub.privacy.zcdp import epsilon_of_rho
from hubbub.ranges.segment import segment_ticks
from hubbub.ranges.toeplitz import LARGEST, LONGEST, SMALLEST, Toeplitz

FAULTY = 1
"""The version of states that such streams wrote. From 2 on, each tree begins with nothing (docs/errata.md)."""

_SMALLEST_OF_AUTO = 64


def doubt(method: str, guarantee: Guarantee, window: int) -> str:
    """A sentence for the owner of a stream whose stored state has the version `FAULTY`; empty if all is well.

    >>> from hubbub.privacy import Event
    >>> doubt("auto", Guarantee.zcdp(Event(), "1/2"), 10_000)
    'What was promised as rho = 0.5 may have cost up to 1.17 times that, rho = 0.581: ...'
    >>> doubt("auto", Guarantee.pure(Event(), 1), 10_000), doubt("two-level", Guarantee.zcdp(Event(), 1), 10_000)
    ('', '')
    """
    size = _shortest_tree(method, window)
    if guarantee.kind == "pure" or not size or segment_ticks(size, window) == size:
        return ""
    factor = excess(size, segment_ticks(size, window) // size, guarantee.unit.max_ticks)
    rho = float(guarantee.budget)
    if guarantee.kind == "zcdp":
        promised, cost = f"rho = {rho:.3g}", f"{_up(factor)} times that, rho = {_up(factor * rho)}"
    else:
        promised = f"epsilon = {float(guarantee.epsilon or 0):.3g} with delta = {float(guarantee.delta):.3g}"
        epsilon = float(epsilon_of_rho(Fraction(factor) * guarantee.budget, guarantee.delta - guarantee.aside))
        cost = f"epsilon = {_up(epsilon)} with the same delta ({_up(factor)} times its rho)"
    return (
        f"What was promised as {promised} may have cost up to {cost}: "
        "an earlier version put several Toeplitz trees in a row under noise for one."
    )


def _shortest_tree(method: str, window: int) -> int:
    """The smallest Toeplitz tree that the method could take, 0 if none: the more of them in a row, the worse."""
    if method == "auto" and window >= _SMALLEST_OF_AUTO:
        return _SMALLEST_OF_AUTO
    if method == "toeplitz" and window >= SMALLEST:
        return min(1 << (window.bit_length() - 1), LONGEST)
    return 0


@lru_cache(maxsize=256)
def excess(size: int, trees: int, max_ticks: int) -> float:
    """What a unit could cost over what it was charged, for so many trees of `size` ticks with one memory.

    The filter had the matrix R of all the trees together, which is that of a tree of `size * trees` ticks with a reach
    of `size`; the noise was that of inner products over `size` ticks.

    >>> round(excess(64, 5, 1), 3), round(excess(64, 5, 20), 3), round(excess(64, 1, 20), 3)
    (1.161, 1.344, 1.0)
    """
    if trees == 1:
        return 1.0
    alone, together = Toeplitz(size), Toeplitz(min(size * trees, LARGEST), reach=size)
    ticks = min(max_ticks, size)
    r = alone.coefficients
    length = 1 << (2 * size - 1).bit_length()
    inner = np.fft.irfft(np.abs(np.fft.rfft(r, length)) ** 2, length)[:ticks]
    charged = float(inner[0] + 2 * np.sum((1 - np.arange(1, ticks) / ticks) * inner[1:]))
    charged *= (1 + alone.rounding_change / float(np.sqrt(inner[0]))) ** 2
    return max(1.0, together.square_weights(max_ticks)[0] / charged)


def is_doubtful(facts: Mapping[str, Any], could_be: bool) -> bool:
    """Whether a stored state of version `FAULTY` may have cost more: one of its segments did, or a forgotten one could.

    `could_be` says whether the stream's method takes several Toeplitz trees in a row.
    """
    segments: Sequence[Mapping[str, Any]] = facts["segments"]
    seen = any(one["strategy"]["kind"] == "toeplitz" and one["measured"] > one["strategy"]["size"] for one in segments)
    return bool(seen or (could_be and facts["next"] > facts["window"]))


def as_it_ran(facts: Mapping[str, Any]) -> dict[str, Any]:
    """A segment of a state of version `FAULTY`, with the strategy that was in force: so its stated errors are right."""
    strategy = facts["strategy"]
    if strategy["kind"] != "toeplitz" or facts["measured"] <= strategy["size"]:
        return dict(facts)
    ticks = min(LARGEST, 1 << (facts["measured"] - 1).bit_length())
    return {**facts, "strategy": {**strategy, "size": ticks, "reach": strategy["size"]}}


def _up(number: float) -> str:
    """Three digits, rounded up: a bound is never stated too low."""
    places = 2 - int(np.floor(np.log10(number)))
    return f"{np.ceil(number * 10.0**places) / 10.0**places:.3g}"
