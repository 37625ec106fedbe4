"""What comes in: bounded, never repeated, whole or not at all."""

import json
import socket
import threading
from urllib.parse import urlsplit

import httpx
import pytest
from tests.support.patience import PATIENCE, until
from tests.support.site import Site

from hubbub.errors import BudgetExceeded, StoreUnavailable
from hubbub.server import ServerSettings, Serving, create_app

EVENTS = "/v1/streams/site/events"
COUNTS = "/v1/streams/site/counts"


def code(answer):
    return answer.json()["error"]["code"]


def test_events_are_passed_on_as_they_are(client, pipeline, sending):
    body = b'{"path": "/a"}\n{"path": "/b"}\n'
    answer = client.post(EVENTS, content=body, headers=sending)
    assert answer.status_code == 202
    assert answer.json() == {"accepted": 2, "malformed": 0, "duplicate": False}
    assert pipeline.batches == [body]


def test_a_batch_sent_twice_counts_once(client, pipeline, sending):
    headers = {**sending, "Idempotency-Key": "batch-7"}
    assert not client.post(EVENTS, content=b"{}", headers=headers).json()["duplicate"]
    assert client.post(EVENTS, content=b"{}", headers=headers).json()["duplicate"]
    assert len(pipeline.batches) == 1


@pytest.mark.parametrize("key", ["", "a b", "x" * 201, "ünï"])
def test_an_odd_idempotency_key_is_refused(client, sending, key):
    answer = client.post(EVENTS, content=b"{}", headers={**sending, "Idempotency-Key": key.encode()})
    assert answer.status_code == 422


def test_a_full_queue_says_when_to_come_back(client, pipeline, sending):
    pipeline.full = True
    answer = client.post(EVENTS, content=b"{}", headers=sending)
    assert (answer.status_code, code(answer), answer.headers["retry-after"]) == (429, "overloaded", "3")


@pytest.mark.parametrize(
    ("error", "status"), [(StoreUnavailable("The disk is full."), 503), (BudgetExceeded("Too much."), 409)]
)
def test_refusals_of_the_pipeline_keep_their_name(client, pipeline, sending, error, status):
    pipeline.broken = error
    answer = client.post(EVENTS, content=b"{}", headers=sending)
    assert (answer.status_code, code(answer)) == (status, error.code)


def test_an_unforeseen_error_tells_nothing(client, pipeline, sending, caplog):
    pipeline.broken = ValueError("the visitor 777000111")
    answer = client.post(EVENTS, content=b"{}", headers=sending)
    assert (answer.status_code, code(answer)) == (500, "internal_error")
    assert "777000111" not in answer.text + caplog.text
    assert "ValueError at conftest.py" in caplog.text


@pytest.mark.parametrize("length", [100_001, 10**12])
def test_a_declared_length_above_the_limit_is_refused_at_once(client, sending, length):
    address = urlsplit(str(client.base_url))
    with socket.create_connection((address.hostname, address.port), timeout=PATIENCE) as raw:
        head = f"POST {EVENTS} HTTP/1.1\r\nHost: x\r\nAuthorization: {sending['Authorization']}\r\n"
        raw.sendall(f"{head}Content-Length: {length}\r\n\r\n".encode())
        raw.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: raw.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 413")
    assert b"body_too_large" in answer


def test_a_hundred_megabytes_are_not_kept(client, sending, pipeline):
    sent = 0

    def body():
        nonlocal sent
        for _ in range(100):
            sent += 1
            yield b"x" * 2**20

    answer = client.post(EVENTS, content=body(), headers=sending)
    assert (answer.status_code, code(answer)) == (413, "body_too_large")
    assert "100,000 bytes" in answer.json()["error"]["message"]
    assert pipeline.batches == []
    assert client.get("/healthz").status_code == 200, "the others are served"


def test_a_login_needs_no_large_body(client):
    answer = client.post("/login", content=b"token=" + b"x" * 20_000)
    assert answer.status_code == 413


@pytest.fixture
def slow(site, pipeline, tokens):
    """A server with room for 1,000 bytes, and an upload that stops after 900 of them until it is told to go on."""
    patient = ServerSettings(port=0, max_uploads=1, max_body=1000, pace_seconds=3600, body_seconds=3600)
    app = create_app(site.store, settings=patient, events=pipeline)
    headers = {"Authorization": f"Bearer {tokens['ingest']}", "Content-Type": "application/x-ndjson"}
    go_on, answers = threading.Event(), []

    def slowly():
        yield b"x" * 900
        go_on.wait(600)
        yield b"}"

    def upload(address):
        answers.append(httpx.post(address + EVENTS, content=slowly(), headers=headers, timeout=600))

    with Serving(app) as serving:
        sender = threading.Thread(target=upload, args=[serving.address])
        sender.start()
        until(lambda: app.state.desk.intake._held == 900, "it is seen")
        yield serving.address + EVENTS, headers
        go_on.set()
        sender.join(600)
    assert [answer.status_code for answer in answers] == [202]
    assert app.state.desk.intake._held == 0, "what was held is given back"


def test_bodies_are_held_within_a_bound(slow):
    address, headers = slow
    answer = httpx.post(address, content=b"x" * 200, headers=headers)
    assert (answer.status_code, code(answer)) == (429, "overloaded")
    pieces = httpx.post(address, content=iter([b"x" * 200]), headers=headers)
    assert (pieces.status_code, code(pieces)) == (429, "overloaded")


def test_a_slow_upload_does_not_keep_others_out(slow):
    address, headers = slow
    for _ in range(20):
        assert httpx.post(address, content=b"{}", headers=headers).status_code == 202


@pytest.mark.parametrize("kind", ["text/plain", "application/json", "multipart/form-data", ""])
def test_other_types_are_refused(client, sending, kind):
    answer = client.post(EVENTS, content=b"{}", headers={**sending, "Content-Type": kind})
    assert (answer.status_code, code(answer)) == (415, "unsupported_media")


def test_packed_bodies_are_refused(client, sending):
    answer = client.post(EVENTS, content=b"{}", headers={**sending, "Content-Encoding": "gzip"})
    assert answer.status_code == 415


def test_a_reading_server_takes_nothing(closed, sending):
    assert closed.post(EVENTS, content=b"{}", headers=sending).status_code == 501
    assert closed.post(COUNTS, content=b"{}", headers=sending).status_code == 501


def test_counts_become_a_release(client, site, tokens):
    headers = {"Authorization": f"Bearer {tokens['ingest']}", "Idempotency-Key": "one"}
    answer = client.post(COUNTS, json={"values": dict.fromkeys(site.keys, 100)}, headers=headers)
    assert answer.status_code == 201
    assert answer.json()["tick"] == site.next_tick - 1
    again = client.post(
        COUNTS, json={"tick": answer.json()["tick"], "values": dict.fromkeys(site.keys, 1)}, headers=headers
    )
    assert again.status_code == 409, "a tick is released once"


def test_counts_need_a_tick_or_a_key(client, site, tokens):
    headers = {"Authorization": f"Bearer {tokens['ingest']}"}
    before = site.next_tick
    answer = client.post(COUNTS, json={"values": dict.fromkeys(site.keys, 100)}, headers=headers)
    assert (answer.status_code, code(answer)) == (422, "invalid_request")
    assert "drawn again" in answer.json()["error"]["message"]
    assert site.next_tick == before, "nothing was drawn"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"no json", 400),
        (b"[" * 100_001, 413),
        (b"[" * 50_000, 400),
        (b"[1, 2]", 422),
        (b'{"values": 3}', 422),
        (b'{"values": {}, "more": 1}', 422),
        (b'{"values": {}}', 422),
        (b'{"values": {"stranger 777000111": 1}}', 422),
        (b'{"tick": -1, "values": {}}', 422),
        (b'{"tick": true, "values": {}}', 422),
    ],
)
def test_wrong_counts_are_refused(client, tokens, body, status):
    headers = {"Authorization": f"Bearer {tokens['ingest']}", "Content-Type": "application/json"}
    answer = client.post(COUNTS, content=body, headers=headers)
    assert answer.status_code == status
    assert "777000111" not in answer.text


@pytest.mark.parametrize("value", [-777000111, 1.5, "777000111", True, None, 777000111**3])
def test_a_wrong_count_is_named_by_its_key_only(client, site, tokens, value):
    body = json.dumps({"values": {**dict.fromkeys(site.keys, 1), "news": value}})
    headers = {"Authorization": f"Bearer {tokens['ingest']}", "Content-Type": "application/json"}
    answer = client.post(COUNTS, content=body, headers=headers)
    assert answer.status_code == 422
    assert "'news'" in answer.json()["error"]["message"]
    assert "777000111" not in answer.text


def test_an_empty_stream_has_answers_too(tmp_path):
    site = Site(tmp_path)
    with Serving(create_app(site.store, settings=ServerSettings(public=True, port=0))) as serving:
        base = f"{serving.address}/v1/streams/site"
        assert httpx.get(f"{base}/releases").json()["releases"] == []
        assert httpx.get(f"{base}/top").json()["top"] == []
        assert httpx.get(f"{base}/alerts").json()["alerts"] == []
        assert httpx.get(f"{base}/range?from=0&to=1").status_code == 404
        assert "Nothing has been released yet" in httpx.get(serving.address).text
        for page in ("/top", "/about", "/guarantee", "/key?name=news"):
            assert httpx.get(serving.address + page).status_code == 200
    site.close()
