"""Live events: encoded once, resumable, and nobody is hurt by those who do not read."""

import asyncio
import json
import socket
from urllib.parse import urlsplit

import httpx
import pytest
from tests.support.patience import until
from tests.support.site import Site

from hubbub.errors import StoreUnavailable
from hubbub.server import ServerSettings, Serving, create_app
from hubbub.server import live as live_module
from hubbub.server.channel import EVENTS_KEPT, Channel
from hubbub.server.serving import ServerStopped

LIVE = "/v1/streams/site/live"


def events(lines):
    """The releases of an event stream."""
    for line in lines:
        if line.startswith("data: "):
            yield json.loads(line[6:])


@pytest.fixture
def own(tmp_path):
    site = Site(tmp_path).run(5)
    yield site
    site.close()


def served(site, **more):
    settings = ServerSettings(public=True, port=0, poll_seconds=30, **more)
    return create_app(site.store, settings=settings)


def test_a_new_viewer_sees_the_latest_and_then_each_tick(own):
    app = served(own)
    with Serving(app) as serving, httpx.stream("GET", serving.address + LIVE) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["cache-control"] == "no-store"
        seen = events(answer.iter_lines())
        assert next(seen)["tick"] == 4
        for tick in (5, 6):
            own.tick()
            app.state.desk.feed.wake()
            got = next(seen)
            assert got["tick"] == tick
            assert got["total"]["text"].count("±") == 1
            assert len(got["keys"]) == 17


def test_the_store_is_looked_into_without_being_woken(own):
    app = create_app(own.store, settings=ServerSettings(public=True, port=0, poll_seconds=0.05))
    with Serving(app) as serving, httpx.stream("GET", serving.address + LIVE) as answer:
        seen = events(answer.iter_lines())
        next(seen)
        own.tick()
        assert next(seen)["tick"] == 5


@pytest.mark.parametrize(("last", "first"), [("2", 3), ("3", 4), ("99", 4), ("x", 4), ("²", 4), ("9" * 30, 4)])
def test_a_viewer_goes_on_where_it_stopped(own, last, first):
    with Serving(served(own)) as serving:
        headers = {"Last-Event-ID": last.encode()}
        with httpx.stream("GET", serving.address + LIVE, headers=headers) as answer:
            assert next(events(answer.iter_lines()))["tick"] == first


@pytest.mark.parametrize("last", [3, 40])
def test_after_a_restart_nothing_is_missed(tmp_path, last):
    """Tick 3 fell out of memory and what followed it comes from the store; after tick 40 memory is enough."""
    many = EVENTS_KEPT + 20
    site = Site(tmp_path).run(many)
    with Serving(served(site)) as serving:
        headers = {"Last-Event-ID": str(last)}
        with httpx.stream("GET", serving.address + LIVE, headers=headers) as answer:
            seen = events(answer.iter_lines())
            got = [next(seen)["tick"] for _ in range(many - last - 1)]
    assert got == list(range(last + 1, many))
    site.close()


@pytest.mark.parametrize("error", [RuntimeError("777000111"), StoreUnavailable("gone")])
def test_a_feed_that_stumbles_goes_on(own, monkeypatch, caplog, error):
    app = create_app(own.store, settings=ServerSettings(public=True, port=0, poll_seconds=0.05))

    def fail(*args, **kwargs):
        raise error

    with Serving(app) as serving:
        with monkeypatch.context() as patch:
            patch.setattr(own.store, "releases", fail)
            until(lambda: app.state.desk.feed.trouble, "it is seen")
            assert app.state.desk.feed.trouble
        own.tick()
        with httpx.stream("GET", serving.address + LIVE, headers={"Last-Event-ID": "4"}) as answer:
            assert next(events(answer.iter_lines()))["tick"] == 5
    assert "777000111" not in caplog.text


def test_a_stream_that_begins_later_is_found(tmp_path):
    from hubbub.store import Store

    with Store.open(tmp_path / "site.db") as store:
        app = create_app(store, settings=ServerSettings(public=True, port=0, poll_seconds=0.05))
        with Serving(app) as serving:
            assert httpx.get(f"{serving.address}/v1/streams").json() == {"streams": []}
            site = Site(tmp_path).run(1)
            until(lambda: httpx.get(f"{serving.address}/v1/streams").json()["streams"], "it is seen")
            assert httpx.get(f"{serving.address}/v1/streams/site/top").json()["tick"] == 0
            site.close()


def test_too_many_viewers_are_told_to_come_back(own):
    with (
        Serving(served(own, max_viewers=1)) as serving,
        httpx.stream("GET", serving.address + LIVE) as first,
    ):
        lines = first.iter_lines()  # kept, or the connection would be closed with it
        next(lines)
        answer = httpx.get(serving.address + LIVE)
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "too_many_viewers")
        assert answer.headers["retry-after"] == "5"


def test_viewers_who_never_read_hurt_nobody_and_are_let_go(own, capfd):
    app = served(own, send_seconds=0.5)
    feed = app.state.desk.feed
    with Serving(app) as serving:
        address = urlsplit(serving.address)
        silent = []
        for _ in range(40):
            raw = socket.socket()
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            raw.connect((address.hostname, address.port))
            raw.sendall(f"GET {LIVE} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            silent.append(raw)
        with httpx.stream("GET", serving.address + LIVE) as answer:
            seen = events(answer.iter_lines())
            next(seen)
            assert feed.viewers > 30
            for tick in range(5, 65):
                own.tick()
                feed.wake()
                assert next(seen)["tick"] == tick, "the one who reads gets every tick"
            until(lambda: feed.viewers == 1, "it is seen")
            assert feed.viewers == 1, "those who took nothing were let go"
        for raw in silent:
            raw.close()
    assert capfd.readouterr().err == "", "and leave no line each in the log"


def test_leaving_viewers_are_noticed(own):
    app = served(own)
    with Serving(app) as serving:
        with httpx.stream("GET", serving.address + LIVE) as answer:
            next(answer.iter_lines())
        until(lambda: app.state.desk.feed.viewers == 0, "it is seen")
        assert app.state.desk.feed.viewers == 0


def test_a_quiet_stream_still_says_something(own, monkeypatch):
    monkeypatch.setattr(live_module, "HEARTBEAT_SECONDS", 0.05)
    with Serving(served(own)) as serving, httpx.stream("GET", serving.address + LIVE) as answer:
        assert any(line == ": still here" for line, _ in zip(answer.iter_lines(), range(50), strict=False))


def test_stopping_lets_the_viewers_go(own):
    serving = Serving(served(own)).start()
    with httpx.stream("GET", serving.address + LIVE) as answer:
        lines = answer.iter_lines()
        next(lines)
        serving.stop()
        rest = list(lines)  # ends instead of hanging
    assert not any(line.startswith("event: error") for line in rest)
    assert not serving._thread.is_alive()


def test_a_store_that_goes_away_leaves_the_last_picture(own, monkeypatch):
    app = create_app(own.store, settings=ServerSettings(public=True, port=0, poll_seconds=0.05))
    gone = StoreUnavailable("The store is gone.", "Wait.")

    def refuse(*args, **kwargs):
        raise gone

    with Serving(app) as serving:
        before = httpx.get(f"{serving.address}/v1/streams/site/top").json()
        monkeypatch.setattr(own.store, "releases", refuse)
        until(lambda: httpx.get(f"{serving.address}/healthz").status_code == 503, "it is seen")
        assert httpx.get(f"{serving.address}/healthz").json() == {"status": "degraded", "store": "store_unavailable"}
        assert httpx.get(f"{serving.address}/v1/streams/site/top").json() == before
        assert httpx.get(f"{serving.address}/v1/streams/site/releases").status_code == 503
        monkeypatch.undo()
        until(lambda: httpx.get(f"{serving.address}/healthz").status_code == 200, "it is seen")
        assert httpx.get(f"{serving.address}/healthz").status_code == 200, "it comes back by itself"


def test_a_broken_ledger_is_said_on_the_page(own, monkeypatch):
    app = served(own)
    with Serving(app) as serving:
        until(lambda: app.state.desk.watch.verdicts, "it is seen")
        assert "lines, none changed" in httpx.get(f"{serving.address}/guarantee").text

        for error in (StoreUnavailable("gone"), RuntimeError("777000111")):

            def refuse(name, error=error):
                raise error

            monkeypatch.setattr(own.store, "verify", refuse)
            asyncio.run(app.state.desk.watch.look())
            page = httpx.get(f"{serving.address}/guarantee").text
            assert "could not be verified" in page
            assert "777000111" not in page


def test_memory_of_a_channel_is_bounded_by_its_keys():
    from hubbub.released import Keys

    assert Channel(Keys([f"k{i}" for i in range(50_000)]), ServerSettings()).history.maxlen == 40
    assert Channel(Keys(["a"]), ServerSettings()).history.maxlen == 1440


def test_a_taken_port_is_refused_in_plain_words(own):
    from hubbub.errors import InvalidParameter

    with Serving(served(own)) as serving:
        port = urlsplit(serving.address).port
        with pytest.raises(InvalidParameter, match=f"port {port}"):
            Serving(served(own), port=port)


def test_a_server_that_cannot_start_says_so(own, monkeypatch):
    app = served(own)

    async def fail():
        raise StoreUnavailable("gone")

    monkeypatch.setattr(app.state.desk.feed, "start", fail)
    with pytest.raises(ServerStopped):
        Serving(app).start()


def test_waking_before_the_start_and_after_the_end_is_harmless(own):
    app = served(own)
    app.state.desk.feed.wake()
    with Serving(app):
        pass
    app.state.desk.feed.wake()
    app.state.desk.feed.end()
    assert not app.state.desk.feed.is_open
