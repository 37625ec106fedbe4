"""The addresses of both servers: bytes are passed on, sizes and types are held, every refusal has the one shape."""

from __future__ import annotations

import httpx
import pytest
from tests.support.gathering import Gathering

from hubbub.errors import InvalidParameter, NoiseOverflow
from hubbub.gather.peer import MARK, mark_of_answer, mark_of_request, path_of
from hubbub.server import ServerSettings, Serving, create_gather_app
from hubbub.server.routes import gather as routes

BYTES = {"content-type": "application/octet-stream"}


@pytest.fixture
def world(tmp_path):
    with Gathering(tmp_path) as made:
        yield made


def http(desk):
    with (
        Serving(create_gather_app(desk, settings=ServerSettings(port=0))) as serving,
        httpx.Client(base_url=serving.address) as client,
    ):
        yield client


@pytest.fixture
def leader(world):
    yield from http(world.leader)


@pytest.fixture
def helper(world):
    yield from http(world.helper)


def test_what_everybody_may_ask(world, leader, helper):
    for client in (leader, helper):
        assert client.get("/v1/gather").content == world.plan.encode()
        assert client.get("/v1/gather/status").json()["state"] == "running"
        assert client.get("/v1/gather/rounds/0").json()["state"] == "open"
        announced = client.get("/v1/gather/rounds/0/announcement").content
        assert announced == world.plan.announcement(0).encode()
        missing = client.get("/v1/gather/rounds/1")
        assert (missing.status_code, missing.json()["error"]["code"]) == (409, "query_closed")


def test_reports(world, leader):
    report = world.report(2)
    path = path_of(0, "reports")
    assert leader.post(path, content=report, headers=BYTES).json() == {"taken": True}
    again = leader.post(path, content=report, headers=BYTES)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "report_replayed")
    assert "taken before" in again.json()["error"]["message"]
    for body, status, code in [
        (b"", 422, "invalid_input"),
        (report[:-1], 422, "invalid_input"),
        (report + b"x", 422, "invalid_input"),
        (bytes(world.leader.largest + 1), 413, "body_too_large"),
    ]:
        told = leader.post(path, content=body, headers=BYTES)
        assert (told.status_code, told.json()["error"]["code"]) == (status, code)
    told = leader.post(path, content=report)
    assert (told.status_code, told.json()["error"]["code"]) == (415, "unsupported_media")
    assert leader.post(path_of(0, "check"), content=b"", headers=BYTES).status_code == 404
    assert leader.post(path_of(0, "reports").replace("/0/", "/-1/"), content=b"", headers=BYTES).status_code == 422


def test_too_many_at_a_time(world, leader, monkeypatch):
    monkeypatch.setattr(routes, "MOST_BUSY", 0)
    told = leader.post(path_of(0, "reports"), content=world.report(1), headers=BYTES)
    assert (told.status_code, told.json()["error"]["code"]) == (429, "overloaded")
    assert told.headers["retry-after"] == "1"
    monkeypatch.setattr(routes, "MOST_BUSY", 1)
    for _ in range(3):  # whatever came of one, the next has its place
        assert leader.post(path_of(0, "reports"), content=b"?", headers=BYTES).status_code == 422


def test_the_other_server(world, helper):
    key = world.keys["leader"].shared_with(world.plan.servers[1], "peer")
    world.send(0)
    request = world.leader._at(0).ask().encode()
    path = path_of(0, "check")
    told = helper.post(path, content=request, headers={**BYTES, MARK: mark_of_request(key, path, request)})
    assert told.status_code == 200
    assert told.headers[MARK] == mark_of_answer(key, path, request, told.content)
    stranger = helper.post(path, content=request, headers={**BYTES, MARK: "0" * 64})
    assert (stranger.status_code, stranger.json()["error"]["code"]) == (409, "query_mismatch")
    assert helper.post(path_of(0, "reports"), content=b"", headers=BYTES).status_code == 404


def test_a_page_of_another_site_may_ask_its_readers(world, leader):
    origin = {"origin": "https://news.example"}
    asked = {**origin, "access-control-request-method": "POST", "access-control-request-headers": "content-type"}
    allowed = leader.options(path_of(0, "reports"), headers=asked)
    assert allowed.headers["access-control-allow-origin"] == "*"
    taken = leader.post(path_of(0, "reports"), content=world.report(1), headers={**BYTES, **origin})
    assert taken.headers["access-control-allow-origin"] == "*"
    refused = leader.post(path_of(0, "reports"), content=b"?", headers={**BYTES, **origin})
    assert refused.headers["access-control-allow-origin"] == "*"


def test_what_nobody_foresaw_tells_nothing(world, leader, monkeypatch):
    def fall(*_):
        raise RuntimeError("a share")

    monkeypatch.setattr(world.leader, "take", fall)
    told = leader.post(path_of(0, "reports"), content=world.report(1), headers=BYTES)
    assert told.status_code == 500
    assert "a share" not in told.text

    def overflow(*_):
        raise NoiseOverflow("a number")

    monkeypatch.setattr(world.leader, "take", overflow)
    told = leader.post(path_of(0, "reports"), content=world.report(1), headers=BYTES)
    assert "a number" not in told.text


def test_in_the_clear_on_this_machine_alone(world):
    away = ServerSettings(title="Hubbub", host="0.0.0.0")
    with pytest.raises(InvalidParameter, match="Without TLS"):
        create_gather_app(world.leader, settings=away)
    create_gather_app(world.leader, settings=away, tls=True)
