"""Trees of any arity in which noise is drawn ahead, so that a prefix may lean on sums that are not complete yet."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.exact import whole
from hubbub.noise import IntegerNoise
from hubbub.ranges.strategy import Strategy, checked_shares
from hubbub.ranges.tree_walk import TreeWalk
from hubbub.ranges.walk import Walk

WIDEST = 64
"""Children of a node. Their noises are held in memory, so this bounds the state to 64 numbers per level and key."""

_OFFSETS = 512
_KEPT = 4096


@dataclass(frozen=True)
class Tree(Strategy):
    """A row of top nodes, each with `arity[0]` children, each of those with `arity[1]`, and so on; a leaf is a tick.

    Every node has noise z of its own, level 0 being the top. A node's error E over its whole span is settled before
    its first tick; its children then get e(c) = z(c) + (w(c) - w(c-1)) (E - sum of z), with weights w from w(0) = 0 on.
    So at the boundary after i children the error is z(1) + ... + z(i) + w(i) (E - sum of z), and

    - **least squares** (`subtracts=False`): w(i) = trust i/k. The difference between what the parent says and what the
      children say is spread evenly, as the least squares estimate does; `trust` is how far the top node is believed
      against the sum of its children (below the top it is 1: what the children could add is small for a large arity).
    - **subtraction** (`subtracts=True`): w(i) = 0 up to half of the children and 1 beyond: count forward from the
      start, or backward from the end, whichever is nearer (balanced digits).

    Both give L R = A: put the true sums in place of z, and each e(c) is the child's true sum.

    With b(p) the weight of E in the error at point p of a node, b' the same inside the child that holds p, and d whole
    children before p, z(c) weighs 1 - b for c <= d, b' - b for c = d + 1, and -b beyond. `uses` adds up their squares.

    >>> two = Tree((32,), trust=Fraction(32, 33))
    >>> two.size, two.spans
    (32, (32, 1))
    >>> [round(use, 3) for use in two.uses(0, 32)]  # (32/33)^2 of the top, and 32 leaves of weight 1/33
    [0.94, 0.029]
    """

    arity: tuple[int, ...]
    subtracts: bool = False
    trust: Fraction = Fraction(1)
    shares: tuple[Fraction, ...] = ()
    kind: ClassVar[str] = "tree"
    looks_ahead: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "arity", tuple(self.arity))
        object.__setattr__(self, "trust", Fraction(self.trust))
        if not self.arity or any(not 2 <= whole(k, "arity") <= WIDEST for k in self.arity) or self.size > 2**30:
            raise InvalidParameter(
                f"`arity` must be numbers from 2 to {WIDEST} with a product of at most 2^30; got {self.arity}.",
                "More children than that are better put under one more level.",
            )
        if not 0 < self.trust <= 1 or self.trust.denominator > WIDEST + 1 or (self.subtracts and self.trust != 1):
            raise InvalidParameter(
                f"`trust` must be above 0 and at most 1, with a denominator of at most {WIDEST + 1}, and 1 where "
                f"children are subtracted; got {self.trust}.",
                "Leave it out to believe the top node alone.",
            )
        object.__setattr__(self, "shares", checked_shares(self.shares, len(self.arity) + 1))

    @cached_property
    def size(self) -> int:  # type: ignore[override]
        return math.prod(self.arity)

    @cached_property
    def spans(self) -> tuple[int, ...]:
        return tuple(accumulate(self.arity, lambda span, k: span // k, initial=self.size))

    @cached_property
    def denominator(self) -> int:  # type: ignore[override]
        return 1 if self.subtracts else self.size * self.trust.denominator

    def walk(self, noises: Sequence[IntegerNoise], keys: int) -> Walk:
        return TreeWalk(self, noises, keys)

    @property
    def title(self) -> str:
        how = "subtraction" if self.subtracts else "least squares"
        return f"tree of {' x '.join(map(str, self.arity))} with {how}"

    @cached_property
    def steps(self) -> tuple[tuple[float, ...], ...]:
        """For each level below the top w(0) to w(k)."""
        return tuple(tuple(float(w) for w in self.weights(j)) for j in range(len(self.arity)))

    def weights(self, j: int) -> tuple[Fraction, ...]:
        """w(0) to w(k) for the children of level j, exactly."""
        k = self.arity[j]
        if self.subtracts:
            return tuple(Fraction(i > k // 2) for i in range(k + 1))
        return tuple(Fraction(i, k) * (self.trust if j == 0 else 1) for i in range(k + 1))

    @cached_property
    def whole_weights(self) -> tuple[tuple[int, NDArray[np.int64]], ...]:
        """w(i) - w(i-1) as whole multiples of 1/m, one m per level: dividing by m first then leaves no remainder."""
        levels = []
        for j in range(len(self.arity)):
            weights = self.weights(j)
            common = math.lcm(*(w.denominator for w in weights))
            changes = np.array([[int((b - a) * common)] for a, b in pairwise(weights)], dtype=np.int64)
            levels.append((common, changes))
        return tuple(levels)

    # ── one range, in plain numbers: fast enough for a query ─────────────────────────────────────────────────────

    def uses(self, a: int, b: int) -> list[float]:
        tree_a, a = divmod(a, self.size)
        tree_b, b = divmod(b, self.size)
        if tree_a == tree_b:
            return self._within(a, b)
        uses = self._remembered(self._tails, a, self._tail)
        if b:
            uses = list(map(operator.add, uses, self._remembered(self._heads, b, self._head)))
        whole_trees = tree_b - tree_a - 1
        return [u + whole_trees * f for u, f in zip(uses, self._full, strict=True)] if whole_trees else uses

    @cached_property
    def _heads(self) -> dict[int, list[float]]:
        return {}

    @cached_property
    def _tails(self) -> dict[int, list[float]]:
        return {}

    @staticmethod
    def _remembered(known: dict[int, list[float]], p: int, make: Callable[[int], list[float]]) -> list[float]:
        """Queries meet the same few places of a tree over and over."""
        values = known.get(p)
        if values is None:
            if len(known) >= _KEPT:
                known.clear()
            values = known[p] = make(p)
        return values

    @cached_property
    def _full(self) -> list[float]:
        return self._within(0, self.size)

    def _head(self, b: int) -> list[float]:
        """`_within(0, b)`, which is one point."""
        digits, weights = self._chain(b)
        uses = [weights[0] ** 2]
        for k, d, weight, inner in zip(self.arity, digits, weights, weights[1:], strict=False):
            uses.append(d * (1 - weight) ** 2 + (inner - weight) ** 2 + (k - d - 1) * weight**2)
        return uses

    def _tail(self, a: int) -> list[float]:
        """`_within(a, size)`: at the end only the children of the top weigh in, all alike."""
        digits, weights = self._chain(a)
        rest = self.steps[0][-1] - weights[0]
        inner, k, d = weights[1], self.arity[0], digits[0]
        uses = [rest**2, d * rest**2 + (1 - inner - rest) ** 2 + (k - d - 1) * (1 - rest) ** 2]
        for j in range(1, len(digits)):
            uses.append(_point(self.arity[j], digits[j], weights[j], weights[j + 1]))
        return uses

    def _chain(self, p: int) -> tuple[list[int], list[float]]:
        """At each level how many whole children lie before p, and the weight b of the parent's error there."""
        digits = []
        for span in self.spans[1:]:
            digits.append(p // span)
            p %= span
        below = 0.0
        weights = [0.0]
        for w, d in zip(reversed(self.steps), reversed(digits), strict=True):
            below = w[d] + (w[d + 1] - w[d]) * below if d + 1 < len(w) else w[d]
            weights.append(below)
        return digits, weights[::-1]

    def _within(self, a: int, b: int) -> list[float]:
        """`uses` of a range inside one tree; b may be its end."""
        digits_a, weights_a = self._chain(a)
        digits_b, weights_b = self._chain(b)
        uses = [(weights_b[0] - weights_a[0]) ** 2]
        together = True
        for j, k in enumerate(self.arity):
            da, db, pa, pb = digits_a[j], digits_b[j], weights_a[j], weights_b[j]
            inner_a, inner_b = weights_a[j + 1], weights_b[j + 1]
            change = pb - pa
            if not together:
                uses.append(_point(k, da, pa, inner_a) + _point(k, db, pb, inner_b))
            elif da == db:
                own = (inner_b - inner_a - change) ** 2 if da < k else change**2
                uses.append((k - 1) * change**2 + own)
            else:
                total = da * change**2 + (1 - inner_a - change) ** 2 + (db - da - 1) * (1 - change) ** 2
                if db < k:
                    total += (inner_b - change) ** 2 + (k - db - 1) * change**2
                uses.append(total)
                together = False
        return uses

    # ── many ranges at once: for choosing, where the mean over all places is wanted ──────────────────────────────

    def mean_uses(self, lengths: NDArray[np.int64]) -> NDArray[np.float64]:
        n = self.size
        if n <= _OFFSETS:
            starts = np.arange(n)
        else:  # one start out of each of 512 equal parts; the multiplier only scatters them
            part = np.arange(_OFFSETS) * n // _OFFSETS
            starts = part + (np.arange(_OFFSETS) * 7919) % (n // _OFFSETS)
        a, length = (grid.ravel() for grid in np.broadcast_arrays(starts[None, :], np.asarray(lengths)[:, None]))
        trees, b = np.divmod(a + length, n)
        apart = trees > 0
        uses = self._many(a, np.where(apart, n, b))
        uses += np.where(apart, self._many(np.zeros_like(b), b), 0.0)
        uses += np.maximum(trees - 1, 0) * np.array(self._full)[:, None]
        mean: NDArray[np.float64] = uses.reshape(len(uses), len(lengths), len(starts)).mean(axis=2).T
        return mean

    def step_uses(self, first: int, count: int) -> NDArray[np.float64]:
        a = np.arange(first, first + count) % self.size
        return self._many(a, a + 1).T

    def _chains(self, p: NDArray[np.int64]) -> tuple[list[NDArray[np.int64]], list[NDArray[np.float64]]]:
        digits, rest = [], p
        for span in self.spans[1:]:
            digits.append(rest // span)
            rest = rest % span
        weights = [np.zeros(len(p))]
        for w, d in zip(reversed(self.steps), reversed(digits), strict=True):
            ends = np.array((*w, w[-1]))
            weights.append(ends[d] + (ends[d + 1] - ends[d]) * weights[-1])
        return digits, weights[::-1]

    def _many(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        digits_a, weights_a = self._chains(a)
        digits_b, weights_b = self._chains(b)
        uses = [(weights_b[0] - weights_a[0]) ** 2]
        together = np.ones(len(a), dtype=bool)
        for j, k in enumerate(self.arity):
            da, db, pa, pb = digits_a[j], digits_b[j], weights_a[j], weights_b[j]
            inner_a, inner_b = weights_a[j + 1], weights_b[j + 1]
            change, same = pb - pa, da == db
            square = change**2
            beyond = np.where(db < k, (inner_b - change) ** 2 + (k - db - 1) * square, 0.0)
            parted = da * square + (1 - inner_a - change) ** 2 + (db - da - 1) * (1 - change) ** 2 + beyond
            common = (k - 1) * square + np.where(da < k, (inner_b - inner_a - change) ** 2, square)
            single = _points(k, da, pa, inner_a) + _points(k, db, pb, inner_b)
            uses.append(np.where(together, np.where(same, common, parted), single))
            together &= same
        return np.array(uses)

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "arity": list(self.arity),
            "subtracts": self.subtracts,
            "trust": str(self.trust),
            "shares": [str(share) for share in self.shares],
        }


def _point(k: int, d: int, weight: float, inner: float) -> float:
    """Squared weights of k siblings' noises at one point."""
    if d == k:
        return k * (1 - weight) ** 2
    return d * (1 - weight) ** 2 + (inner - weight) ** 2 + (k - d - 1) * weight**2


def _points(
    k: int, d: NDArray[np.int64], weight: NDArray[np.float64], inner: NDArray[np.float64]
) -> NDArray[np.float64]:
    last = np.where(d < k, (inner - weight) ** 2 + (k - d - 1) * weight**2, 0.0)
    points: NDArray[np.float64] = d * (1 - weight) ** 2 + last
    return points
