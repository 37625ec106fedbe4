"""Two ways in, one answer: what goes the short way is answered to the byte as on the long one."""

from __future__ import annotations

import threading
import time

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.patience import until

from hubbub.errors import BudgetExceeded, Overloaded, StoreUnavailable
from hubbub.server import ServerSettings, Serving, create_app
from hubbub.server.fast_lane import FastLane
from hubbub.server.senders import SECONDS, Senders

EVENTS = "/v1/streams/site/events"


@pytest.fixture
def lane(monkeypatch):
    """How many requests went the short way."""
    taken = []
    real = FastLane._take

    async def counted(self, *given):
        taken.append(1)
        await real(self, *given)

    monkeypatch.setattr(FastLane, "_take", counted)
    return taken


def post(client, sending, body=b"{}", **more):
    return client.post(EVENTS, content=body, headers={**sending, **more})


def same(first, second):
    return (first.status_code, first.text, sorted(first.headers.items() - [("date", first.headers["date"])])) == (
        second.status_code, second.text, sorted(second.headers.items() - [("date", second.headers["date"])]),
    )  # fmt: skip


def both_ways(client, sending, lane, **more):
    """The same request on the long way and on the short one (whoever was here before within a second)."""
    client.app.state.desk.senders._known.clear()
    del lane[:]
    long = post(client, sending, **more)
    assert not lane, "somebody new goes the long way"
    for _ in range(100):
        client.app.state.desk.senders.remember(sending["Authorization"].removeprefix("Bearer "))
        short = post(client, sending, **more)
        if lane:
            return long, short
    raise AssertionError("never the short way")


@pytest.fixture
def client(app, client):
    client.app = app
    return client


def test_what_is_taken_reads_the_same(client, sending, lane, pipeline):
    assert same(*both_ways(client, sending, lane))
    assert pipeline.batches[0] == pipeline.batches[1] == b"{}"
    long, short = both_ways(client, sending, lane, **{"Idempotency-Key": "one"})
    assert (long.json()["duplicate"], short.json()["duplicate"]) == (False, True)


@pytest.mark.parametrize(
    "error",
    [StoreUnavailable("s3cret"), BudgetExceeded("s3cret"), Overloaded("s3cret", retry_after=7), ValueError("s3cret")],
)
def test_so_does_what_is_refused(client, sending, lane, pipeline, error):
    pipeline.broken = error
    long, short = both_ways(client, sending, lane)
    assert same(long, short)
    assert long.status_code >= 400
    assert "s3cret" not in long.text + short.text


@pytest.mark.parametrize(
    "more",
    [
        {"Content-Type": "application/json"},
        {"Content-Encoding": "gzip"},
        {"Idempotency-Key": "a b"},
        {"Idempotency-Key": "x" * 201},
        {"Authorization": "Bearer nonsense"},
        {"Authorization": ""},
    ],
)
def test_what_is_out_of_the_ordinary_goes_the_long_way_and_is_refused(client, sending, lane, more):
    assert post(client, sending).status_code == 202
    del lane[:]
    assert post(client, sending, **more).status_code in (401, 415, 422)
    assert not lane


def test_large_and_chunked_bodies_go_the_long_way(client, sending, lane, pipeline):
    post(client, sending)
    del lane[:]
    assert post(client, sending, body=b"x" * 70_000).status_code == 202
    assert post(client, sending, body=iter([b"{", b"}"])).status_code == 202
    assert pipeline.batches[-1] == b"{}"
    assert post(client, sending, body=b"x" * 100_001).status_code == 413
    assert client.post("/v1/streams/other/events", content=b"{}", headers=sending).status_code == 404
    assert not lane


def test_a_body_in_two_pieces_is_whole(client, sending, lane, pipeline):
    """It set out on the short way and is put back on the long one, with nothing lost."""
    import socket
    from urllib.parse import urlsplit

    post(client, sending)
    where = urlsplit(str(client.base_url))
    with socket.create_connection((where.hostname, where.port), timeout=60) as raw:
        head = f"POST {EVENTS} HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n"
        raw.sendall((head + "".join(f"{a}: {b}\r\n" for a, b in sending.items()) + "\r\n").encode() + b"ab")
        for _ in range(5):
            time.sleep(0.05)
        raw.sendall(b"cd")
        assert raw.recv(65536).startswith(b"HTTP/1.1 202")
    assert pipeline.batches[-1] == b"abcd"


def test_a_revoked_token_sends_no_longer_than_a_second(client, site, pipeline):
    token = site.store.tokens.add("ingest")
    sending = {"Authorization": f"Bearer {token}", "Content-Type": "application/x-ndjson"}
    assert post(client, sending).status_code == 202
    site.store.tokens.revoke(site.store.tokens.lookup(token).id)
    until(lambda: post(client, sending).status_code != 202, "it is forgotten")
    assert post(client, sending).status_code == 401


@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 3)), max_size=20))
def test_a_token_is_believed_for_a_second_and_no_longer(steps):
    now, looked = [0.0], {}
    senders = Senders(lambda: now[0])
    for token, wait in steps:
        now[0] += wait
        known = senders.known(token)
        assert (known is not None) == (token in looked and now[0] < looked[token] + SECONDS)
        if known is None:
            made = senders.remember(token)
            looked[token] = now[0]
            assert made.id not in ("a", "b")
            assert "seal" not in repr(made)


def test_not_all_tokens_of_the_world_are_remembered():
    senders = Senders(lambda: 0.0)
    for number in range(10_001):
        senders.remember(str(number))
    assert senders.known("0") is None
    assert senders.known("10000") is not None


class Together:
    """A pipeline that takes many at a time."""

    def __init__(self):
        self.groups, self.hold = [], threading.Event()
        self.broken = None

    def push(self, *given):  # noqa: ARG002
        raise AssertionError("small batches come together")

    def push_many(self, stream, batches):  # noqa: ARG002
        self.hold.wait(60)
        if self.broken is not None:
            raise self.broken
        self.groups.append([body for body, _, _ in batches])
        return [StoreUnavailable("s3cret") if body == b"bad" else Receipt() for body, _, _ in batches]


class Receipt:
    accepted, malformed, duplicate = 1, 0, False


def test_what_comes_while_others_are_written_goes_together(site, tokens):
    """Twenty senders, the first of whom is held up: the others share the next hand-over, each with its own answer."""
    events = Together()
    app = create_app(site.store, settings=ServerSettings(port=0), events=events)
    headers = {"Authorization": f"Bearer {tokens['ingest']}", "Content-Type": "application/x-ndjson"}
    answers = {}
    with Serving(app) as serving:
        app.state.desk.senders._clock = lambda: 0.0  # once looked up, a token is good for this whole test
        app.state.desk.senders.remember(tokens["ingest"])

        def send(body):
            answers[body] = httpx.post(serving.address + EVENTS, content=body, headers=headers, timeout=60).status_code

        threads = [threading.Thread(target=send, args=[body]) for body in (b"bad", *(b"%d" % i for i in range(19)))]
        for thread in threads:
            thread.start()
        until(lambda: app.state.desk.intake._held == 3 + sum(len(b"%d" % i) for i in range(19)), "it is seen")
        events.hold.set()
        for thread in threads:
            thread.join(60)
        assert answers.pop(b"bad") == 503, "and nobody else"
        assert set(answers.values()) == {202}
        assert len(events.groups) <= 3
        assert app.state.desk.intake._held == 0
        for fault in (ValueError("s3cret"), Overloaded("s3cret"), KeyboardInterrupt("s3cret")):
            events.broken = fault
            answer = httpx.post(serving.address + EVENTS, content=b"{}", headers=headers, timeout=60)
            assert answer.status_code in (429, 500)
            assert "s3cret" not in answer.text
        events.broken = None
        assert httpx.post(serving.address + EVENTS, content=b"{}", headers=headers, timeout=60).status_code == 202


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300))
def test_every_body_arrives_as_it_was_sent(client, sending, pipeline, body):
    assert post(client, sending, body=body).status_code == 202
    assert pipeline.batches[-1] == body


def test_nothing_is_told_to_a_collector(app, monkeypatch):
    """The framework can export every request, with the messages of exceptions: here it never does."""
    from opentelemetry import metrics, trace

    monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: object())
    monkeypatch.setattr(metrics, "get_meter_provider", lambda: object())
    assert not app._native_telemetry.enabled()
    assert app._telemetry["auto_configure"] is False
