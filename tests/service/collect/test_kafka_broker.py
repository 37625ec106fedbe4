"""A real Apache Kafka with its log on disk is killed and started again; and one that thins its log out.

`HUBBUB_KAFKA` names the folder of an unpacked distribution (with `libs/`) that uses ZooKeeper; without it these are
skipped. They were run with Apache Kafka 0.9.0.1, which knows neither topic ids nor transactions.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest
from tests.support.source_contract import PATIENCE, event, frontier, read

from hubbub.collect.sources import KafkaSource

pytest.importorskip("confluent_kafka")

from tests.support.kafka_broker import OLD, KafkaBroker

HOME = os.environ.get("HUBBUB_KAFKA")
pytestmark = pytest.mark.skipif(HOME is None, reason="no package brings a Kafka broker: set HUBBUB_KAFKA")


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    made = KafkaBroker(Path(HOME), tmp_path_factory.mktemp("kafka"))
    yield made
    made.close()


def opened(broker, topic, positions=None):
    source = KafkaSource(topic, broker.address, settings=OLD, patience=60)
    return source, source.open(positions or {})


def test_nothing_is_lost_or_doubled_while_publishers_go_on_and_the_broker_is_killed(broker):
    broker.create("visits", 2)
    names = [f"p{number}" for number in range(3000)]
    producer = broker.producer()

    def publisher():
        for number, name in enumerate(names):
            producer.produce("visits", event(name), partition=number % 2)
            if number % 20 == 0:
                producer.flush(0.01)
        assert producer.flush(120) == 0

    sender = threading.Thread(target=publisher)
    source, proved = opened(broker, "visits")
    assert not proved
    assert source.identity == "kafka:visits:"
    sender.start()
    found, cuts, kills = [], [], 0
    while sender.is_alive() or kills < 2:
        until = source.frontier()
        if until is not None:
            cuts.append(until)
            found += source.poll(until).events["person"].to_list()
        if kills < 2 and len(found) >= 500 * (kills + 1):
            broker.kill()
            assert source.frontier() is None
            broker.start()
            kills += 1
    sender.join()
    rest, place = read(source, frontier(source))
    found += rest
    source.close()
    for lane in (0, 1):  # a producer may store twice what was not acknowledged; a reader must add nothing to that
        mine = [name for name in found if int(name[1:]) % 2 == lane]
        assert list(dict.fromkeys(mine)) == names[lane::2]

    again, proved = opened(broker, "visits", cuts[0])  # after a restart, with the cuts of the first run
    assert proved
    counts = []
    for cut in cuts[1:]:
        counts.append(len(read(again, cut)[0]))
    last, end = read(again, place)
    assert end == place
    again.close()
    whole, _ = opened(broker, "visits")
    first = len(read(whole, cuts[0])[0])
    whole.close()
    assert first + sum(counts) + len(last) == len(found)


def test_a_log_that_is_thinned_out_is_read_to_a_cut_that_lies_in_a_hole(broker):
    broker.create("thin", 1, cleanup_policy="compact", segment_ms="100", min_cleanable_dirty_ratio="0.01")
    producer = broker.producer()
    for number in range(50):
        producer.produce("thin", event(f"old{number}"), key=b"same", partition=0)
    assert producer.flush(60) == 0
    source, _ = opened(broker, "thin")
    cut = frontier(source)
    assert len(read(source, cut)[0]) == 50
    source.close()
    end = time.monotonic() + PATIENCE
    left = 50
    while left == 50:  # until the broker has thinned it out
        assert time.monotonic() < end, "the log was not thinned out"
        producer.produce("thin", event("new"), key=b"same", partition=0)
        assert producer.flush(60) == 0
        fresh, _ = opened(broker, "thin")
        people, place = read(fresh, cut)
        fresh.close()
        left = len(people)
    assert "new" not in people
    assert place == cut
