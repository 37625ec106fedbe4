"""The Lab's addresses: who may come in, what is refused, and that it is nowhere unless asked for."""

import asyncio
import json
import threading
import time

import httpx
import pytest

from hubbub.errors import InvalidParameter
from hubbub.lab.playground import Playground
from hubbub.server import ServerSettings, Serving, create_app, create_lab_app
from hubbub.server.body import LAB

RUN = {"sample": "calm", "method": "lpa", "epsilon": "1", "seed": 1}


@pytest.fixture(scope="module")
def lab():
    app = create_lab_app(Playground(), settings=ServerSettings(title="Hubbub Lab", port=0))
    with Serving(app) as serving, httpx.Client(base_url=serving.address) as client:
        yield client


def lines(answer):
    return [json.loads(line) for line in answer.text.splitlines()]


def test_the_front_door_leads_to_the_playground(lab):
    assert lab.get("/").headers["location"] == "/lab"
    page = lab.get("/lab")
    assert page.status_code == 200
    assert page.headers["cache-control"] == "no-store"
    assert "Confidential" in page.text
    assert "<noscript>" in page.text
    assert "hubbub release counts.csv" in page.text
    assert "Each person, over the whole series" in page.text
    assert "style=" not in page.text
    assert lab.get("/lab/plan").status_code == 200
    contexts = lab.get("/lab/contexts")
    assert "hubbub mask plan" in contexts.text
    assert "style=" not in contexts.text
    assert "unsafe" not in contexts.headers["content-security-policy"]
    assert lab.get("/assets/lab.js").status_code == 200
    assert lab.get("/nothing", headers={"Accept": "text/html"}).status_code == 404


def test_a_run_is_told_line_by_line(lab):
    got = lines(lab.post("/lab/run", json=RUN))
    assert got[0] == {"done": 0, "of": 240}
    assert len(got[-1]["result"]["value"]) == 240


def test_a_series_a_script_and_a_plan(lab):
    assert lab.post("/lab/series", json={"sample": "calm"}).json()["ticks"] == 240
    assert "make_mechanism('lpa'" in lab.post("/lab/script", json=RUN).text
    asked = {"unit": "event", "length": 5, "level": 100}
    assert lines(lab.post("/lab/plan", json=asked))[-1]["result"]["rows"]


def test_days_and_what_is_shown_of_them(lab):
    table = "home,work\nhome,clinic"
    assert lab.post("/lab/days", json={"table": table}).json()["ticks"] == 2
    got = lines(lab.post("/lab/contexts", json={"table": table, "sensitive": ["clinic"]}))
    assert [name for line in got for name in line if name in ("scene", "policy", "result")] == [
        "scene", *["policy"] * 4, "result"
    ]  # fmt: skip
    refused = lab.post("/lab/contexts", json={"table": table, "sensitive": ["moon"]})
    assert refused.status_code == 422
    assert "moon" not in refused.text


def test_a_live_run_by_hand(lab):
    begun = lab.post("/lab/live", json={"method": "lpa", "horizon": 1})
    assert begun.status_code == 201
    place = f"/lab/live/{begun.json()['run']}"
    assert lab.post(place, json={"value": 5}).json()["tick"] == 0
    refused = lab.post(place, json={"value": 5})
    assert refused.status_code == 409
    assert "new stream" in refused.json()["error"]["hint"]
    assert lab.delete(place).status_code == 204
    assert lab.post(place, json={"value": 5}).status_code == 422


def test_a_refusal_in_the_middle_is_a_line(lab, monkeypatch):
    from hubbub.errors import NoiseOverflow

    def fails(self, asked):
        yield {"done": 0, "of": 9}
        raise NoiseOverflow("Too large.", "Try less.")

    monkeypatch.setattr(Playground, "run", fails)
    assert lines(lab.post("/lab/run", json=RUN))[-1]["error"]["code"] == "noise_overflow"


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", {}, 400),
        (b"[1]", {}, 400),
        (b"[" * 5000, {}, 400),
        (b"{}", {"Content-Type": "text/plain"}, 415),
        (b"{}", {"Content-Type": "application/x-www-form-urlencoded"}, 415),
        (b'{"unit": 7}', {}, 422),
        (b'{"table": "' + b"x" * LAB + b'"}', {}, 413),
        (b"{}", {"Origin": "http://elsewhere.example"}, 403),
        (b"{}", {"Sec-Fetch-Site": "cross-site"}, 403),
        (b"{}", {"Host": "elsewhere.example"}, 403),
        (b"{}", {"Host": "elsewhere.example:80", "Origin": "http://elsewhere.example:80"}, 403),
    ],
)
@pytest.mark.parametrize("path", ["/lab/run", "/lab/series", "/lab/live", "/lab/script", "/lab/plan"])
def test_what_is_not_for_the_lab(lab, path, body, headers, status):
    answer = lab.post(path, content=body, headers={"Content-Type": "application/json", **headers})
    assert answer.status_code == status
    assert set(answer.json()["error"]) == {"code", "message", "hint"}


def test_pages_are_not_shown_under_another_name(lab):
    assert lab.get("/lab", headers={"Host": "elsewhere.example"}).status_code == 403
    assert lab.get("/lab", headers={"Host": "localhost:1"}).status_code == 200
    assert lab.get("/lab", headers={"Host": "[::1]:1"}).status_code == 200


@pytest.mark.parametrize(
    "name",
    ["Forwarded", "Via", "X-Forwarded-For", "x-forwarded-host", "X-Forwarded-Proto", "X-Real-IP", "CF-Connecting-IP"],
)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8081"])
def test_what_a_proxy_hands_on_is_not_from_this_machine(lab, name, host):
    headers = {"Host": host, name: "127.0.0.1"}
    for answer in (lab.get("/lab", headers=headers), lab.post("/lab/run", json=RUN, headers=headers)):
        assert answer.status_code == 403
        assert "proxy" in answer.text
        assert "--lab-anywhere" in answer.text


@pytest.mark.parametrize(
    ("peer", "status"),
    [
        (("127.0.0.1", 4000), 200),
        (("::1", 4000), 200),
        (("::ffff:127.0.0.1", 4000), 200),
        (("192.0.2.7", 4000), 403),
        (("::ffff:192.0.2.7", 4000), 403),
        (None, 403),
    ],
)
def test_whoever_is_at_the_other_end_of_the_socket_must_be_here(peer, status):
    """Served by something else than `Serving` it may be reached from elsewhere: the name alone proves nothing."""
    through = httpx.ASGITransport(create_lab_app(Playground()), client=peer)

    async def asked():
        async with httpx.AsyncClient(transport=through, base_url="http://127.0.0.1") as client:
            return await client.get("/lab")

    assert asyncio.run(asked()).status_code == status


def test_a_busy_lab_says_when_to_come_again(site):
    lab = Playground(most_running=1, patience=0.01)
    holding = lab.run(RUN)
    next(holding)
    with Serving(create_lab_app(lab, settings=ServerSettings(port=0))) as serving:
        answer = httpx.post(f"{serving.address}/lab/run", json=RUN)
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "2"


class Endless(Playground):
    """A run that never ends by itself."""

    def __init__(self):
        super().__init__()
        self.over = threading.Event()

    def run(self, asked):  # noqa: ARG002
        try:
            while True:
                yield {"done": 0, "of": 9}
                time.sleep(0.01)
        finally:
            self.over.set()


def test_a_tab_that_goes_away_stops_its_run():
    lab = Endless()
    with Serving(create_lab_app(lab, settings=ServerSettings(port=0))) as serving:
        with httpx.stream("POST", f"{serving.address}/lab/run", json=RUN) as answer:
            next(answer.iter_lines())
            assert not lab.over.is_set()
        assert lab.over.wait(20)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.7", "::", "example.org"])
def test_the_lab_is_not_opened_to_a_network_unless_asked_loudly(site, host):
    settings = ServerSettings(host=host, port=0)
    for make in (
        lambda **more: create_lab_app(Playground(), settings=settings, **more),
        lambda **more: create_app(
            site.store, settings=settings, lab=Playground(), **{f"lab_{k}": v for k, v in more.items()}
        ),
    ):
        with pytest.raises(InvalidParameter, match="confidential"):
            make()
        assert make(anywhere=True)
    with pytest.raises(InvalidParameter, match="confidential"):
        Serving(create_lab_app(Playground()), host=host)


def test_opened_loudly_it_answers_to_any_name():
    app = create_lab_app(Playground(), settings=ServerSettings(port=0), anywhere=True)
    with Serving(app) as serving:
        for more in ({}, {"X-Forwarded-For": "192.0.2.7"}):
            headers = {"Host": "lab.example", **more}
            assert httpx.get(f"{serving.address}/lab", headers=headers).status_code == 200


def paths_of(routes):
    for route in routes:
        if hasattr(route, "path"):
            yield route.path
        else:
            yield from paths_of(route.original_router.routes)


def test_without_the_lab_there_is_no_trace_of_it(client, app, site):
    assert not [path for path in paths_of(app.routes) if "lab" in path]
    assert "/lab" in paths_of(create_app(site.store, lab=Playground()).routes), "the walk would find it"
    assert "/lab" not in client.get("/").text
    for path in ("/lab", "/lab/plan", "/lab/live/x"):
        assert client.get(path).status_code == 404
    for path in ("/lab/run", "/lab/series", "/lab/live", "/lab/live/x", "/lab/script", "/lab/plan"):
        assert client.post(path, json=RUN).status_code in (404, 405)


def test_beside_a_store_the_lab_wants_a_reader(site, tokens):
    app = create_app(site.store, settings=ServerSettings(port=0), lab=Playground())
    with Serving(app) as serving, httpx.Client(base_url=serving.address) as client:
        assert client.get("/lab").headers["location"] == "/login?next=/lab"
        assert client.post("/lab/run", json=RUN).status_code == 401
        headers = {"Authorization": f"Bearer {tokens['reader']}"}
        assert client.get("/lab", headers=headers).status_code == 200
        assert client.post("/lab/run", json=RUN, headers=headers).status_code == 200
        assert ">Lab</summary>" in client.get("/", headers=headers).text


def test_every_address_is_documented():
    from pathlib import Path

    from hubbub.server.routes import lab as routes

    text = (Path(__file__).parents[3] / "docs" / "playground.md").read_text()
    for route in routes.router.routes:
        for method in route.methods:
            assert f"`{method} {route.path}`" in text, f"{method} {route.path} is not in docs/playground.md"
