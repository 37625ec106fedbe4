"""Lists of items, published for real into a real store: what the tests of the Items page look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from hubbub.monitor import Lists
from hubbub.store import Store, faults

STRANGE = (
    "<script>alert(1)</script>", "\"quoted\" & 'so'", "</table><b>bold", "مرحبا بالعالم", "🎉 party 👩‍👩‍👧", "=1+1",
    "x" * 190, "Straße",
)  # fmt: skip
"""What people may have typed."""

PROMISE: dict[str, Any] = {"epsilon": 4, "delta": "1e-4", "allow_weak": True}


def log_of(people: Mapping[str, int]) -> pl.DataFrame:
    """A log in which as many people as said have each item; those of an item with many have those with few, too."""
    items = [item for item, many in people.items() for _ in range(many)]
    users = [f"user {i}" for many in people.values() for i in range(many)]
    return pl.DataFrame({"user": users, "item": items})


def falling(names: Sequence[str], most: int = 4000, least: int = 1500) -> dict[str, int]:
    """The first is had by most people, the last by least."""
    step = (most - least) // max(len(names) - 1, 1)
    return {name: most - i * step for i, name in enumerate(names)}


def publish(path: Path, *logs: pl.DataFrame | None, name: str = "searches", lists: int = 4, **options: Any) -> None:
    """One list after another; for None one that is charged and then lost."""
    with Lists(path, name, lists=lists, **(PROMISE | options)) as made:
        lost = sum(log is None for log in logs)
        for log in logs if not lost else ():
            made.publish(log)
    if lost:
        for log in logs:  # whoever lost a list opens the store anew
            with Lists(path, name, lists=lists, **(PROMISE | options)) as made:
                if log is None:
                    _lose(made)
                else:
                    made.publish(log)
        Lists(path, name, lists=lists, **(PROMISE | options)).close()


def _lose(made: Lists) -> None:
    def hook(passed: str) -> None:
        if passed == "draw:done":
            raise KeyboardInterrupt

    faults.install(hook)
    try:
        with pytest.raises(KeyboardInterrupt):
            made.publish(log_of({"never seen": 3000}))
    finally:
        faults.install(None)


def opened(path: Path) -> Store:
    return Store.open(path)
