"""How many bytes a tick of a large map takes in the store, and how long it takes to pack it."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from hubbub.confidential import Counts
from hubbub.lab.moving import Traffic
from hubbub.methods import make_mechanism
from hubbub.privacy import Guarantee, User
from hubbub.released import Release, Tick
from hubbub.released.few_bits import in_few_bits
from hubbub.spatial import RoadCells, RoadGrid, made_up
from hubbub.store.packing import PackedRelease

SIDE, TICKS, DAY = 1024, 5, 1440


def released(name: str, keys: Any, traffic: Traffic) -> Release:
    """The last of a few ticks of simulated traffic."""
    stream = make_mechanism(name, keys, Guarantee.pure(User(horizon=100), 1))
    for tick, counts in enumerate(traffic.counts(keys, seed=1)):
        release = stream.release(Counts.of(keys, Tick(tick), counts))
    return release


def size(packed: PackedRelease) -> int:
    return sum(len(one) for name in packed.__slots__ if isinstance(one := getattr(packed, name), bytes))


def main() -> list[dict[str, Any]]:
    city = made_up(3000)
    grid = RoadGrid.over(city, SIDE, SIDE)
    cells, traffic = RoadCells(grid), Traffic(city, ticks=TICKS)
    rows: list[dict[str, Any]] = []
    for name in ("lpa", "temporal", "quadtree", "roads"):
        release = released(name, cells if name == "roads" else grid, traffic)
        whole = size(PackedRelease.of(release))
        began = time.process_time()
        packed = PackedRelease.of(in_few_bits(release))
        seconds = time.process_time() - began
        bare = np.asarray(release.values).nbytes
        rows.append(
            {
                "what": f"{name}, {len(release.keys):,} cells: a tick", "value": size(packed) / 1e6, "unit": "MB",
                "peer": f"all bits kept: {whole / 1e6:.2f} MB; the values alone as floats: {bare / 1e6:.2f} MB",
                "ratio": size(packed) / whole, "goal": f"a day of minutes: {size(packed) * DAY / 1e9:.1f} GB <= 10 GB",
                "limit": f"{seconds * 1000:.0f} ms to pack",
            }
        )  # fmt: skip
    return rows
