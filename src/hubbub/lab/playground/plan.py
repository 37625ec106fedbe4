"""What accuracy will a strength buy? The Lab's page over `hubbub.planning`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub import planning
from hubbub.lab.playground import samples, words
from hubbub.lab.playground.asked import PlanAsked
from hubbub.planning import Expectation
from hubbub.privacy import Guarantee

RUNS = 3
SEED = 7


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Every method that fits the unit, at every usual budget, a few times each, on a series that is no secret."""

    series: NDArray[np.int64]
    guarantees: tuple[Guarantee, ...]
    wished: float | None

    @classmethod
    def of(cls, asked: PlanAsked) -> Plan:
        if asked.sample is not None:
            series = samples.load(asked.sample).make()
        else:
            series = planning.simulated_series(asked.level, asked.length, SEED)
        unit = asked.protected(len(series))
        return cls(series, tuple(planning.usual_budgets(unit, asked.kind, asked.delta)), asked.error)

    @property
    def cells(self) -> list[tuple[str, Guarantee]]:
        methods = planning.USUAL[type(self.guarantees[0].unit)]
        return [(method, guarantee) for method in methods for guarantee in self.guarantees]

    def expect(self, method: str, guarantee: Guarantee) -> Expectation:
        (expected,) = planning.expectations(self.series, [guarantee], [method], RUNS)
        return expected

    def result(self, expected: list[Expectation]) -> dict[str, Any]:
        methods = list(dict.fromkeys(e.method for e in expected))
        needed = None
        if self.wished is not None:
            needed = {method: planning.budget_for(expected, method, self.wished) for method in methods}
        rows = [_row(e) for e in expected]
        currency = "epsilon" if self.guarantees[0].rho is None else "rho"
        facts = {
            "currency": currency,
            "delta": float(self.guarantees[0].delta),
            "ticks": len(self.series),
            "runs": RUNS,
            "typical": float(np.mean(self.series)),
        }
        return facts | {"zeros": planning.error_of_zeros(self.series), "rows": rows, "needed": needed}


def _row(e: Expectation) -> dict[str, Any]:
    said = {"strength": e.strength, "word": e.guarantee.promise.strength, "absolute_words": words.about(e.absolute)}
    return e.to_dict() | said
