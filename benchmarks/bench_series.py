"""What one long series costs a tick, and how wrong it is beside the simplest methods, in one run.

python -m benchmarks.bench_series
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from hubbub.confidential import Counts
from hubbub.methods import make_mechanism
from hubbub.noise import simulation
from hubbub.planning import expectations, simulated_series
from hubbub.privacy import Guarantee, User
from hubbub.released import Keys, Tick

LIMIT = "one core: some forty NumPy calls on some 50 to 100 models a tick, and a plan now and then"


def milliseconds_a_tick(method: str, ticks: int, keys: int = 1, **settings: Any) -> float:
    names = Keys([f"k{i}" for i in range(keys)])
    series = simulated_series(2000, ticks, 3)
    with simulation(4) as source:
        releaser = make_mechanism(method, names, Guarantee.pure(User(horizon=ticks), 1), source=source, **settings)
        rows = [Counts.of(names, Tick(t), np.full(keys, x)) for t, x in enumerate(series)]
        begin = time.process_time()
        for row in rows:
            releaser.release(row)
        return 1000 * (time.process_time() - begin) / ticks


def main() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    plain = min(milliseconds_a_tick("lpa", 500) for _ in range(3))
    for words, more in (("adaptive", {}), ("adaptive with a week and a year", {"periods": [7, 365.25]})):
        spent = min(milliseconds_a_tick("adaptive", 500, **more) for _ in range(3))
        goal = "at most 2 ms a tick"
        rows.append(
            {"what": words, "value": spent, "unit": "ms/tick", "peer": "lpa", "ratio": spent / plain, "goal": goal}
        )
    short, long = milliseconds_a_tick("adaptive", 400), milliseconds_a_tick("adaptive", 4000)
    rows.append(
        {"what": "adaptive, 4,000 ticks", "value": long, "unit": "ms/tick", "peer": "400 ticks", "ratio": long / short,
         "goal": "flat: about 1"}
    )  # fmt: skip
    many = milliseconds_a_tick("adaptive", 30, keys=200) / 200
    rows.append(
        {"what": "adaptive, one of 200 keys", "value": many, "unit": "ms/tick", "peer": "one key",
         "ratio": many / short, "goal": "below 1"}
    )  # fmt: skip
    series = simulated_series(500, 120, 7)
    found = expectations(series, [Guarantee.pure(User(horizon=120), "0.1")], ["adaptive", "sample", "fast", "lpa"], 6)
    ours = found[0].error
    for other in found[1:]:
        rows.append(
            {"what": "relative error, 120 ticks, epsilon 0.1", "value": ours, "unit": "", "peer": other.method,
             "ratio": ours / other.error, "goal": "below 1"}
        )  # fmt: skip
    return [{**row, "limit": LIMIT if row["unit"] else "the noise"} for row in rows]


if __name__ == "__main__":
    from benchmarks.__main__ import show

    show("bench_series", main())
