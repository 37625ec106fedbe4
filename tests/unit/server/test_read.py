"""What readers get, in four formats and one error shape."""

import io
import json

import numpy as np
import polars as pl
import pytest
from tests.support.patience import until

from hubbub.cli.main import main
from hubbub.series import read_released
from hubbub.server.formats import ARROW, choose

BASE = "/v1/streams/site"


def error_of(answer):
    body = answer.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"code", "message", "hint"}
    return body["error"]["code"]


def test_streams_are_listed(client, site):
    (stream,) = client.get("/v1/streams").json()["streams"]
    assert (stream["name"], stream["keys"], stream["method"]) == ("site", 17, "lpa")
    assert stream["latest_tick"] == site.next_tick - 1
    assert "factor e^1" in stream["guarantee"]


def test_releases_come_in_pages_by_tick(client, site):
    got, address = [], f"{BASE}/releases?limit=25"
    while address:
        answer = client.get(address).json()
        got += [release["tick"] for release in answer["releases"]]
        address = answer["next"]
    assert got == list(range(site.next_tick))


def test_a_release_is_the_one_in_the_store(client, site):
    (got,) = client.get(f"{BASE}/releases?first=7&last=7").json()["releases"]
    (kept,) = site.store.releases("site", first=7, last=7)
    assert got["keys"] == kept.to_dict()["keys"]
    assert got["noise_variance"] == kept.noise_variance
    assert got["length_seconds"] == 10


def test_keys_can_be_chosen(client):
    (got,) = client.get(f"{BASE}/releases", params={"first": 3, "last": 3, "key": ["news", "front page"]}).json()[
        "releases"
    ]
    assert [row["key"] for row in got["keys"]] == ["news", "front page"]


@pytest.mark.parametrize("form", ["json", "csv", "parquet", "arrow"])
@pytest.mark.parametrize("keys", [[], ["news", "front page"]])
def test_what_is_saved_is_what_was_released(client, site, tmp_path, form, keys):
    """The whole way: a page of the server, saved as it comes, read as the store has it and searched for outbreaks."""
    answer = client.get(f"{BASE}/releases", params={"limit": 60, "format": form, "key": keys})
    file = tmp_path / f"site.{form}"
    file.write_bytes(answer.content)
    got = read_released(file)
    kept = list(site.store.releases("site"))
    assert [release.tick for release in got] == [release.tick for release in kept]
    at = [site.keys.position(key) for key in keys] or slice(None)
    for one, two in zip(got, kept, strict=True):
        assert (one.noise_variance, one.cost) == (two.noise_variance, two.cost)
        np.testing.assert_array_equal(one.values, two.values[at])
        np.testing.assert_array_equal(one.upper, two.upper[at])
        np.testing.assert_array_equal(one.measurements, two.measurements[at])
    assert main(["detect", str(file), "--json"]) == 0


def test_csv_and_arrow_hold_the_same(client):
    page = {"first": 5, "limit": 3}
    csv = client.get(f"{BASE}/releases", params=page, headers={"Accept": "text/csv"})
    assert csv.headers["content-type"].startswith("text/csv")
    assert 'rel="next"' in csv.headers["link"]
    assert csv.headers["content-disposition"] == 'attachment; filename="site.csv"'
    table = pl.read_csv(io.BytesIO(csv.content))
    arrow = client.get(f"{BASE}/releases", params=page, headers={"Accept": ARROW})
    other = pl.read_ipc_stream(io.BytesIO(arrow.content))
    assert table.columns == other.columns
    assert table["key"].to_list() == other["key"].to_list()
    assert table["measurement"].to_list() == other["measurement"].to_list()
    np.testing.assert_allclose(table["value"].to_numpy(), other["value"].to_numpy())
    assert len(table) == 3 * 17


@pytest.mark.parametrize("form", ["csv", "arrow", "parquet", "json"])
def test_an_empty_page_is_still_a_page(client, form):
    answer = client.get(f"{BASE}/releases?first=100000&format={form}")
    assert answer.status_code == 200
    if form == "json":
        assert answer.json()["releases"] == []
    if form == "csv":
        assert answer.text.startswith("tick,start,key,value")


def test_formats_are_chosen_by_accept():
    assert choose(None, None) == "application/json"
    assert choose("application/json;q=0.2, text/*", None) == "text/csv"
    assert choose("text/csv;q=nonsense, application/json;q=0.1", None) == "application/json"


@pytest.mark.parametrize(
    ("address", "status", "code"),
    [
        (f"{BASE}/releases?format=xml", 406, "not_acceptable"),
        (f"{BASE}/releases?limit=0", 422, "invalid_request"),
        (f"{BASE}/releases?first=-1", 422, "invalid_request"),
        (f"{BASE}/releases?key=nobody", 404, "not_found"),
        ("/v1/streams/other/releases", 404, "unknown_stream"),
        ("/v1/streams/other/live", 404, "unknown_stream"),
        (f"{BASE}/range?from=0", 422, "invalid_request"),
        (f"{BASE}/range?from=9&to=3", 422, "invalid_request"),
        (f"{BASE}/range?from=x&to=3", 422, "invalid_request"),
        (f"{BASE}/range?from=2026-01-01T00:00:00&to=3", 422, "invalid_request"),
        (f"{BASE}/range?from=99999999999999999999&to=3", 422, "invalid_request"),
        (f"{BASE}/truth?first=0&last=1", 404, "not_found"),
        ("/v1/nothing", 404, "not_found"),
    ],
)
def test_refusals_have_one_shape(client, address, status, code):
    answer = client.get(address)
    assert answer.status_code == status
    assert error_of(answer) == code


def test_other_methods_and_formats_are_refused(client):
    assert error_of(client.delete(f"{BASE}/releases")) == "method_not_allowed"
    assert error_of(client.get(f"{BASE}/releases", headers={"Accept": "image/png"})) == "not_acceptable"


def test_a_range_is_the_sum_of_measurements(client, site):
    got = client.get(f"{BASE}/range?from=10&to=19&key=news").json()
    kept = list(site.store.releases("site", first=10, last=19))
    news = site.keys.position("news")
    assert got["sum"]["value"] == sum(int(r.measurements[news]) for r in kept)
    assert got["sum"]["standard_error"] == pytest.approx(np.sqrt(sum(r.noise_variance for r in kept)))
    assert got["sum"]["lower"] < got["sum"]["value"] < got["sum"]["upper"]
    assert (got["ticks"], got["predicted"]) == (10, 0)


def test_a_range_can_be_named_by_time(client, site):
    times = {"from": site.at(10).start.isoformat(), "to": site.at(19).start.isoformat(), "key": "news"}
    assert client.get(f"{BASE}/range", params=times).json()["from"] == 10
    assert client.get(f"{BASE}/range", params=times).json()["to"] == 19


def test_a_range_that_is_too_long_is_refused(client, monkeypatch):
    monkeypatch.setattr("hubbub.server.routes.ranges.MOST_CELLS", 17 * 20)
    answer = client.get(f"{BASE}/range?from=0&to=59")
    assert error_of(answer) == "invalid_request"
    assert "at most 20 ticks" in answer.json()["error"]["message"]
    assert client.get(f"{BASE}/range?from=40&to=59").status_code == 200


def test_range_queries_are_remembered_for_later_trees(client, site):
    for last in (41, 42, 43):
        client.get(f"{BASE}/range?from=10&to={last}")
    # the first is written at once, those of the same second together a second later
    until(lambda: site.store.recent_queries("site")[-3:] == [32, 33, 34], "all are written")


def test_the_top_has_brackets(client):
    got = client.get(f"{BASE}/top?k=17").json()
    places = [row["rank"] for row in got["top"]]
    assert places[0] == "1"
    assert any("-" in place for place in places), "the small sections cannot all be told apart"
    for row in got["top"]:
        assert row["lower"] <= row["value"] <= row["upper"]


def test_the_budget_says_what_was_promised(client):
    got = client.get(f"{BASE}/budget").json()
    assert got["guarantee"].startswith("Each browsing session's presence")
    assert (got["spent"], got["total"], got["left"]) == ("1", "1", "0")
    assert {debit["state"] for debit in got["last_debits"]} <= {"settled", "reserved", "lost"}
    assert got["unit"]["max_ticks"] == 20


def test_health_and_metrics(client, site):
    assert client.get("/healthz").json() == {"status": "ok", "store": "ok"}
    client.get(f"{BASE}/top")
    text = client.get("/metrics").text
    assert text.endswith("# EOF\n")
    assert f'hubbub_latest_tick{{stream="site"}} {site.next_tick - 1}' in text
    assert 'route="/v1/streams/{stream}/top",status="2xx"' in text
    assert "events" not in text, "what comes in is not counted where everyone can see it"


def test_the_description_is_served_and_nothing_from_elsewhere(client):
    description = client.get("/openapi.json").json()
    assert "/v1/streams/{stream}/events" in description["paths"]
    assert "http" not in json.dumps(description).replace("http_", ""), "no address of anyone else"
    assert client.get("/docs").status_code == 404


def test_every_answer_bears_the_security_headers(client):
    for address in ("/", "/v1/streams", "/nothing", "/assets/style.css", "/metrics", f"{BASE}/releases?limit=0"):
        headers = client.get(address).headers
        assert headers["content-security-policy"].startswith("default-src 'self'")
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
