"""Publishing the items of a log of 20 million rows and a million users, beside a bare Polars group-by, in one run.

python -m benchmarks itemlogs
"""

from __future__ import annotations

import resource
import tempfile
import time
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


def seconds(what: Any) -> float:
    begin = time.perf_counter()
    what()
    return time.perf_counter() - begin


def main() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        write_log(path)
        scan = pl.scan_parquet(path)
        # Users of each item: what a log's owner would count without any protection.
        bare = seconds(lambda: scan.group_by("item").agg(pl.col("user").n_unique()).collect(engine="streaming"))
        pairs = seconds(lambda: scan.group_by("user", "item").len().group_by("item").len().collect(engine="streaming"))
        rows: list[dict[str, Any]] = []
        for method in ("adaptive", "zealous"):
            spent = seconds(lambda m=method: hb.publish_items(path, epsilon=1, delta="1e-9", method=m))
            for peer, against in (("group-by, distinct users", bare), ("group-by of pairs, then of items", pairs)):
                rows.append(
                    {"what": f"{method}, 20 million rows", "value": spent, "unit": "s", "peer": peer,
                     "ratio": spent / against, "goal": "at most 30 s, ratio at most 3", "limit": LIMIT}
                )  # fmt: skip
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        rows.append({"what": "most memory, with the group-bys", "value": most, "unit": "GiB"})
    return rows
