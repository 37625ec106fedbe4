"""Publishing the items of a log of 20 million rows and a million users, beside a bare Polars group-by, in one run.

python -m benchmarks itemlogs
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import hubbub as hb

ROWS, USERS, WORDS = 20_000_000, 1_000_000, 5_000_000
LIMIT = "names of users and items become numbers (Polars), and 13 million different pairs are sorted (NumPy)"


def write_log(path: Path) -> None:
    random = np.random.default_rng(1)
    users = random.integers(0, USERS, ROWS)
    items = np.minimum(random.zipf(1.3, ROWS), WORDS)
    table = pl.DataFrame({"user": users, "item": items})
    table.select(pl.format("u{}", "user").alias("user"), pl.format("query {}", "item").alias("item")).write_parquet(
        path
    )


def seconds(what: Callable[[], Any]) -> tuple[float, float]:
    """By the clock, and of all processors together, which a machine that is busy with other things leaves alone."""
    begin, busy = time.perf_counter(), time.process_time()
    what()
    return time.perf_counter() - begin, time.process_time() - busy


def main() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        write_log(path)
        scan = pl.scan_parquet(path)
        # Users of each item: what a log's owner would count without any protection, in two ways.
        peers = {
            "group-by, distinct users": scan.group_by("item").agg(pl.col("user").n_unique()),
            "group-by of pairs, then items": scan.group_by("user", "item").len().group_by("item").len(),
        }
        bare = {name: seconds(partial(query.collect, engine="streaming")) for name, query in peers.items()}
        rows: list[dict[str, Any]] = []
        for method in ("adaptive", "zealous"):
            spent = seconds(partial(hb.publish_items, path, epsilon=1, delta="1e-9", method=method))
            for peer, against in bare.items():
                for i, unit in enumerate(("s", "s of CPU")):
                    rows.append(
                        {"what": f"{method}, 20 million rows", "value": spent[i], "unit": unit, "peer": peer,
                         "ratio": spent[i] / against[i], "goal": "at most 30 s, ratio at most 3", "limit": LIMIT}
                    )  # fmt: skip
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        rows.append({"what": "most memory, with the group-bys", "value": most, "unit": "GiB"})
    return rows
