"""Runs of a mechanism as a table: one row per run, one column for each number that the public could compute."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.errors import HubbubError
from hubbub.privacy.audit.bounds import Floats
from hubbub.released import Domain, Release

ABSENT, REFUSED, PREDICTED, MEASURED = range(4)


@dataclass(frozen=True)
class Table:
    """`columns[:, j]` is what `names[j]` says, in each run; NaN where there was no such number."""

    names: tuple[str, ...]
    columns: Floats
    plain: NDArray[np.bool_]
    """Which columns are released numbers themselves, not computed from several of them: a learned score adds these."""

    def rows(self, some: slice) -> Floats:
        return self.columns[some]


class Recorder:
    """Keeps what each run released, tick by tick."""

    def __init__(self, keys: Domain, ticks: Sequence[int], runs: int) -> None:
        self.keys, self.ticks, self.runs = keys, list(ticks), runs
        shape = (runs, len(self.ticks), len(keys))
        self._fields = {
            "measurement": np.full(shape, np.nan),
            "estimate": np.full(shape, np.nan),
            "standard error": np.full(shape, np.nan),
            "lower end": np.full(shape, np.nan),
            "upper end": np.full(shape, np.nan),
        }
        self._status = np.full(shape[:2], float(ABSENT))
        self._cost = np.full(shape[:2], np.nan)
        self._place = {tick: i for i, tick in enumerate(self.ticks)}

    def record(self, run: int, stream: Sequence[Counts], release: Callable[[Counts], Release]) -> None:
        """One run. A refusal is an output like any other: if it depends on the data, it tells something."""
        for counts in stream:
            at = (run, self._place[counts.tick.index])
            try:
                made = release(counts)
            except HubbubError:
                self._status[at] = REFUSED
                continue
            self._status[at] = PREDICTED if made.measurements is None else MEASURED
            self._cost[at] = float(made.cost.epsilon or made.cost.rho)
            if made.measurements is not None:
                self._fields["measurement"][at] = made.measurements
            self._fields["estimate"][at] = made.values
            self._fields["standard error"][at] = made.standard_errors
            self._fields["lower end"][at] = made.lower
            self._fields["upper end"][at] = made.upper

    def columns(self) -> Iterator[tuple[str, Floats, bool]]:
        """(what it is in words, its value in each run, whether it is a released number itself)."""
        for i, tick in enumerate(self.ticks):
            yield f"what became of tick {tick} (0 absent, 1 refused, 2 predicted, 3 measured)", self._status[:, i], True
            yield f"the cost of tick {tick}", self._cost[:, i], True
            for field, values in self._fields.items():
                for j, key in enumerate(self.keys):
                    yield f"the {field} of {key!r} at tick {tick}", values[:, i, j], True
        yield from self._differences()
        measured = np.nan_to_num(self._fields["measurement"])
        for j, key in enumerate(self.keys):
            yield f"the sum of all measurements of {key!r}", measured[:, :, j].sum(axis=1), False
        yield "the sum of all measurements", measured.sum(axis=(1, 2)), False
        yield "the number of measured ticks", (self._status == MEASURED).sum(axis=1).astype(np.float64), False

    def _differences(self) -> Iterator[tuple[str, Floats, bool]]:
        """Noise that is used twice, for two ticks or two keys, cancels in a difference."""
        for field in ("measurement", "estimate"):
            values = self._fields[field]
            for j, key in enumerate(self.keys):
                for i in range(1, len(self.ticks)):
                    pair = f"from tick {self.ticks[i - 1]} to {self.ticks[i]}"
                    yield f"the change of the {field} of {key!r} {pair}", values[:, i, j] - values[:, i - 1, j], False
            for j in range(1, len(self.keys)):
                names = f"{self.keys.names[j]!r} minus that of {self.keys.names[0]!r}"
                for i, tick in enumerate(self.ticks):
                    yield f"the {field} of {names} at tick {tick}", values[:, i, j] - values[:, i, 0], False


def tables(one: Recorder, two: Recorder) -> tuple[Table, Table]:
    """Both recordings as tables with the same columns; what never varies between any two runs is left out."""
    names: list[str] = []
    plain: list[bool] = []
    first: list[Floats] = []
    second: list[Floats] = []
    for (name, a, is_plain), (_, b, _) in zip(one.columns(), two.columns(), strict=True):
        both = np.concatenate([a, b])
        present = both[~np.isnan(both)]
        varies = present.size and (present.size < both.size or present.min() < present.max())
        if varies and not any(np.array_equal(a, c, equal_nan=True) and np.array_equal(b, d, equal_nan=True)
                              for c, d in zip(first, second, strict=True)):  # fmt: skip
            names.append(name)
            plain.append(is_plain)
            first.append(a)
            second.append(b)
    empty = np.empty((one.runs, 0))
    flags = np.array(plain, dtype=np.bool_)
    return (
        Table(tuple(names), np.stack(first, axis=1) if first else empty, flags),
        Table(tuple(names), np.stack(second, axis=1) if second else empty, flags),
    )
