"""A stream that is released on a faulty file system, and what must be true of it afterwards. Started by the tests here.

`python stream_on_faults.py log FOLDER LOG TICKS KIND`: releases ticks and logs every change and flush, with notes of
what was drawn and published; KIND is `sound`, or one of the controls `no-sync` and `no-mark-sync`.

`python stream_on_faults.py matrix FOLDER GROWTH`: makes the n-th call of every kind fail with every error, each in a
fork of its own, and prints one JSON line for each. With growth 1 every n, otherwise ever fewer of the larger ones.
"""

from __future__ import annotations

import collections
import json
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa
from tests.support.faultfs import ERRORS, GIVES, FaultFs

from hubbub.confidential import Counts
from hubbub.errors import HubbubError, StoreUnavailable, TickOutOfOrder, TickTaken
from hubbub.mechanism import Measurement
from hubbub.privacy import Guarantee, Session
from hubbub.release import Lpa
from hubbub.released import Cost, Keys, Release, Tick
from hubbub.store import Curator, Store

KEYS = Keys([f"page {i}" for i in range(3)])
GUARANTEE = Guarantee.pure(Session(max_ticks=10), 1)
NAME = "site"


class Telling(Lpa):
    """Tells each draw before anything else can happen to it."""

    tell: Callable[[str], object] = staticmethod(lambda _: None)

    def _measure(self, counts: Counts, cost: Cost) -> Measurement:
        made = super()._measure(counts, cost)
        self.tell(f"drawn {line(made.tick, made.values)}")
        return made


def line(tick: Tick, measured: Any) -> str:
    assert measured is not None
    return f"{tick.index} {','.join(map(str, measured))}"


def told_of(release: Release) -> str:
    return line(release.tick, release.measurements)


def open_store(folder: Path) -> Store:
    return Store.open(folder / "db" / "site.db", marks=folder / "marks", patience=0.05)


def release(curator: Curator, tick: int) -> Release:
    return curator.release(Counts.of(KEYS, Tick(tick), np.array([tick, 1, 2])))


def check(folder: Path, told: Iterable[str]) -> str:
    """Raises if a promise is broken in what is left; otherwise says in a word what became of the last tick."""
    drawn, published = [dict[int, str](), dict[int, str]()]
    for word in told:
        what, tick, values = word.split()
        kept = drawn if what == "drawn" else published
        assert int(tick) not in kept, f"tick {tick} was {what} twice"
        kept[int(tick)] = values
    if not (folder / "db" / "site.db").exists():
        assert not drawn, "the store is gone"
        return "no store"
    with open_store(folder) as store:
        if store.find(NAME) is None:
            assert not drawn, "the stream is gone"
            return "no stream"
        found = store.verify(NAME)
        assert found.ok, found.faults
        debits = {debit.tick: debit for debit in store.debits(NAME)}
        stored = {one.tick.index: told_of(one).split()[1] for one in store.releases(NAME) if not one.is_predicted}
        for tick, values in drawn.items():
            assert tick in debits, f"tick {tick} was drawn and not debited"
            assert not debits[tick].limit.is_free, f"tick {tick} was drawn and not charged"
            assert stored.get(tick, values) == values, f"tick {tick} is stored with another draw"
        for tick, values in published.items():
            assert stored.get(tick) == values, f"tick {tick} was published and is not stored"
        mark = store.ledger(NAME).mark
        marked = mark.read() if mark is not None else None
        if drawn:
            assert marked is not None, "nothing is marked"
            assert marked.tick >= max(drawn), f"tick {max(drawn)} was drawn, only {marked.tick} is marked"
        with store.curate(NAME, Telling(KEYS, GUARANTEE), patience=0) as curator:
            assert curator.next_tick > max(drawn, default=-1), "a tick would be drawn again"
            proved = curator.proved
            assert not release(curator, curator.next_tick).is_predicted
        assert store.verify(NAME).ok
        last = max(debits, default=None)
        state = "nothing" if last is None else store.ledger(NAME).debit(last)
        return f"{state if isinstance(state, str) else state.state}{'' if proved else ', not proved'}"


# ── a log for power cuts ─────────────────────────────────────────────────────────────────────────────────────────────


def log(folder: Path, log: Path, ticks: int, kind: str) -> None:
    faults = FaultFs()
    faults.watch(folder)
    faults.log(log)
    if kind == "no-mark-sync":
        os.fdatasync = lambda _: None
    (folder / "db").mkdir()
    with open_store(folder) as store:

        @sa.event.listens_for(store.database._engine, "connect")
        def prepare(connection: Any, record: Any) -> None:
            connection.execute("PRAGMA wal_autocheckpoint = 12")  # often, so that cuts come while pages are copied
            if kind == "no-sync":
                connection.execute("PRAGMA synchronous = OFF")

        store.database._engine.dispose()
        releaser = Telling(KEYS, GUARANTEE)
        releaser.tell = faults.note  # type: ignore[method-assign]
        with store.curate(NAME, releaser) as curator:
            for tick in range(ticks):
                faults.note(f"published {told_of(release(curator, tick))}")


# ── every call, every error ──────────────────────────────────────────────────────────────────────────────────────────


def matrix(folder: Path, growth: float) -> None:
    faults = FaultFs()
    for kind, names in GIVES.items():
        for shift, name in enumerate(names):
            # Whoever is interrupted tries again, for ever: so it may not last for ever.
            for times in (1, 5 if name == "EINTR" else -1):
                for nth in places(shift, growth if times == 1 or growth == 1 else growth * 3):
                    here = folder / "case"
                    facts = in_fork(lambda: one_case(faults, here, kind, nth, ERRORS[name], times))  # noqa: B023
                    shutil.rmtree(here, ignore_errors=True)
                    if not facts["hits"]:
                        break  # there are not so many calls of this kind
                    print(json.dumps({"kind": kind, "error": name, "times": times, "nth": nth, **facts}), flush=True)


def places(shift: int, growth: float) -> Iterator[int]:
    """Which calls are to fail: each (growth 1), or ever fewer of the later ones, and others for every error."""
    step = 1.0
    yield 1
    while True:
        yield 1 + int(step) + (shift if growth > 1 and step > 8 else 0)
        step = step * growth if growth > 1 else step + 1


def one_case(faults: FaultFs, folder: Path, kind: str, nth: int, error: int, times: int) -> dict[str, Any]:
    """Open, release, reopen and release while one call fails; then look at what is left, on a sound disk."""
    (folder / "db").mkdir(parents=True)
    told: list[str] = []
    said: collections.Counter[str] = collections.Counter()
    releaser = Telling(KEYS, GUARANTEE)
    faults.watch(folder)
    faults.arm(kind, nth, error, times)
    for _ in range(2):
        # A monitor opens its store, and goes on with the next tick when the store says that it cannot.
        try:
            with open_store(folder) as store:
                releaser = Telling(KEYS, GUARANTEE)
                releaser.tell = told.append  # type: ignore[method-assign]
                with store.curate(NAME, releaser, patience=0) as curator:
                    for _ in range(3):
                        try:
                            told.append(f"published {told_of(release(curator, curator.next_tick))}")
                        except (StoreUnavailable, TickTaken, TickOutOfOrder) as wrong:
                            said[wrong.code] += 1
        except HubbubError as wrong:
            said[wrong.code] += 1
    hits = faults.hits()
    faults.disarm()
    faults.watch(Path("/nowhere"))
    outcome = check(folder, told) if hits else ""
    return {
        "hits": hits, "said": dict(said), "published": sum(word.startswith("published") for word in told),
        "drawn": sum(word.startswith("drawn") for word in told), "outcome": outcome,
    }  # fmt: skip


def in_fork(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    receiver, sender = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        signal.alarm(120)  # whatever hangs is as good as broken
        with suppress(BaseException):
            try:
                os.write(sender, json.dumps(work()).encode())
                code = 0
            except BaseException:
                traceback.print_exc()
        os._exit(code)
    os.close(sender)
    answer = b""
    while part := os.read(receiver, 65536):
        answer += part
    os.close(receiver)
    _, status = os.waitpid(pid, 0)
    return dict(json.loads(answer)) if status == 0 else {"hits": 1, "broken": status}


if __name__ == "__main__":
    if sys.argv[1] == "log":
        log(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
    else:
        matrix(Path(sys.argv[2]), float(sys.argv[3]))
