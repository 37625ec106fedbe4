"""A process that is killed while it changes what is counted: the change is whole, or it is not there."""

from __future__ import annotations

import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from hubbub.confidential import Counts
from hubbub.privacy import Event, Guarantee
from hubbub.release import Lpa
from hubbub.released import Domain, Grid, Keys, Tick
from hubbub.store import Store, faults

FIRST, SECOND = Keys(["a", "b"]), Grid(3, 2)


def lpa(keys: Domain = FIRST) -> Lpa:
    return Lpa(keys, Guarantee.pure(Event(), 1))


def change(path: Path, marks: Path, point: str) -> None:
    def kill(name: str) -> None:
        if name == point:
            os.kill(os.getpid(), signal.SIGKILL)

    with Store.open(path, marks=marks) as store, store.curate("site", lpa()) as curator:
        curator.release(Counts.of(FIRST, Tick(0), [5, 900]))
        faults.install(kill)
        curator.change_domain(SECOND, released=("site", 0))


@pytest.mark.parametrize("point", faults.DOMAIN_POINTS)
def test_killed_at_each_point(tmp_path: Path, point: str) -> None:
    path, marks = tmp_path / "site.db", tmp_path / "marks"
    process = multiprocessing.get_context("spawn").Process(target=change, args=(path, marks, point))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    expected = SECOND if point == "domain:committed" else FIRST
    with Store.open(path, marks=marks) as store, store.curate("site", lpa()) as curator:
        assert store.verify("site").ok
        assert (curator.keys, curator.next_tick) == (expected, 1)
        assert curator.change_domain(SECOND, released=("site", 0)) == SECOND
        curator.release(Counts.of(SECOND, Tick(1), [7] * 6))
        assert [release.keys for release in store.releases("site")] == [FIRST, SECOND]
        assert len(store.decisions("site")) == 1
        assert store.verify("site").ok
