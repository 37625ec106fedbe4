"""Which strategy the next segment takes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction

import numpy as np

from hubbub.errors import InvalidParameter
from hubbub.exact import whole
from hubbub.ranges.calibration import Calibration
from hubbub.ranges.catalogue import catalogue, heights
from hubbub.ranges.fenwick import Fenwick
from hubbub.ranges.history import QueryHistory
from hubbub.ranges.strategy import Strategy, best_shares
from hubbub.ranges.toeplitz import LONGEST, SMALLEST, Toeplitz
from hubbub.ranges.tree import Tree

METHODS = (
    "auto", "hq-rtp", "hq-rtp-mm", "k-ary", "multi-level", "none", "rtp", "rtp-mm", "toeplitz", "two-level",
)  # fmt: skip
"""What `make_chooser` knows."""

FORECASTS = ("mean", "weighted")


class Chooser(ABC):
    """Decides from the lengths of queries, which are public; so its choice costs nothing."""

    @abstractmethod
    def choose(self, history: QueryHistory) -> Strategy: ...


class Always(Chooser):
    """The same strategy for every segment."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy

    def choose(self, history: QueryHistory) -> Strategy:  # noqa: ARG002
        return self._strategy


class BestHeight(Chooser):
    """HQ_RTP, and with `optimised` HQ_RTPMM: the Fenwick height with the least error at the forecast length.

    Wu 2019, Alg. 2, with the exact expected number of nodes in place of Eq. 16.
    """

    def __init__(self, window: int, calibration: Calibration, *, optimised: bool, forecast: str) -> None:
        self._calibration = calibration
        self._optimised = optimised
        self._forecast = forecast
        self._trees = [Fenwick(height) for height in heights(window)]
        self._last: tuple[int, Strategy] | None = None

    def choose(self, history: QueryHistory) -> Strategy:
        length = max(1, round(history.mean if self._forecast == "mean" else history.weighted))
        if self._last is None or self._last[0] != length:
            best = [self._at(tree, length) for tree in self._trees]
            self._last = length, min(best, key=lambda pair: pair[0])[1]
        return self._last[1]

    def _at(self, tree: Fenwick, length: int) -> tuple[float, Strategy]:
        uses = tree.mean_uses(np.array([length]))[0]
        strategy: Strategy = tree
        if self._optimised:
            strategy = optimised(tree, uses, self._calibration)
        return float(uses @ self._calibration.unit_variance(strategy)), strategy  # as the paper reckons


class BestOfAll(Chooser):
    """`auto`: the least expected error over the whole histogram of lengths, among every strategy of the catalogue."""

    FINALISTS = 4

    def __init__(self, window: int, calibration: Calibration) -> None:
        self._calibration = calibration
        self._catalogue = catalogue(window, calibration.pure)
        levels = self._catalogue.uses.shape[2]
        ticks = calibration.guarantee.unit.max_ticks
        weights = np.zeros((len(self._catalogue.strategies), levels))
        for i, strategy in enumerate(self._catalogue.strategies):
            own = (1.0,) * len(strategy.shares) if calibration.pure else strategy.square_weights(ticks)
            weights[i, : len(own)] = own
        self._weights = weights

    def choose(self, history: QueryHistory) -> Strategy:
        uses = np.tensordot(history.shares, self._catalogue.uses, axes=(0, 1))
        # With the best shares the error is proportional to these; see `best_shares`.
        if self._calibration.pure:
            errors = np.cbrt(uses).sum(axis=1) ** 3
        else:
            errors = np.sqrt(uses * self._weights).sum(axis=1) ** 2
        # Shares are rounded to a grid, and noise to whole numbers: let the best few say what they really give. No tree
        # at all (the first) is always heard: it gains most from whole-number noise.
        finalists = dict.fromkeys([0, *np.argsort(errors, kind="stable")[: self.FINALISTS].tolist()])
        best = [self._at(i, uses[i]) for i in finalists]
        return min(best, key=lambda pair: pair[0])[1]

    def _at(self, i: int, uses: np.typing.NDArray[np.float64]) -> tuple[float, Strategy]:
        plain = self._catalogue.strategies[i]
        own = uses[: len(plain.shares)]
        strategy = optimised(plain, own, self._calibration)
        return self._calibration.error(strategy, own), strategy


def optimised(strategy: Strategy, uses: np.typing.NDArray[np.float64], calibration: Calibration) -> Strategy:
    """The strategy with the shares that are best where level j is used `uses[j]` times (the "MM" part)."""
    if len(strategy.shares) == 1:
        return strategy
    if calibration.pure:
        return strategy.with_shares(best_shares(uses, pure=True))
    weights = np.array(strategy.square_weights(calibration.guarantee.unit.max_ticks))
    return strategy.with_shares(best_shares(uses * weights, pure=False))


def make_chooser(method: str, window: int, calibration: Calibration, forecast: str = "mean") -> Chooser:
    """The chooser of that name for a window of so many ticks."""
    whole(window, "window")
    if forecast not in FORECASTS:
        raise InvalidParameter(f"There is no forecast {forecast!r}.", f"Known: {', '.join(FORECASTS)}.")
    full = Fenwick(window.bit_length())
    uniform = QueryHistory(window)
    if method == "auto":
        return BestOfAll(window, calibration)
    if method in ("hq-rtp", "hq-rtp-mm"):
        return BestHeight(window, calibration, optimised=method == "hq-rtp-mm", forecast=forecast)
    if method == "none":
        return Always(Fenwick(1))
    if method == "rtp":
        return Always(full)
    if method == "rtp-mm":  # for lengths of all orders of magnitude alike, since it knows no queries
        return Always(optimised(full, uniform.shares @ full.mean_uses(uniform.grid), calibration))
    if method == "toeplitz":
        if window < SMALLEST:
            raise InvalidParameter(f"A Toeplitz segment has at least {SMALLEST} ticks; the window has {window}.")
        return Always(Toeplitz(min(1 << (window.bit_length() - 1), LONGEST)))
    if method in ("two-level", "multi-level", "k-ary"):
        return Always(_tree(method, window, calibration, uniform))
    raise InvalidParameter(f"There is no method {method!r}.", f"Known: {', '.join(METHODS)}.")


def _tree(method: str, window: int, calibration: Calibration, workload: QueryHistory) -> Strategy:
    """The best tree of its family for ranges of all orders of magnitude alike."""
    family: dict[str, list[Strategy]] = {
        "two-level": [Tree((k,), trust=Fraction(k, k + 1)) for k in range(2, 65)],
        "multi-level": [Tree((k,) * depth) for depth in (2, 3) for k in range(2, 33)],
        "k-ary": [Tree((k,) * depth, subtracts=True) for depth in (1, 2, 3) for k in range(3, 34, 2)],
    }
    fitting = [tree for tree in family[method] if tree.size <= window]
    if not fitting:
        smallest = min(tree.size for tree in family[method])
        raise InvalidParameter(
            f"The smallest {method} tree spans {smallest} ticks; the window has {window}.", "Use a larger window."
        )

    def error(tree: Strategy) -> float:
        uses = workload.shares @ tree.mean_uses(workload.grid)
        return calibration.error(tree, uses)

    return min(fitting, key=error)
