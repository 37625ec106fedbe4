"""The OpenAPI description, taken at its word by a fuzzer: no answer that it does not describe, no error of ours."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.generation.modes import GenerationMode
from tests.support.site import Site

from hubbub.confidential import Counts
from hubbub.server import CountsAnswer, ServerSettings, Serving, create_app

OPERATIONS = (
    ("POST", "/v1/streams/{stream}/events"),
    ("POST", "/v1/streams/{stream}/counts"),
    ("GET", "/v1/streams/{stream}/releases"),
    ("GET", "/v1/streams/{stream}/range"),
    ("GET", "/v1/streams/{stream}/top"),
)


@schemathesis.serializer("application/x-ndjson")
def as_lines(context, value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


class Taken:
    accepted, malformed, duplicate = 1, 0, False


class Pipeline:
    def __init__(self, site: Site) -> None:
        self.site = site

    def push(self, stream, body, idempotency_key, sender):  # noqa: ARG002
        return Taken()

    def release(self, stream, sent):  # noqa: ARG002
        index = self.site.next_tick if sent.tick is None else sent.tick
        drawn = self.site._curator.release(Counts.of(self.site.keys, self.site.at(index), sent.values))
        return CountsAnswer(drawn, again=False)


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    site = Site(tmp_path_factory.mktemp("fuzzed"), ("front", "news")).run(3)
    token, pipeline = site.store.tokens.add("ingest"), Pipeline(site)
    app = create_app(site.store, settings=ServerSettings(public=True, port=0), events=pipeline, counts=pipeline)
    with Serving(app) as serving:
        yield schemathesis.openapi.from_url(f"{serving.address}/openapi.json"), token
    site.close()


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["fitting", "unfitting"])
@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=[f"{m} {p.rpartition('/')[2]}" for m, p in OPERATIONS])
def test_answers_are_those_that_are_described(schema, method, path, mode):
    described, token = schema

    @settings(
        max_examples=25,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(described[path][method].as_strategy(generation_mode=mode))
    def attempt(case):
        case.path_parameters = {"stream": "site"}
        answer = case.call(headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code != 500
        if answer.status_code >= 400:
            assert set(answer.json()["error"]) == {"code", "message", "hint"}
        known = described[path][method].definition.raw["responses"]
        assert str(answer.status_code) in known, f"{answer.status_code} is not described"

    attempt()
