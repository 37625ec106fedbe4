"""What accuracy will a strength buy? The Lab's page over `hubbub.lab.planning`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.lab import planning
from hubbub.lab.planning import Expectation
from hubbub.lab.playground import samples, words
from hubbub.lab.playground.asked import PlanAsked
from hubbub.privacy import Unit

RUNS = 3
SEED = 7


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Every method that fits the unit, at every usual epsilon, a few times each, on a series that is no secret."""

    series: NDArray[np.int64]
    unit: Unit
    wished: float | None

    @classmethod
    def of(cls, asked: PlanAsked) -> Plan:
        if asked.sample is not None:
            series = samples.load(asked.sample).make()
        else:
            series = planning.simulated_series(asked.level, asked.length, SEED)
        return cls(series, asked.protected(len(series)), asked.error)

    @property
    def cells(self) -> list[tuple[str, float]]:
        methods = planning.USUAL[type(self.unit)]
        return [(method, epsilon) for method in methods for epsilon in planning.EPSILONS]

    def expect(self, method: str, epsilon: float) -> Expectation:
        (found,) = planning.expectations(self.series, self.unit, [epsilon], [method], RUNS)
        return found

    def result(self, found: list[Expectation]) -> dict[str, Any]:
        methods = list(dict.fromkeys(e.method for e in found))
        needed = None
        if self.wished is not None:
            needed = {method: planning.epsilon_for(found, method, self.wished) for method in methods}
        rows = [
            e.to_dict() | {"absolute_words": words.about(e.absolute), "word": words.strength(e.epsilon)} for e in found
        ]
        facts = {"ticks": len(self.series), "runs": RUNS, "typical": float(np.mean(self.series))}
        return facts | {"zeros": planning.error_of_zeros(self.series), "rows": rows, "needed": needed}
