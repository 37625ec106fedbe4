"""`areas` beside other methods, on maps without roads: `python -m hubbub.lab.area_methods [--quick]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.lab.moving import Traffic
from hubbub.lab.traffic import BUSY, oldenburg
from hubbub.methods import make_mechanism
from hubbub.noise import simulation
from hubbub.privacy import Guarantee, User
from hubbub.released import Domain, Grid, Tick, total
from hubbub.spatial import Hexagons, Zones, in_rectangle, made_up

Whole = NDArray[np.int64]

BOX = (8.10, 53.07, 8.33, 53.21)
"""Where the city is laid, in degrees: as wide as it is high, in metres."""
LINES: dict[str, dict[str, Any]] = {
    "lpa": {},
    "temporal": {},
    "temporal, R by text": {"trust": 0.02, "start": "zero"},
    "quadtree, depth 8": {"depth": 8},
    "quadtree, depth 5": {"depth": 5},
    "areas": {},
    "areas, point": {"numbers": "point"},
}
QUESTIONS, EVERY = 40, 10
"""So many boxes in every tenth tick, of which intervals are asked."""


def maps(quick: bool) -> dict[str, Any]:
    side = 10 if quick else 15
    return {
        "hexagons": Hexagons.covering(BOX, 8 if quick else 9),
        "zones": zones(side),
        "grid": Grid(32 if quick else 128, 32 if quick else 128, bounds=BOX, coordinates="degrees"),
    }


def zones(side: int) -> Zones:
    """Crooked quarters of the town, side by side."""
    draw = np.random.default_rng(5)
    west, south, east, north = BOX
    corners = np.stack(np.meshgrid(np.arange(side + 1.0), np.arange(side + 1.0)), axis=-1)
    corners[1:-1, 1:-1] += draw.uniform(-0.35, 0.35, (side - 1, side - 1, 2))
    corners = corners / side * (east - west, north - south) + (west, south)
    shapes = {}
    for row in range(side):
        for column in range(side):
            around = ((0, 0), (0, 1), (1, 1), (1, 0), (0, 0))
            ring = [corners[row + up, column + along].tolist() for up, along in around]
            shapes[f"quarter {row * side + column + 1}"] = {"type": "Polygon", "coordinates": [ring]}
    return Zones(shapes)


def simulated(places: dict[str, Any], quick: bool, trip: float, seed: int) -> dict[str, list[Whole]]:
    """For each map the counts of every tick, all of the same vehicles."""
    network = made_up(600, seed=seed) if quick else oldenburg()
    first, new = (40_000, 2_000) if quick else (500_000, 25_000)
    truth: dict[str, list[Whole]] = {name: [] for name in places}
    west, south, east, north = network.bounds
    for x, y in Traffic(network, first=first, new=new, trip=trip).positions(seed):
        across = BOX[0] + (x - west) / (east - west) * (BOX[2] - BOX[0])
        upward = BOX[1] + (y - south) / (north - south) * (BOX[3] - BOX[1])
        for name, place in places.items():
            cells = place.cells(across, upward)
            truth[name].append(np.bincount(cells[cells >= 0], minlength=len(place)).astype(np.int64))
    return truth


def boxes(place: Any, seed: int) -> list[Whole]:
    draw = np.random.default_rng([seed, 77])
    west, south, east, north = BOX
    found: list[Whole] = []
    while len(found) < QUESTIONS:
        size = draw.uniform(0.05, 0.8)
        left, low = draw.uniform(0, 1 - size, 2)
        wide, high = east - west, north - south
        box = (west + left * wide, south + low * high, west + (left + size) * wide, south + (low + size) * high)
        some = in_rectangle(place, box)
        if some.size:
            found.append(some)
    return found


def run_line(place: Domain, truth: list[Whole], line: str, epsilon: str, seed: int) -> dict[str, float]:
    off, busy, hits, asked = 0.0, [0, 0], [0, 0], boxes(place, seed)
    with simulation(seed) as source:
        guarantee = Guarantee.pure(User(horizon=len(truth)), epsilon)
        stream = make_mechanism(line.partition(",")[0], place, guarantee, source=source, **LINES[line])
        for index, counted in enumerate(truth):
            release = stream.release(Counts.of(place, Tick(index), counted))
            off += float(np.abs(release.values - counted).sum())
            many = counted >= BUSY
            busy[0] += int(((release.lower <= counted) & (counted <= release.upper))[many].sum())
            busy[1] += int(many.sum())
            if index % EVERY == EVERY - 1:
                answers = [(total(release, some), counted[some].sum()) for some in asked]
                hits[0] += sum(told.lower <= true <= told.upper for told, true in answers)
                hits[1] += len(answers)
    vehicles = float(sum(counted.sum() for counted in truth))
    return {"weighted": off / vehicles, "covered": busy[0] / max(busy[1], 1), "areas": hits[0] / hits[1]}


def rows(quick: bool, seed: int, trip: float, draws: int, lines: Sequence[str] = tuple(LINES)) -> Iterator[list[str]]:
    places = maps(quick)
    truth = simulated(places, quick, trip, seed)
    for name, place in places.items():
        for line in lines:
            if line.startswith("quadtree") and name != "grid" and line != "quadtree, depth 8":
                continue  # where there is no grid each place is a part of its own, at any depth
            cells = [name, f"{len(place):,}", line]
            for epsilon in ("1", "0.1", "0.01"):
                each = [run_line(place, truth[name], line, epsilon, seed + draw) for draw in range(draws)]
                error, busy, hits = (np.mean([one[key] for one in each]) for key in ("weighted", "covered", "areas"))
                boxes_of = [100 * one["areas"] for one in each]
                span = f", {min(boxes_of):.0f}-{max(boxes_of):.0f}" if draws > 1 else ""
                cells.append(f"{error:.3f} ({100 * busy:.0f} %, {100 * hits:.0f} %{span})")
            yield cells


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="A small city that is made up, instead of Oldenburg.")
    parser.add_argument("--seed", type=int, default=2014)
    parser.add_argument("--trip", type=float, default=20.0, help="Ticks that an average trip takes.")
    parser.add_argument("--draws", type=int, default=1, help="How often noise is drawn.")
    parser.add_argument("--only", choices=list(LINES), nargs="+", default=list(LINES), help="Some methods alone.")
    given = parser.parse_args(arguments)
    sys.stdout.write(
        "Weighted error; zeros: 1. In brackets intervals that cover: of places with 20 vehicles or more, of boxes, and "
        "of boxes in the worst and the best draw.\n"
    )
    head = ("map", "places", "method", "epsilon 1", "0.1", "0.01")
    sys.stdout.write(f"| {' | '.join(head)} |\n|{'---|' * len(head)}\n")
    for cells in rows(given.quick, given.seed, given.trip, given.draws, given.only):
        sys.stdout.write(f"| {' | '.join(cells)} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
