"""How many items each method publishes at the same (epsilon, delta): `python -m hubbub.lab.item_tables`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hubbub.exact import Exact
from hubbub.itemlogs import Adaptive, ItemLog, ItemMethod, Weighted, Zealous
from hubbub.lab.item_data import LOGS
from hubbub.noise import ByteSource, simulation

EPSILON, DELTA = 1, "1e-6"
MAX_ITEMS = (1, 2, 3, 5, 10, 20, 50)
RUNS = 10

Make = Callable[[Exact, Exact, int, int, ByteSource], ItemMethod]
"""From epsilon, delta, `max_items`, the number of users, and bytes."""


def _adaptive(epsilon: Exact, delta: Exact, m: int, _: int, source: ByteSource) -> ItemMethod:
    """What `publish_items` takes for `adaptive`: with one item a user that is ZEALOUS."""
    return Zealous(epsilon, delta, m, source=source) if m == 1 else Adaptive(epsilon, delta, m, source=source)


METHODS: dict[str, Make] = {
    "zealous, probabilistic": lambda e, d, m, users, source: Zealous(e, d, m, users=users, source=source),
    "zealous": lambda e, d, m, _, source: Zealous(e, d, m, source=source),
    "weighted": lambda e, d, m, _, source: Weighted(e, d, m, source=source),
    "adaptive": _adaptive,
}
"""All with counts: those with weights spend a fifth of rho on them."""


@dataclass(frozen=True, slots=True)
class Found:
    """The mean number of published items over some runs, and its standard error."""

    log: str
    max_items: int
    method: str
    mean: float
    error: float


def compare(
    logs: Iterable[str] = tuple(LOGS), max_items: Iterable[int] = MAX_ITEMS, runs: int = RUNS, seed: int = 1
) -> Iterator[Found]:
    """Every method on every log; noise and lots are repeatable."""
    for name in logs:
        log = LOGS[name]()
        users = len(np.unique(log.users.reveal()))
        for m in max_items:
            for method, make in METHODS.items():
                with simulation(seed) as source:
                    found = [_published(make(EPSILON, DELTA, m, users, source), log) for _ in range(runs)]
                spread = float(np.std(found, ddof=1) / np.sqrt(runs)) if runs > 1 else 0.0
                yield Found(name, m, method, float(np.mean(found)), spread)


def _published(method: ItemMethod, log: ItemLog) -> int:
    return len(method.publish(log))


def as_markdown(found: Iterable[Found]) -> str:
    """A table with one line for each log and `max_items`."""
    rows: dict[tuple[str, int], dict[str, str]] = {}
    for one in found:
        rows.setdefault((one.log, one.max_items), {})[one.method] = f"{one.mean:,.1f} ± {one.error:.1f}"
    head = ["log", "max_items", *METHODS]
    lines: list[Iterable[Any]] = [head, ["---"] * len(head)]
    lines += [[log, m, *(cells[name] for name in METHODS)] for (log, m), cells in rows.items()]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(
        f"Items published at epsilon = {EPSILON}, delta = {DELTA}, mean of {RUNS} runs ± standard error\n\n"
    )
    sys.stdout.write(as_markdown(compare()))
