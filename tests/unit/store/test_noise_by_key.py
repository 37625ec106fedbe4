"""What a release tells of its noise is kept: by key, and whether errors of keys go together."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from hubbub.privacy import Event, Guarantee
from hubbub.release import Lpa
from hubbub.released import Cost, Keys, Release, Tick
from hubbub.store import Store
from hubbub.store.chain import release_digest
from hubbub.store.packing import PackedRelease

KEYS = Keys(["front", "news"])
ONE = np.array([5.0, 6.0])


def release(variance: float | np.ndarray, correlated: bool) -> Release:
    cost = Cost(epsilon=Fraction(1))
    return Release(Tick(0), KEYS, ONE, ONE, ONE, ONE, np.array([5, 6]), variance, cost, correlated)


CASES = [(3.0, False), (np.array([1.0, 9.0]), False), (3.0, True), (np.array([1.0, 9.0]), True)]


@pytest.mark.parametrize(("variance", "correlated"), CASES)
def test_it_survives_the_store(path: Path, variance: float | np.ndarray, correlated: bool) -> None:
    made = release(variance, correlated)
    packed = PackedRelease.of(made)
    again = packed.unpack(made.tick, KEYS, made.cost)
    assert again.variances.tolist() == made.variances.tolist()
    assert again.correlated is correlated
    assert again.variance_of_sum() == made.variance_of_sum()
    lpa = Lpa(KEYS, Guarantee.pure(Event(), 1))
    with Store.open(path) as store:
        ledger = store.ledger(store.create_stream("site", KEYS, lpa.guarantee, lpa.name))
        position = ledger.position()
        account = position.checkpoint.open_account(ledger.stream)
        position = ledger.reserve(position, account, [(made.tick, made.cost)], "me", "release")
        ledger.settle(position, account, made, lpa.snapshot().to_bytes())
        (kept,) = store.releases("site")
        assert kept.variances.tolist() == made.variances.tolist()
        assert kept.correlated is correlated
        assert store.verify("site").ok
        if correlated:
            with store.database.write() as connection:
                connection.execute(sa.text("UPDATE releases SET correlated = NULL"))
            assert not store.verify("site").ok, "a false interval could be made of it"


def test_what_older_stores_hold_has_the_digest_it_had() -> None:
    digests = {release_digest(PackedRelease.of(release(*case))) for case in CASES}
    assert len(digests) == 4
    plain = PackedRelease.of(release(3.0, False))
    assert (plain.noise_variances, plain.correlated) == (None, None)
