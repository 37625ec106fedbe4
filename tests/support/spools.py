"""What the spool's tests have in common."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hubbub.monitor.spool import Spool


def body(*paths: str) -> bytes:
    return "\n".join(json.dumps({"time": 0, "session": "s", "key": path}) for path in paths).encode()


def paths(spool: Spool) -> list[str]:
    """Everything from where the spool is read on to its present end."""
    found: list[str] = []
    until = spool.frontier()
    assert until is not None
    while True:
        batch = spool.poll(until)
        found += batch.events["path"].to_list()
        if batch.reached:
            return found


@contextmanager
def opened(folder: Path, **options: object) -> Iterator[Spool]:
    with Spool(folder, **options) as spool:  # type: ignore[arg-type]
        assert isinstance(spool, Spool)
        yield spool


def on_disk(folder: Path) -> bytes:
    """All bytes of all files."""
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file())
