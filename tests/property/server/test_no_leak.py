"""No confidential value leaves: every route, error and log line, with planted values behind and in front of them.

The planted counts are hidden by noise of scale 20 million, so that a released number equals a planted one by chance in
fewer than one of a million runs of this file (50 numbers in two streams, and totals of ranges
of them, each with a chance of at most 1 in 4e7).
"""

from __future__ import annotations

import json
import logging
import threading

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.site import Site

from hubbub.confidential import Counts
from hubbub.server import CountsAnswer, ServerSettings, Serving, create_app

PLANTED = "777000111"
KEYS = ("front", "news", "sports", "/a?b=<c>", "weather")

READS = (
    "/", "/top", "/about", "/guarantee", "/curator", "/login", "/metrics", "/healthz", "/openapi.json", "/nothing",
    "/assets/style.css", "/key", "/ranges", "/items", "/v1/streams", "/v1/streams/{s}/items",
    "/map", "/v1/streams/{s}/map", "/v1/streams/{s}/map/shape", "/v1/streams/{s}/map/frames/{tick}",
    "/v1/streams/{s}/area", "/v1/streams/{s}/mds/metrics", "/v1/streams/{s}/mds/metrics/{tick}",
    "/v1/streams/{s}/releases", "/v1/streams/{s}/range",
    "/v1/streams/{s}/top", "/v1/streams/{s}/alerts", "/v1/streams/{s}/budget", "/v1/streams/{s}/status",
    "/v1/streams/{s}/truth", "/v1/streams/{s}/events",
)  # fmt: skip


class Leaky:
    """A pipeline that fails in the worst way: with what it was given in its message."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def push(self, stream, body, idempotency_key, sender):  # noqa: ARG002
        raise ValueError(f"cannot read {body!r} of {PLANTED}")

    def release(self, stream, sent):  # noqa: ARG002
        drawn = self.site._curator.release(Counts.of(self.site.keys, self.site.at(sent.tick or 0), sent.values))
        return CountsAnswer(drawn, again=False)

    def status(self, stream):
        raise RuntimeError(f"{stream} has {PLANTED} visitors")


class Truth:
    def overlay(self, stream, first, last):  # noqa: ARG002
        return {key: [int(PLANTED)] * (last - first + 1) for key in KEYS}


class Ear(logging.Handler):
    """Hears every logger, tracebacks included."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.said: list[str] = []
        self._lock = threading.Lock()

    def emit(self, record: logging.LogRecord) -> None:
        with self._lock:
            self.said.append(logging.Formatter().format(record))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    made = Site(tmp_path_factory.mktemp("planted"), KEYS, epsilon=1e-6, ranges=32)
    for _ in range(5):
        made.tick([int(PLANTED)] * len(KEYS))
    yield made
    made.close()


@pytest.fixture(scope="module")
def ear():
    heard, root = Ear(), logging.getLogger()
    root.addHandler(heard)
    before = root.level
    root.setLevel(logging.DEBUG)
    yield heard
    root.setLevel(before)
    root.removeHandler(heard)


@pytest.fixture(scope="module")
def server(site, ear):
    tokens = {role: site.store.tokens.add(role) for role in ("reader", "curator", "ingest")}
    pipeline = Leaky(site)
    app = create_app(
        site.store, settings=ServerSettings(public=True, port=0), events=pipeline, counts=pipeline, status=pipeline
    )
    with Serving(app) as serving, httpx.Client(base_url=serving.address, timeout=20) as client:
        yield client, tokens


def everything(answer: httpx.Response) -> str:
    return answer.text + repr(sorted(answer.headers.items()))


words = st.sampled_from(
    ["site", "site.ranges", "other", "0", "4", "-1", "x", "news", "/a?b=<c>", "9" * 25, "2026-01-01T00:00Z", ""]
)
parameters = st.dictionaries(
    st.sampled_from(
        [
            "first",
            "last",
            "limit",
            "key",
            "format",
            "from",
            "to",
            "k",
            "name",
            "stream",
            "next",
            "each",
            "tick",
            "base",
            "bounds",
            "polygon",
            "area",
            "cell",
            "at",
            "map",
        ]
    ),
    words,
)
accepts = st.sampled_from(["*/*", "text/html", "text/csv", "application/vnd.apache.arrow.stream", "image/png", ";;,"])
roles = st.sampled_from([None, "reader", "curator", "ingest"])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(READS), words, parameters, accepts, roles, st.sampled_from(["GET", "HEAD", "DELETE", "PUT"]))
def test_reading_never_shows_a_planted_value(server, ear, path, stream, query, accept, role, method):
    client, tokens = server
    headers = {"Accept": accept} | ({"Authorization": f"Bearer {tokens[role]}"} if role else {})
    address = path.replace("{s}", "site" if stream in ("", "/a?b=<c>") else stream).replace("{tick}", "4")
    answer = client.request(method, address, params=query, headers=headers)
    assert answer.status_code < 600
    assert PLANTED not in everything(answer)
    assert PLANTED not in "\n".join(ear.said)


bodies = st.one_of(
    st.just(PLANTED.encode()),
    st.just(json.dumps({"values": dict.fromkeys(KEYS, int(PLANTED))}).encode()),
    st.just(json.dumps({"values": {**dict.fromkeys(KEYS, 1), PLANTED: 2}}).encode()),
    st.just(json.dumps({"tick": PLANTED, "values": {"front": -int(PLANTED)}}).encode()),
    st.binary(max_size=200).map(lambda noise: noise + PLANTED.encode()),
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["events", "counts"]),
    bodies,
    st.sampled_from(["application/x-ndjson", "application/json", f"text/{PLANTED}"]),
    roles,
    st.sampled_from([None, PLANTED, f"key {PLANTED}"]),
)
def test_sending_never_shows_what_was_sent(server, ear, route, body, kind, role, key):
    client, tokens = server
    headers = {"Content-Type": kind}
    headers |= {"Authorization": f"Bearer {tokens[role]}"} if role else {}
    headers |= {"Idempotency-Key": key} if key else {}
    answer = client.post(f"/v1/streams/site/{route}", content=body, headers=headers)
    assert answer.status_code >= 400 or answer.status_code == 201
    assert PLANTED not in everything(answer)
    assert PLANTED not in "\n".join(ear.said)


def test_live_events_never_show_a_planted_value(server):
    client, _ = server
    with client.stream("GET", "/v1/streams/site/live", headers={"Last-Event-ID": "0"}) as answer:
        lines = answer.iter_lines()
        got = "".join(next(lines) for _ in range(18))
    assert '"tick":4' in got
    assert PLANTED not in got


def test_the_walk_would_find_a_leak(site):
    """The control: the demo's overlay shows the truth of a simulation, and this walk sees it."""
    app = create_app(site.store, settings=ServerSettings(public=True, port=0), truth=Truth())
    with Serving(app) as serving:
        address = f"{serving.address}/v1/streams/site/truth"
        assert PLANTED in everything(httpx.get(address, params={"first": 0, "last": 4}))
        assert httpx.get(address, params={"first": 4, "last": 0}).status_code == 422
        assert "confidential" in httpx.get(serving.address).text.lower()


def test_every_route_is_walked(server):
    """A new route must be added to the walk."""
    client, _ = server
    walked = {path.replace("{s}", "{stream}") for path in READS}
    for path in client.get("/openapi.json").json()["paths"]:
        assert path in walked | {"/v1/streams/{stream}/counts", "/v1/streams/{stream}/live"}, path
