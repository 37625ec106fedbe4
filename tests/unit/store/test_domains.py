"""Streams that count by something else than a list of names."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

import hubbub as hb
from hubbub.confidential import Counts
from hubbub.errors import GuaranteeChanged, InvalidCounts, UnknownKey
from hubbub.methods import METHODS, build
from hubbub.privacy import Event, Guarantee, Session, User
from hubbub.release import Lpa
from hubbub.released import Discovered, Domain, Grid, Hierarchy, Keys, Release, Tick
from hubbub.released.grid import _CellNames
from hubbub.store import Store, schema

EVENTS = Guarantee.pure(Event(), 1)
LARGE = Grid(1024, 1024)
DOMAINS: list[Domain] = [
    Keys(["front", "news"]),
    Grid(4, 3, bounds=(8.0, 53.0, 8.5, 53.25)),
    Hierarchy({"country": None, "north": "country", "south": "country"}, nested=False),
    Discovered(["/", "/news"], decision="site.keys tick 24"),
]


@pytest.fixture
def no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks for the name of a cell is found out."""

    def asked(*_: object) -> str:
        raise AssertionError("the name of a cell was made")

    monkeypatch.setattr(_CellNames, "__getitem__", asked)
    monkeypatch.setattr(_CellNames, "__iter__", asked)


@pytest.mark.usefixtures("no_names")
def test_a_million_cells_are_released_kept_and_read_without_a_name(path: Path) -> None:
    counted = np.zeros(LARGE.shape, dtype=np.int64)
    counted[1, 3] = 10_000
    with Store.open(path) as store, store.curate("city", Lpa(LARGE, EVENTS)) as curator:
        first = curator.release(Counts.of(LARGE, Tick(0), counted))
    with Store.open(path) as store:
        again = Lpa(Grid(1024, 1024), EVENTS)
        with store.curate("city", again) as curator:
            assert curator.next_tick == 1
            curator.release(Counts.of(LARGE, Tick(1), counted))
        kept, later = store.releases("city")
        assert store.verify("city").ok
        with store.database.read() as connection:
            (text,) = connection.execute(sa.select(schema.streams.c["keys"])).scalars()
    assert text == '{"columns":1024,"kind":"grid","rows":1024}'
    assert kept.keys == LARGE
    assert np.array_equal(kept.values, first.values)
    assert kept["3,1"].value == pytest.approx(10_000, abs=100)
    assert later.keys is kept.keys, "all releases of a stream share its domain"


@pytest.mark.usefixtures("no_names")
def test_a_grid_is_not_another_grid(store: Store) -> None:
    with store.curate("city", Lpa(Grid(8, 4), EVENTS)):
        pass
    for other in (Grid(4, 8), Grid(8, 4, bounds=(0, 0, 1, 1)), Keys(["8", "4"])):
        with pytest.raises(GuaranteeChanged, match="exists with other keys"):
            store.curate("city", Lpa(other, EVENTS))
    with pytest.raises(GuaranteeChanged, match=r"other keys: Grid\(8 x 4\) instead of Grid\(4 x 8\)"):
        store.curate("city", Lpa(Grid(4, 8), EVENTS))


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_every_kind_of_domain_goes_through_the_store(store: Store, domain: Domain) -> None:
    with store.curate("any", Lpa(domain, EVENTS)) as curator:
        made = curator.release(Counts.of(domain, Tick(0), dict.fromkeys(domain, 7)))
    (kept,) = Store.open(store.database.where).releases("any")
    assert (kept.keys, type(kept.keys)) == (domain, type(domain))
    assert [kept[name] for name in domain] == [made[name] for name in domain]
    assert store.stream("any").keys == domain


def test_names_are_written_as_they_always_were(store: Store) -> None:
    """A bare list: the hash of every stream that was ever made rests on it."""
    made = store.create_stream("site", Keys(["front", "news"]), EVENTS, "lpa")
    assert made.definition.keys == '["front","news"]'


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_counts_in_a_grid(method: str) -> None:
    unit = User(horizon=20) if METHODS[method].traits.needs_horizon else Session(max_ticks=20)
    grid = Grid(3, 2)
    needed = {"ranges": {"window": 8}, "dft": {"coefficients": 5}}.get(method, {})
    mechanism = build(method, grid, Guarantee.pure(unit, 1), **needed)
    counted = [Counts.of(grid, Tick(tick), np.full(grid.shape, 50)) for tick in range(20)]
    assert {release.keys for release in mechanism.release_series(counted)} == {grid}


def test_a_monitor_takes_a_grid(tmp_path: Path) -> None:
    counted = np.arange(12).reshape(3, 4)
    with hb.Monitor(Grid(4, 3), "event", 1, store=tmp_path / "city.db", method="lpa") as monitor:
        release = monitor.release(counted)
        assert release["3,2"].value >= 0
        with pytest.raises(InvalidCounts, match=r"each of 12 cells; got shape \(4, 3\)"):
            monitor.release(counted.T)
        with pytest.raises(UnknownKey, match=r"'0,0' \(11 of 12 cells missing\)"):
            monitor.release({"3,2": 7})
        assert "Grid(4 x 3)" in repr(monitor)


def test_what_is_said_of_a_million_cells_is_short() -> None:
    one = np.zeros(len(LARGE))
    release = Release(Tick(0), LARGE, one, one, one, one)
    tracemalloc.start()
    said = [repr(release), str(release), release._repr_html_()]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert max(map(len, said)) < 5_000
    assert peak < 1_000_000
    assert "(1,048,576 cells)" in said[0]
    assert "… and 1,048,556 more cells" in said[1]
    assert "<th>cell</th>" in said[2]


@pytest.mark.usefixtures("no_names")
def test_the_table_of_a_grid_has_names_that_polars_made() -> None:
    zero = np.zeros(len(LARGE))
    table = Release(Tick(0), LARGE, zero, zero, zero, zero, zero.astype(np.int64), 8.0).to_polars()
    assert table.height == len(LARGE)
    assert table["key"][1027] == "3,1"
    assert table["measurement"].null_count() == 0
