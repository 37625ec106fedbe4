"""Lists of items on a page and in the API."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from html import unescape

import httpx
import pytest
from tests.support.item_lists import STRANGE, falling, log_of, opened, publish
from tests.support.site import Site

from hubbub.errors import StoreUnavailable
from hubbub.itemlogs import ItemLists, ItemLog, TickLog
from hubbub.methods import make_mechanism
from hubbub.monitor import Lists
from hubbub.monitor.list_facts import AboutLists
from hubbub.privacy import Grant, Guarantee, Session, User
from hubbub.released import Discovered, Keys, Tick
from hubbub.server import ServerSettings, Serving, create_app
from hubbub.store import Store

MANY = tuple(f"query {i:03}" for i in range(250))
PAGE = {"Accept": "text/html"}


def served(store: Store, **settings: object) -> Serving:
    chosen = ServerSettings(public=True, port=0, poll_seconds=0.05, **settings)
    return Serving(create_app(store, settings=chosen, items=AboutLists()))


def shown(text: str) -> list[str]:
    """The items in the table of a page, as people read them."""
    return [unescape(item) for item in re.findall(r'<th scope="row"><bdi>(.*?)</bdi></th>', text)]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Three lists: a long one, one that was lost, one of strange items; two are left."""
    patch = pytest.MonkeyPatch()
    folder = tmp_path_factory.mktemp("lists")
    patch.setenv("HUBBUB_STATE", str(folder / "state"))
    long = log_of(dict.fromkeys(MANY, 900))
    publish(folder / "lists.db", long, None, log_of(falling(STRANGE)), lists=5, epsilon=100, max_items=300)
    yield folder / "lists.db"
    patch.undo()


@pytest.fixture(scope="module")
def client(place) -> Iterator[httpx.Client]:
    with opened(place) as store, served(store) as serving, httpx.Client(base_url=serving.address) as made:
        yield made


def api(client: httpx.Client, **asked: object) -> dict:
    answer = client.get("/v1/streams/searches/items", params=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


class TestThePage:
    def test_it_stands_in_place_of_live_top_and_ranges(self, client):
        for path in ("/", "/items"):
            text = client.get(path).text
            assert sorted(shown(text)) == sorted(STRANGE), path
            links = re.findall(r'<a href="([^"]+)"[^>]*>(Items|Live|Top|Ranges|Guarantee|About)</a>', text)
            assert [name for _, name in links] == ["Items", "Guarantee", "About"]
            assert 'aria-current="page">Items' in text
        for path in ("/top", "/ranges", "/key?name=weather"):
            answer = client.get(path)
            assert (answer.status_code, answer.headers["Location"]) == (303, "/items")

    def test_every_number_has_its_interval_and_other_is_no_item(self, client):
        text = client.get("/").text
        numbers = re.findall(r'<span class="number \w+" title="([^"]+)">([^<]+)</span>', text)
        assert len(numbers) == len(STRANGE)
        for interval, number in numbers:
            assert re.fullmatch(r"[\d,]+ ± [\d,]+", number)
            assert interval.startswith("95 of 100 times between")
        assert "other" not in shown(text)
        assert "not measured" not in text
        assert "reading now" not in text

    def test_items_are_text_and_nothing_else(self, client):
        answer = client.get("/items")
        assert "<script>alert" not in answer.text
        assert "</table><b>" not in answer.text
        assert "unsafe" not in answer.headers["Content-Security-Policy"]
        asked = client.get("/items", params={"q": '"><script>alert(1)</script>'}).text
        assert "<script>alert" not in asked
        assert 'value="&#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"' in asked

    def test_pages_of_a_hundred(self, client):
        parts = [shown(client.get("/items", params={"list": 0, "page": n}).text) for n in (1, 2, 3)]
        assert [len(part) for part in parts] == [100, 100, 50]
        assert sorted(name for part in parts for name in part) == sorted(MANY)
        assert "250 items, 101 to 200" in client.get("/items?list=0&page=2").text
        assert client.get("/items?list=0&page=4", headers=PAGE).status_code == 404
        assert client.get("/items?list=0&page=0", headers=PAGE).status_code == 422

    def test_search_works_without_a_script(self, client):
        assert shown(client.get("/items", params={"q": "STRASSE"}).text) == ["Straße"]
        assert sorted(shown(client.get("/items?list=0&q=query%2000").text)) == sorted(MANY[:10])
        nothing = client.get("/items", params={"q": "no such thing"}).text
        assert shown(nothing) == []
        assert "No item of this list holds that" in nothing
        assert "none of the 8 items" in nothing

    def test_which_list_and_how_many_are_left(self, client):
        text = client.get("/").text
        assert "2 of 5 lists left" in text
        options = re.findall(r'<option value="(\d)"( selected)?>([^<]+)</option>', text)
        assert options == [("2", " selected", "list 2"), ("1", "", "list 1 (lost)"), ("0", "", "list 0")]
        lost = client.get("/items?list=1")
        assert lost.status_code == 200
        assert "List 1 is lost" in lost.text
        assert "never seen" not in lost.text
        assert client.get("/items?list=4", headers=PAGE).status_code == 404

    def test_the_card_and_what_a_promise_does(self, client):
        text = unescape(client.get("/").text)
        assert "all 5 lists together" in text
        assert "It does not know what an item says" in text
        assert "Choosing a promise by looking at the log itself is not covered" in text
        assert "max_items 50" in text

    def test_downloads_hold_the_whole_list(self, client):
        text = client.get("/items?list=0&page=2").text
        paths = re.findall(r'<a href="(/v1/streams/searches/items[^"]+)">(CSV|JSON)</a>', text)
        assert [name for _, name in paths] == ["CSV", "JSON"]
        rows = list(csv.DictReader(io.StringIO(client.get(unescape(paths[0][0])).text)))
        assert sorted(row["item"] for row in rows) == sorted(MANY)
        assert len(client.get(unescape(paths[1][0])).json()["rows"]) == 250


class TestTheApi:
    def test_a_page_has_words_and_a_whole_list_has_numbers(self, client):
        page, whole = api(client, page=1), api(client)
        assert page["list"] == whole["list"] == 2
        assert page["left"] == 2
        assert [one["state"] for one in page["lists"]] == ["published", "lost", "published"]
        assert {"text", "interval", "words", "state"} <= set(page["rows"][0])
        assert set(whole["rows"][0]) == {"rank", "item", "value", "standard_error", "lower", "upper"}
        assert sorted(row["item"] for row in whole["rows"]) == sorted(STRANGE)
        assert page["guarantee"]["lists"] == 5
        assert "A threshold counts users" in " ".join(page["card"])

    def test_search_and_pages(self, client):
        first = api(client, list=0, page=1)
        assert (first["items"], first["found"], first["pages"]) == (250, 250, 3)
        second = client.get(first["next"]).json()
        assert second["page"] == 2
        assert api(client, list=0, page=3)["next"] is None
        found = api(client, list=0, q="QUERY 24", page=1)
        assert (found["found"], found["items"]) == (10, 250)
        assert found["said"] == "10 of 250 items"

    def test_csv(self, client):
        answer = client.get("/v1/streams/searches/items", headers={"Accept": "text/csv"})
        assert answer.headers["Content-Type"].startswith("text/csv")
        assert answer.headers["Content-Disposition"] == 'attachment; filename="searches-2.csv"'
        rows = list(csv.DictReader(io.StringIO(answer.text)))
        assert sorted(row["item"] for row in rows) == sorted(STRANGE)
        assert {row["list"] for row in rows} == {"2"}
        paged = client.get("/v1/streams/searches/items?list=0&page=3&format=csv").text
        assert len(paged.splitlines()) == 51

    @pytest.mark.parametrize(
        ("asked", "status"),
        [({"list": 1}, 404), ({"list": 9}, 404), ({"list": -1}, 422), ({"page": 0}, 422), ({"page": 2}, 404),
         ({"q": "x" * 201}, 422), ({"format": "parquet"}, 406)],
    )  # fmt: skip
    def test_refusals_have_the_one_shape(self, client, asked, status):
        answer = client.get("/v1/streams/searches/items", params=asked)
        assert answer.status_code == status
        assert set(answer.json()["error"]) == {"code", "message", "hint"}
        assert "xxx" not in answer.text

    def test_a_list_that_is_too_long_is_asked_for_by_pages(self, client, monkeypatch):
        monkeypatch.setattr("hubbub.server.routes.items.MOST_ROWS", 249)
        answer = client.get("/v1/streams/searches/items?list=0")
        assert answer.status_code == 422
        assert "`page`" in answer.json()["error"]["hint"]
        assert api(client, list=0, page=1)["found"] == 250
        assert api(client, list=0, q="query 1")["found"] == 100

    def test_what_is_known_already_is_not_sent_again(self, client):
        first = client.get("/v1/streams/searches/items?page=1")
        again = client.get("/v1/streams/searches/items?page=1", headers={"If-None-Match": first.headers["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert first.headers["Cache-Control"] == "no-cache"

    def test_a_stream_of_counts_holds_no_lists(self, tmp_path):
        site = Site(tmp_path).run(3)
        with served(site.store) as serving, httpx.Client(base_url=serving.address) as client:
            assert client.get("/v1/streams/site/items").status_code == 404
            answer = client.get("/items")
            assert (answer.status_code, answer.headers["Location"]) == (303, "/")
            assert ">Live</a>" in client.get("/").text
        site.close()


class TestPlainWords:
    @pytest.fixture
    def place(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HUBBUB_STATE", str(tmp_path / "state"))
        return tmp_path / "lists.db"

    def test_before_the_first_list(self, place):
        publish(place, lists=12)
        with opened(place) as store, served(store) as serving, httpx.Client(base_url=serving.address) as client:
            text = client.get("/").text
            assert "No list has been published yet" in text
            assert "12 lists are promised in all" in text
            assert "How many people must share an item" in text
            answer = client.get("/v1/streams/searches/items")
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")

    def test_an_empty_list(self, place):
        publish(place, log_of({"only ann": 1}), lists=1)
        with opened(place) as store, served(store) as serving, httpx.Client(base_url=serving.address) as client:
            text = client.get("/").text
            assert "List 0 is empty" in text
            assert "none is left" in text
            assert "only ann" not in text
            assert api(client)["rows"] == []
            assert len(client.get("/v1/streams/searches/items?format=csv").text.splitlines()) == 1

    def test_a_list_without_counts(self, place):
        publish(place, log_of({"weather": 3000, "news": 3000}), count_share=0)
        with opened(place) as store, served(store) as serving, httpx.Client(base_url=serving.address) as client:
            text = client.get("/").text
            assert shown(text) == ["news", "weather"]
            assert "no counts, only items" in text
            assert "±" not in text
            assert api(client, page=1)["rows"] == [{"rank": None, "item": "news"}, {"rank": None, "item": "weather"}]
            assert client.get("/v1/streams/searches/items?format=csv").text == "item,list\nnews,0\nweather,0\n"

    def test_a_store_that_does_not_answer(self, place, monkeypatch):
        publish(place, log_of({"weather": 3000}), log_of({"flu": 3000}))
        with opened(place) as store, served(store) as serving, httpx.Client(base_url=serving.address) as client:

            def away(*_: object, **__: object) -> None:
                raise StoreUnavailable("The disk of Ann is gone.", "Plug it in.")

            monkeypatch.setattr(store, "debits", away)
            assert "The store does not answer" in client.get("/").text
            assert client.get("/v1/streams/searches/items").status_code == 503
            monkeypatch.undo()
            assert shown(client.get("/").text) == ["flu"]
            monkeypatch.setattr(store, "debits", away)
            monkeypatch.setattr(store, "releases", away)
            text = client.get("/").text
            assert shown(text) == ["flu"], "the last picture stays"
            assert "does not answer at present" in text
            older = client.get("/items?list=0").text
            assert "List 0 could not be read" in older
            assert "Ann" not in older

    def test_without_words_of_its_own_the_page_shows_the_list_all_the_same(self, place):
        """A program that makes the application itself may leave the port out."""
        publish(place, log_of({"weather": 3000}))
        with opened(place) as store:
            app = create_app(store, settings=ServerSettings(public=True, port=0))
            with Serving(app) as serving, httpx.Client(base_url=serving.address) as client:
                text = client.get("/").text
                assert shown(text) == ["weather"]
                assert "How many people" not in text
                assert "card" not in api(client)

    def test_lists_without_an_end(self, place):
        """By hand, a promise may be about each visit: then there is no last list."""
        promise = Guarantee.approximate(Session(max_ticks=2), 4, "1e-4", aside="5e-5")
        with opened(place) as store:
            with store.curate("searches", ItemLists(Discovered(), promise)) as curator:
                log = ItemLog.of([(f"visit {i}", "weather") for i in range(3000)])
                curator.release(TickLog(Tick(0), log))
            with served(store) as serving, httpx.Client(base_url=serving.address) as client:
                text = client.get("/").text
                assert shown(text) == ["weather"]
                assert "left" not in re.sub(r"<[^>]*>", " ", text).replace("left out", "").replace("Left out", "")
                assert api(client)["left"] is None
                for path in ("/guarantee", "/about"):
                    assert "10 different items in a list" in client.get(path).text
                assert client.get("/v1/streams/searches/budget").status_code == 200

    def test_a_token_is_needed_where_reading_is_not_public(self, place):
        publish(place, log_of({"weather": 3000}))
        with opened(place) as store:
            app = create_app(store, settings=ServerSettings(port=0))
            with Serving(app) as serving, httpx.Client(base_url=serving.address) as client:
                assert client.get("/items").headers["Location"] == "/login?next=/items"
                assert client.get("/v1/streams/searches/items").status_code == 401


def test_json_has_no_infinity(client):
    """`other` is a key of which nothing is known: its error has no end, and JSON has no infinity."""
    text = client.get("/v1/streams/searches/releases").text
    assert "Infinity" not in text
    assert "NaN" not in text
    newest = json.loads(text)["releases"][-1]
    assert newest["noise_variance"][-1] is None
    assert newest["keys"][-1]["upper"] is None


class TestOtherRoutes:
    """What was made for counts says what is true of lists, or refuses."""

    def test_a_live_event_has_items_and_no_total(self, client):
        with client.stream("GET", "/v1/streams/searches/live", headers={"Last-Event-ID": "0"}) as answer:
            told = {}
            for line in answer.iter_lines():
                if line.startswith("data: "):
                    event = json.loads(line.removeprefix("data: "))
                    told[event["tick"]] = event
                if 2 in told:
                    break
        assert told[1]["keys"] == []
        assert told[1]["notice"].startswith("The latest list was lost")
        assert sorted(row["key"] for row in told[2]["keys"]) == sorted(STRANGE)
        assert (told[2]["total"], told[2]["omitted"], told[2]["notice"]) == (None, 0, "")
        assert not any("not measured" in row["text"] for row in told[2]["keys"])

    def test_lists_have_no_total(self, client):
        answer = client.get("/v1/streams/searches/range?from=2&to=2")
        assert answer.status_code == 422
        assert "have no total" in answer.json()["error"]["message"]

    def test_the_largest(self, client):
        top = client.get("/v1/streams/searches/top?k=100").json()["top"]
        assert sorted(row["key"] for row in top) == sorted(STRANGE)

    @pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
    def test_files(self, client, form):
        assert client.get(f"/v1/streams/searches/releases?format={form}").status_code == 200

    def test_the_bound_is_that_of_lists(self, client):
        (stream,) = client.get("/v1/streams").json()["streams"]
        assert stream["finds_keys"] is True
        budget = client.get("/v1/streams/searches/budget").json()
        for said in (stream["guarantee"], budget["guarantee"]):
            assert "at most 300 different items in each of the 5 lists" in said
            assert "over all 5 lists together" in said
            assert "tick" not in said

    @pytest.mark.parametrize("path", ["/guarantee", "/about"])
    def test_pages_about_the_promise(self, client, path):
        text = unescape(client.get(path).text)
        assert "at most 300 different items in each of the 5 lists" in text
        said = re.sub(r"<[^>]*>", " ", text)
        for wrong in ("tick", "one key", "live numbers", "reading", "learns from", "A clock decides", "sections"):
            assert wrong not in said, wrong

    def test_a_grant_that_lists_share(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HUBBUB_STATE", str(tmp_path / "state"))
        visitors = Grant("visitors", Guarantee.approximate(User(horizon=2), 2, "1e-6", aside="5e-7"))
        place = tmp_path / "both.db"
        with Lists(place, "pages", grant=visitors.part("1/2", slips="1/2")) as lists:
            lists.publish(log_of({"weather": 3000}))
        with Store.open(place) as store:
            store.curate("site", make_mechanism("ukf", Keys(["a"]), visitors.part("1/4", slips=0).guarantee),
                         part=visitors.part("1/4", slips=0)).close()  # fmt: skip
            with served(store) as serving, httpx.Client(base_url=serving.address) as client:
                text = unescape(client.get("/guarantee?stream=pages").text)
                assert "lists of items" in text
                assert "live numbers" in text
                assert "at most 10 different items" in text
                assert "another bound: A person counts as one key per tick" in text
                assert client.get("/top?stream=pages").headers["Location"] == "/items?stream=pages"
                assert shown(client.get("/items?stream=pages").text) == ["weather"]
                assert client.get("/items?stream=site").headers["Location"] == "/?stream=site"
