"""The published vector of one tick."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.released.cost import Cost
from hubbub.released.keys import Keys
from hubbub.released.rounding import plus_minus
from hubbub.released.tick import Tick

_ROWS_SHOWN = 20


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """What the public sees of a tick: for each key an estimate, how wrong it may be, and the measurement behind it.

    `values` are estimates with `standard_errors` and a 95 % interval `lower` to `upper`; `measurements` are the noisy
    counts they rest on, with their `noise_variance`, or None where the tick was only predicted (then it cost nothing,
    or its budget was lost in a crash). People want the estimate, detectors often the measurement.

    >>> r = Release(Tick(0), Keys(["front"]), np.array([812.0]), np.array([28.3]), np.array([752.0]), np.array([872.0]))
    >>> print(r)
    tick 0 (predicted)
    front  812 ± 28
    >>> r["front"]
    812.0
    """

    tick: Tick
    keys: Keys
    values: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    measurements: NDArray[np.int64] | None = None
    noise_variance: float | None = None
    cost: Cost = field(default_factory=Cost.nothing)

    def __post_init__(self) -> None:
        shape, measurements = (len(self.keys.names),), self.measurements
        for array in (self.values, self.standard_errors, self.lower, self.upper, measurements):
            if array is None:
                continue
            if array.shape != shape:
                name = next(name for name in self.__slots__ if getattr(self, name) is array)
                raise InvalidParameter(f"A release's `{name}` must have one entry a key; got shape {array.shape}.")
            array.setflags(write=False)  # faster than through `flags`, and a release is made for every tick
        if (measurements is None) != (self.noise_variance is None):
            raise InvalidParameter("A release has measurements with their noise variance, or neither.")

    @property
    def is_predicted(self) -> bool:
        """True where no measurement was made: the estimate rests on earlier ticks alone."""
        return self.measurements is None

    def __getitem__(self, key: str) -> float:
        return float(self.values[self.keys.position(key)])

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; what `--json` and the API send. An interval without end is null: JSON has no infinity."""
        start = None if self.tick.start is None else self.tick.start.isoformat()
        rows = [
            {
                "key": key,
                "value": _finite(self.values[i]),
                "standard_error": _finite(self.standard_errors[i]),
                "lower": _finite(self.lower[i]),
                "upper": _finite(self.upper[i]),
                "measurement": None if self.measurements is None else int(self.measurements[i]),
            }
            for i, key in enumerate(self.keys)
        ]
        cost = {"epsilon": str(self.cost.epsilon), "rho": str(self.cost.rho)}
        return {"tick": self.tick.index, "start": start, "predicted": self.is_predicted, "cost": cost, "keys": rows}

    def __str__(self) -> str:
        shown = self.keys.names[:_ROWS_SHOWN]
        width = max(map(len, shown))
        rows = [
            f"{name:<{width}}  {plus_minus(float(v), float(e))}"
            for name, v, e in zip(shown, self.values, self.standard_errors, strict=False)
        ]
        if len(self.keys) > _ROWS_SHOWN:
            rows.append(f"… and {len(self.keys) - _ROWS_SHOWN:,} more keys")
        return "\n".join([f"tick {self.tick}{' (predicted)' if self.is_predicted else ''}", *rows])


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
