"""Results over HTTP: what is answered, what is refused in words that repeat nothing, and that it is nowhere unasked."""

import httpx
import numpy as np
import pytest

from hubbub.personal import Catalogue, Categories, Client, Cut, RateTable
from hubbub.server import ServerSettings, Serving, create_app, create_select_app
from hubbub.store import Store

TOWN = Categories.of_grid(8, 8)
RATES = np.random.default_rng(1).random((20, 64))
HELD = Catalogue(RateTable(TOWN, [f"shop {i}" for i in range(20)], RATES), min_leaves=4, most=10)
CUT = Cut.plan(TOWN, ["3,2"], leaves=10, finest=2)


@pytest.fixture(scope="module")
def served():
    with Serving(create_select_app(HELD, settings=ServerSettings(port=0))) as serving:
        yield serving.address


@pytest.fixture(scope="module")
def http(served):
    with httpx.Client(base_url=served) as client:
        yield client


def test_a_client_gets_the_best_for_its_true_context(served):
    client = Client(CUT.to_bytes())
    for name in ("3,2", "7,7", "0,0"):
        shown = client.ask(name, f"{served}/v1/select", k=10)
        sent = HELD.choose(shown.sent, 10)[0].results
        assert shown.result == max(sent, key=lambda result: RATES[int(result[5:]), TOWN.leaf(name)])


def test_what_anybody_may_know(http):
    answer = http.get("/v1/select")
    assert answer.json() == HELD.about()
    assert answer.json()["hierarchy"] == TOWN.digest
    assert http.head("/v1/select").status_code == 200
    described = http.get("/openapi.json").json()["paths"]["/v1/select"]
    assert set(described) == {"get", "post"}


def test_answers_are_not_kept_by_anybody(http):
    answer = http.post("/v1/select", json={"node": "0,0 x4", "k": 5})
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert len(answer.content) <= 10_000
    again = http.post("/v1/select", json={"node": "0,0 x4", "k": 5})
    assert again.content == answer.content


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"node": "1,1", "k": 5}, 409, "request_too_fine"),
        ({"node": "no such place", "k": 5}, 404, "not_found"),
        ({"node": "0,0 x4", "k": 50}, 422, "invalid_request"),
        ({"node": "0,0 x4", "k": 5, "context": "1,1"}, 400, "bad_request"),
        ([], 400, "bad_request"),
        ({"node": "x" * 5000, "k": 1}, 413, "body_too_large"),
    ],
)
def test_what_is_refused_is_not_repeated(http, body, status, code):
    answer = http.post("/v1/select", json=body)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert error["code"] == code
    assert error["hint"]
    assert "Idempotency" not in error["hint"]
    assert "1,1" not in answer.text
    assert "no such place" not in answer.text


def test_what_a_client_sends_too_much_is_noticed_wherever_it_stands(http):
    """A name twice, of which only the last would be looked at; and beside the body."""
    twice = http.post("/v1/select", content=b'{"node": "1,1", "node": "0,0 x4", "k": 5}',
                      headers={"Content-Type": "application/json"})  # fmt: skip
    beside = http.post("/v1/select?context=1,1", json={"node": "0,0 x4", "k": 5})
    for answer in (twice, beside):
        assert answer.json()["error"]["code"] == "bad_request"
        assert "1,1" not in answer.text


def test_other_types_and_other_places_are_refused(http):
    plain = http.post("/v1/select", content=b'{"node": "0,0 x4", "k": 5}', headers={"Content-Type": "text/plain"})
    assert plain.json()["error"]["code"] == "unsupported_media"
    assert http.get("/nothing", headers={"Accept": "text/html"}).json()["error"]["code"] == "not_found"
    assert http.delete("/v1/select").status_code == 405


def test_it_is_nowhere_unless_it_is_handed_in(tmp_path):
    with Store.open(tmp_path / "x.db", marks=tmp_path) as store:
        assert "/v1/select" not in create_app(store).openapi()["paths"]
        app = create_app(store, settings=ServerSettings(port=0), select=HELD)
        assert "/v1/select" in app.openapi()["paths"]
        with Serving(app) as serving:
            answer = httpx.post(f"{serving.address}/v1/select", json={"node": "0,0 x4", "k": 2})
            assert len(answer.json()["results"]) == 2
