"""librdkafka's own cluster of one broker, inside the test's process."""

from __future__ import annotations

import gc
import json
import time
from datetime import UTC, datetime

import pytest

from hubbub.collect.sources import KafkaSource
from hubbub.errors import InvalidInput

kafka = pytest.importorskip("confluent_kafka")


@pytest.fixture
def cluster():
    producer = kafka.Producer({"log_level": 0, "test.mock.num.brokers": 1, "bootstrap.servers": "unused"})
    broker = next(iter(producer.list_topics(timeout=10).brokers.values()))
    producer.list_topics("visits", timeout=10)  # the mock cluster makes a topic when it is asked for
    held = [producer]
    del producer
    yield held, f"{broker.host}:{broker.port}"
    held.clear()


def send(held, *people, partition=0):
    producer = held[0]
    for who in people:
        body = {"time": datetime(2026, 1, 1, tzinfo=UTC).isoformat(), "person": who, "path": "/"}
        producer.produce("visits", json.dumps(body).encode(), partition=partition)
    assert producer.flush(10) == 0


def drained(source, want, seconds=20):
    people, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        batch = source.poll(0.2)
        people += batch.events["person"].to_list()
        if batch.complete is not None and len(people) >= want:
            return people, batch
    raise AssertionError(f"only {people} came")


def test_messages_come_once_and_again_after_a_restart(cluster):
    held, address = cluster
    send(held, "a", "b")
    held[0].produce("visits", b"\xffnoise", partition=0)
    send(held, "c")
    with KafkaSource("visits", address) as source:
        assert source.open({})
        begin = source.poll().positions
        assert begin["visits/0"] == "0"
        people, batch = drained(source, 3)
        assert people == ["a", "b", "c"]
        source.settle(batch.positions)
        assert batch.positions["visits/0"] == "4"
    with KafkaSource("visits", address) as source:
        assert source.open({**begin, "visits/0": "1"})
        assert drained(source, 2)[0] == ["b", "c"]


def test_an_offset_that_was_seen_is_ignored(cluster):
    held, address = cluster
    send(held, "a", "b")
    with KafkaSource("visits", address) as source:
        source.open({})
        assert drained(source, 2)[0] == ["a", "b"]
        source._consumer.seek(kafka.TopicPartition("visits", 0, 0))
        send(held, "c")
        assert drained(source, 1)[0] == ["c"]


def test_brokers_that_go_away_close_no_tick(cluster):
    held, address = cluster
    send(held, "a")
    with KafkaSource("visits", address, patience=0.5) as source:
        source.open({})
        drained(source, 1)
        held.clear()  # the cluster lives in the producer
        gc.collect()
        away = source.poll(0.2)
        assert away.complete is None
        assert away.positions["visits/0"] == "1"


def test_no_brokers_is_a_clear_error():
    with (
        KafkaSource("visits", "127.0.0.1:1", patience=0.5) as source,
        pytest.raises(InvalidInput, match="cannot be read"),
    ):
        source.open({})
