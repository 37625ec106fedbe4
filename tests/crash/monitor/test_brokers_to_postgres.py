"""A whole monitor on real parts: events from a broker that goes away and comes back, a ledger in PostgreSQL."""

import json
import time
import urllib.request
import uuid
from datetime import UTC, datetime

import pytest
from tests.support.patience import until
from tests.support.small_city import feed

from hubbub.monitor.running import Running
from hubbub.monitor.settings import MonitorSettings
from hubbub.store import Store


class Nats:
    def __init__(self, server):
        self.server = server
        self.source = {"kind": "nats", "servers": [server.url], "stream": "visits"}
        self.away, self.back, self.close = server.stop, server.start, lambda: None
        server.publish()  # a stream that never had a message; as it was, that could not be started on

    def send(self, visits):
        self.server.publish(*((body, name) for name, body in visits))


class Kafka:
    def __init__(self):
        from tests.support.kafka_cluster import KafkaCluster

        self.cluster = KafkaCluster()
        self.source = {"kind": "kafka", "servers": self.cluster.address, "topic": "visits"}
        self.away, self.back, self.close = self.cluster.down, self.cluster.up, self.cluster.close

    def send(self, visits):
        for partition in range(4):
            self.cluster.send([body for name, body in visits if int(name[0], 16) % 4 == partition], partition)


@pytest.fixture(params=["nats", "kafka"])
def broker(request):
    if request.param == "kafka":
        pytest.importorskip("confluent_kafka")
    made = Nats(request.getfixturevalue("nats_server")) if request.param == "nats" else Kafka()
    yield made
    made.close()


def settings(broker, url):
    return MonitorSettings.model_validate(
        {
            "stream": {"name": "site", "tick": "500ms"},
            "source": broker.source,
            "keys": {"names": ["/a", "/b"], "other": False},
            "privacy": {"max_ticks": 2, "timeout": "5s", "epsilon": 1000.0, "allow_weak": True},
            # On a busy machine a visit arrives some seconds after its time.
            "collect": {"lateness": "8s", "stay": False},
            "method": {"name": "lpa"},
            "store": {"url": url},
            "publish": {"port": 0, "public": True},
        }
    )


def publish(broker, count):
    """Send `count` visits of as many people, now; each twice under one name, as a sender does who heard no answer."""
    visits = []
    for _ in range(count):
        name = str(uuid.uuid4())
        visit = {"time": datetime.now(UTC).isoformat(), "session": name, "path": "/a"}
        visits += [(name, json.dumps(visit).encode())] * 2
    broker.send(visits)


def counted(store):
    return sum(int(r.measurements[0]) for r in store.releases("site") if r.measurements is not None)


def wait_for(store, wanted):
    until(lambda: counted(store) >= wanted, f"{wanted} are counted")
    return counted(store)


def test_a_broker_that_goes_away_and_a_monitor_that_restarts(broker, postgres_url):
    lines = []
    with Store.open(postgres_url) as store:
        with Running(settings(broker, postgres_url), serve=True, say=lines.append) as running:
            until(lambda: list(store.releases("site", limit=1)), "what comes now is in a tick of the stream")
            publish(broker, 20)
            assert wait_for(store, 20) == 20
            broker.away()
            until(lambda: running.status("site")["trouble"], "it is seen to be away")
            time.sleep(1.0)  # some ticks pass, and wait
            broker.back()
            publish(broker, 15)
            assert wait_for(store, 35) == 35
            with urllib.request.urlopen(f"{running.address}/v1/streams/site/budget", timeout=60) as answer:
                assert json.load(answer)["lost"] == 0
            status = running.status("site")
            assert status["events"] >= 35
        publish(broker, 10)  # while nobody listens
        with Running(settings(broker, postgres_url), serve=False, say=lines.append):
            assert wait_for(store, 45) == 45
        found = store.verify("site")
        assert found.ok, found.faults
        ticks = [r.tick.index for r in store.releases("site")]
        assert ticks == list(range(len(ticks)))
        assert not [line for line in lines if "predicted (" in line and "began before" not in line]


def test_keys_are_found_in_what_a_broker_brings(broker, postgres_url):
    """Nobody lists `/a`: the sessions of a few seconds find it, and what one session alone saw is never named."""
    said, secret = [], f"/secret/{uuid.uuid4()}"
    facts = settings(broker, postgres_url).model_dump(exclude={"keys", "publish", "store"}) | {
        "keys": {"discover": "3s", "keep": 1000},
        "privacy": {"max_ticks": 2, "timeout": "2s", "epsilon": 1000.0, "delta": 1e-3, "allow_weak": True},
        "store": {"url": postgres_url},
    }
    wanted = MonitorSettings.model_validate(facts)
    with Store.open(postgres_url) as store:
        with Running(wanted, serve=False, say=said.append):
            until(lambda: list(store.releases("site", limit=1)), "what comes now is in a tick of the stream")
            publish(broker, 60)
            visit = {"time": datetime.now(UTC).isoformat(), "session": "alone", "path": secret}
            broker.send([(str(uuid.uuid4()), json.dumps(visit).encode())])
            until(lambda: "/a" in store.domain("site").names, "the key is found")
        with Running(wanted, serve=False, say=said.append):  # and known after a restart
            first = max(release.tick.index for release in store.releases("site")) + 1
            publish(broker, 20)
            until(lambda: sum(_under(store, "/a", first)) >= 20, "it is counted under its key")
        assert sum(_under(store, "/a", 0)) <= 80
        assert all(store.verify(name).ok for name in ("site", "site.keys"))
        told = [*said, *(name for one in store.releases("site.keys") for name in one.keys.names)]
    assert secret not in "\n".join(told)


def test_a_city_s_feeds_from_a_broker(broker, postgres_url):
    """A message is a feed of several vehicles; each counts once in a tick, and feeds are not taken for lines."""
    facts = settings(broker, postgres_url).model_dump(exclude={"keys", "publish", "store", "source"}) | {
        "source": broker.source | {"format": "gtfs-realtime"},
        "grid": {"columns": 2, "rows": 1, "bounds": [8.0, 53.0, 8.2, 53.1]},
        "privacy": {"protect": "trip", "max_ticks": 1, "timeout": "1min", "epsilon": 1000.0, "allow_weak": True},
        "store": {"url": postgres_url},
    }
    wanted = MonitorSettings.model_validate(facts)
    with Store.open(postgres_url) as store:
        with Running(wanted, serve=False, say=lambda _: None):
            until(lambda: list(store.releases("site", limit=1)), "what comes now is in a tick of the stream")
            for begin in (0, 10):
                seen = [(f"bus {number}", 8.05, 53.05) for number in range(begin, begin + 20)]
                name = str(uuid.uuid4())
                broker.send([(name, feed(seen, datetime.now(UTC)))] * 2)
            assert wait_for(store, 30) == 30
        assert store.verify("site").ok


def _under(store, key, first):
    return [
        int(release.measurements[release.keys.position(key)])
        for release in store.releases("site", first=first)
        if release.measurements is not None and key in release.keys
    ]
