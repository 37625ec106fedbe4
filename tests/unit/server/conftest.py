"""A site of sixty released ticks, a server over it, and one token of each role."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest
from fastapi import FastAPI
from tests.support.site import Site

from hubbub.confidential import Counts
from hubbub.errors import Overloaded
from hubbub.server import CountsAnswer, ServerSettings, Serving, create_app


@dataclass
class Taken:
    accepted: int
    malformed: int
    duplicate: bool


class Pipeline:
    """Stands for the monitor: keeps batches in a list, releases counts for real."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.batches: list[bytes] = []
        self.seen: set[tuple[str, str]] = set()
        self.full = False
        self.broken: Exception | None = None
        self.hold = threading.Event()
        self.hold.set()

    def push(self, stream: str, body: bytes, idempotency_key: str | None, sender: str) -> Taken:  # noqa: ARG002
        self.hold.wait(10)
        if self.broken is not None:
            raise self.broken
        if self.full:
            raise Overloaded("The queue is full; nothing was taken.", "Send again later.", retry_after=2.5)
        if idempotency_key is not None and (sender, idempotency_key) in self.seen:
            return Taken(0, 0, True)
        self.seen.add((sender, idempotency_key or ""))
        self.batches.append(body)
        return Taken(len(body.splitlines()), 0, False)

    def release(self, stream, sent):  # noqa: ARG002
        index = self.site.next_tick if sent.tick is None else sent.tick
        drawn = self.site._curator.release(Counts.of(self.site.keys, self.site.at(index), sent.values))
        return CountsAnswer(drawn, again=False)

    def status(self, stream):  # noqa: ARG002
        return {"lag_seconds": 0.4, "dropped_share": 0.012, "memory_bytes": 48_000_000, "rate": 1250.0, "healthy": True}


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Iterator[Site]:
    made = Site(tmp_path_factory.mktemp("site")).run(60)
    yield made
    made.close()


@pytest.fixture(scope="module")
def tokens(site) -> dict[str, str]:
    return {role: site.store.tokens.add(role) for role in ("reader", "curator", "ingest")}


@pytest.fixture
def pipeline(site) -> Pipeline:
    return Pipeline(site)


@pytest.fixture
def app(site, pipeline) -> FastAPI:
    """A public server with all ports."""
    settings = ServerSettings(title="Daily Example", public=True, max_body=100_000, poll_seconds=0.05, port=0)
    return create_app(site.store, settings=settings, events=pipeline, counts=pipeline, status=pipeline)


@pytest.fixture
def client(app) -> Iterator[httpx.Client]:
    """A real server on a real port, and someone who talks to it."""
    with Serving(app) as serving, httpx.Client(base_url=serving.address) as made:
        yield made


@pytest.fixture
def closed(site) -> Iterator[httpx.Client]:
    """A server that wants a token for everything, and only reads."""
    app = create_app(site.store, settings=ServerSettings(port=0))
    with Serving(app) as serving, httpx.Client(base_url=serving.address) as made:
        yield made


@pytest.fixture
def sending(tokens) -> dict[str, str]:
    return {"Authorization": f"Bearer {tokens['ingest']}", "Content-Type": "application/x-ndjson"}
