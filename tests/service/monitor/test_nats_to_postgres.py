"""A whole monitor on real parts: events from a NATS server that goes away and comes back, a ledger in PostgreSQL."""

import json
import time
import urllib.request
import uuid
from datetime import UTC, datetime

from hubbub.monitor.running import Running
from hubbub.monitor.settings import MonitorSettings
from hubbub.store import Store


def settings(server, url):
    return MonitorSettings.model_validate(
        {
            "stream": {"name": "site", "tick": "500ms"},
            "source": {"kind": "nats", "servers": [server.url], "stream": "visits"},
            "keys": {"names": ["/a", "/b"], "other": False},
            "privacy": {"max_ticks": 2, "timeout": "5s", "epsilon": 1000.0, "allow_weak": True},
            "collect": {"lateness": "1500ms", "stay": False},
            "method": {"name": "lpa"},
            "store": {"url": url},
            "publish": {"port": 0, "public": True},
        }
    )


def publish(server, count):
    """Send `count` visits of as many people, now; each twice under one name, as a sender does who heard no answer."""
    visits = []
    for _ in range(count):
        name = str(uuid.uuid4())
        visit = {"time": datetime.now(UTC).isoformat(), "session": name, "path": "/a"}
        visits += [(json.dumps(visit).encode(), name)] * 2
    server.publish(*visits)


def counted(store):
    return sum(int(r.measurements[0]) for r in store.releases("site") if r.measurements is not None)


def wait_for(store, wanted):
    for _ in range(120):
        if counted(store) >= wanted:
            break
        time.sleep(0.25)
    return counted(store)


def test_a_broker_that_goes_away_and_a_monitor_that_restarts(nats_server, postgres_url):
    publish(nats_server, 0)
    lines = []
    with Store.open(postgres_url) as store:
        with Running(settings(nats_server, postgres_url), serve=True, say=lines.append) as running:
            publish(nats_server, 20)
            assert wait_for(store, 20) == 20
            nats_server.stop()
            time.sleep(1.0)
            nats_server.start()
            publish(nats_server, 15)
            assert wait_for(store, 35) == 35
            with urllib.request.urlopen(f"{running.address}/v1/streams/site/budget", timeout=10) as answer:
                assert json.load(answer)["lost"] == 0
            status = running.status("site")
            assert status["events"] >= 35
        publish(nats_server, 10)  # while nobody listens
        with Running(settings(nats_server, postgres_url), serve=False, say=lines.append):
            assert wait_for(store, 45) == 45
        found = store.verify("site")
        assert found.ok, found.faults
        ticks = [r.tick.index for r in store.releases("site")]
        assert ticks == list(range(len(ticks)))
