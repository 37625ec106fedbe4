"""Every page says what is promised about its stream, for every unit, strength and kind, and nothing more."""

import html
import re
from datetime import timedelta

import httpx
import pytest
from tests.support.site import Site
from tests.support.slipping import KEYS as LISTED
from tests.support.slipping import VISITORS, Listing
from tests.support.words import FORBIDDEN, MILD

from hubbub.confidential import Counts
from hubbub.privacy import Event, Grant, Guarantee, Session, User, Window
from hubbub.release import Lpa
from hubbub.released import Keys, Tick
from hubbub.server import ServerSettings, Serving, create_app
from hubbub.store import Store

UNITS = {
    "event": Event(),
    "window": Window(12),
    "session": Session(max_ticks=20),
    "timed": Session(max_ticks=20, timeout=timedelta(minutes=30)),
    "user": User(horizon=50),
}
GUARANTEES = {
    **{f"{name}-{e}": Guarantee.pure(unit, e) for name, unit in UNITS.items() for e in ("0.1", "1", "5", "20")},
    **{f"{name}-delta": Guarantee.approximate(unit, 1, "1e-9") for name, unit in UNITS.items()},
    **{f"{name}-rho": Guarantee.zcdp(unit, "0.1") for name, unit in UNITS.items()},
    **{f"{name}-slips": Guarantee.zcdp(unit, "0.1", delta="1e-6") for name, unit in UNITS.items()},
}
ATTESTED = {
    "keys": "The list of keys is public: it was written by the owner and does not come from the data.",
    "counts": "Counts were bounded by whoever sent them.",
    "identity": "A visitor is told by the column <person>.",
}
PAGES = ("/", "/top", "/ranges", "/key?name=front", "/guarantee", "/about")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """One store with a stream for each promise, and a server over it."""
    store = Store.open(tmp_path_factory.mktemp("promises") / "site.db")
    keys = Keys(["front", "news"])
    for name, guarantee in GUARANTEES.items():
        options = {"attested": ATTESTED} if name == "session-1" else None
        with store.curate(name, Lpa(keys, guarantee), options=options) as curator:
            for tick in range(2):
                curator.release(Counts.of(keys, Tick(tick), [812, 97]))
    with store, Serving(create_app(store, settings=ServerSettings(public=True, port=0))) as serving:
        yield serving.address


def read(address, path, name):
    page = httpx.get(f"{address}{path}{'&' if '?' in path else '?'}stream={name}")
    assert page.status_code == 200
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page.text)).split())


@pytest.mark.parametrize("name", GUARANTEES)
def test_no_page_says_more_than_is_promised(address, name):
    promise = GUARANTEES[name].promise
    for path in PAGES:
        text = read(address, path, name)
        assert promise.blur in text
        for phrase in FORBIDDEN:
            assert phrase not in text.lower(), path
        if promise.strength not in ("very strong", "strong"):
            for phrase in MILD:
                assert phrase not in text.lower(), path


@pytest.mark.parametrize("name", GUARANTEES)
def test_the_guarantee_page_says_all_of_it(address, name):
    guarantee = GUARANTEES[name]
    text, promise = read(address, "/guarantee", name), guarantee.promise
    assert guarantee.sentence in text
    for part in ("lead", "example", "belief", "odds", "several", "which"):
        assert getattr(promise, part) in text
    assert promise.unit.bound in text
    assert promise.unit.renewal in text
    assert "also by the other streams on this server: that adds up" in text
    about = read(address, "/about", name)
    for part in ("lead", "belief", "odds", "several"):
        assert getattr(promise, part) in about


@pytest.mark.parametrize("name", GUARANTEES)
def test_the_api_says_the_same(address, name):
    streams = {one["name"]: one for one in httpx.get(f"{address}/v1/streams").json()["streams"]}
    budget = httpx.get(f"{address}/v1/streams/{name}/budget").json()
    assert streams[name]["guarantee"] == budget["guarantee"] == GUARANTEES[name].sentence


def test_what_the_owner_vouches_for_is_shown_and_answered(address):
    text = read(address, "/guarantee", "session-1")
    assert "What the owner vouches for" in text
    for said in ATTESTED.values():
        assert said in text
    assert "Nothing was recorded" not in text
    assert httpx.get(f"{address}/v1/streams/session-1/budget").json()["attested"] == ATTESTED
    assert "&lt;person&gt;" in httpx.get(f"{address}/guarantee?stream=session-1").text, "a sentence is no markup"


def test_where_nothing_was_recorded_the_page_says_so(address):
    text = read(address, "/guarantee", "event-1")
    assert "Nothing was recorded about where the list of keys and the model come from" in text
    assert "the stream was made by an earlier version" in text
    assert httpx.get(f"{address}/v1/streams/event-1/budget").json()["attested"] == {}


def test_two_streams_under_one_promise_are_told_as_one(tmp_path):
    site = Site(tmp_path, ranges=100).run(2)
    with Serving(create_app(site.store, settings=ServerSettings(public=True, port=0))) as serving:
        text = read(serving.address, "/guarantee", "site")
        assert Guarantee.pure(Session(max_ticks=20), 1).promise.blur in text, "the sum of both, not the live half"
        assert "also by the other" not in text
    site.close()


def test_a_grant_is_told_stream_by_stream_and_with_all_others(tmp_path):
    keys, whole = Keys(["front"]), Guarantee.pure(Session(max_ticks=20), 1)
    visitors = Grant("visitors", whole, "visitors of <example.org>")
    staff = Grant("staff", whole, "staff", ["visitors of <example.org>"])
    with Store.open(tmp_path / "site.db") as store:
        for name, part in (("pages", visitors.part("1/2")), ("searches", visitors.part("1/4")), ("in", staff.part())):
            with store.curate(name, Lpa(keys, part.guarantee), part=part) as curator:
                curator.release(Counts.of(keys, Tick(0), [5]))
        for name, guarantee in (
            ("shop", Guarantee.pure(Session(max_ticks=5), "1/2")),
            ("c", Guarantee.pure(Event(), 1)),
        ):
            store.create_stream(name, keys, guarantee, "lpa")
        with Serving(create_app(store, settings=ServerSettings(public=True, port=0))) as serving:
            for name in ("pages", "searches"):
                text = read(serving.address, "/guarantee", name)
                assert whole.sentence in text, "the promise of the grant, whichever stream is shown"
                assert "one grant about visitors of <example.org>." in text
                assert (
                    "pages live numbers 0.5 0.025 searches live numbers 0.25 0.0125 not drawn by any stream 0.25"
                    in text
                )
                assert "All numbers of these 2 streams together" in text
                assert "This store holds 1 other grant (shop) that may be about the same people." in text
                assert "a factor e^1.5 = 4.49, in all that they publish together." in text
                assert "c may be about the same people too. It protects each event" in text
                assert "nobody is counted both here and in: staff (staff). They are not added." in text
                assert "also by the other streams on this server: that adds up" in text
                got = httpx.get(f"{serving.address}/v1/streams/{name}/budget").json()
                assert (got["grant"], got["population"]) == ("visitors", "visitors of <example.org>")
                assert {part: facts["share"] for part, facts in got["parts"].items()} == {
                    "pages": "1/2",
                    "searches": "1/4",
                }
                assert (got["total"], got["spent"], got["free_share"]) == ("1", "3/80", "1/4")
                assert got["together"]["epsilon"] == "3/2"
                assert (got["together"]["beside"], got["together"]["apart"]) == (["c"], ["staff"])
            alone = read(serving.address, "/guarantee", "in")
            assert "This stream draws all of it." in alone
            assert "All numbers of this stream together" in alone


def test_a_store_with_one_grant_says_so(tmp_path):
    site = Site(tmp_path).run(1)
    with Serving(create_app(site.store, settings=ServerSettings(public=True, port=0))) as serving:
        text = read(serving.address, "/guarantee", "site")
        assert "This store holds no other grant." in text
        assert "also by the other" not in text
    site.close()


def test_spent_rounds_up_and_left_rounds_down(tmp_path):
    store = Store.open(tmp_path / "thirds.db")
    keys = Keys(["front"])
    with store.curate("thirds", Lpa(keys, Guarantee.pure(User(horizon=3), 1))) as curator:
        curator.release(Counts.of(keys, Tick(0), [5]))
    with store, Serving(create_app(store, settings=ServerSettings(public=True, port=0))) as serving:
        text = read(serving.address, "/guarantee", "thirds")
    assert "so far is 0.3334 of 1" in text
    assert "0.6666 is left" in text
    assert "33.4 % spent, 66.6 % left" in text


def test_slips_are_told_where_there_are_any(tmp_path):
    part, rest = VISITORS.part("1/2", "1/4"), VISITORS.part("1/4")
    with Store.open(tmp_path / "site.db") as store:
        for name, mechanism, drawn in (("lists", Listing, part), ("pages", Lpa, rest), ("alone", Lpa, None)):
            promise = Guarantee.pure(Session(4), 1) if drawn is None else drawn.guarantee
            with store.curate(name, mechanism(LISTED, promise), part=drawn) as curator:
                curator.release(Counts.of(LISTED, Tick(0), [812, 97, 4]))
        with Serving(create_app(store, settings=ServerSettings(public=True, port=0))) as serving:
            text = read(serving.address, "/guarantee", "lists")
            budget = httpx.get(f"{serving.address}/v1/streams/lists/budget").json()
            plain = httpx.get(f"{serving.address}/v1/streams/alone/budget").json()
            assert "slips" not in read(serving.address, "/guarantee", "alone")
    assert "add up to at most 6.25e-8 of 1e-6 (delta); 9.375e-7 is left" in text
    assert budget["slips"]["spent"] == budget["parts"]["lists"]["slips"]["spent"] == "1/16000000"
    assert budget["last_debits"][0]["delta"] == "1/16000000"
    assert "slips" not in plain
    assert "delta" not in plain["last_debits"][0]
