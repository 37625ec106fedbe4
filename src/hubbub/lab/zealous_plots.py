"""The plots of `hubbub reproduce zealous`: figures 6.2 to 6.8 of Goetz 2012."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hubbub.itemlogs.quality import Counts
from hubbub.lab.experiment_result import Lines, Plot, Point
from hubbub.lab.item_tables import METHODS
from hubbub.lab.zealous_domains import RANKED
from hubbub.lab.zealous_experiment import EPSILON, HIDDEN, PAPER, Findings, Logs, Size


def binned(counts: Counts) -> list[int]:
    """How many counts are 1, 2 to 3, 4 to 7, and so on.

    >>> binned(np.array([0, 1, 1, 3, 9]))
    [2, 1, 0, 1]
    """
    there = counts[counts > 0]
    found: list[int] = np.bincount(np.log2(there).astype(np.int64)).tolist()
    return found


Cell = dict[str, Any]


def zealous_plots(found: Findings, logs: Logs, size: Size) -> list[Plot]:
    """One plot for each part of a figure; a line for each log and what stands still."""
    return [
        *_precision(found, logs, size),
        _shapes(found),
        *_by_strength(found, size, "6_5", list(logs.domains), "difference", 1),
        *_by_strength(found, size, "6_6a", ["keywords"], "hits", 6),
        _hits(found, size),
        *_substitutions(found, size),
    ]


def _line(found: Findings, x: str, at: Sequence[Any], cell: Cell) -> list[Point]:
    cells = [{**cell, x: value} for value in at]
    return [
        (value, found.value(**one), found.error(**one))
        for value, one in zip(at, cells, strict=True)
        if not math.isnan(found.value(**one))
    ]


def _precision(found: Findings, logs: Logs, size: Size) -> Iterator[Plot]:
    """Figures 6.2 (by m) and 6.3 (by j)."""
    for measure in ("L1", "KL", "missing"):
        cell = {"method": PAPER, "epsilon": EPSILON}
        by_m, by_j = {}, {}
        for name, domain in logs.domains.items():
            for j in domain.tops:
                about = {**cell, "log": name, "measure": f"{measure}, top {j}"}
                by_m[f"{name}, top {j}"] = _line(found, "max_items", size.max_items, about)
            for m in size.max_items:
                measures = [f"{measure}, top {j}" for j in domain.tops]
                points = _line(found, "measure", measures, {**cell, "log": name, "max_items": m})
                by_j[f"{name}, m = {m}"] = [(j, *p[1:]) for j, p in zip(domain.tops, points, strict=True)]
        yield Lines(f"figure_6_2_{measure}", f"figure 6.2: {measure}", "m", measure, by_m, log_x=True)
        yield Lines(f"figure_6_3_{measure}", f"figure 6.3: {measure}", "top j", measure, by_j, log_x=True)


def _shapes(found: Findings) -> Plot:
    shapes = {
        f"{name}, {method}": [(2**place, float(n), 0.0) for place, n in enumerate(binned(counts)) if n]
        for (name, method), counts in found.shapes.items()
    }
    return Lines("figure_6_4", "figure 6.4: counts", "count", "items", shapes, log_x=True, log_y=True)


def _by_strength(
    found: Findings, size: Size, figure: str, logs: Sequence[str], measure: str, m: int
) -> Iterator[Plot]:  # fmt: skip
    """One plot over epsilon, one over k."""
    lines = {
        f"{log}, {method}": _line(
            found, "epsilon", size.epsilons, {"log": log, "method": method, "max_items": m, "measure": measure}
        )
        for log in logs
        for method in METHODS
    }
    weak = {
        log: _line(found, "k", size.hidden, {"log": log, "method": HIDDEN, "measure": measure})
        for log in logs
        if log != "clicks"
    }
    name, title = f"figure_{figure}", f"figure {figure.replace('_', '.')}: {measure}"
    yield Lines(name, title, "epsilon", measure, lines)
    yield Lines(f"{name}_k", f"{title}, {HIDDEN}", "k", measure, weak, log_x=True)


def _hits(found: Findings, size: Size) -> Plot:
    cell = {"log": "keywords", "epsilon": EPSILON, "measure": "hits"}
    by_m = {method: _line(found, "max_items", size.max_items, {**cell, "method": method}) for method in METHODS}
    return Lines("figure_6_6b", "figure 6.6 (b): hits", "m", "hit probability", by_m, log_x=True)


def _substitutions(found: Findings, size: Size) -> Iterator[Plot]:
    for j in RANKED:
        lines = {
            f"{name}, {method}, m = {m}": _line(
                found,
                "epsilon",
                size.epsilons,
                {"log": "query pairs", "method": method, "max_items": m, "measure": f"{name}, top {j}"},
            )
            for name in ("NDCG", "MAP", "precision", "recall", "coverage")
            for method in METHODS
            for m in (1, 6)
        }
        title = f"figures 6.7, 6.8: substitutions, top {j}"
        yield Lines(f"figure_6_7_top_{j}", title, "epsilon", "measure", lines)
