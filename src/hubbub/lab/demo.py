"""A simulated news site through the real path: ingest, bound, release, store, serve."""

from __future__ import annotations

import http.client
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI

from hubbub.collect import Collector, KeyDomain, Live, Resume
from hubbub.lab.playground import Playground
from hubbub.lab.site import SECTIONS, NewsSite, Requests
from hubbub.lab.truth import Truth
from hubbub.methods import make_mechanism
from hubbub.monitor.paired import RangePlan, open_curator
from hubbub.monitor.pipeline import Pipeline
from hubbub.monitor.spool import Spool
from hubbub.privacy import Guarantee, Session
from hubbub.released import Release
from hubbub.server import Fact, ServerSettings, Serving, create_app
from hubbub.store import Store

STREAM = "daily-example"
TICK = timedelta(seconds=1)
LATENESS = timedelta(milliseconds=300)
STAY = timedelta(seconds=8)
WINDOW = timedelta(hours=1)
"""How far back any range can be asked for."""

HISTORY = timedelta(minutes=2)
"""How much of the past is played through before the door opens, so that the curves do not start empty."""


class Demo:
    """The whole product on one machine, with nobody's data.

    The server, the pipeline and the visitors are three threads; the visitors send their requests over HTTP with a
    token, as a real site would.
    """

    def __init__(
        self, folder: Path, *, port: int, seed: int, visitors: int, budget: Mapping[str, Any], method: str
    ) -> None:
        unit = Session(max_ticks=20, timeout=timedelta(seconds=60))
        promised = Guarantee.parse(unit, **budget)  # refused before anything is made
        domain = KeyDomain(list(SECTIONS), other=None)
        self._site = NewsSite(seed, visitors)
        self._now: datetime | None = datetime.now(UTC) - HISTORY
        self.store = Store.open(folder / "demo.db")
        curator = open_curator(
            self.store,
            STREAM,
            domain.keys,
            promised,
            lambda keys, guarantee: make_mechanism(method, keys, guarantee),
            RangePlan(WINDOW // TICK),
        )
        self.guarantee = curator.guarantee
        self._spool = Spool(folder / "spool")
        self._truth = Truth(domain.keys)
        when = Live(LATENESS, max_ahead=TICK, start=self._clock())

        def collect(resume: Resume | None) -> Collector:
            return Collector(domain, unit, TICK, when, stay=STAY, clock=self._clock, resume=resume)

        self.pipeline = Pipeline(
            self.store, curator, self._spool, collect, clock=self._clock,
            on_counts=self._truth.see, on_release=self._wake,
        )  # fmt: skip
        settings = ServerSettings(title="Daily Example", noun="sections", public=True, port=port)
        self._token = self.store.tokens.add("ingest")
        self.curator_token = self.store.tokens.add("curator")
        self._app: FastAPI = create_app(
            self.store, settings=settings, events=self._spool, status=self, truth=self._truth, lab=Playground()
        )
        self._serving = Serving(self._app)
        self.address = self._serving.address
        self._threads = [
            threading.Thread(target=self.pipeline.run, name="pipeline", daemon=True),
            threading.Thread(target=self._visit, name="visitors", daemon=True),
        ]

    def status(self, stream: str) -> Mapping[str, Fact]:
        """What the curator's page shows."""
        del stream
        return self.pipeline.status()

    def warm_up(self, progress: Callable[[], None]) -> None:
        """Play the last minutes through, as fast as the machine can, by a clock that is set by hand."""
        while self._now is not None and self._now < datetime.now(UTC):
            self._spool.push(STREAM, _body(self._site.step(self._now)), None, "")
            self.pipeline.catch_up()
            self._now += TICK
            progress()
        self._now = None  # from here on the clock is the machine's

    def start(self) -> None:
        self._serving.start()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self.pipeline.stop.set()
        for thread in self._threads:
            thread.join(timeout=10)
        self._serving.stop()
        self.store.close()

    def _wake(self, release: Release) -> None:
        """A new release is in the store: the viewers need not wait for the next look."""
        del release
        self._app.state.desk.feed.wake()

    def _clock(self) -> datetime:
        return self._now or datetime.now(UTC)

    def _visit(self) -> None:
        """One batch of requests per tick, over HTTP; a batch that was not acknowledged is sent again, with its key."""
        place = urlsplit(self.address)
        due = time.monotonic()
        while not self.pipeline.stop.is_set():
            body, key = _body(self._site.step(datetime.now(UTC))), str(uuid.uuid4())
            headers = {
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/x-ndjson",
                "Idempotency-Key": key,
            }
            for _ in range(3):
                try:
                    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=5)
                    connection.request("POST", f"/v1/streams/{STREAM}/events", body, headers)
                    accepted = connection.getresponse().status == 202
                    connection.close()
                except OSError:
                    accepted = False
                if accepted or self.pipeline.stop.wait(0.1):
                    break
            due += TICK.total_seconds()
            self.pipeline.stop.wait(max(0.0, due - time.monotonic()))


def _body(requests: Requests) -> bytes:
    """One line of JSON a request. All parts are plain words and numbers, so that none needs escaping."""
    at = requests.at.isoformat()
    return "\n".join(
        f'{{"time": "{at}", "session": "{session}", "key": "{SECTIONS[section]}"}}'
        for session, section in zip(requests.sessions.tolist(), requests.sections.tolist(), strict=True)
    ).encode()
