"""A plan: how wrong each method will be, said before anything is released."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.exact import Exact, whole
from hubbub.mechanism import options_of, read_options
from hubbub.mechanism.option import unknown
from hubbub.methods import method_named, usual_method
from hubbub.planning.budgets import usual_budgets
from hubbub.planning.expectations import USUAL, Expectation, budget_for, error_of_zeros, expectations
from hubbub.planning.simulated import simulated_series
from hubbub.privacy import Guarantee, Unit
from hubbub.released import Tick
from hubbub.released.shown import ROWS, Shown, more
from hubbub.series import CountSeries, read_series
from hubbub.series.releasing import Progress, protected_unit
from hubbub.series.silence import is_sparse, remedy

LEVEL, TICKS = 500.0, 365
HOPELESS = 0.8
"""A method whose error is more than this share of that of zeros says hardly more than they do."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What each method's error will be under each budget, on average and in lucky and unlucky runs.

    `zeros` is the error of saying nothing but zeros: whoever is above it had better say nothing. `usual` is the method
    that a single series gets if none is named. `needed` is, for a wished `error`, the budget that buys it by method.
    """

    expectations: tuple[Expectation, ...]
    unit: Unit
    series: str
    ticks: int
    runs: int
    mean: float
    zeros: float
    usual: tuple[str, ...]
    error: float | None = None
    needed: Mapping[str, float | None] | None = None
    note: str = ""
    """What to know about the choice that was made; empty where there was none."""

    @property
    def currency(self) -> str:
        """What its budgets are amounts of: epsilon or rho."""
        return "epsilon" if self.expectations[0].guarantee.rho is None else "rho"

    @property
    def shown(self) -> Shown:
        return Shown(
            f"Average relative error on {self.series}, {self.ticks:,} ticks, {self.unit.noun} protected",
            ["method", self.currency, "error", "lucky to unlucky", "about ±", "95 % intervals held"],
            [*map(_row, self.expectations), ["only zeros", "", f"{self.zeros:.3g}", "", f"{self.mean:,.3g}", ""]],
            [f"If you name no method, a single series gets {' or '.join(self.usual)} here.", *self.warnings],
        )

    @property
    def warnings(self) -> list[str]:
        """Of which budgets almost nothing could be said, and what would help; empty where all buy something."""
        by_budget: dict[float, list[Expectation]] = {}
        for e in self.expectations:
            by_budget.setdefault(e.strength, []).append(e)
        told = []
        for strength, tried in by_budget.items():
            best = min(tried, key=lambda e: e.error)
            why = ""
            if best.error > HOPELESS * self.zeros:
                errors = f"an error of {best.error:.2g}, and zeros have {self.zeros:.2g}"
                why = f"the best method, {best.method}, has {errors}"
            elif best.measured is not None and is_sparse(best.measured, self.ticks):
                why = f"the best method, {best.method}, can measure {best.measured:.0f} of {self.ticks:,} ticks only"
            if why:
                told.append(f"With {self.currency} {strength:g} almost nothing can be said: {why}.")
        return [*told, remedy(self.unit)] if told else []

    @property
    def wished(self) -> Shown | None:
        """The budgets that buy the wished error; None where none was wished."""
        if self.needed is None:
            return None
        rows = [[name, "more than were tried" if x is None else f"{x:.2g}"] for name, x in self.needed.items()]
        return Shown(f"{self.currency.capitalize()} for an error of {self.error:g}", ["method", self.currency], rows)

    def plot(self, path: str | Path) -> None:
        """A line per method over its budgets, as one HTML file."""
        from hubbub.series.plots import lines

        points: dict[str, list[tuple[Any, float, float]]] = {}
        for e in self.expectations:
            points.setdefault(e.method, []).append((e.strength, e.error, (e.unlucky - e.lucky) / 2))
        lines(Path(path), "expected relative error", self.currency, "error", points, log_x=True, log_y=True)

    def to_dict(self) -> dict[str, Any]:
        return {
            "unit": type(self.unit).__name__.lower(),
            "ticks": self.ticks,
            "runs": self.runs,
            "series": self.series,
            "zeros": self.zeros,
            "usual": list(self.usual),
            "warnings": self.warnings,
            "expectations": [e.to_dict() for e in self.expectations],
            f"{self.currency}_for_error": None if self.needed is None else dict(self.needed),
        }

    def __str__(self) -> str:
        return "\n\n".join(str(table) for table in (self.shown, self.wished) if table is not None)

    def __repr__(self) -> str:
        return f"<Plan: {len(self.expectations):,} expectations on {self.series}, {self.ticks:,} ticks>"

    def _repr_html_(self) -> str:
        shown, wished = self.shown, self.wished
        below = [*more(len(shown.rows), "rows"), *shown.below]
        first = Shown(shown.title, shown.columns, shown.rows[:ROWS], below).html
        return first if wished is None else first + wished.html


def plan(
    series: Any = None,
    *,
    key: str | None = None,
    level: float | None = None,
    ticks: int | None = None,
    epsilon: Exact | None = None,
    delta: Exact | None = None,
    rho: Exact | None = None,
    unit: Unit | str = "user",
    max_ticks: int | None = None,
    max_items: int = 1,
    horizon: int | None = None,
    kind: str | None = None,
    error: float | None = None,
    methods: Sequence[str] | None = None,
    options: Mapping[str, Any] | None = None,
    runs: int = 5,
    gaps: str = "refuse",
    dates: str | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Try every method on a PUBLIC series (whatever `read_series` reads), or on a made-up one of about `level` a tick.

    Nothing here is protected: a plan made from confidential counts would tell of them. Without a budget a range of
    them is tried, of one `kind` (`usual_budgets`); with a wished relative `error`, the plan says which of them buys it.

    >>> made = plan(level=500, ticks=30, unit="event", epsilon=1, methods=["lpa"], runs=2)
    >>> made, made.expectations[0].error < 0.01
    (<Plan: 1 expectations on a simulated series about 500, 30 ticks>, True)
    """
    whole(runs, "runs", "5 give a first idea.")
    if error is not None and not error > 0:
        raise InvalidParameter(f"`error` must be above 0; got {error}.", "0.1 is ten per cent.")
    source, note, counted, present, tick = _counted(series, key, level, ticks, gaps, dates)
    protected = protected_unit(unit, len(counted), max_ticks=max_ticks, max_items=max_items, horizon=horizon)
    guarantees = _budgets(protected, {"epsilon": epsilon, "delta": delta, "rho": rho}, kind, error)
    chosen = list(methods or USUAL[type(protected)])
    done = _counter(progress, len(chosen) * len(guarantees))
    expected = expectations(
        counted, guarantees, chosen, runs, tick=tick, present=present, options=_by_method(chosen, options), done=done
    )
    return Plan(
        tuple(expected),
        protected,
        source,
        len(counted),
        runs,
        float(counted[present].mean()),
        error_of_zeros(counted[present]),
        tuple(sorted({usual_method(guarantee, 1) for guarantee in guarantees})),
        error,
        None if error is None else {name: budget_for(expected, name, error) for name in chosen},
        note,
    )


def _counter(progress: Progress | None, steps: int) -> Callable[[], None]:
    """Called after each step, it tells `progress` how many are done."""
    numbers = count(1)

    def step() -> None:
        if progress is not None:
            progress(next(numbers), steps)

    return step


def _budgets(
    unit: Unit, budget: Mapping[str, Exact | None], kind: str | None, error: float | None
) -> list[Guarantee]:  # fmt: skip
    """The one that was named, or a range of them."""
    if budget["epsilon"] is None and budget["rho"] is None:
        return usual_budgets(unit, kind, budget["delta"])
    if error is not None:
        raise InvalidParameter("Give a budget or a wished error, not both.", "One of them follows from the other.")
    if kind is not None:
        raise InvalidParameter(
            f"`kind` says which budgets are tried if none is given; got {kind!r} and a budget.",
            "Leave one of them out: epsilon is pure, with a delta approximate, rho is zcdp.",
        )
    return [Guarantee.parse(unit, epsilon=budget["epsilon"], delta=budget["delta"], rho=budget["rho"])]


def _counted(
    series: Any, key: str | None, level: float | None, ticks: int | None, gaps: str, dates: str | None
) -> tuple[str, str, NDArray[np.int64], NDArray[np.bool_], Callable[[int], Tick]]:
    """What is tried on: its name, a note, its counts, which of them are there, and the times of its ticks."""
    if series is None:
        if key is not None:
            raise InvalidParameter(
                "`key` (--key) chooses a column of a public series, and none is given.", "Give one, or leave it out."
            )
        about = LEVEL if level is None else level
        made = simulated_series(about, whole(TICKS if ticks is None else ticks, "ticks", "365 days are a year."), 7)
        return f"a simulated series about {about:g}", "", made, np.full(len(made), True), Tick
    if level is not None:
        raise InvalidParameter(
            "`level` (--level) is for a simulated series, and a public one is given.", "Leave one of them out."
        )
    public = series if isinstance(series, CountSeries) else read_series(series, gaps=gaps, dates=dates)
    column = 0 if key is None else public.keys.position(key)
    length = len(public) if ticks is None else whole(ticks, "ticks", "Leave it out to use the whole series.")
    called = Path(series).name if isinstance(series, (str, Path)) else "the table"
    names = public.keys.names
    note = f"{called} has {len(names):,} keys: the plan is for the first, {names[0]!r} (`key`, --key, chooses)."
    source = f"the public series {names[column]!r} of {called}"
    several = key is None and len(names) > 1
    return source, note if several else "", public.values[:length, column], public.present[:length], public.tick


def _by_method(methods: Sequence[str], options: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    """Each option to those of the methods that have it."""
    kinds = [method_named(name) for name in methods]
    given = options or {}
    for name in given:
        if not any(name in options_of(kind) for kind in kinds):
            raise unknown(kinds[0], name)
    return {
        kind.name: read_options(kind, {n: x for n, x in given.items() if n in options_of(kind)}) for kind in kinds
    }  # fmt: skip


def _row(e: Expectation) -> list[str]:
    return [
        e.method,
        f"{e.strength:g}",
        f"{e.error:.3g}",
        f"{e.lucky:.3g} to {e.unlucky:.3g}",
        f"{e.absolute:,.3g}",
        f"{100 * (e.coverage or 0):.0f} %",
    ]
