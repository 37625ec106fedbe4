"""What becomes of estimates when something happens: every shape, every size of page, every budget.

| measure | meaning |
|---|---|
| `error` | mean distance from the truth, in that of plain noise; on the page that it happens to, from then on |
| `coverage` | how often the interval holds the truth there; `elsewhere`: on all other pages of the site, all the time |
| `width` | of the interval there, in that of plain noise's interval |
| `ticks_to_notice` | until the value has gone half the way from the old level to a lasting new one |
| `false_alarms` | of 1,000 ticks of pages that nothing happens to: those whose value is further from the truth than the
  noise is on average and than three times what chance does to the count |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.lab.experiment import run_series
from hubbub.lab.metrics import average_relative_error, coverage
from hubbub.lab.shape_sites import LONG, SETS, Site
from hubbub.lab.shapes import SHAPES, Crowd
from hubbub.mechanism import OnlineMechanism
from hubbub.models import NavigationModel
from hubbub.noise import ByteSource, simulation
from hubbub.privacy import Guarantee, Session
from hubbub.release import Adaptive, Lpa, Navigation, Ukf
from hubbub.released import Keys

Series = tuple[NDArray[np.float64], ...]
Row = dict[str, Any]
MAX_TICKS = 20
EPSILONS = (0.01, 0.1, 1.0)
SIZES = (0.25, 1.0, 4.0, 50.0)
"""Of the page that it happens to, in scales of the noise."""
TOLD = (
    "calm", "page_dies", "new_page", "swap", "sawtooth", "threefold_rise", "nightly_cycle", "bouncing_crowd",
    "flash_crowd",
)  # fmt: skip
LASTING = ("page_dies", "new_page", "swap", "threefold_rise")
EVERYWHERE = ("nightly_cycle",)
METHODS = ("plain", "zeros", "ukf", "adaptive", "navigation", "navigation + model")
_BOUNCING = 5.0
"""How many times the page's own size bounces off it."""
Make = Callable[[Keys, Guarantee, NavigationModel, ByteSource], OnlineMechanism]
_MAKERS: dict[str, Make] = {
    "plain": lambda keys, promise, _, source: Lpa(keys, promise, source=source),
    "ukf": lambda keys, promise, _, source: Ukf(keys, promise, source=source),
    "adaptive": lambda keys, promise, _, source: Adaptive(keys, promise, source=source),
    "navigation": lambda keys, promise, _, source: Navigation(keys, promise, source=source),
    "navigation + model": lambda keys, promise, model, source: Navigation(keys, promise, model=model, source=source),
}


@dataclass(frozen=True, slots=True)
class Size:
    """How much is run."""

    epsilons: tuple[float, ...] = EPSILONS
    sizes: tuple[float, ...] = SIZES
    repeats: int = 2
    ticks: int = 200
    sites: int = 3
    """How many sites at most."""

    @classmethod
    def quick(cls) -> Size:
        return cls(epsilons=(0.1, 1.0), sizes=(0.25, 4.0), repeats=1, sites=1)


def steps(size: Size, which: str) -> int:
    """How often the two experiments together call `done`."""
    sites = len(SETS[which][: size.sites])
    return len(size.epsilons) * (len(TOLD) * len(size.sizes) * sites + len(LONG[which][: size.sites]))


def run_shapes(
    size: Size, which: str, seed: int, done: Callable[[], Any], methods: tuple[str, ...] = METHODS
) -> list[Row]:
    """One row a site, shape, size, epsilon and method: the means over `size.repeats` crowds."""
    rows = []
    with simulation(seed) as source:
        for make in SETS[which][: size.sites]:
            for epsilon in size.epsilons:
                for factor in size.sizes:
                    site = make().with_page(factor * MAX_TICKS / epsilon)
                    for shape in TOLD:
                        rows += _shape(site, shape, factor, epsilon, size, seed, source, methods)
                        done()
    return rows


def run_long(
    size: Size, which: str, seed: int, done: Callable[[], Any], methods: tuple[str, ...] = METHODS
) -> list[Row]:
    """Whole sites in ordinary times: average relative error and coverage over all pages, of the later half."""
    rows, half = [], size.ticks // 2
    with simulation(seed + 1) as source:
        for make in LONG[which][: size.sites]:
            site = make()
            for epsilon in size.epsilons:
                runs = _runs(site, "calm", 0.0, epsilon, size, seed, source, methods)
                for method in methods:
                    found = [(truth[half:], *(part[half:] for part in told[method])) for truth, told in runs]
                    rows.append(
                        {
                            "site": site.name, "epsilon": epsilon, "method": method,
                            "relative_error": _mean(average_relative_error(v, x) for x, v, _, _ in found),
                            "coverage": _mean(coverage(low, up, x) for x, _, low, up in found),
                        }
                    )  # fmt: skip
                done()
    return rows


def _mean(values: Any) -> float:
    return float(np.mean(list(values)))


def _runs(
    site: Site, shape: str, page_size: float, epsilon: float, size: Size, seed: int, source: ByteSource,
    methods: tuple[str, ...],
) -> list[tuple[NDArray[np.int64], dict[str, Series]]]:  # fmt: skip
    promise = Guarantee.pure(Session(MAX_TICKS), str(epsilon))
    bouncing = _BOUNCING * page_size if shape == "bouncing_crowd" else 0.0
    runs = []
    for number in range(size.repeats):
        rng = np.random.default_rng([seed, number, sum(map(ord, site.name + shape)), round(1000 * epsilon)])
        model = site.fitted(rng)
        truth = Crowd(site.truth()).counts(SHAPES.get(shape, SHAPES["calm"]), 0, size.ticks, rng, bouncing)
        told: dict[str, Series] = {}
        for method in methods:
            if method == "zeros":
                told[method] = (np.zeros(truth.shape),) * 3
            else:
                told[method] = run_series(_MAKERS[method](model.keys, promise, model, source), truth)
        runs.append((truth, told))
    return runs


def _shape(
    site: Site, shape: str, factor: float, epsilon: float, size: Size, seed: int, source: ByteSource,
    methods: tuple[str, ...],
) -> list[Row]:  # fmt: skip
    noise = MAX_TICKS / epsilon
    runs = _runs(site, shape, factor * noise, epsilon, size, seed, source, methods)
    since = size.ticks // (4 if shape in ("calm", "sawtooth", *EVERYWHERE) else 2)
    others = slice(2, None) if shape == "swap" else slice(1, None)
    rows = []
    for method in methods:
        row: Row = {"site": site.name, "shape": shape, "size": factor, "epsilon": epsilon, "method": method}
        found = [(truth, *told[method]) for truth, told in runs]
        # Plain noise errs by its scale on average, and its 95 % interval is 2 ln 20 scales wide.
        plain = 2 * np.log(20) * noise
        row["error"] = _mean(np.abs(v - x)[since:, 0].mean() / noise for x, v, _, _ in found)
        row["coverage"] = _mean(coverage(low[since:, 0], up[since:, 0], x[since:, 0]) for x, _, low, up in found)
        row["elsewhere"] = _mean(coverage(low[:, others], up[:, others], x[:, others]) for x, _, low, up in found)
        row["width"] = _mean((up - low)[since:, 0].mean() / plain for _, _, low, up in found)
        row["width_elsewhere"] = _mean((up - low)[:, others].mean() / plain for _, _, low, up in found)
        row["ticks_to_notice"] = row["false_alarms"] = None
        if shape in LASTING:
            row["ticks_to_notice"] = _mean(_noticed(x[:, 0], v[:, 0]) for x, v, _, _ in found)
        if shape not in EVERYWHERE:
            row["false_alarms"] = _mean(_alarms(x[:, others], v[:, others], noise) for x, v, _, _ in found)
        rows.append(row)
    return rows


def _noticed(truth: NDArray[Any], values: NDArray[Any]) -> float:
    """Ticks from the middle on until the value has gone half the way; all that are left if it never does."""
    middle = len(truth) // 2
    before, after = truth[middle // 2 : middle].mean(), truth[-middle // 2 :].mean()
    there = np.flatnonzero((values[middle:] - before) * np.sign(after - before) >= abs(after - before) / 2)
    return float(there[0]) if len(there) else float(middle)


def _alarms(truth: NDArray[Any], values: NDArray[Any], noise: float) -> float:
    return 1000.0 * float(np.mean(np.abs(values - truth) > np.maximum(noise, 3.0 * np.sqrt(truth))))
