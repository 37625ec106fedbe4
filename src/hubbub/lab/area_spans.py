"""How often intervals of areas over spans of ticks cover: `python -m hubbub.lab.area_spans [--quick]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.lab.traffic import Setting, settings
from hubbub.methods import make_mechanism
from hubbub.noise import simulation
from hubbub.privacy import Guarantee, User
from hubbub.released import Release, Tick, total_over
from hubbub.spatial import RoadCells

SPANS = (1, 5, 20, 100)
"""Ticks of a span, which begins anywhere."""
SIDES = (10, 50, 100, 250, 500, 1024)
"""Sides of square windows, in cells of a grid of 1024; in proportion on others."""
WINDOWS = 40
_LEAST = 20
"""Vehicles that a window holds on average, at least: of fewer nobody asks how many."""


def windows(setting: Setting, seed: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Square windows of each size that hold some vehicles, as positions of road cells."""
    draw = np.random.default_rng([seed, 13])
    cells = RoadCells(setting.grid)
    row, column = np.divmod(cells.codes, setting.grid.columns)
    usual = np.mean(setting.truth, axis=0)
    for side in SIDES:
        wide = max(side * setting.grid.columns // SIDES[-1], 1)
        for low, left in draw.integers(0, setting.grid.columns - wide + 1, (WINDOWS, 2)).tolist():
            some = np.flatnonzero((row >= low) & (row < low + wide) & (column >= left) & (column < left + wide))
            if some.size and usual[some].sum() >= _LEAST:
                yield side, some


def released(setting: Setting, method: str, epsilon: str, seed: int) -> list[Release]:
    keys = RoadCells(setting.grid)
    with simulation(seed) as source:
        guarantee = Guarantee.pure(User(horizon=len(setting.truth)), epsilon)
        stream = make_mechanism(method, keys, guarantee, source=source)
        return [stream.release(Counts.of(keys, Tick(i), counted)) for i, counted in enumerate(setting.truth)]


def covered(setting: Setting, epsilon: str, seed: int) -> dict[tuple[int, int], list[tuple[bool, float, float]]]:
    """By span and side: whether each interval holds the truth, its half width, and how far it is off, relative."""
    draw = np.random.default_rng([seed, 14])
    releases = released(setting, "roads", epsilon, seed)
    found: dict[tuple[int, int], list[tuple[bool, float, float]]] = {}
    for side, some in windows(setting, seed):
        truth = np.array([counted[some].sum() for counted in setting.truth], dtype=np.float64)
        for span in SPANS:
            first = int(draw.integers(0, len(releases) - span + 1))
            told = total_over(releases[first : first + span], some).total
            true = float(truth[first : first + span].sum())
            hit = told.lower <= true <= told.upper
            wide = (told.upper - told.lower) / 2 / max(true, 1.0)
            found.setdefault((span, side), []).append((bool(hit), wide, abs(told.value - true) / max(true, 1.0)))
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="A small city that is made up, instead of Oldenburg.")
    parser.add_argument("--seed", type=int, default=2014)
    parser.add_argument("--draws", type=int, default=2, help="How often noise is drawn.")
    given = parser.parse_args(arguments)
    head = ("trips", "epsilon", "span", "covered", "half width", "off", "by side of the window")
    sys.stdout.write(f"| {' | '.join(head)} |\n|{'---|' * len(head)}\n")
    for setting in settings(given.quick, given.seed):
        for epsilon in ("1", "0.1", "0.01"):
            runs = [covered(setting, epsilon, given.seed + draw) for draw in range(given.draws)]
            for span in SPANS:
                each = {side: np.array([one for run in runs for one in run.get((span, side), [])]) for side in SIDES}
                every = np.concatenate([one for one in each.values() if len(one)])
                hits, wide, off = every.mean(axis=0)
                sides = ", ".join(f"{side}: {100 * one[:, 0].mean():.0f} %" for side, one in each.items() if len(one))
                cells = f"{setting.trip:g} | {epsilon} | {span} | {100 * hits:.1f} % | {wide:.3f} | {off:.3f} | {sides}"
                sys.stdout.write(f"| {cells} |\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
