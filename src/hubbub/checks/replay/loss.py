"""What the difference between two neighbours costs, exactly, and what may be charged for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from hubbub.checks.failure import expect
from hubbub.checks.replay.tape import Law, Row
from hubbub.noise import DiscreteLaplace
from hubbub.privacy import Guarantee, Window
from hubbub.released import Cost


class Loss:
    """How far what the draws were given lies apart, in the currency of a guarantee, step by step.

    A draw of Laplace noise of scale s that is given d more or less costs d/s of epsilon, one of Gaussian noise of
    variance v costs d^2/(2v) of rho. Under zCDP an epsilon counts as epsilon^2/2 (Bun & Steinke 2016, Prop. 1.4).
    """

    def __init__(self, guarantee: Guarantee) -> None:
        self._pure = guarantee.kind == "pure"
        self._epsilon: dict[int, Fraction] = defaultdict(Fraction)
        self._rho: dict[int, Fraction] = defaultdict(Fraction)

    @classmethod
    def between(cls, one: Iterable[Row], two: Iterable[Row], guarantee: Guarantee) -> Loss:
        loss = cls(guarantee)
        for first, second in zip(one, two, strict=True):
            moved = np.where(first.used, first.given - second.given, 0)
            for step in np.unique(first.when[moved != 0]).tolist():
                loss.add(first.law, step, moved[first.when == step].tolist())
        return loss

    def add(self, law: Law, step: int, moved: Sequence[int]) -> None:
        if law.kind is DiscreteLaplace:
            self._epsilon[step] += sum(map(abs, moved)) / law.parameter
            return
        expect(not self._pure, "Gaussian noise was drawn under a pure guarantee: no epsilon alone bounds it.")
        self._rho[step] += sum(d * d for d in moved) / (2 * law.parameter)

    @property
    def steps(self) -> list[int]:
        return sorted({*self._epsilon, *self._rho})

    def over(self, steps: Iterable[int]) -> Fraction:
        """Of these steps together: epsilon for a pure guarantee, rho for others."""
        chosen = list(steps)
        epsilons = [self._epsilon[step] for step in chosen if step in self._epsilon]
        if self._pure:
            return sum(epsilons, Fraction(0))
        rho = sum((self._rho[step] for step in chosen if step in self._rho), Fraction(0))
        return rho + sum((epsilon**2 / 2 for epsilon in epsilons), Fraction(0))

    @property
    def total(self) -> Fraction:
        return self.over(self.steps)


def worst(loss: Loss, ticks: Mapping[int, int], guarantee: Guarantee) -> Fraction:
    """What one unit was charged at most; `ticks` tells the tick of a step. Of a `Window`, over any of its length."""
    if not isinstance(guarantee.unit, Window):
        return loss.total
    wide = guarantee.unit.ticks
    by_tick = sorted((ticks[step], step) for step in loss.steps)
    spans = ([step for tick, step in by_tick if first <= tick < first + wide] for first, _ in by_tick)
    return max(map(loss.over, spans), default=Fraction(0))


def amount(cost: Cost, guarantee: Guarantee) -> Fraction:
    """What a tick says that it cost, in the guarantee's currency. Written apart from `Account` on purpose."""
    return cost.epsilon if guarantee.kind == "pure" else cost.rho + cost.epsilon**2 / 2
