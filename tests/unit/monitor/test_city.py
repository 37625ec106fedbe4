"""From what a city has to the counts of a map: who counts where, once a tick, and in how many ticks."""

from datetime import timedelta

import httpx
import pytest
from pydantic import ValidationError
from tests.support.small_city import START, SmallCity, feed, line, mds_status

from hubbub.cli.main import main
from hubbub.errors import GuaranteeChanged, InvalidInput
from hubbub.monitor.assembly import check
from hubbub.monitor.running import Running
from hubbub.monitor.settings import MonitorSettings
from hubbub.released import Grid
from hubbub.server import ServerSettings, Serving, create_app

HALF = timedelta(seconds=30)


@pytest.fixture
def city(tmp_path):
    made = SmallCity(tmp_path).open()
    made.minute()  # the first tick is the next whole minute
    yield made
    made.close()
    made.store.close()


def test_a_vehicle_counts_once_a_tick_where_it_was_last(city):
    now = city.now
    city.send(line("a", 8.05, 53.05, now + timedelta(seconds=10)) + line("a", 8.15, 53.05, now + HALF))
    city.send(line("b", 8.15, 53.05, now + HALF) + line("a", 8.35, 53.25, now + timedelta(seconds=20)))
    city.minute()
    assert city.counts()[-1] == {"1,0": 2}


def test_a_trip_counts_in_its_first_ticks_and_a_later_trip_again(city):
    for _ in range(5):
        city.send(line("a", 8.05, 53.05, city.now + HALF))
        city.minute()
    assert city.counts()[-5:] == [{"0,0": 1}] * 3 + [{}] * 2
    for _ in range(6):
        city.minute()  # silent for longer than the timeout
    city.send(line("a", 8.05, 53.05, city.now + HALF))
    city.minute()
    assert city.counts()[-1] == {"0,0": 1}


def test_what_is_off_the_map_or_no_position_counts_nowhere_and_stops_nobody(city):
    now = city.now + HALF
    city.send(
        line("far", 9.0, 53.1, now)
        + line("nan", float("nan"), 53.1, now)
        + line("inf", float("inf"), 53.1, now)
        + line("text", "x", 53.1, now)
        + line("swapped", 53.05, 8.05, now)
        + '{"time": 0}\n{broken\n'
        + line("good", 8.05, 53.05, now)
    )
    city.minute()
    assert city.counts()[-1] == {"0,0": 1}


def swapped(vehicles, at):
    return "".join(line(f"car {number}", 53.05, 8.05, at) for number in range(vehicles))


def test_a_live_feed_with_swapped_axes_is_told_to_its_owner_once_and_to_nobody_else(city):
    def said():
        return sum("axes of these positions seem to be swapped" in one for one in city.said)

    city.send(swapped(19, city.now + HALF))  # a few may simply lie off the map
    city.minute()
    assert said() == 0
    for _ in range(3):
        city.send(swapped(30, city.now + HALF))
        city.minute()
    assert said() == 1
    assert city.counts()[-4:] == [{}] * 4
    assert city.pipeline.trouble == "", "that is on a public page"
    assert not any("swapped" in str(fact) for fact in city.pipeline.status().values())
    for _ in range(40):  # mended, and after a while wrong again
        city.send("".join(line(f"bus {number}", 8.05, 53.05, city.now + HALF) for number in range(50)))
    city.minute()
    assert said() == 1
    for _ in range(40):
        city.send(swapped(50, city.now + HALF))
    city.minute()
    assert said() == 2


def test_a_file_with_swapped_axes_is_refused_before_anything_is_spent(tmp_path):
    path = tmp_path / "positions.jsonl"
    path.write_text(swapped(50, START + HALF))
    source = {"kind": "events", "path": path, "start": START, "end": START + timedelta(minutes=2)}
    city = SmallCity(tmp_path, source).open()
    with pytest.raises(InvalidInput, match="axes of these positions seem to be swapped"):
        city.pipeline.run()
    assert city.counts() == []
    assert city.store.spending("city").settled == 0
    city.close()
    path.write_text("".join(line(f"car {number}", 8.05, 53.05, START + HALF) for number in range(50)))
    city.open().pipeline.run()
    assert city.counts() == [{"0,0": 50}, {}]
    city.close()
    city.store.close()


@pytest.mark.parametrize("document", [feed, mds_status])
def test_documents_give_the_same_counts_as_lines(tmp_path, document):
    kind = "gtfs-realtime" if document is feed else "mds"
    city = SmallCity(tmp_path, {"kind": "http", "spool": tmp_path / "spool", "format": kind}).open()
    city.minute()
    receipt = city.send(document([("a", 8.05, 53.05), ("b", 8.15, 53.05), ("c", 8.16, 53.06)], city.now + HALF))
    assert (receipt.accepted, receipt.malformed) == (3, 0)
    city.minute()
    assert city.counts()[-1] == {"0,0": 1, "1,0": 2}
    city.close()
    city.store.close()


def test_a_damaged_vehicle_takes_no_other_with_it(tmp_path):
    city = SmallCity(tmp_path, {"kind": "http", "spool": tmp_path / "spool", "format": "gtfs-realtime"}).open()
    city.minute()
    whole = feed([("a", 8.05, 53.05), ("bb", 8.15, 53.05), ("c", 8.15, 53.05)], city.now + HALF)
    damaged = whole.replace(b"\x02bb", b"\x7fbb")  # the length of one name runs over its end
    assert damaged != whole
    receipt = city.send(damaged)
    assert (receipt.accepted, receipt.malformed) == (2, 1)
    cut_short = city.send(whole[:-10])
    assert (cut_short.accepted, cut_short.malformed) == (2, 1)
    city.minute()
    assert city.counts()[-1] == {"0,0": 1, "1,0": 1 + 1}  # c of the first, bb of the second
    city.close()
    city.store.close()


def test_a_vehicle_that_stands_still_with_an_old_time_does_not_count_again(tmp_path):
    """A feed repeats the last position of a parked bus for hours."""
    city = SmallCity(tmp_path, {"kind": "http", "spool": tmp_path / "spool", "format": "gtfs-realtime"}).open()
    city.minute()
    parked = feed([("a", 8.05, 53.05)], city.now + HALF)
    for _ in range(2):
        city.send(parked)
        city.minute()
    assert city.counts()[-2:] == [{"0,0": 1}, {}]
    city.close()
    city.store.close()


def test_a_restart_neither_forgets_nor_counts_twice(tmp_path):
    city = SmallCity(tmp_path).open()
    city.minute()
    for minute in range(5):
        city.send(line("a", 8.05, 53.05, city.now + HALF))
        if minute == 2:
            city.die()
            city.open()
        city.minute()
    seen = city.counts()[-5:]
    assert sum(tick == {"0,0": 1} for tick in seen) <= 3
    assert seen[-1] == {}
    city.close()
    city.store.close()


def test_people_over_a_horizon(tmp_path):
    city = SmallCity(tmp_path, protect="user")
    city.privacy |= {"horizon": 50, "max_ticks": 50}
    city.open()
    city.minute()
    for _ in range(5):
        city.send(line("a", 8.05, 53.05, city.now + HALF))
        city.minute()
    assert city.counts()[-5:] == [{"0,0": 1}] * 5
    city.close()
    city.store.close()


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "pb"])
def test_files(tmp_path, ending):
    import polars as pl

    seen = [("a", 8.05, 53.05), ("b", 8.15, 53.05)]
    path = tmp_path / f"positions.{ending}"
    frame = pl.DataFrame(
        {"timestamp": [START + HALF] * 2, "vehicle": ["a", "b"], "longitude": [8.05, 8.15], "latitude": [53.05] * 2}
    )
    if ending == "csv":
        frame.with_columns(pl.col("timestamp").dt.to_string("iso:strict")).write_csv(path)
    elif ending == "jsonl":
        path.write_text("".join(line(*one, START + HALF) for one in seen))
    elif ending == "parquet":
        frame.write_parquet(path)
    else:
        path.write_bytes(feed(seen, START + HALF))
    source = {"kind": "events", "path": path, "start": START, "end": START + timedelta(minutes=2)}
    if ending == "pb":
        source["format"] = "gtfs-realtime"
    city = SmallCity(tmp_path, source).open()
    city.pipeline.run()
    assert city.counts() == [{"0,0": 1, "1,0": 1}, {}]
    city.close()
    city.store.close()


def test_a_feed_that_breaks_off_in_a_file_is_said_at_once(tmp_path):
    path = tmp_path / "feed.pb"
    path.write_bytes(feed([("a", 8.05, 53.05)], START)[:-3])
    source = {"kind": "events", "path": path, "format": "gtfs-realtime", "start": START, "end": START + HALF * 2}
    city = SmallCity(tmp_path, source)
    with pytest.raises(InvalidInput, match="breaks off"):
        city.open()
    assert city.store.find("city") is None
    city.store.close()


def test_the_map_is_part_of_the_promise(city, tmp_path):
    city.close()
    city.grid = {"columns": 5, "rows": 3, "bounds": city.grid["bounds"]}
    with pytest.raises(GuaranteeChanged):
        city.open()


def test_roads_with_a_receiver_that_is_off_by_some_metres(tmp_path):
    roads = tmp_path / "roads.geojson"
    roads.write_text(
        '{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {}, "geometry": '
        '{"type": "LineString", "coordinates": [[8.0, 53.15], [8.4, 53.15]]}}]}'
    )
    city = SmallCity(tmp_path)
    city.grid = {"columns": 40, "rows": 30, "bounds": city.grid["bounds"], "roads": roads, "snap": 2}
    city.method = {}
    city.open()
    city.minute()
    beside = [line("a", 8.205, 53.165, city.now + HALF), line("far", 8.205, 53.205, city.now + HALF)]
    city.send("".join(beside))
    city.minute()
    *_, release = city.store.releases("city")
    assert 0.5 < release.values.sum() < 1.5
    assert city.store.find("city").method == "roads"
    city.close()
    city.store.close()


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        ({"columns": 4, "bounds": [0, 0, 1, 1]}, "belong together"),
        ({"columns": 4, "rows": 4}, "which part of the world"),
        ({"columns": 4, "rows": 4, "bounds": [0, 0, 1, 1], "hexagons": 7}, "`columns` and `rows`, or `hexagons`"),
        ({"bounds": [0, 0, 1, 1]}, "`columns` and `rows`, or `hexagons`"),
        ({"columns": 4, "rows": 4, "bounds": [0, 0, 1, 1], "snap": 2}, "belongs to `roads`"),
        ({"hexagons": 7, "bounds": [0, 0, 1, 1], "coordinates": "plain"}, "lie on the earth"),
    ],
)
def test_a_map_that_is_none(tmp_path, grid, words):
    city = SmallCity(tmp_path)
    city.grid = grid
    with pytest.raises(ValidationError, match=words):
        city.settings()
    city.store.close()


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"keys": {"names": ["/"]}}, "one of them"),
        ({"ranges": {"window": 60}}, "any area over any span"),
        ({"source": {"kind": "log", "path": "access.log"}}, "holds no positions"),
    ],
)
def test_what_a_map_cannot_have(tmp_path, table, words):
    city = SmallCity(tmp_path, **table)
    with pytest.raises(ValidationError, match=words):
        city.settings()
    city.store.close()


def test_check_says_what_a_start_would(tmp_path):
    city = SmallCity(tmp_path)
    city.store.close()
    (tmp_path / "city.db").unlink()
    assert "no store" in check(city.settings())[0]
    assert isinstance(city.settings().grid.domain(), Grid)


def test_a_body_of_another_type_is_refused(tmp_path):
    source = {"kind": "http", "spool": tmp_path / "spool", "format": "gtfs-realtime"}
    city = SmallCity(tmp_path, source).open()
    token = city.store.tokens.add("ingest")
    body = feed([("a", 8.05, 53.05)], city.now)
    with Serving(create_app(city.store, settings=ServerSettings(port=0), events=city.spool)) as serving:
        for kind, status in (("application/x-protobuf", 202), ("application/x-ndjson", 415), ("text/plain", 415)):
            sent = httpx.post(
                f"{serving.address}/v1/streams/city/events",
                content=body,
                headers={"Content-Type": kind, "Authorization": f"Bearer {token}"},
            )
            assert sent.status_code == status, sent.text
    city.close()
    city.store.close()


def test_the_sample_is_a_city(tmp_path, monkeypatch):
    """As it is written, and with every setting that it shows as a comment."""
    monkeypatch.chdir(tmp_path)
    assert main(["init", "--city"]) == 0
    plain = (tmp_path / "city.toml").read_text()
    assert main(["monitor", "city.toml", "--check"]) == 0
    (tmp_path / "roads.geojson").write_text(
        '{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {}, "geometry": '
        '{"type": "LineString", "coordinates": [[8.1, 53.1], [8.3, 53.15]]}}]}'
    )
    shown = plain.replace("# roads =", "roads =").replace("# snap = 0", "snap = 1").replace("# keep =", "keep =")
    shown = shown.replace("# [collect]", "[collect]").replace("# stay =", "stay =")
    (tmp_path / "city.toml").write_text(shown)
    assert main(["monitor", "city.toml", "--check"]) == 0


def test_old_numbers_are_let_go(tmp_path):
    city = SmallCity(tmp_path, store={"url": str(tmp_path / "city.db"), "keep": "3min"})
    running = Running(city.settings(), serve=False, say=city.said.append)
    city.open()
    running._store = city.store
    for _ in range(8):
        city.minute()
        for release in city.released[-1:]:
            running._released(release)
    kept = [release.tick.index for release in city.store.releases("city")]
    assert kept == list(range(kept[-1] - 3, kept[-1] + 1))
    assert city.store.verify("city").ok
    city.close()
    city.store.close()


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"ranges": {"window": "1h"}}, "as far back as `window`"),
        ({"keys": {"discover": "1h"}, "privacy": {"epsilon": 1, "delta": 1e-9}}, "where keys are found"),
    ],
)
def test_what_cannot_be_let_go(table, words):
    told = {
        "stream": {"name": "site", "tick": "1m"},
        "source": {"kind": "http"},
        "keys": {"names": ["/"]},
        "privacy": {"epsilon": 1},
        "store": {"keep": "10min"},
    }
    with pytest.raises(ValidationError, match=words):
        MonitorSettings.model_validate(told | table)
