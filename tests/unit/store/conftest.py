"""A small stream that every test of the store can use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from hubbub.confidential import Counts
from hubbub.privacy import Guarantee, Session
from hubbub.release import Lpa
from hubbub.released import Keys, Tick
from hubbub.store import Store, faults

KEYS = Keys(["front", "news", "sports"])
GUARANTEE = Guarantee.pure(Session(max_ticks=4), 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "site.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store.open(path) as opened:
        yield opened


@pytest.fixture
def lpa() -> Callable[[], Lpa]:
    return lambda: Lpa(KEYS, GUARANTEE)


@pytest.fixture
def counts() -> Callable[..., Counts]:
    return lambda tick, values=(812, 240, 97): Counts.of(
        KEYS, tick if isinstance(tick, Tick) else Tick(tick), np.array(values)
    )


@pytest.fixture(autouse=True)
def no_faults() -> Iterator[None]:
    yield
    faults.install(None)
