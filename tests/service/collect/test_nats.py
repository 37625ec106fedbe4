"""A real NATS server, started by the test: it goes away and comes back, and sends things twice."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hubbub.collect.sources import NatsSource
from hubbub.errors import InvalidInput

nats = pytest.importorskip("nats")


class Server:
    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder, self.process = folder, None
        self.url = f"nats://127.0.0.1:{self.port}"

    def start(self):
        binary = server_binary()
        self.process = subprocess.Popen(
            [binary, "-js", "-a", "127.0.0.1", "-p", str(self.port), "-sd", str(self.folder)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise AssertionError("the NATS server did not start")

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def publish(self, *messages):
        async def send():
            client = await nats.connect(self.url)
            jetstream = client.jetstream()
            await jetstream.add_stream(name="visits", subjects=["visits.>"])
            for body, name in messages:
                headers = {"Nats-Msg-Id": name} if name else None
                await jetstream.publish("visits.site", body, headers=headers)
            await client.close()

        asyncio.run(send())


def server_binary():
    beside = Path(sys.executable).parent / "nats-server"
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if found is None:
        (pytest.fail if os.environ.get("HUBBUB_REQUIRE_ALL") == "1" else pytest.skip)("no nats-server is installed")
    return found


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path)
    server.start()
    yield server
    server.stop()


def event(who):
    return json.dumps({"time": datetime(2026, 1, 1, tzinfo=UTC).isoformat(), "person": who, "path": "/"}).encode()


def drained(source, want, seconds=20):
    """All people seen until `want` of them came and the source says that it is complete."""
    people, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        batch = source.poll(0.2)
        people += batch.events["person"].to_list()
        if batch.complete is not None and len(people) >= want:
            return people, batch
    raise AssertionError(f"only {people} came")


def test_nothing_is_lost_or_doubled_when_the_server_goes_away(server):
    server.publish((event("a"), "1"), (event("b") + b"\n" + event("c"), "2"))
    with NatsSource("visits", servers=[server.url]) as source:
        assert source.open({})
        assert source.poll().positions == {"nats": "0"}
        assert drained(source, 3)[0] == ["a", "b", "c"]
        server.stop()
        away = source.poll(0.3)
        assert away.complete is None  # no tick may close now
        assert away.events.height == 0
        server.start()
        server.publish((event("d"), "3"), (b"{broken", None), (event("a"), "1"))
        people, last = drained(source, 1)
        assert people == ["d"]  # the same id again is the same message
        middle = last.positions
    with NatsSource("visits", servers=[server.url]) as source:
        assert source.open({"nats": "1"})  # after a restart, from an earlier place: the same again, in the same order
        assert drained(source, 3)[0] == ["b", "c", "d"]
        assert source.open(middle)


def test_a_sequence_number_that_was_seen_is_ignored(server):
    server.publish((event("a"), None), (event("b"), None))
    with NatsSource("visits", servers=[server.url]) as source:
        source.open({})
        assert drained(source, 2)[0] == ["a", "b"]
        source._subscription = None
        source._last, seen = 0, source._last  # the server delivers everything once more …
        source.poll(0.2)
        source._last = seen
        source._subscription = None
        assert drained(source, 0)[0] == []


def test_what_the_stream_no_longer_holds_is_said_to_be_gone(server):
    server.publish((event("a"), None), (event("b"), None), (event("c"), None))

    async def purge():
        client = await nats.connect(server.url)
        await client.jetstream().purge_stream("visits", seq=3)
        await client.close()

    asyncio.run(purge())
    with NatsSource("visits", servers=[server.url]) as source:
        assert not source.open({"nats": "1"})
        assert source.open({"nats": "2"})


def test_no_server_and_no_stream_are_clear_errors(server):
    with NatsSource("nothing", servers=[server.url]) as source, pytest.raises(InvalidInput, match="'nothing'"):
        source.open({})
    server.stop()
    with (
        NatsSource("visits", servers=[server.url], connect_timeout=0.5) as source,
        pytest.raises(InvalidInput, match="No NATS server answers"),
    ):
        source.open({})
