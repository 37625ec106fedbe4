"""The pages as HTML: readable without a script, and no key can break out of its place."""

import re

import httpx
import pytest
from tests.support.patience import until
from tests.support.site import Site

from hubbub.server import ServerSettings, Serving, create_app
from hubbub.server.assets import Assets
from hubbub.server.errors import NotFound
from hubbub.server.rendering import data_block
from hubbub.server.words import interval_words

NASTY = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "'; alert(1); '",
    "{{ 7 * 7 }}",
    "/a?b=c&d=<e>#f",
    "line\nbreak\r\n\r\ndata: x",
    "=1+1",
)


@pytest.fixture(scope="module")
def nasty(tmp_path_factory):
    site = Site(tmp_path_factory.mktemp("nasty"), NASTY).run(5)
    with Serving(create_app(site.store, settings=ServerSettings(public=True, port=0, title="<b>x"))) as serving:
        yield serving.address
    site.close()


def test_every_number_of_the_live_page_has_its_interval(client):
    page = client.get("/").text
    numbers = re.findall(r'<span class="number [^"]*" title="([^"]*)">([^<]*)</span>', page)
    assert len(numbers) == 18, "seventeen sections and their total"
    for title, text in numbers:
        assert "±" in text
        assert title.startswith("95 of 100 times between")


def test_the_table_is_there_without_a_script(client, site):
    page = client.get("/").text
    for key in site.keys:
        assert f">{key}</a>" in page
    assert "<noscript>" in page


@pytest.mark.parametrize("path", ["/", "/top", "/guarantee", "/about", "/key?name=news", "/login"])
def test_pages_load_nothing_from_elsewhere(client, path):
    page = client.get(path).text
    assert not re.findall(r"""(?:src|href|action)=["'](?:https?:)?//""", page)
    assert "style=" not in page, "the content policy would not let it work"
    assert " onclick" not in page


@pytest.mark.parametrize("window", [90, 360, 1440, 7])
def test_a_link_restores_the_view(client, window):
    page = client.get(f"/?last={window}").text
    shown = re.search(r'<a href="/\?last=(\d+)" aria-current="true">', page)
    assert int(shown[1]) == (window if window != 7 else 90), "an odd one is replaced by one that fits the history"
    assert "format=csv" in page
    assert "format=json" in page


def test_a_keys_page_adds_up_a_range_without_a_script(client):
    page = client.get("/key", params={"name": "news", "from": "5", "to": "14"}).text
    assert "in 10 ticks" in page
    assert "neither a tick nor a time" in client.get("/key", params={"name": "news", "from": "x", "to": "3"}).text
    assert client.get("/key", params={"name": "nobody"}).status_code == 404


def test_the_guarantee_is_a_sentence_and_a_verdict(client):
    page = client.get("/guarantee").text
    assert "changes any output&#39;s probability" in page
    assert "Suppose you read an article about an illness at 10:42" in page
    assert "A session counts in at most 20 ticks" in page


def test_errors_are_pages_for_people(client):
    answer = client.get("/nothing", headers={"Accept": "text/html"})
    assert answer.status_code == 404
    assert "openapi" not in answer.text, "that hint is for programs"
    assert "Back to the numbers" in answer.text


@pytest.mark.parametrize("path", ["/", "/top", "/about", *(f"/key?name={i}" for i in range(len(NASTY)))])
def test_no_key_breaks_out(nasty, path):
    params = None
    if path.startswith("/key"):
        path, params = "/key", {"name": NASTY[int(path.rpartition("=")[2])]}
    page = httpx.get(nasty + path, params=params).text
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert 'onmouseover="alert' not in page
    assert "<b>x" not in page
    if path == "/":
        assert "{{ 7 * 7 }}" in page, "a key is shown as it is, not run as a template"
    assert page.count("<script") == page.count("</script>")


def test_no_key_breaks_the_event_stream(nasty):
    with httpx.stream("GET", f"{nasty}/v1/streams/site/live") as answer:
        lines = answer.iter_lines()
        got = [next(lines) for _ in range(6)]
    assert [line.split(":")[0] for line in got] == ["retry", "", "id", "event", "data", ""]


def test_data_blocks_cannot_be_left():
    assert "<" not in data_block({"key": "</script><!--"})


def test_assets_are_packed_and_remembered(client):
    first = client.get("/assets/style.css")
    assert first.headers["content-encoding"] == "gzip"
    assert client.get("/assets/style.css", headers={"If-None-Match": first.headers["etag"]}).status_code == 304
    plain = client.get("/assets/style.css", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.text == first.text
    assert client.get("/assets/nothing.js").status_code == 404
    assert client.get("/assets/..%2Fapp.py").status_code == 404
    with pytest.raises(NotFound):
        Assets().get("../app.py")


def test_the_chart_library_comes_from_here(client):
    library = client.get("/assets/plotly.min.js")
    assert library.headers["content-type"].startswith("text/javascript")
    assert len(library.content) > 1_000_000


def test_a_predicted_tick_looks_predicted(tmp_path):
    site = Site(tmp_path).run(3)
    site.predict()
    with Serving(create_app(site.store, settings=ServerSettings(public=True, port=0))) as serving:
        page = httpx.get(serving.address).text
        assert "not measured in this tick" in page, "without a model a prediction has no interval, so no number"
        assert re.search(r'id="predicted">The latest tick was not measured, and nothing tells', page)
        assert "numbers in italics" not in page, "there are none"
        assert "nothing was measured" in httpx.get(f"{serving.address}/top").text
        assert httpx.get(f"{serving.address}/key?name=news").status_code == 200
    site.close()


def test_a_stream_that_never_measured_anything_says_so(tmp_path):
    site = Site(tmp_path)
    with Serving(create_app(site.store, settings=ServerSettings(public=True, port=0, poll_seconds=0.05))) as serving:
        assert "Nothing has been released yet" in httpx.get(serving.address).text
        for words in ("One tick is over", "2 ticks are over"):
            tick = site.predict().tick.index
            until(
                lambda tick=tick: f'"latest_tick":{tick}' in httpx.get(f"{serving.address}/v1/streams").text,
                "the page says so",
            )
            assert words in httpx.get(serving.address).text
        for path in ("/", "/key?name=news", "/ranges"):
            page = httpx.get(serving.address + path).text
            assert "Nothing has been measured yet" in page, path
            assert "not measured in this tick" not in page, path
            assert 'id="predicted" hidden' in page, "the page says it already"
        site.tick()
        until(lambda: "Nothing has been measured" not in httpx.get(serving.address).text, "the page says so")
        site.predict()
        until(lambda: "was not measured, and nothing tells" in httpx.get(serving.address).text, "the page says so")
    site.close()


def test_a_predicted_tick_says_so_on_every_page(tmp_path):
    """With a filter that knows how far a count may have moved: numbers are shown, and all of them say it."""
    from hubbub.confidential import Counts
    from hubbub.methods import make_mechanism
    from hubbub.privacy import Guarantee, Session
    from hubbub.released import Keys, Tick
    from hubbub.store import Store

    store, keys = Store.open(tmp_path / "filtered.db"), Keys(["front", "news"])
    with store.curate("site", make_mechanism("navigation", keys, Guarantee.pure(Session(max_ticks=2), 1))) as curator:
        for tick in range(5):
            curator.release(Counts.of(keys, Tick(tick), [4000, 2000]))
        curator.predict(Tick(5))
    with store, Serving(create_app(store, settings=ServerSettings(public=True, port=0))) as serving:
        for path in ("/", "/top", "/key?name=news", "/ranges"):
            page = httpx.get(serving.address + path).text
            assert re.search(r'id="predicted">The latest tick is predicted, not measured', page), path
        for path in ("/", "/top", "/key?name=news"):
            titles = re.findall(
                r'<span class="number [^"]*predicted[^"]*" title="([^"]*)"', httpx.get(serving.address + path).text
            )
            assert titles, path
            assert all(title.startswith("predicted, not measured; 95 of 100") for title in titles), path
        live = httpx.get(serving.address).text
        assert " · predicted, not measured</span>" in live, "the total"
        assert live.count('<span class="words">predicted, not measured</span>') == 2, "each row"
        assert "dashed: predicted, not measured" in httpx.get(f"{serving.address}/ranges").text
        ledger = httpx.get(f"{serving.address}/guarantee").text
        assert ledger.count("<td>predicted, not measured</td>") == 1
        assert ledger.count("<td>released</td>") == 5
        top = httpx.get(f"{serving.address}/v1/streams/site/top").json()
        assert top["predicted"]
        assert {row["state"] for row in top["top"]} == {"predicted"}
        answer = httpx.get(f"{serving.address}/v1/streams/site/range?from=0&to=5").json()
        assert "1 tick was predicted, not measured" in answer["error_words"]


def test_an_old_store_is_stale(tmp_path):
    site = Site(tmp_path).run(3)
    with Serving(create_app(site.store, settings=ServerSettings(public=True, port=0))) as serving:
        assert 'data-stale="yes"' in httpx.get(serving.address).text
        assert 'hubbub_stale{stream="site"} 1' in httpx.get(f"{serving.address}/metrics").text
    site.close()


def test_several_streams_can_be_picked(tmp_path):
    site = Site(tmp_path).run(2)
    other = Site(tmp_path, ("a", "b"), name="second").run(2)
    with Serving(create_app(site.store, settings=ServerSettings(public=True, port=0))) as serving:
        page = httpx.get(f"{serving.address}/?stream=second").text
        assert '<option value="second" selected>' in page
        assert 'href="/top?stream=second"' in page
    site.close()
    other.close()


def test_a_store_without_a_stream_explains_itself(tmp_path):
    from hubbub.store import Store

    store = Store.open(tmp_path / "empty.db")
    with store, Serving(create_app(store, settings=ServerSettings(public=True, port=0))) as serving:
        for path in ("/", "/top", "/about", "/guarantee", "/key?name=x"):
            assert "There is no stream yet" in httpx.get(serving.address + path).text
        cookie = f"hubbub_token={store.tokens.add('curator')}"
        assert "no stream yet" in httpx.get(f"{serving.address}/curator", headers={"Cookie": cookie}).text


def test_ticks_without_a_clock_are_shown_by_number(tmp_path):
    site = Site(tmp_path, clock=False).run(4)
    with Serving(create_app(site.store, settings=ServerSettings(public=True, port=0))) as serving:
        page = httpx.get(serving.address).text
        assert "tick 3" in page
        assert "last 4 ticks" in page
        assert 'data-stale="no"' in page
        for path in ("/top", "/key?name=news", "/guarantee", "/about"):
            assert httpx.get(serving.address + path).status_code == 200
        answer = httpx.get(f"{serving.address}/v1/streams/site/range?from=2026-01-01T00:00:00Z&to=3")
        assert "have no clock time" in answer.json()["error"]["message"]
        assert httpx.get(f"{serving.address}/v1/streams/site/releases?format=csv").status_code == 200
    site.close()


def test_about_says_how_far_intervals_hold(client, site):
    said = " ".join(client.get("/about").text.split())
    method = site.store.streams()[0].method
    assert interval_words(method) in said
