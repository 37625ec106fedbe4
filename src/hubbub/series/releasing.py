"""A whole series of counts, released at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hubbub.errors import HorizonReached, InvalidParameter
from hubbub.exact import Exact
from hubbub.mechanism import options_of, read_options
from hubbub.methods import build, method_named, usual_method
from hubbub.models import NavigationModel
from hubbub.privacy import Guarantee, Unit
from hubbub.series.count_series import CountSeries
from hubbub.series.reading import read_series
from hubbub.series.released_series import ReleasedSeries

Progress = Callable[[int, int], None]
"""Told after each step: how many are done, of how many."""

_BOUND = (
    "The counts are taken as they are. That {bound} must have been enforced by whoever counted, and the list of keys "
    "must be public: nothing here can see to either, and without them the guarantee does not hold."
)


def release_series(
    data: Any,
    *,
    epsilon: Exact | None = None,
    delta: Exact | None = None,
    rho: Exact | None = None,
    unit: Unit | str = "user",
    max_ticks: int | None = None,
    max_items: int = 1,
    horizon: int | None = None,
    method: str | None = None,
    model: NavigationModel | str | Path | None = None,
    gaps: str = "refuse",
    dates: str | None = None,
    options: Mapping[str, Any] | None = None,
    allow_weak: bool = False,
    progress: Progress | None = None,
) -> ReleasedSeries:
    """Release confidential counts: a file's path, a DataFrame of Polars or pandas, a mapping of names to lists.

    The budget is an `epsilon`, an `epsilon` with a `delta`, or a `rho`. Without a `unit` each person is protected, over
    the whole series or, if more is to come, over a `horizon` of ticks. `gaps` and `dates` are as in `read_series`,
    `options` are those of the method (docs/methods.md). All that can be refused is refused before anything is drawn.

    Guarantee
        Protects: one `unit`; neighbouring series differ in the presence of one.
        Enforced by the caller: the unit's bounds, before counting; that the keys are public (`ReleasedSeries.bound`).
        Formula: that of `method`; the sum over all ticks that one unit meets is at most the budget.
        Not covered: other series about the same people, which add up; a call again with the same counts adds up too.
        Reference: that of `method`.
        Proof: docs/proofs/perturbation.md (proved).

    >>> series = release_series({"flu": [812, 840, 799], "measles": [3, 0, 1]}, epsilon=1, max_ticks=1)
    >>> series, len(series["flu"]), series[2].tick.index
    (<ReleasedSeries: 3 ticks, Keys(flu, measles: 2), ..., epsilon = 1 for each person, over all 3 ticks>, 3, 2)
    >>> print(series.guarantee)
    Each person's presence changes any output's probability by at most a factor e^1 = 2.72, over all 3 ticks ...
    """
    if options and method is None:
        raise InvalidParameter(
            "An option sets something about a method.", "Name it, e.g. --method fast --option samples=50."
        )
    site = _model(model, method)
    series = _read(data, site, gaps, dates)
    protected = protected_unit(unit, len(series), max_ticks=max_ticks, max_items=max_items, horizon=horizon)
    guarantee = Guarantee.parse(protected, epsilon=epsilon, delta=delta, rho=rho, allow_weak=allow_weak)
    chosen = method or usual_method(guarantee, len(series.keys), modelled=site is not None)
    settings = read_options(method_named(chosen), options or {})
    if site is not None:
        settings["model"] = site
    mechanism = build(chosen, series.keys, guarantee, **settings)
    releases = []
    for release in series.released_by(mechanism):
        releases.append(release)
        if progress is not None:
            progress(len(releases), len(series))
    bound, file = _BOUND.format(bound=_bound(protected)), Path(data) if isinstance(data, (str, Path)) else None
    return ReleasedSeries(tuple(releases), guarantee, chosen, bound, file)


def protected_unit(unit: Unit | str, ticks: int, *, horizon: int | None = None, **numbers: Any) -> Unit:
    """The unit of a series of so many ticks: a person's budget lasts for these, unless a `horizon` is named."""
    protected = Unit.parse(unit, horizon=ticks if horizon is None and unit == "user" else horizon, **numbers)
    if protected.horizon is not None and ticks > protected.horizon:
        raise HorizonReached(
            f"The series has {ticks:,} ticks, the horizon only {protected.horizon:,}: nothing is promised beyond it.",
            "Nothing was spent. Give the horizon that the budget must last for, or release the rest as a new series "
            "with a budget of its own: what both publish about a person adds up.",
        )
    return protected


def _model(model: NavigationModel | str | Path | None, method: str | None) -> NavigationModel | None:
    if model is None:
        return None
    if method is not None and "model" not in options_of(method_named(method)):
        raise InvalidParameter(f"The method {method!r} takes no model.", "Use navigation (--method navigation).")
    return NavigationModel.load(Path(model)) if isinstance(model, (str, Path)) else model


def _read(data: Any, model: NavigationModel | None, gaps: str, dates: str | None) -> CountSeries:
    if not isinstance(data, CountSeries):
        return read_series(data, keys=None if model is None else model.keys, gaps=gaps, dates=dates)
    if gaps != "refuse" or dates is not None:
        raise InvalidParameter(
            "The series was read already: `gaps` and `dates` would change nothing.", "Give them to `read_series`."
        )
    return data


def _bound(unit: Unit) -> str:
    """What the guarantee rests on, in words: how often one unit counts at most."""
    keys = "one key" if unit.max_items == 1 else f"{unit.max_items:,} keys"
    if unit.max_ticks == 1:
        return f"each {unit.noun} counts once, under {keys} at most"
    if unit.max_ticks == unit.horizon:
        return f"each {unit.noun} counts under at most {keys} per tick"
    return f"each {unit.noun} counts in at most {unit.max_ticks:,} ticks, under at most {keys} in each"
