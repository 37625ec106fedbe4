"""Whatever is backed up and restored, in whatever order: no tick is drawn twice, and what was drawn was charged."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.confidential import Counts
from hubbub.errors import StoreError, StoreSetBack, TickOutOfOrder
from hubbub.mechanism import Measurement
from hubbub.privacy import Guarantee, Session
from hubbub.release import Lpa
from hubbub.released import Cost, Keys, Tick
from hubbub.store import Curator, Store, faults, owner

KEYS = Keys(["front", "news"])
GUARANTEE = Guarantee.pure(Session(max_ticks=3), 1)


class Broken(Exception):
    pass


class Counting(Lpa):
    def __init__(self, drawn: list[int]) -> None:
        super().__init__(KEYS, GUARANTEE)
        self._drawn = drawn

    def _measure(self, counts: Counts, cost: Cost) -> Measurement:
        self._drawn.append(counts.tick.index)
        return super()._measure(counts, cost)


STEP = st.one_of(
    st.tuples(st.just("release"), st.integers(1, 4)),
    st.tuples(st.just("predict"), st.just(0)),
    st.tuples(st.just("backup"), st.just(0)),
    st.tuples(st.just("restore"), st.integers(0, 5)),
    st.tuples(st.sampled_from(["reopen", "die", "mend"]), st.just(0)),
    st.tuples(st.just("fail"), st.integers(0, len(faults.FAULT_POINTS) - 1)),
)


class Life:
    """One stream, its backups, and what was drawn for it."""

    def __init__(self, folder: Path, ahead: int, marks: Path | None) -> None:
        self.path, self.folder, self.ahead = folder / "site.db", folder, ahead
        self.marks: Path | bool = marks or False
        self.drawn: list[int] = []
        self.copies: list[Path] = []
        self.refused = 0
        self.open()

    def open(self) -> None:
        self.store = Store.open(self.path, marks=self.marks)  # type: ignore[arg-type]
        self.curator: Curator | None = None
        with suppress(StoreSetBack):
            self.curator = self.store.curate("site", Counting(self.drawn), reserve_ahead=self.ahead, patience=0)

    def close(self, dying: bool = False) -> None:
        if self.curator is not None:
            owner.retire(self.curator._owner) if dying else self.curator.close()
        self.store.close()

    def step(self, what: str, number: int) -> None:
        if what in ("reopen", "die"):
            self.close(dying=what == "die")
            self.open()
        elif what == "backup":
            self.copies.append(self.folder / f"{len(self.copies)}.db")
            with sqlite3.connect(self.path) as source, sqlite3.connect(self.copies[-1]) as target:
                source.backup(target)
            source.close()
            target.close()
        elif what == "restore" and self.copies:
            for end in ("-wal", "-shm"):
                Path(f"{self.path}{end}").unlink(missing_ok=True)
            shutil.copy(self.copies[number % len(self.copies)], self.folder / "new")
            os.replace(self.folder / "new", self.path)
        elif what == "mend" and self.marks:
            self.close()
            with suppress(StoreError), Store.open(self.path, marks=self.marks) as store:  # type: ignore[arg-type]
                store.mend("site")
            self.open()
        elif self.curator is not None:
            self._use(self.curator, what, number)

    def _use(self, curator: Curator, what: str, number: int) -> None:
        try:
            if what == "release":
                for _ in range(number):
                    curator.release(Counts.of(KEYS, Tick(curator.next_tick), np.array([3, 4])))
            elif what == "predict":
                curator.predict(Tick(curator.next_tick))
            elif what == "fail":
                faults.install(fail_at(faults.FAULT_POINTS[number]))
                curator.release(Counts.of(KEYS, Tick(curator.next_tick), np.array([3, 4])))
        except StoreSetBack:
            self.refused += 1
        except (StoreError, TickOutOfOrder, Broken):
            pass
        finally:
            faults.install(None)


def fail_at(where: str) -> Callable[[str], None]:
    def fail(name: str) -> None:
        if name == where:
            raise Broken

    return fail


def twice(steps: list[tuple[str, int]], ahead: int, marked: bool) -> list[int]:
    """Which ticks were drawn twice in a life."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as name:
        life = Life(Path(name), ahead, Path(name) / "marks" if marked else None)
        try:
            for what, number in steps:
                life.step(what, number)
        finally:
            life.close()
        if marked and life.curator is not None:
            with Store.open(life.path, marks=life.marks) as store:  # type: ignore[arg-type]
                found = store.verify("site")
                assert found.ok, found.faults
                with suppress(StoreSetBack):
                    store.curate("site", Counting([]), patience=0).close()
                    debits = {debit.tick: debit for debit in store.debits("site")}
                    for tick in life.drawn:
                        assert not debits[tick].cost.is_free, "a draw that is not charged"
        return [tick for tick, count in Counter(life.drawn).items() if count > 1]


@settings(max_examples=60)
@given(steps=st.lists(STEP, min_size=3, max_size=20), ahead=st.sampled_from([1, 1, 3]))
def test_nothing_is_drawn_twice(steps: list[tuple[str, int]], ahead: int) -> None:
    assert twice(steps, ahead, marked=True) == []


def test_without_marks_everything_since_the_backup_is_drawn_again() -> None:
    """The control: what happened before there were marks. Ten of ten ticks came out a second time, unnoticed."""
    steps = [("release", 2), ("backup", 0), ("release", 10), ("restore", 0), ("reopen", 0), ("release", 10)]
    assert twice(steps, 1, marked=False) == list(range(2, 12))
    assert twice(steps, 1, marked=True) == []
