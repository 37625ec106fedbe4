"""Brokers of librdkafka's own cluster, over real sockets: they go down, hang, forget, and come back."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from types import SimpleNamespace

import pytest
from tests.support.source_contract import Bench, check_at_once, check_by_chance, event, frontier, read

from hubbub.collect.sources import KafkaSource
from hubbub.collect.sources.kafka_topic import BrokersAway
from hubbub.errors import InvalidInput, SourceUnavailable

kafka = pytest.importorskip("confluent_kafka")

from tests.support.kafka_cluster import KafkaCluster  # noqa: E402


@pytest.fixture
def cluster():
    made = KafkaCluster()
    yield made
    made.close()


class KafkaBench(Bench):
    def __init__(self, cluster):
        self.cluster = cluster

    def publish(self, people):
        for lane in range(4):
            self.cluster.send([event(person) for person in people if self.lane(person) == lane], lane)

    def source(self):
        return source_of(self.cluster)

    def lane(self, person):
        return sum(person.encode()) % 4

    def away(self):
        self.cluster.down()

    def back(self):
        self.cluster.up()


def source_of(cluster, **settings):
    return KafkaSource("visits", cluster.address, **settings)


def opened(cluster, positions=None, **settings):
    source = source_of(cluster, **settings)
    source.open(positions or {})
    return source


def send(cluster, *people, partition=0):
    cluster.send([event(person) for person in people], partition)


def polled(source, until, seconds=60):
    found, lost, end = [], False, time.monotonic() + seconds
    while time.monotonic() < end:
        batch = source.poll(until)
        found += batch.events["person"].to_list()
        lost |= batch.lost
        if batch.reached:
            return found, lost
    raise AssertionError(source.trouble)


@pytest.mark.parametrize("seed", range(4))
def test_by_chance(cluster, seed):
    check_by_chance(KafkaBench(cluster), seed)


@pytest.mark.parametrize("seed", range(2))
def test_by_chance_when_little_is_held(cluster, seed, monkeypatch):
    monkeypatch.setattr("hubbub.collect.sources.kafka_source._MESSAGES", 3)
    check_by_chance(KafkaBench(cluster), seed)


def test_at_once(cluster):
    check_at_once(KafkaBench(cluster))


def test_nothing_behind_a_cut_is_handed_over_before_it_is_asked_for(cluster):
    send(cluster, "a", "b")
    cluster.send([b"\xffnoise"])
    with opened(cluster) as source:
        cut = frontier(source)
        send(cluster, "late")
        assert read(source, cut)[0] == ["a", "b"]
        assert source.poll(cut).reached
        assert read(source, frontier(source))[0] == ["late"]
        source.settle(cut)


def test_nothing_is_lost_or_doubled_while_publishers_go_on_and_brokers_go_away_again_and_again(cluster):
    names = [f"p{number}" for number in range(600)]

    def publisher():
        for start in range(0, len(names), 10):
            send(cluster, *names[start : start + 10])
            time.sleep(0.01)  # so that some are sent while the brokers are away; the rest does not depend on it

    sender = threading.Thread(target=publisher)
    with opened(cluster) as source:
        sender.start()
        found, away = [], 0
        while sender.is_alive() or away < 3:
            until = source.frontier()
            if until is not None:
                found += source.poll(until).events["person"].to_list()
            if away < 3 and len(found) >= (away + 1) * 50:
                cluster.down()
                assert source.frontier() is None
                assert source.trouble == "The Kafka brokers do not answer."
                batch = source.poll({"visits/0": "100000"})  # what was fetched before comes out all the same
                assert not batch.reached
                found += batch.events["person"].to_list()
                cluster.up()
                away += 1
        sender.join()
        found += read(source, frontier(source))[0]
        assert source.trouble == ""
    # A producer that repeats what was not acknowledged may store it twice; a reader must add nothing to that.
    assert list(dict.fromkeys(found)) == names
    with opened(cluster) as other:
        assert read(other, frontier(other))[0] == found


def test_brokers_that_hang_hold_up_nothing_for_long(cluster):
    send(cluster, "a")
    with opened(cluster, deadline=0.5, patience=60) as source:
        cut = frontier(source)
        source.settle(cut)
        cluster.slow(60_000)
        assert source.frontier() is None
        source.poll(cut)
        cluster.slow(0)
    with opened(cluster, deadline=0.5, patience=60) as source:
        cluster.slow(60_000)
        source.settle(cut)
    # `close` came back although a commit was not answered: librdkafka still waits for it, and nobody else.
    assert "hubbub-kafka-close" in {thread.name for thread in threading.enumerate()}
    cluster.slow(0)


def test_an_offset_that_was_seen_is_ignored(cluster):
    send(cluster, "a", "b")
    with opened(cluster) as source:
        assert read(source, frontier(source))[0] == ["a", "b"]
        source._consumer.seek(kafka.TopicPartition("visits", 0, 0))
        send(cluster, "c")
        assert read(source, frontier(source))[0] == ["c"]


def test_a_partition_that_is_far_ahead_waits_for_one_that_is_behind(cluster, monkeypatch):
    monkeypatch.setattr("hubbub.collect.sources.kafka_source._MESSAGES", 10)
    many = [f"p{number}" for number in range(500)]
    with opened(cluster) as source:
        send(cluster, *many)
        far = {**frontier(source), "visits/0": "5", "visits/1": "1"}  # partition 1 gets its record later
        got = []
        while not source._paused:
            got += source.poll(far).events["person"].to_list()
        assert got == many[:5]
        assert len(source._held[0]) < 40
        send(cluster, "x", partition=1)
        assert read(source, far)[0] == ["x"]
        assert read(source, frontier(source))[0] == many[5:]


def test_a_new_partition_is_read_from_its_beginning(cluster):
    send(cluster, "a")
    with opened(cluster) as source:
        early, place = read(source, frontier(source))
        old = {name: offset for name, offset in place.items() if name != "visits/3"}
        assert early == ["a"]
    send(cluster, "new", partition=3)
    with source_of(cluster) as source:
        assert source.open(old)  # as if there had been three partitions then
        assert read(source, {**old, "visits/0": "1"})[0] == []  # a cut from that time has nothing of it
        assert read(source, frontier(source))[0] == ["new"]
    with opened(cluster) as source:
        del source._next[3], source._fetched[3], source._held[3]  # as if it had come while we read
        source._assign()
        assert sorted(read(source, frontier(source))[0]) == ["a", "new"]


# ── proofs ───────────────────────────────────────────────────────────────────────────────────────────────────────


def kept(cluster):
    send(cluster, "a", "b")
    with opened(cluster) as source:
        place, name = read(source, frontier(source))[1], source.identity
    send(cluster, "c", "d")
    return place, name


def proved(cluster, place):
    with source_of(cluster) as source:
        return source.open(place), source.identity


def test_a_place_is_proved_while_all_behind_it_is_there(cluster):
    place, name = kept(cluster)
    assert name.startswith("kafka:visits:")
    assert len(name) > 30  # the topic's id
    assert proved(cluster, place) == (True, name)
    assert proved(cluster, {}) == (False, name)
    assert proved(cluster, {"nats": "1"}) == (False, name)
    assert proved(cluster, {**place, "visits/7": "0"}) == (False, name)  # a partition that is gone
    assert proved(cluster, {**place, "visits/0": "5"}) == (False, name)  # more than there is
    assert proved(cluster, {**place, "id": "other"}) == (False, name)
    cluster.expire(0, 2)
    assert proved(cluster, place) == (True, name)
    cluster.expire(0, 3)
    assert proved(cluster, place) == (False, name)


def test_a_topic_that_was_made_anew_is_another_even_if_it_is_as_long(cluster):
    place, name = kept(cluster)
    with opened(cluster) as source:
        cut = frontier(source)
        cluster.delete()
        cluster.create(4)
        send(cluster, *"uvwxyz")
        answer, other = proved(cluster, place)
        assert not answer
        assert other != name
        assert source.frontier() is None
        assert source.trouble == "The Kafka topic is not the one that was read."
        with pytest.raises(InvalidInput, match="made anew or set back"):
            source.poll(cut)


def test_a_topic_that_is_gone_is_told(cluster):
    send(cluster, "a")
    with opened(cluster) as source:
        frontier(source)
        cluster.delete()
        assert source.frontier() is None
        assert source.trouble in ("The Kafka topic is not there.", "The Kafka brokers do not answer.")


def expire_unread(cluster, source, before):
    """The client fetches by itself from the moment it is opened: what it has fetched in vain is fetched anew."""
    cluster.expire(0, before)
    source._assign()


def test_what_retention_deleted_before_it_was_read_is_told(cluster):
    send(cluster, *"abcdef")
    with opened(cluster) as source:
        expire_unread(cluster, source, 4)
        late = frontier(source)
        assert polled(source, {**late, "visits/0": "2"}) == ([], True)
        assert polled(source, late) == (["e", "f"], False)
        cluster.expire(0, 6)
        send(cluster, "g")
        assert polled(source, frontier(source)) == (["g"], False)


def test_a_cut_in_front_of_which_all_is_gone_is_reached(cluster):
    send(cluster, *"abc")
    with opened(cluster) as source:
        expire_unread(cluster, source, 3)
        cut = frontier(source)
        assert cut["visits/0"] == "3"
        assert polled(source, cut) == ([], True)  # no message tells so, only the brokers' word that nothing follows


def test_a_topic_that_was_set_back_under_a_reader_stops_it(cluster):
    send(cluster, *"abcdef")
    with opened(cluster) as source:
        read(source, frontier(source))
        source._fetched[0] = 50  # as if more had been read than there is now
        source._assign()
        with pytest.raises(InvalidInput, match="made anew or set back"):
            polled(source, {"visits/0": "60"})


class Thinning:
    """A broker's answer about a topic's settings; librdkafka's brokers do not know the question."""

    def __init__(self, policy):
        self.policy = policy

    def describe_configs(self, resources, request_timeout):  # noqa: ARG002
        answer = Future()
        answer.set_result({"cleanup.policy": SimpleNamespace(value=self.policy)})
        return {resources[0]: answer}

    def __getattr__(self, name):
        return getattr(self.real, name)


@pytest.mark.parametrize(("policy", "answer"), [("delete", True), ("compact", False), ("compact,delete", False)])
def test_a_topic_that_is_thinned_out_proves_nothing(cluster, policy, answer):
    place, _ = kept(cluster)
    with source_of(cluster) as source:
        fake = Thinning(policy)
        fake.real, source._broker._admin = source._broker._admin, fake
        assert source.open(place) is answer


def test_brokers_that_give_topics_no_id_are_known_by_their_cluster(cluster):
    place, name = kept(cluster)
    with source_of(cluster) as source:
        source._broker._has_ids = False
        source._broker.find = lambda _: source._broker.describe()
        assert not source.open(place)
        assert source.identity.startswith("kafka:visits:mockCluster")
        assert source.identity != name
        cut = frontier(source)
        assert source.open(cut)
        assert source.open({}) is False
        assert read(source, cut)[0] == ["a", "b", "c", "d"]


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_no_brokers_is_a_clear_error():
    with (
        KafkaSource("visits", "127.0.0.1:1", patience=0.5) as source,
        pytest.raises(SourceUnavailable, match="cannot be read"),
    ):
        source.open({})


def test_a_source_that_was_closed_answers_nothing(cluster):
    source = opened(cluster)
    source.close()
    source.close()
    source.settle({"visits/0": "0"})
    assert source.frontier() is None


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (kafka.KafkaError.UNKNOWN_TOPIC_OR_PART, "not there"),
        (kafka.KafkaError.TOPIC_AUTHORIZATION_FAILED, "refuse to be read"),
        (kafka.KafkaError._TRANSPORT, "do not answer"),
        (kafka.KafkaError._UNSUPPORTED_FEATURE, "not there"),
    ],
)
def test_brokers_that_say_no_are_told_in_fixed_words(cluster, code, words, monkeypatch):
    def refuse(*_, **__):
        raise kafka.KafkaException(kafka.KafkaError(code, "secret-host"))

    with opened(cluster, patience=0.5) as source:
        monkeypatch.setattr(source._broker, "_asker", SimpleNamespace(list_topics=refuse, close=lambda: None))
        with pytest.raises(SourceUnavailable, match=words) as caught:
            source.open({})
        assert "secret" not in str(caught.value)


def test_answers_that_come_too_late_or_not_at_all_are_trouble(cluster):
    def late(*_, **__):
        raise TimeoutError

    def unknown(*_, **__):
        raise kafka.KafkaException(kafka.KafkaError(kafka.KafkaError._UNSUPPORTED_FEATURE))

    with opened(cluster) as source:
        for answer in (late, unknown):
            source._broker._asker = SimpleNamespace(get_watermark_offsets=answer, close=lambda: None)
            assert source.frontier() is None
            assert source.trouble == "The Kafka brokers do not answer."
        source._broker._asker = SimpleNamespace(list_topics=unknown, close=lambda: None)
        with pytest.raises(BrokersAway, match="not there"):
            source._broker._list()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (kafka.KafkaError._UNKNOWN_PARTITION, "The Kafka topic is not there."),
        (kafka.KafkaError._ALL_BROKERS_DOWN, "The Kafka brokers do not answer."),
    ],
)
def test_what_goes_wrong_while_reading_is_trouble(cluster, code, words):
    with opened(cluster) as source:
        source._failed(0, 0, code)
        source._note(kafka.KafkaError(code))
        assert source.trouble == words


def test_a_log_that_was_cut_off_stops_the_reader(cluster):
    with opened(cluster) as source:
        cut = frontier(source)
        source._failed(0, 0, kafka.KafkaError._LOG_TRUNCATION)
        with pytest.raises(InvalidInput, match="set back"):
            source.poll(cut)


def test_a_leader_that_does_not_know_yet_how_far_it_is_makes_no_cut(cluster):
    send(cluster, "a")
    with opened(cluster) as source:
        frontier(source)
        source._highest[0] = 5
        assert source.frontier() is None
        assert source.trouble == "The Kafka brokers are choosing a leader."
        send(cluster, *"bcde")
        assert frontier(source)["visits/0"] == "5"


def test_brokers_that_start_after_the_reader_are_waited_for(cluster):
    cluster.down()
    late = threading.Timer(0.3, cluster.up)
    late.start()
    with source_of(cluster, patience=60) as source:
        assert source.open({}) is False
        frontier(source)
    late.join()
