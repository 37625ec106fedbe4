"""A simulated site or city through the real path: ingest, bound, release, store, serve."""

from __future__ import annotations

import http.client
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI

from hubbub.collect import Collector, KeyDomain, Live, Resume
from hubbub.collect.sources import JsonLines
from hubbub.confidential import Counts
from hubbub.lab.demo_worlds import World
from hubbub.lab.playground import Playground
from hubbub.methods import make_mechanism
from hubbub.monitor.paired import open_curator
from hubbub.monitor.pipeline import Pipeline
from hubbub.monitor.spool import Spool
from hubbub.privacy import Guarantee
from hubbub.released import Release
from hubbub.server import Fact, Serving, create_app
from hubbub.store import Store

MOST_REPLAY = 2
"""How many times the history is played at most, while the present runs ahead."""


class Demo:
    """The whole product on one machine, with nobody's data.

    The server, the pipeline and the senders are three threads; the senders send over HTTP with a token, as a real site
    or city would.
    """

    def __init__(
        self, folder: Path, world: World, *, port: int, budget: Mapping[str, Any], method: str | None = None
    ) -> None:  # fmt: skip
        promised = Guarantee.parse(world.unit, **budget)  # refused before anything is made
        self.world = world
        counted = world.counted
        self._now: datetime | None = datetime.now(UTC) - world.history
        self.store = Store.open(folder / "demo.db")
        curator = open_curator(
            self.store,
            world.stream,
            counted.keys if isinstance(counted, KeyDomain) else counted,
            promised,
            lambda keys, guarantee: make_mechanism(method or world.method, keys, guarantee),
            world.plan,
        )
        self.guarantee = curator.guarantee
        self._spool = Spool(folder / "spool", lines=JsonLines(layout=world.layout))
        when = Live(world.lateness, max_ahead=world.tick, start=self._clock())

        def collect(resume: Resume | None) -> Collector:
            return Collector(
                counted, world.unit, world.tick, when, stay=world.stay, clock=self._clock, resume=resume
            )  # fmt: skip

        self.pipeline = Pipeline(
            self.store, curator, self._spool, collect, clock=self._clock,
            on_counts=world.truth.see if world.truth else _unseen, on_release=self._wake,
        )  # fmt: skip
        self._token = self.store.tokens.add("ingest")
        self.curator_token = self.store.tokens.add("curator")
        self._app: FastAPI = create_app(
            self.store, settings=world.settings(port), events=self._spool, status=self, truth=world.truth,
            lab=Playground(),
        )  # fmt: skip
        self._serving = Serving(self._app)
        self.address = self._serving.address
        self._threads = [
            threading.Thread(target=self.pipeline.run, name="pipeline", daemon=True),
            threading.Thread(target=self._send, name="senders", daemon=True),
        ]

    def status(self, stream: str) -> Mapping[str, Fact]:
        """What the curator's page shows."""
        del stream
        return self.pipeline.status()

    def open(self) -> None:
        """Let viewers in: the pages fill while the last minutes are played."""
        self._serving.start()

    def warm_up(self, progress: Callable[[], None], stop: threading.Event) -> None:
        """Play the last minutes through, as fast as the machine can, by a clock that is set by hand.

        A machine that is too busy to catch up with the present goes on from there all the same.
        """
        most = MOST_REPLAY * (self.world.history // self.world.tick)
        while self._now is not None and self._now < datetime.now(UTC) and most and not stop.is_set():
            self._spool.push(self.world.stream, self.world.step(self._now), None, "")
            self.pipeline.catch_up()
            self._now += self.world.tick
            most -= 1
            progress()
        self._now = None  # from here on the clock is the machine's

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self.pipeline.stop.set()
        for thread in self._threads:
            if thread.ident is not None:  # one that was stopped while it played the past has none that run
                thread.join(timeout=10)
        self._serving.stop()
        self.store.close()

    def _wake(self, release: Release) -> None:
        """A new release is in the store: the viewers need not wait for the next look."""
        del release
        self._app.state.desk.feed.wake()

    def _clock(self) -> datetime:
        return self._now or datetime.now(UTC)

    def _send(self) -> None:
        """One batch per tick, over HTTP; a batch that was not acknowledged is sent again, with its key."""
        place = urlsplit(self.address)
        due = time.monotonic()
        while not self.pipeline.stop.is_set():
            body, key = self.world.step(datetime.now(UTC)), str(uuid.uuid4())
            headers = {
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/x-ndjson",
                "Idempotency-Key": key,
            }
            for _ in range(3):
                try:
                    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=5)
                    connection.request("POST", f"/v1/streams/{self.world.stream}/events", body, headers)
                    accepted = connection.getresponse().status == 202
                    connection.close()
                except OSError:
                    accepted = False
                if accepted or self.pipeline.stop.wait(0.1):
                    break
            due += self.world.tick.total_seconds()
            self.pipeline.stop.wait(max(0.0, due - time.monotonic()))


def _unseen(counts: Counts) -> None:
    """Nobody looks at the truth."""
    del counts
