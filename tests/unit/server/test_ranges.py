"""Ranges of a stream that has them: one grant, two streams, one answer."""

import asyncio
import csv
import io
import re

import httpx
import pytest
from tests.support.patience import until
from tests.support.site import Site

from hubbub.confidential import Counts
from hubbub.errors import StoreUnavailable
from hubbub.monitor.paired import RangePlan, open_curator
from hubbub.privacy import Event, Guarantee
from hubbub.release import Lpa
from hubbub.released import Keys, Tick
from hubbub.server import ServerSettings, Serving, create_app
from hubbub.server.questions import MOST, Questions
from hubbub.store import Store

BASE = "/v1/streams/site"


@pytest.fixture(scope="module")
def paired(tmp_path_factory):
    made = Site(tmp_path_factory.mktemp("paired"), ranges=48).run(60)
    yield made
    made.close()


@pytest.fixture
def reader(paired):
    app = create_app(paired.store, settings=ServerSettings(public=True, port=0, poll_seconds=0.05))
    with Serving(app) as serving, httpx.Client(base_url=serving.address) as made:
        yield made


def error_of(answer):
    return answer.json()["error"]


def test_an_answer_comes_from_both_streams(reader, paired):
    got = reader.get(f"{BASE}/range?from=20&to=49&key=news").json()
    news = paired.keys.position("news")
    live, ranges = (
        sum(int(release.measurements[news]) for release in paired.store.releases(name, first=20, last=49))
        for name in ("site", "site.ranges")
    )
    assert got["sum"]["value"] == pytest.approx(got["weight"] * ranges + (1 - got["weight"]) * live, abs=60)
    alone = sum(release.noise_variance for release in paired.store.releases("site", first=20, last=49)) ** 0.5
    assert got["sum"]["standard_error"] < alone
    assert got["sum"]["lower"] < got["sum"]["value"] < got["sum"]["upper"]
    assert (got["ticks"], got["missing"], got["source"]) == (30, 0, "ranges")
    assert got["strategy"]
    assert (got["begins"], got["ends"]) == (paired.at(20).start.isoformat(), paired.at(50).start.isoformat())


def test_all_keys_some_keys_and_each(reader):
    all_keys = reader.get(f"{BASE}/range?from=20&to=49&each=true").json()
    assert len(all_keys["each"]) == 17
    assert sum(one["value"] for one in all_keys["each"]) == pytest.approx(all_keys["sum"]["value"], abs=1)
    one_error = all_keys["each"][0]["standard_error"]
    assert all_keys["sum"]["standard_error"] == pytest.approx(one_error * 17**0.5)
    two = reader.get(f"{BASE}/range", params={"from": 20, "to": 49, "key": ["news", "sports", "news"]}).json()
    parts = {one["key"]: one["value"] for one in all_keys["each"]}
    assert two["sum"]["value"] == pytest.approx(parts["news"] + parts["sports"])
    assert "each" not in two


def test_csv_has_a_line_a_key(reader):
    answer = reader.get(f"{BASE}/range?from=20&to=49", headers={"Accept": "text/csv"})
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) == 17
    got = reader.get(f"{BASE}/range?from=20&to=49&key=news").json()
    news = next(row for row in rows if row["key"] == "news")
    assert float(news["value"]) == got["sum"]["value"]
    assert (news["from"], news["to"], news["ticks"], news["missing"]) == ("20", "49", "30", "0")
    assert reader.get(f"{BASE}/range?from=20&to=49&format=arrow").status_code == 406


def test_new_ticks_are_taken_in(reader, paired):
    last = paired.next_tick - 1
    before = reader.get(f"{BASE}/range?from={last}&to={last}").json()
    assert before["to"] == last
    paired.run(3)

    def got():
        return reader.get(f"{BASE}/range?from={last}&to={last + 3}").json()

    until(lambda: got()["to"] == last + 3, "they are there")
    got = got()
    assert (got["to"], got["ticks"], got["source"]) == (last + 3, 4, "ranges")


@pytest.mark.parametrize(
    ("query", "words", "hint"),
    [
        ("from=9&to=3", "must not lie after", "Both are included"),
        ("from=5000&to=5001", "in the future", "newest tick"),
        ("from=x&to=3", "neither a tick nor a time", "2026-01-31"),
        ("from=2026-01-01T00:00:00&to=3", "time zone", "Add Z"),
        (f"from={10**20}&to={10**21}", "beyond any tick", "counted from 0"),
    ],
)
def test_what_is_refused_says_what_to_do(reader, query, words, hint):
    answer = reader.get(f"{BASE}/range?{query}")
    assert answer.status_code == 422
    assert words in error_of(answer)["message"]
    assert hint in error_of(answer)["hint"]


def test_before_the_window_measurements_are_added_up(reader, paired, monkeypatch):
    got = reader.get(f"{BASE}/range?from=0&to=20").json()
    assert (got["source"], got["ticks"], got["strategy"], got["weight"]) == ("measurements", 21, None, None)
    monkeypatch.setattr("hubbub.server.routes.ranges.MOST_SUMMED", 10)
    answer = reader.get(f"{BASE}/range?from=0&to=20")
    assert "at most 10 ticks" in error_of(answer)["message"]
    assert f"From tick {paired.next_tick - 48} on" in error_of(answer)["hint"]
    assert reader.get(f"{BASE}/range?from={paired.next_tick - 30}&to=99999").json()["source"] == "ranges"


def test_one_promise_is_told_everywhere(reader):
    streams = reader.get("/v1/streams").json()["streams"]
    assert [stream["name"] for stream in streams] == ["site"], "ranges are no page of their own"
    assert "factor e^1 " in streams[0]["guarantee"]
    assert streams[0]["range_window"] == 48
    budget = reader.get(f"{BASE}/budget").json()
    assert (budget["total"], set(budget["parts"])) == ("1", {"site", "site.ranges"})
    assert "factor e^1 " in budget["guarantee"]
    assert budget["last_debits"][-1]["epsilon"] == "1/20"
    assert budget["last_debits"][-1]["ranges"] == "settled"
    page = reader.get("/guarantee").text
    assert "factor e^1 " in page
    assert "site live numbers 0.5 " in (text := " ".join(re.sub(r"<[^>]*>", " ", page).split()))
    assert "site.ranges totals over ranges 0.5 " in text
    assert "e^0.5" not in page


def test_ranges_can_be_read_but_are_no_page(reader, paired):
    assert len(reader.get("/v1/streams/site.ranges/releases?limit=5").json()["releases"]) == 5
    for path in ("range?from=0&to=1", "budget", "top", "live", "alerts"):
        assert reader.get(f"/v1/streams/site.ranges/{path}").status_code == 404
    assert reader.get("/?stream=site.ranges").status_code == 404
    sending = {"Authorization": f"Bearer {paired.store.tokens.add('ingest')}", "Content-Type": "application/json"}
    for path in ("counts", "events"):
        assert reader.post(f"/v1/streams/site.ranges/{path}", content=b"{}", headers=sending).status_code == 404
    assert "site.ranges" not in reader.get("/").text


def test_broken_ranges_are_a_broken_ledger(tmp_path):
    site = Site(tmp_path, ranges=32).run(3)
    with site.store.database.write() as connection:
        connection.exec_driver_sql(
            "UPDATE debits SET settled_epsilon = '1/1000' "
            "WHERE stream = (SELECT id FROM streams WHERE name = 'site.ranges')"
        )
    app = create_app(site.store, settings=ServerSettings(public=True, port=0))
    with Serving(app) as serving:

        def ledger():
            return httpx.get(f"{serving.address}{BASE}/budget").json()["ledger"]

        until(lambda: ledger()["ok"] is not None, "it was verified")
        assert ledger()["ok"] is False
    site.close()


def test_an_empty_pair_has_nothing_to_add(tmp_path):
    site = Site(tmp_path, ranges=32)
    with Serving(create_app(site.store, settings=ServerSettings(public=True, port=0))) as serving:
        assert httpx.get(f"{serving.address}{BASE}/range?from=0&to=1").status_code == 404
    site.close()


def test_many_keys_keep_a_shorter_window(tmp_path, monkeypatch):
    monkeypatch.setattr("hubbub.server.ranges.MOST_CELLS", 20)
    site = Site(tmp_path, ("a", "b"), ranges=32).run(25)
    with Serving(create_app(site.store, settings=ServerSettings(public=True, port=0, poll_seconds=0.05))) as serving:
        base = f"{serving.address}{BASE}/range"
        assert httpx.get(f"{base}?from=15&to=24").json()["source"] == "ranges"
        assert httpx.get(f"{base}?from=14&to=24").json()["source"] == "measurements"
        site.run(30)  # further than what is kept: the window is read anew
        until(lambda: httpx.get(f"{base}?from=45&to=54").json().get("to") == 54, "it is there")
        got = httpx.get(f"{base}?from=45&to=54").json()
        assert (got["source"], got["ticks"]) == ("ranges", 10)
    site.close()


def test_a_flood_of_questions_writes_little(tmp_path):
    site = Site(tmp_path, ranges=32)
    writes, record = [], site.store.record_query

    def counted(stream, *lengths):
        writes.append(len(lengths))
        record(stream, *lengths)

    site.store.record_query = counted

    async def flood():
        questions = Questions(site.store)
        for length in range(1, 5001):
            questions.note("site", length)
        await questions.stop()
        questions.note("nobody", 3)  # a stream that is gone is no reason to fail
        await questions.stop()

    asyncio.run(flood())
    assert sum(writes) <= MOST + 1
    assert site.store.recent_queries("site")[-1] == 5000
    site.close()


def test_the_page_tells_the_total_in_words_without_a_script(reader, paired):
    page = reader.get("/ranges", params={"from": 20, "to": 49, "key": "news"}).text
    answer = reader.get(f"{BASE}/range?from=20&to=49&key=news").json()
    assert answer["sum"]["text"] in page
    assert f"counted in news {answer['words']}" in re.sub(r"<[^>]+>", "", page)
    assert answer["error_words"].startswith("usually within ± ")
    assert answer["error_words"] in page
    assert 'href="/v1/streams/site/range?from=20&amp;to=49&amp;key=news&amp;format=csv"' in page
    assert "The present tree" in page
    assert paired.at(20).start.strftime("%H:%M:%S") in page


def test_the_page_shows_something_before_anyone_asks(tmp_path):
    site = Site(tmp_path, ranges=48).run(40)
    with Serving(create_app(site.store, settings=ServerSettings(public=True, port=0))) as serving:
        page = httpx.get(f"{serving.address}/ranges").text
        assert re.search(r'id="sum"><span class="number measured"[^>]*>[\d,]+ ± [\d,]+', page)
        assert "Nothing has been asked yet" in page
        assert len(re.findall(r"<tr data-key=", page)) == 17
        assert httpx.get(f"{serving.address}/ranges?last=90").status_code == 200
        assert httpx.get(f"{serving.address}/ranges?key=nobody").status_code == 404
        refused = httpx.get(f"{serving.address}/ranges?from=9&to=3").text
        assert "must not lie after" in refused
        assert "no total" in refused
        httpx.get(f"{serving.address}/ranges?from=3&to=9")
    assert site.store.recent_queries("site") == [7], "the page's own example is no question"
    with Serving(create_app(site.store, settings=ServerSettings(public=True, port=0))) as serving:
        page = httpx.get(f"{serving.address}/ranges").text
        assert "The one range that was asked for was 70 seconds long" in page
    site.close()


def test_the_page_of_a_stream_without_ranges_and_of_an_empty_one(tmp_path):
    for name, ticks, ranges in (("plain", 5, None), ("empty", 0, 32), ("bare", 0, None)):
        (tmp_path / name).mkdir()
        site = Site(tmp_path / name, ranges=ranges).run(ticks)
        with Serving(create_app(site.store, settings=ServerSettings(public=True, port=0))) as serving:
            page = httpx.get(f"{serving.address}/ranges").text
        assert ("adds up its ticks one by one" in page) == (name == "plain")
        assert ("Nothing has been released yet" in page) == (ticks == 0)
        site.close()


def test_ticks_without_a_clock_and_ticks_that_are_missing(tmp_path):
    site = Site(tmp_path, ("a", "b"), ranges=32, clock=False).run(4)
    site._curator._first.predict(site.at(4))
    site._curator._followers[0].curator.predict(site.at(4))
    site.run(3)
    with Serving(create_app(site.store, settings=ServerSettings(public=True, port=0))) as serving:
        page = httpx.get(f"{serving.address}/ranges?from=2&to=7").text
        assert "from tick 2 to tick 7 (6 ticks)" in page
        assert "1 tick was not measured and is not in the total." in page
        got = httpx.get(f"{serving.address}{BASE}/range?from=2&to=7").json()
        assert (got["begins"], got["ends"], got["ticks"], got["missing"]) == (None, None, 5, 1)
    site.close()


@pytest.mark.parametrize("method", ["none", "rtp", "two-level"])
def test_every_kind_of_tree_has_a_picture(tmp_path, method):
    with Store.open(tmp_path / "x.db") as store:
        keys, guarantee = Keys(["a"]), Guarantee.pure(Event(), 1)
        with open_curator(store, "x", keys, guarantee, Lpa, RangePlan(256, method=method)) as curator:
            for tick in range(5):
                curator.release(Counts.of(keys, Tick(tick), [3]))
        with Serving(create_app(store, settings=ServerSettings(public=True, port=0))) as serving:
            page = httpx.get(f"{serving.address}/ranges").text
    assert ("each tick has noise of its own" in page) == (method == "none")
    assert '<svg class="tree"' in page


def test_while_the_store_is_away_memory_answers(tmp_path, monkeypatch):
    site = Site(tmp_path, ranges=32).run(10)

    def gone(*_, **__):
        raise StoreUnavailable("gone")

    settings = ServerSettings(public=True, port=0, poll_seconds=0.05)
    with Serving(create_app(site.store, settings=settings)) as serving:
        base = f"{serving.address}{BASE}/range"
        before = httpx.get(f"{base}?from=2&to=9").json()
        monkeypatch.setattr(site.store, "state", gone)
        monkeypatch.setattr(site.store, "recent_queries", gone)
        site.tick()
        until(
            lambda: httpx.get(f"{serving.address}/v1/streams").json()["streams"][0]["latest_tick"] == 10, "it is seen"
        )
        assert httpx.get(f"{base}?from=2&to=10").json() == before, "up to the last tick that it knows"
        assert "The store does not answer, so this cannot be told now" in httpx.get(f"{serving.address}/ranges").text
    site.close()


def test_a_view_that_many_share_is_drawn_once_a_tick(tmp_path):
    site = Site(tmp_path, ranges=32).run(10)
    app = create_app(site.store, settings=ServerSettings(public=True, port=0))
    asked, ask = [], app.state.desk.ranges.ask

    async def counted(name, question):
        asked.append(name)
        return await ask(name, question)

    app.state.desk.ranges.ask = counted
    with Serving(app) as serving:
        pages = [httpx.get(f"{serving.address}/ranges").text for _ in range(3)]
        once = len(asked)
        assert pages[0] == pages[1] == pages[2]
        httpx.get(f"{serving.address}/ranges?from=1&to=2")
        httpx.get(f"{serving.address}/ranges?from=1&to=2")
        assert len(asked) == 3 * once
    site.close()
