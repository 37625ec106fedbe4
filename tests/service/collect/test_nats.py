"""A real NATS server, started by the test: it goes away and comes back, and sends things twice."""

from __future__ import annotations

import asyncio
import json
import time
from datetime import UTC, datetime

import nats
import pytest

from hubbub.collect.sources import NatsSource
from hubbub.errors import InvalidInput


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


def test_nothing_is_lost_or_doubled_when_the_server_goes_away(nats_server):
    nats_server.publish((event("a"), "1"), (event("b") + b"\n" + event("c"), "2"))
    with NatsSource("visits", servers=[nats_server.url]) as source:
        assert source.open({})
        assert source.poll().positions == {"nats": "0"}
        assert drained(source, 3)[0] == ["a", "b", "c"]
        nats_server.stop()
        away = source.poll(0.3)
        assert away.complete is None  # no tick may close now
        assert away.events.height == 0
        nats_server.start()
        nats_server.publish((event("d"), "3"), (b"{broken", None), (event("a"), "1"))
        people, last = drained(source, 1)
        assert people == ["d"]  # the same id again is the same message
        middle = last.positions
    with NatsSource("visits", servers=[nats_server.url]) as source:
        assert source.open({"nats": "1"})  # after a restart, from an earlier place: the same again, in the same order
        assert drained(source, 3)[0] == ["b", "c", "d"]
        assert source.open(middle)


def test_a_sequence_number_that_was_seen_is_ignored(nats_server):
    nats_server.publish((event("a"), None), (event("b"), None))
    with NatsSource("visits", servers=[nats_server.url]) as source:
        source.open({})
        assert drained(source, 2)[0] == ["a", "b"]
        seen, source._last, source._subscription = source._last, 0, None
        delivered, _ = source._wait(source._fetch(2.0))  # the server delivers everything once more …
        source._last = seen
        assert len(delivered) == 2
        assert not any(source._is_new(message) for message in delivered)  # … and none of it is taken


def test_what_the_stream_no_longer_holds_is_said_to_be_gone(nats_server):
    nats_server.publish((event("a"), None), (event("b"), None), (event("c"), None))

    async def purge():
        client = await nats.connect(nats_server.url)
        await client.jetstream().purge_stream("visits", seq=3)
        await client.close()

    asyncio.run(purge())
    with NatsSource("visits", servers=[nats_server.url]) as source:
        assert not source.open({"nats": "1"})
        assert source.open({"nats": "2"})


def test_no_server_and_no_stream_are_clear_errors(nats_server):
    with NatsSource("nothing", servers=[nats_server.url]) as source, pytest.raises(InvalidInput, match="'nothing'"):
        source.open({})
    nats_server.stop()
    with (
        NatsSource("visits", servers=[nats_server.url], connect_timeout=0.5) as source,
        pytest.raises(InvalidInput, match="No NATS server answers"),
    ):
        source.open({})
