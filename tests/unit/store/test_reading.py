from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest
import sqlalchemy as sa

from hubbub.confidential import Counts
from hubbub.errors import InvalidParameter
from hubbub.release import Lpa
from hubbub.released import Tick
from hubbub.store import Store, pages

Make = Callable[[], Lpa]
MakeCounts = Callable[..., Counts]


@pytest.fixture
def filled(store: Store, lpa: Make, counts: MakeCounts) -> Store:
    with store.curate("site", lpa()) as curator:
        for tick in (0, 1, 2, 5, 6, 9):
            curator.release(counts(tick))
    return store


@pytest.mark.parametrize("page", [1, 2, 1000])
@pytest.mark.parametrize(
    ("ask", "ticks"),
    [
        ({}, [0, 1, 2, 5, 6, 9]),
        ({"first": 2}, [2, 5, 6, 9]),
        ({"last": 5}, [0, 1, 2, 5]),
        ({"first": 1, "last": 6}, [1, 2, 5, 6]),
        ({"limit": 2}, [0, 1]),
        ({"first": 3, "limit": 3}, [5, 6, 9]),
        ({"limit": 0}, []),
        ({"first": 10}, []),
    ],
)
def test_releases_by_tick(
    filled: Store, monkeypatch: pytest.MonkeyPatch, page: int, ask: dict[str, int], ticks: list[int]
) -> None:
    monkeypatch.setattr(pages, "_PAGE", page)
    assert [r.tick.index for r in filled.releases("site", **ask)] == ticks
    assert [d.tick for d in filled.debits("site")] == [0, 1, 2, 5, 6, 9]


def test_negative_bounds_are_refused(filled: Store) -> None:
    for ask in ("first", "last", "limit"):
        with pytest.raises(InvalidParameter, match=ask):
            filled.releases("site", **{ask: -1})


def test_the_newest(filled: Store) -> None:
    assert [r.tick.index for r in filled.latest("site")] == [9]
    assert [r.tick.index for r in filled.latest(filled.stream("site"), 3)] == [5, 6, 9]
    assert [d.tick for d in filled.debits("site", last=2)] == [6, 9]


def test_budget(filled: Store) -> None:
    budget = filled.budget("site")
    assert (budget.spent, budget.left, budget.settled, budget.lost, budget.reserved) == (1, 0, 6, 0, 0)
    facts = budget.to_dict()
    assert (facts["spent"], facts["total"], facts["currency"]) == ("1", "1", "epsilon")
    assert "browsing session" in facts["guarantee"]


def test_budget_before_the_first_tick(store: Store, lpa: Make) -> None:
    store.create_stream("site", lpa().keys, lpa().guarantee, "lpa")
    assert store.budget("site").left == Fraction(1)
    assert store.latest("site") == []


def test_a_reader_beside_a_writer_sees_whole_ticks(path: Path, store: Store, lpa: Make, counts: MakeCounts) -> None:
    with Store.open(path, read_only=True) as reader, store.curate("site", lpa()) as curator:
        for tick in range(5):
            curator.release(counts(tick))
            assert reader.latest("site")[0].tick == Tick(tick)
            assert reader.verify("site").ok


def test_queries(store: Store, lpa: Make) -> None:
    store.create_stream("site", lpa().keys, lpa().guarantee, "lpa")
    store.create_stream("other", lpa().keys, lpa().guarantee, "lpa")
    for length in (3, 5, 8):
        store.record_query("site", length)
    store.record_query("other", 99)
    assert store.recent_queries("site") == [3, 5, 8]
    assert store.recent_queries("site", limit=2) == [5, 8]
    with pytest.raises(InvalidParameter, match="at least one tick"):
        store.record_query("site", 0)


def test_tokens(path: Path) -> None:
    times = iter(datetime(2026, 1, day, tzinfo=UTC) for day in range(1, 9))
    with Store.open(path, clock=lambda: next(times)) as store:
        secret = store.tokens.add("reader")
        other = store.tokens.add("ingest")
        found = store.tokens.lookup(secret)
        assert found is not None
        assert (found.role, found.created.day) == ("reader", 1)
        assert store.tokens.lookup("guess") is None
        assert store.tokens.revoke(found.id)
        assert not store.tokens.revoke(found.id)
        assert not store.tokens.revoke(99)
        assert store.tokens.lookup(secret) is None
        assert store.tokens.lookup(other) is not None
        assert [(t.role, t.revoked is None) for t in store.tokens.list()] == [("reader", False), ("ingest", True)]
        with store.database.read() as connection:
            assert secret not in str(connection.execute(sa.text("SELECT * FROM tokens")).all())
        with pytest.raises(InvalidParameter, match="role"):
            store.tokens.add("")
    assert secret.encode() not in path.read_bytes()
    assert len(secret) >= 43  # 256 bits in base64
