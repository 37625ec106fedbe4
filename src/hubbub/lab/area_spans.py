"""How often intervals of cells, and of areas over spans, cover: `python -m hubbub.lab.area_spans [--quick]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.lab.traffic import BUSY, OTHERWISE, Setting, oldenburg, settings
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


@dataclass
class Run:
    """One draw of noise: whether intervals hold the truth."""

    cells: float
    """Which part of those of single cells that hold many vehicles (`BUSY`)."""

    areas: dict[tuple[int, int], list[tuple[bool, float, float]]]
    """By span and side of the window: whether each does, its half width, and how far it is off, both relative."""

    def spans(self, span: int) -> float:
        return float(np.mean([one[0] for (ticks, _), some in self.areas.items() if ticks == span for one in some]))


def covered(setting: Setting, epsilon: str, seed: int) -> Run:
    draw = np.random.default_rng([seed, 14])
    releases = released(setting, "roads", epsilon, seed)
    hits, many = 0, 0
    for release, counted in zip(releases, setting.truth, strict=True):
        busy = counted >= BUSY
        hits += int(((release.lower <= counted) & (counted <= release.upper))[busy].sum())
        many += int(busy.sum())
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
    return Run(hits / max(many, 1), found)


def chosen(quick: bool, seed: int, worlds: bool) -> Iterator[Setting]:
    """Short and long trips; with `worlds` also those who drive otherwise than the map says."""
    if quick:
        yield from settings(quick, seed)
        return
    network, many = oldenburg(), (500_000, 25_000)
    for trip in (20.0, 60.0):
        yield Setting.simulate(network, 1024, trip, many, seed)
    for world in OTHERWISE if worlds else ():
        yield Setting.simulate(network, 1024, 20.0, many, seed, world)


def told(parts: Sequence[float]) -> str:
    """The mean of all draws, and in brackets the worst and the best."""
    low, high = (f"{100 * end(parts):.0f}" for end in (min, max))
    return f"{100 * float(np.mean(parts)):.1f} % ({low}-{high})"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="A small city that is made up, instead of Oldenburg.")
    parser.add_argument("--worlds", action="store_true", help="Also drivers who do not do as the map says.")
    parser.add_argument("--seed", type=int, default=2014)
    parser.add_argument("--draws", type=int, default=6, help="How often noise is drawn.")
    given = parser.parse_args(arguments)
    sys.stdout.write(
        f"How many of the 95 % intervals cover, on average over {given.draws} draws of noise; in brackets the worst "
        "and the best draw. Half widths and errors of windows are relative to their vehicles.\n"
    )
    head = ("world", "trips", "epsilon", f"cells of {BUSY} or more", *(f"windows, {one} ticks" for one in SPANS))
    head = (*head, "half width, 1 tick", "off", "by side of the window, 1 tick")
    sys.stdout.write(f"| {' | '.join(head)} |\n|{'---|' * len(head)}\n")
    for setting in chosen(given.quick, given.seed, given.worlds):
        for epsilon in ("1", "0.1", "0.01"):
            runs = [covered(setting, epsilon, given.seed + draw) for draw in range(given.draws)]
            row = [setting.world, f"{setting.trip:g}", epsilon, told([run.cells for run in runs])]
            row += [told([run.spans(span) for run in runs]) for span in SPANS]
            each = {side: [one for run in runs for one in run.areas.get((SPANS[0], side), [])] for side in SIDES}
            _, wide, off = np.mean([one for some in each.values() for one in some], axis=0)
            sides = (f"{side}: {100 * np.mean([one[0] for one in some]):.0f} %" for side, some in each.items() if some)
            row += [f"{wide:.3f}", f"{off:.3f}", ", ".join(sides)]
            sys.stdout.write(f"| {' | '.join(row)} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
