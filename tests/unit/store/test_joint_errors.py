"""How errors of a release go together is kept with it: small, hashed, and the same after a restart."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from tests.support.old_stores import old_store

from hubbub.confidential import Counts
from hubbub.errors import SchemaMismatch
from hubbub.noise import simulation
from hubbub.privacy import Guarantee, User
from hubbub.release import Lpa
from hubbub.released import JointErrors, Keys, Release, Tick, total, total_over
from hubbub.spatial import RoadCells, RoadErrors, RoadGrid, Roads, made_up
from hubbub.store import Store
from hubbub.store.chain import release_digest
from hubbub.store.packing import PackedRelease

CITY = RoadCells(RoadGrid.over(made_up(150, seed=3), 48, 48))
PROMISE = Guarantee.pure(User(horizon=20), 1)
AREA = np.arange(200, 500)


def counts(tick: int) -> Counts:
    return Counts.of(CITY, Tick(tick), np.random.default_rng(tick).poisson(9.0, len(CITY)))


def released(ticks: int = 4) -> tuple[Roads, list[Release]]:
    with simulation(5) as source:
        stream = Roads(CITY, PROMISE, source=source)
        return stream, [stream.release(counts(tick)) for tick in range(ticks)]


def test_a_release_alone_tells_of_areas_what_the_living_stream_does() -> None:
    stream, releases = released()
    packed = PackedRelease.of(releases[-1])
    again = packed.unpack(Tick(3), CITY, releases[-1].cost)
    for release in (releases[-1], again, Release.from_dict(json.loads(json.dumps(releases[-1].to_dict())))):
        told, asked = total(release, AREA), stream.area(AREA)
        assert (told.value, told.standard_error) == (asked.value, asked.standard_error)
        fully = float(release.standard_errors[AREA].sum())
        assert told.standard_error < fully / 3, "cells are taken to go together fully"
    assert packed.joint is not None
    assert len(packed.joint) < 12 * len(stream.units.group) + 2000


def test_it_survives_the_store_and_is_verified(path: Path) -> None:
    survives(str(path))


def survives(address: str) -> None:
    """Also asked of PostgreSQL, in tests/service/store."""
    with Store.open(address) as store:
        with store.curate("city", Roads(CITY, PROMISE)) as curator:
            made = [curator.release(counts(tick)) for tick in range(3)]
        plain = Lpa(Keys(["a"]), PROMISE)
        with store.curate("plain", plain) as curator:
            curator.release(Counts.of(plain.keys, Tick(0), [4]))
    with Store.open(address) as store:
        kept = list(store.releases("city"))
        for before, after in zip(made, kept, strict=True):
            assert total(after, AREA).to_dict() == total(before, AREA).to_dict()
        assert total_over(kept, AREA).total.to_dict() == total_over(made, AREA).total.to_dict()
        (one,) = store.releases("plain")
        assert one.joint is None
        assert store.verify("city").ok
        with store.curate("city", Roads(CITY, PROMISE)) as curator:
            assert curator.release(counts(3)).joint is not None
        with store.database.write() as connection:
            connection.execute(sa.text("UPDATE releases SET joint = NULL WHERE tick = 1"))
        assert [fault.tick for fault in store.verify("city").faults] == [1], "a wider interval, but not what was told"


def test_a_false_error_in_the_store_is_seen(path: Path) -> None:
    with Store.open(path) as store:
        with store.curate("city", Roads(CITY, PROMISE)) as curator:
            made = curator.release(counts(0))
        assert made.joint is not None
        narrow = RoadErrors({**made.joint.arrays, "total": np.zeros(1)}).to_bytes()
        with store.database.write() as connection:
            connection.execute(sa.text("UPDATE releases SET joint = :joint"), {"joint": narrow})
        assert not store.verify("city").ok


def test_older_stores_have_none_and_keep_their_hashes(tmp_path: Path) -> None:
    with Store.open(old_store(tmp_path / "old.db")) as store:
        assert all(release.joint is None for release in store.releases("site"))
        assert store.verify("site").ok


def test_the_digest_covers_it_and_leaves_others_as_they_were() -> None:
    (release,) = released(1)[1]
    packed = PackedRelease.of(release)
    bare = PackedRelease(*(getattr(packed, name) for name in packed.__slots__[:-1]))
    assert release_digest(bare) != release_digest(packed)
    alone = PackedRelease(*(getattr(packed, name) for name in packed.__slots__[:6]))
    with_joint = PackedRelease(*(getattr(packed, name) for name in packed.__slots__[:6]), None, None, packed.joint)
    assert release_digest(alone) != release_digest(with_joint)


DAMAGED = [
    b"",
    b"[]\n",
    b"\xff\n",
    b'["roads"]\nx',
    b'["nobody"]\n',
    b'["roads", ["now", "<f4"]]\n',
    b'["roads", ["now", "<f4", 3]]\n1234',
    b'["roads", ["now", "<f4", -1]]\n1234',
    b'["roads", ["now", "<i8", 0]]\n',
    b'["roads", ["now", "|O", 1]]\n12345678',
]


@pytest.mark.parametrize("data", DAMAGED)
def test_damaged_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(SchemaMismatch, match="cannot be read"):
        JointErrors.from_bytes(data)


def test_errors_of_another_map_are_refused() -> None:
    (release,) = released(1)[1]
    other = RoadCells(RoadGrid.over(made_up(60, seed=3), 48, 48))
    assert release.joint is not None
    with pytest.raises(SchemaMismatch, match="cannot be read"):
        release.joint.causes(other, release.values, np.array([0]))
