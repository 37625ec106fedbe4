"""Noisy counts of a tree made to add up: least squares, after the fact and free of charge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Count = tuple[float, float]
"""A number, and the variance of its error."""


def consistent(counts: Mapping[str, Count], below: Mapping[str, Sequence[str]], top: str) -> dict[str, Count]:
    """The counts that add up and are nearest to those that were measured, each weighed by its variance (Hay et al.
    2010, for any tree and any variances). `below` names the parts of each node that was divided; the top, and any other
    such node, need not be measured itself. Errors of different counts must be independent.

    >>> found = consistent({"a": (10.0, 2.0), "a1": (4.0, 1.0), "a2": (4.0, 1.0)}, {"a": ["a1", "a2"]}, "a")
    >>> {name: value for name, (value, _) in found.items()}
    {'a': 9.0, 'a1': 4.5, 'a2': 4.5}
    """
    order, waiting = [], [top]
    while waiting:
        name = waiting.pop()
        order.append(name)
        waiting.extend(below.get(name, ()))
    upward: dict[str, Count] = {}
    sums: dict[str, Count] = {}
    for name in reversed(order):
        parts = [upward[part] for part in below.get(name, ())]
        if parts:
            sums[name] = sum(value for value, _ in parts), sum(variance for _, variance in parts)
        known = [one for one in (counts.get(name), sums.get(name)) if one is not None]
        upward[name] = _weighed(known)
    found = {top: upward[top]}
    for name in order:
        for part in below.get(name, ()):
            # What is missing is given to the parts by their variances.
            (value, variance), (total, spread) = upward[part], sums[name]
            gain = variance / spread
            better, less = found[name]
            found[part] = value + gain * (better - total), variance - gain * variance + gain**2 * less
    return found


def _weighed(counts: Sequence[Count]) -> Count:
    """The mean of independent counts of the same, weighed by their variances."""
    trust = sum(1 / variance for _, variance in counts)
    return sum(value / variance for value, variance in counts) / trust, 1 / trust
