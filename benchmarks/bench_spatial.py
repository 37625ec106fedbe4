"""A live heat map of a city's roads: 100 ticks of a million cells with exact noise, beside NumPy's float Laplace.

python -m benchmarks spatial

The city and its traffic are made up, so that no data are needed. Seconds of 2048 x 2048 cells are those of a hundred
ticks too, from fewer; the first tick, in which a process takes its memory from the machine, is told beside. All seconds
are of the processor: a machine that is busy with other things leaves them alone.
"""

from __future__ import annotations

import os
import resource
import tempfile
import time
from typing import Any

import numpy as np

from hubbub.confidential import Counts
from hubbub.lab.moving import Traffic
from hubbub.methods import make_mechanism
from hubbub.privacy import Guarantee, User
from hubbub.released import Tick
from hubbub.spatial import RoadCells, RoadGrid, made_up

JUNCTIONS, TICKS, FEWER = 6_000, 100, 10
GOALS = {"lpa": 12.0, "temporal": 15.0, "quadtree": 1.0, "roads": 1.0}


def released(name: str, grid: RoadGrid, cells: RoadCells, ticks: int) -> tuple[float, float, float]:
    """Seconds to prepare, of the first tick, and for `TICKS` ticks; making the counts is not in it."""
    keys = cells if name == "roads" else grid
    counts = np.random.default_rng(1).poisson(10, len(keys))
    began = time.process_time()
    stream = make_mechanism(name, keys, Guarantee.pure(User(horizon=TICKS), 1))
    prepared, spent = time.process_time() - began, []
    for tick in range(ticks):
        one = Counts.of(keys, Tick(tick), counts)
        began = time.process_time()
        stream.release(one)
        spent.append(time.process_time() - began)
    return prepared, spent[0], spent[0] + sum(spent[1:]) * (TICKS - 1) / (ticks - 1)


def insecure(size: int, ticks: int = FEWER) -> float:
    """What floating-point noise of the same scale takes: the yardstick of "no cost"."""
    draw, counts = np.random.default_rng(1), np.zeros(size)
    began = time.process_time()
    for _ in range(ticks):
        counts + draw.laplace(0, 100, size)
    return (time.process_time() - began) * TICKS / ticks


def main() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HUBBUB_STATE"] = folder  # nothing that an earlier process computed of the map
        return measured()


def measured() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    city = made_up(JUNCTIONS)
    began = time.process_time()
    traffic = Traffic(city)
    for _ in traffic.positions(seed=1):
        pass
    rows.append({"what": "simulator, 500,000 and 25,000 a tick", "value": time.process_time() - began, "unit": "s",
                 "goal": "<= 60"})  # fmt: skip
    for side, ticks in ((1024, TICKS), (2048, FEWER)):
        grid = RoadGrid.over(city, side, side)
        began = time.process_time()
        cells = RoadCells(grid)
        raster = time.process_time() - began
        peer = insecure(side * side)
        for name, goal in GOALS.items():
            prepared, first, seconds = released(name, grid, cells, ticks)
            factor = 1 if side == 1024 else 5
            rows.append({"what": f"{name}, {side} x {side}, {TICKS} ticks", "value": seconds, "unit": "s",
                         "peer": f"NumPy's float Laplace: {peer:.2f} s", "ratio": seconds / peer,
                         "goal": f"<= {factor * goal:g}", "limit": f"the first of them {first:.2f} s"})  # fmt: skip
            if name == "roads":
                once = "once a map: shortest ways" if side == 1024 else "shortest ways are kept from above"
                rows.append({"what": f"raster and expected traffic, {side} x {side}", "value": raster + prepared,
                             "unit": "s", "goal": "<= 10", "limit": once})  # fmt: skip
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        rows.append({"what": f"largest memory so far, up to {side} x {side}", "value": peak, "unit": "GB",
                     "goal": "<= 1" if side == 1024 else "", "limit": "with the simulator"})  # fmt: skip
    return rows
