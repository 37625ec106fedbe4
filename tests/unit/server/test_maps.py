"""A stream whose keys are places: what the server says of it is what was released."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import numpy as np
import pytest
from tests.support.city import EXTREMES, MAPS, TICKS, City
from tests.support.site import Site

from hubbub.released import Grid, Release, Tick
from hubbub.server import ServerSettings, Serving, create_app
from hubbub.server.frames import STATES, Frame
from hubbub.server.maps import Maps, _Shelf, described
from hubbub.server.packing import opened
from hubbub.server.shapes import MARK
from hubbub.spatial import RoadCells, in_polygon, in_rectangle, total, total_over
from hubbub.spatial.districts import districts_of
from hubbub.spatial.outlines import frame_of, geometries, in_degrees
from hubbub.store import Store

BASE = "/v1/streams/city"


@contextmanager
def serve(store: Store) -> Iterator[httpx.Client]:
    settings = ServerSettings(public=True, poll_seconds=0.05, port=0)
    with Serving(create_app(store, settings=settings)) as serving, httpx.Client(base_url=serving.address) as made:
        yield made


@pytest.fixture(scope="module", params=sorted(MAPS))
def city(request, tmp_path_factory) -> Iterator[City]:
    patch = pytest.MonkeyPatch()
    folder = tmp_path_factory.mktemp("city")
    patch.setenv("HUBBUB_STATE", str(folder / "state"))
    made = City(folder, request.param).run(TICKS - 1)
    made.miss()
    yield made
    made.close()
    patch.undo()


@pytest.fixture(scope="module")
def client(city) -> Iterator[httpx.Client]:
    with serve(city.store) as made:
        yield made


def released(city: City, tick: int) -> Release:
    return next(iter(city.store.releases("city", first=tick, last=tick)))


def frame(client, tick, base=None, before=None):
    answer = client.get(f"{BASE}/map/frames/{tick}", params={} if base is None else {"base": base})
    assert answer.status_code == 200, answer.text
    assert "immutable" in answer.headers["cache-control"]
    return Frame.read(answer.content, before)


def test_frames_are_the_releases(city, client):
    before = None
    for tick in range(TICKS):
        release, got = released(city, tick), frame(client, tick)
        for at in range(0, len(city.place), 7):
            value = release.at(at)
            assert abs(got.values[at] - value.value) <= got.step / 2 + 1e-9 or value.state == "unknown"
            assert got.standard_errors[at] >= value.standard_error * (1 - 1e-9)
            assert (STATES[got.states[at]] == "measured") == value.is_above_zero
        assert got.facts["map"] == city.place.digest
        assert got.facts["predicted"] is release.is_predicted
        assert bool(got.facts["notice"]) is release.is_predicted
        assert got.facts["total"] == described(total(release, np.arange(len(city.place))))
        if before is not None:
            again = frame(client, tick, tick - 1, before)
            assert np.array_equal(again.codes, got.codes)
            assert np.array_equal(again.states, got.states)
        before = got


def test_areas_of_the_table_hold_every_place_once(city, client):
    districts = districts_of(city.place)
    assert sorted(np.unique(districts.of)) == list(range(len(districts.names)))
    release = released(city, 2)
    told = {one["area"]: one for one in frame(client, 2).facts["areas"]}
    assert set(told) == set(districts.names)
    for at, name in enumerate(districts.names):
        wanted = described(total(release, districts.cells(at)))
        assert {key: told[name][key] for key in wanted} == wanted
        answer = client.get(f"{BASE}/area", params={"tick": 2, "area": name}).json()
        assert answer["total"] == wanted
        assert answer["places"] == districts.cells(at).tolist()


def test_an_area_has_the_numbers_of_the_function(city, client):
    west, south, east, north = frame_of(city.place)
    wide, high = east - west, north - south
    box = (west + wide / 5, south + high / 5, west + wide * 0.7, south + high * 0.7)
    corners = [(west, south), (east, south), (east, north)]
    shape = {"type": "Polygon", "coordinates": [[*map(list, corners), list(corners[0])]]}
    release = released(city, 3)
    asked = client.get(f"{BASE}/area", params={"tick": 3, "bounds": ",".join(map(repr, box))}).json()
    cells = in_rectangle(city.place, box)
    assert asked["total"] == described(total(release, cells))
    assert asked["cells"] == len(cells)
    told = ",".join(repr(number) for corner in corners for number in corner)
    asked = client.get(f"{BASE}/area", params={"tick": 3, "polygon": told}).json()
    assert asked["total"] == described(total(release, in_polygon(city.place, shape)))


def test_a_span_has_the_numbers_of_the_function(city, client):
    cells = np.arange(len(city.place))
    box = ",".join(map(repr, frame_of(city.place)))
    asked = client.get(f"{BASE}/area", params={"tick": 4, "bounds": box, "ticks": 3}).json()
    span = total_over(city.store.releases("city", first=2, last=4), in_rectangle(city.place, frame_of(city.place)))
    assert (asked["ticks"], asked["mean"], asked["any_measured"]) == (3, described(span.mean), True)
    assert asked["total"] == described(total(released(city, 4), cells)), "the tick itself is told as ever"
    early = client.get(f"{BASE}/area", params={"tick": 1, "at": 0, "ticks": 50}).json()
    assert early["ticks"] == 2, "as far as there are ticks"
    predicted = client.get(f"{BASE}/area", params={"tick": TICKS - 1, "at": 0, "ticks": 1}).json()
    assert predicted["any_measured"] is False
    refused = client.get(f"{BASE}/area", params={"at": 0, "ticks": 10**6})
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "invalid_request")
    assert "at most 1,500 ticks" in refused.json()["error"]["message"]


def test_an_area_without_a_place_is_not_called_empty(city, client):
    """Somebody may be there: no place has its middle in it."""
    west, south, _, _ = frame_of(city.place)
    for box in ((west, south, west, south), (west - 9, south - 9, west - 8, south - 8)):
        answer = client.get(f"{BASE}/area", params={"bounds": ",".join(map(repr, box))})
        assert answer.status_code == 404, answer.text
        assert "has its middle in this area" in answer.json()["error"]["message"]
        assert "not the same as none" in answer.json()["error"]["hint"]


def test_the_slider_begins_with_what_is_still_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("HUBBUB_STATE", str(tmp_path / "state"))
    city = City(tmp_path, "grid").run(TICKS)
    with serve(city.store) as client:
        assert f'id="tick" min="0" max="{TICKS - 1}"' in client.get("/map").text
        city.store.forget("city", 3)
        assert f'id="tick" min="3" max="{TICKS - 1}"' in client.get("/map").text
        asked = client.get(f"{BASE}/area", params={"at": 0, "ticks": TICKS}).json()
        assert asked["ticks"] == TICKS - 3
    city.close()


def test_a_cell_is_told_as_it_was_published(city, client):
    release, names = released(city, 1), city.place.names
    for at in (0, len(city.place) - 1):
        for params in ({"cell": names[at]}, {"at": at}):
            answer = client.get(f"{BASE}/area", params={"tick": 1, **params}).json()
            assert answer["cell"] == names[at]
            assert answer["total"] == described(release.at(at))


@pytest.mark.parametrize(
    ("params", "status"),
    [
        ({}, 422),
        ({"bounds": "1,2,3"}, 422),
        ({"bounds": "3,2,1,4"}, 422),
        ({"bounds": "1,2,x,4"}, 422),
        ({"bounds": "1,2,nan,4"}, 422),
        ({"bounds": "0,0,1,1", "at": 0}, 422),
        ({"polygon": "1,2,3,4"}, 422),
        ({"polygon": "0,0,1,1,1"}, 422),
        ({"polygon": "0,0,2,2,2,0,0,2"}, 422),
        ({"polygon": ",".join(["1"] * 2000)}, 422),
        ({"area": "nowhere"}, 404),
        ({"cell": "nowhere"}, 404),
        ({"at": 10**9}, 404),
        ({"at": 0, "tick": 999}, 404),
    ],
)
def test_a_strange_question_is_refused(client, params, status):
    answer = client.get(f"{BASE}/area", params=params)
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]["hint"]


def test_the_shape_is_sent_once(city, client):
    facts = client.get(f"{BASE}/map").json()
    assert (facts["cells"], facts["map"], facts["latest_tick"]) == (len(city.place), city.place.digest, TICKS - 1)
    answer = client.get(facts["shape"])
    assert "immutable" in answer.headers["cache-control"]
    head, content, at = opened(MARK, answer.content)
    assert head["digest"] == city.place.digest
    assert head["bounds"] == list(frame_of(city.place))
    assert head["degrees"] is in_degrees(city.place)
    assert at + sum(head["parts"].values()) == len(content)
    assert ("roads" in head) is isinstance(city.place, RoadCells)
    again = client.get(f"{BASE}/map/shape", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304


def test_geojson_has_every_place(city, client):
    answer = client.get(f"{BASE}/releases", params={"first": 2, "limit": 1, "format": "geojson"})
    assert answer.headers["content-type"] == "application/geo+json"
    facts, release = answer.json(), released(city, 2)
    assert facts["tick"] == 2
    assert [one["id"] for one in facts["features"]] == list(city.place.names)
    for at, (feature, shape) in enumerate(zip(facts["features"], geometries(city.place), strict=True)):
        assert feature["geometry"] == json.loads(json.dumps(shape))
        assert feature["properties"]["value"] == release.at(at).to_dict()["value"]
        assert feature["properties"]["state"] == described(release.at(at))["state"]
    assert client.get(f"{BASE}/releases", params={"format": "geojson", "key": city.place.names[0]}).status_code == 406


def test_the_page_stands_without_a_script(city, client):
    page = client.get("/").text
    assert page == client.get("/map").text
    assert "The busiest areas" in page
    assert "predicted, not measured" in page or "The latest tick was not measured" in page
    assert page.count("<tr>") <= 14, "places are in no table, only areas"
    assert client.get("/top").headers["location"] == "/map"
    assert client.get("/key", params={"name": city.place.names[0]}).headers["location"] == "/map"
    for path in ("/ranges", "/guarantee", "/about"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert ">Map</a>" in answer.text


def test_live_events_name_no_place(client):
    with client.stream("GET", f"{BASE}/live") as answer:
        for line in answer.iter_lines():
            if line.startswith("data:"):
                event = json.loads(line[5:])
                break
    assert event["keys"] == []
    assert event["omitted"] > 0
    assert event["total"]["text"]


def test_mds_has_an_interval_where_others_say_minus_one(city, client):
    facts = client.get(f"{BASE}/mds/metrics").json()
    measures, interval = facts["metrics"][0]["measures"], facts["metrics"][0]["intervals"][0]
    assert (interval, facts["metrics"][0]["since"]) == ("PT1M", "2026-03-04T08:00:00+00:00")
    query = {"measures": measures, "interval": interval, "start_date": "2026-03-04T0801", "end_date": "2026-03-04T0802"}
    answer = client.post(f"{BASE}/mds/metrics", json=query | {"dimensions": ["geography_id"]}).json()
    assert [column["name"] for column in answer["columns"]] == ["start_date", "geography_id", *measures]
    assert answer["query"]["k_value"] == 0
    assert len(answer["rows"]) == 2 * len(city.place)
    release = released(city, 1)
    for at, row in enumerate(answer["rows"][: len(city.place)]):
        assert row == ["2026-03-04T08:01:00+00:00", city.place.names[at], *release.at(at).to_dict().values()]
    assert not any(number == -1 for row in answer["rows"] for number in row)
    whole = client.post(f"{BASE}/mds/metrics", json=query | {"measures": measures[:1]}).json()
    assert whole["rows"][0][1] == total(release, np.arange(len(city.place))).value
    some = {"dimensions": ["geography_id"], "filters": [{"name": "geography_id", "values": [city.place.names[1]]}]}
    assert len(client.post(f"{BASE}/mds/metrics", json=query | some).json()["rows"]) == 2
    areas = client.post(f"{BASE}/mds/metrics", json=query | {"dimensions": ["area"]}).json()["rows"]
    assert len(areas) == 2 * len(districts_of(city.place).names)
    one = client.get(f"{BASE}/mds/metrics/1").json()
    assert one["rows"] == answer["rows"][: len(city.place)]


@pytest.mark.parametrize(
    "change",
    [
        {"measures": ["trips.count"]},
        {"interval": "PT1H"},
        {"timezone": "Europe/Berlin"},
        {"dimensions": ["vehicle_type"]},
        {"dimensions": ["area", "geography_id"]},
        {"start_date": "yesterday"},
        {"start_date": 1e300},
        {"filters": [{"name": "provider_id", "values": ["x"]}]},
        {"start_date": "2026-03-04T0700", "end_date": "2030-03-04T0700", "dimensions": ["nothing"]},
    ],
)
def test_mds_refuses_what_it_cannot_answer(client, change):
    query = {"measures": ["vehicles.count"], "interval": "PT1M", "start_date": "2026-03-04T0801"}
    assert client.post(f"{BASE}/mds/metrics", json=query | change).status_code == 422
    assert client.get(f"{BASE}/mds/metrics/999").status_code == 404


# ── one city ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.setenv("HUBBUB_STATE", str(tmp_path / "state"))
    return tmp_path


def test_one_tick_of_very_many_cells_is_sent_in_pieces(own, monkeypatch):
    monkeypatch.setattr("hubbub.server.routes.read.MOST_ROWS", 100)
    monkeypatch.setattr("hubbub.server.tables.PIECE", 64)
    city = City(own).run(2)
    with serve(city.store) as client:
        got = client.get(f"{BASE}/releases", params={"first": 1, "limit": 1, "format": "json"}).json()
        assert got["releases"] == [released(city, 1).to_dict()]
        assert got["next"] is None
        text = client.get(f"{BASE}/releases", params={"first": 1, "last": 1, "format": "csv"}).text
        rows = list(csv.DictReader(io.StringIO(text)))
        assert [row["key"] for row in rows] == list(city.place.names)
        assert [float(row["value"]) for row in rows] == released(city, 1).values.tolist()
        refused = client.get(f"{BASE}/releases", params={"format": "csv"})
        assert refused.status_code == 422
        assert "limit=1" in refused.json()["error"]["hint"]
    city.close()


def test_before_the_first_tick(own):
    city = City(own)
    with serve(city.store) as client:
        assert "Nothing has been released yet" in client.get("/map").text
        for path in ("/map/frames/0", "/area?at=0", "/mds/metrics", "/mds/metrics/0"):
            assert client.get(f"{BASE}{path}").status_code == 404
        assert client.get(f"{BASE}/map/shape").status_code == 200
    city.close()


def test_ticks_without_a_clock_have_no_mds(own):
    city = City(own, clock=False).run(1)
    with serve(city.store) as client:
        assert client.get(f"{BASE}/mds/metrics").status_code == 422
        assert "mds" not in client.get("/map").text
    city.close()


def test_a_polygon_needs_a_package_and_says_so(own, monkeypatch):
    city = City(own).run(1)
    with serve(city.store) as client:
        monkeypatch.setitem(sys.modules, "shapely", None)
        answer = client.get(f"{BASE}/area", params={"polygon": "0,0,1,0,1,1"})
        assert answer.status_code == 501
        assert "bounds" in answer.json()["error"]["hint"]
    city.close()


@pytest.mark.parametrize("kind", sorted(EXTREMES))
def test_a_map_of_one_cell_and_one_that_is_too_fine_for_a_picture(own, kind):
    """Both have a page and every number; where there is no picture the page says why, and offers nothing of one."""
    city = City(own, kind).run(2)
    release = released(city, 1)
    whole = total(release, np.arange(len(city.place)))
    with serve(city.store) as client:
        page = client.get("/map").text
        fine = kind == "very fine"
        assert ("a table of 268,435,456 cells: too many for a picture" in page) is fine
        assert ('id="map"' in page) is not fine
        assert ("Choose one to see it on the map" in page) is not fine
        assert whole.text in page
        box = ",".join(map(repr, frame_of(city.place)))
        assert client.get(f"{BASE}/area", params={"tick": 1, "bounds": box}).json()["total"] == described(whole)
        got = frame(client, 1)
        assert len(got.values) == len(city.place)
        told = client.get(f"{BASE}/area", params={"tick": 1, "at": len(city.place) - 1}).json()["total"]
        assert told["value"] == pytest.approx(release.at(len(city.place) - 1).value)
    city.close()


def test_names_are_no_places(own):
    site = Site(own).run(1)
    with serve(site.store) as client:
        for path in ("map", "map/shape", "map/frames/0", "area?at=0", "mds/metrics", "mds/metrics/0"):
            assert client.get(f"/v1/streams/site/{path}").status_code == 404, path
        assert client.get("/map").headers["location"] == "/"
        assert client.get("/v1/streams/site/releases?format=geojson").status_code == 406
    site.close()


def test_a_map_may_cross_the_180th_meridian():
    grid = Grid(4, 1, bounds=(178, 0, -178, 1), coordinates="degrees")
    ones = np.ones(4)
    release = Release(Tick(0), grid, ones, ones, ones, ones)
    maps = Maps.__new__(Maps)
    assert maps.in_box(release, (179, 0, 181, 1)).tolist() == [1, 2]
    assert maps.in_box(release, (181, 0, 182, 1)).tolist() == [3]
    assert maps.in_corners(release, [(179, 0), (181, 0), (181, 1), (179, 1)]).tolist() == [1, 2]


def test_a_shelf_forgets_what_is_old_and_makes_things_once():
    made = []

    def make(name):
        made.append(name)
        return b"x" * 40

    shelf = _Shelf(100, len)
    for name in ("a", "b", "a", "c", "a"):
        shelf.get(name, lambda name=name: make(name))
    assert made == ["a", "b", "c"], "what was asked for lately stays"
    shelf.get("b", lambda: make("b"))
    assert made[-1] == "b", "what was not is made again"
    with pytest.raises(ZeroDivisionError):
        shelf.get("d", lambda: 1 / 0)
    assert shelf.get("d", lambda: b"d") == b"d", "a failure is not remembered"


def test_the_guarantee_of_a_map_speaks_of_places(city, client):
    page = client.get("/guarantee").text
    assert "Suppose you were at a clinic at 10:42." in page
    assert "read an article" not in page
    assert "many are at one place" in page
    assert "the site itself" not in page


def test_a_map_is_not_read(city, client):
    """A store that is served by itself has no caption: what moves on a map are no readers of pages."""
    for page in ("/map", "/ranges", "/about"):
        text = client.get(page).text
        assert "people reading" not in text, page
        assert "all pages" not in text, page
    assert "on the map now" in client.get("/map").text
