"""A stream of very many cells, and one whose keys change: what is answered stays small and true."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import polars as pl
import pytest

from hubbub.confidential import Counts
from hubbub.privacy import Event, Guarantee
from hubbub.release import Lpa
from hubbub.released import Grid, Keys, Tick
from hubbub.released.grid import _CellNames
from hubbub.server import ServerSettings, Serving, create_app
from hubbub.store import Store

CITY = Grid(400, 300)
EVENTS = Guarantee.pure(Event(), 1)
PATHS = "/", "/top", "/ranges", "/guarantee", "/key?name=7,2", "/ranges?key=7,2"
SMALL = 500_000


def serve(store: Store) -> Iterator[httpx.Client]:
    settings = ServerSettings(public=True, poll_seconds=0.05, port=0)
    with Serving(create_app(store, settings=settings)) as serving, httpx.Client(base_url=serving.address) as made:
        yield made


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    counted = np.zeros(CITY.shape, dtype=np.int64)
    counted[2, 7] = 5_000
    with (
        Store.open(tmp_path_factory.mktemp("city") / "city.db") as store,
        store.curate("city", Lpa(CITY, EVENTS)) as curator,
    ):
        for tick in range(3):
            curator.release(Counts.of(CITY, Tick(tick), counted))
        yield store


@pytest.fixture
def client(city: Store) -> Iterator[httpx.Client]:
    yield from serve(city)


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many names of cells were made."""
    made = [0]
    real = _CellNames.__getitem__

    def counting(self, at):
        made[0] += 1
        return real(self, at)

    monkeypatch.setattr(_CellNames, "__getitem__", counting)
    return made


def test_a_large_grid_is_not_sent_as_json_by_accident(client: httpx.Client, named: list[int]) -> None:
    for form in ("json", "csv"):
        answer = client.get("/v1/streams/city/releases", params={"format": form})
        assert answer.status_code == 422
        told = answer.json()["error"]
        assert "120,000 cells" in told["message"]
        assert "`key`" in told["hint"]
    assert named[0] < 1_000


def test_some_cells_and_the_largest_are_sent(client: httpx.Client, named: list[int]) -> None:
    answer = client.get("/v1/streams/city/releases", params={"key": ["7,2", "0,0"]}).json()
    assert [[row["key"] for row in release["keys"]] for release in answer["releases"]] == [["7,2", "0,0"]] * 3
    (first, *_) = client.get("/v1/streams/city/top", params={"k": 5}).json()["top"]
    assert first["key"] == "7,2"
    assert client.get("/v1/streams/city/releases", params={"key": "400,0"}).status_code == 404
    (stream,) = client.get("/v1/streams").json()["streams"]
    assert (stream["keys"], stream["domain"]) == (120_000, "grid")
    assert named[0] < 1_000


def test_a_whole_grid_is_sent_in_columns(client: httpx.Client) -> None:
    answer = client.get("/v1/streams/city/releases", params={"format": "parquet", "limit": 1})
    table = pl.read_parquet(io.BytesIO(answer.content))
    assert table.height == 120_000
    assert table.filter(pl.col("key") == "7,2")["value"][0] == pytest.approx(5_000, abs=100)


def test_totals_of_a_range_list_the_largest_cells(client: httpx.Client) -> None:
    answer = client.get("/v1/streams/city/range", params={"from": 0, "to": 2, "each": True}).json()
    assert len(answer["each"]) == 1_000
    assert answer["omitted"] == 119_000
    assert answer["each"][0]["key"] == "7,2"
    assert answer["each"][0]["value"] == pytest.approx(15_000, abs=200)
    assert answer["sum"]["value"] > 0
    few = client.get("/v1/streams/city/range", params={"from": 0, "to": 2, "each": True, "key": "7,2"}).json()
    assert (len(few["each"]), few["omitted"]) == (1, 0)


@pytest.mark.parametrize("path", PATHS)
def test_every_page_of_a_large_grid_is_small(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    assert len(answer.content) < SMALL
    assert client.get("/key?name=400,0").status_code == 404


@pytest.fixture
def changed(tmp_path: Path) -> Iterator[Store]:
    """Ticks 0 to 2 count a and b, ticks 3 to 5 count b and c."""
    with Store.open(tmp_path / "site.db") as store, store.curate("site", Lpa(Keys(["a", "b"]), EVENTS)) as curator:
        for tick in range(6):
            if tick == 3:
                curator.change_domain(Keys(["b", "c"]), released=("site", 2))
            curator.release(Counts.of(curator.keys, Tick(tick), [100 * tick, 1000 * tick]))
        yield store


def test_after_a_change_pages_show_what_is_counted_now(changed: Store) -> None:
    for client in serve(changed):
        assert {row["key"] for row in client.get("/v1/streams/site/top").json()["top"]} == {"b", "c"}
        assert client.get("/key?name=c").status_code == 200
        assert client.get("/key?name=a").status_code == 404
        (told,) = client.get("/v1/streams/site/budget").json()["decisions"]
        assert told == {"tick": 3, "domain": "keys", "keys": 2, "evidence": {"stream": "site", "tick": 2}}
        for path in ("/", "/top", "/ranges", "/ranges?key=b", "/guarantee"):
            assert client.get(path).status_code == 200, path


def test_what_was_released_before_a_change_is_still_read(changed: Store) -> None:
    for client in serve(changed):
        answer = client.get("/v1/streams/site/releases").json()["releases"]
        assert [[row["key"] for row in one["keys"]] for one in answer] == [["a", "b"]] * 3 + [["b", "c"]] * 3
        answer = client.get("/v1/streams/site/releases", params={"key": ["a", "c"], "format": "csv"}).text
        assert [line.split(",")[2] for line in answer.splitlines()[1:]] == ["a"] * 3 + ["c"] * 3
        assert client.get("/v1/streams/site/releases", params={"key": "nobody"}).status_code == 404


def test_a_range_over_a_change_is_refused_with_the_tick(changed: Store) -> None:
    for client in serve(changed):
        refused = client.get("/v1/streams/site/range", params={"from": 1, "to": 5})
        assert refused.status_code == 422
        assert "ticks before 3 had other keys" in refused.json()["error"]["message"]
        fine = client.get("/v1/streams/site/range", params={"from": 3, "to": 5, "each": True}).json()
        assert [row["key"] for row in fine["each"]] == ["b", "c"]


def test_a_change_reaches_a_server_that_runs(tmp_path: Path) -> None:
    with Store.open(tmp_path / "site.db") as store, store.curate("site", Lpa(Keys(["a", "b"]), EVENTS)) as curator:
        curator.release(Counts.of(curator.keys, Tick(0), [5, 900]))
        app = create_app(store, settings=ServerSettings(public=True, poll_seconds=0.02, port=0))
        with Serving(app) as serving, httpx.Client(base_url=serving.address) as client:
            assert {row["key"] for row in client.get("/v1/streams/site/top").json()["top"]} == {"a", "b"}
            curator.change_domain(Grid(2, 2), released=("site", 0))
            curator.release(Counts.of(Grid(2, 2), Tick(1), [1, 2, 3, 4000]))
            with client.stream("GET", "/v1/streams/site/live", headers={"Last-Event-ID": "0"}) as live:
                event = next(line for line in live.iter_lines() if line.startswith("data:"))
            assert '"1,1"' in event
            assert client.get("/key?name=1,1").status_code == 200
