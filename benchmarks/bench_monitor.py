"""From an event that was sent to the picture in a viewer's hands, through a whole monitor on this machine.

A tick cannot be released before it is over and late events had their time; what the machine adds to that is measured.
The viewer reads server-sent events, as the page does.
"""

from __future__ import annotations

import http.client
import json
import statistics
import tempfile
import threading
import time
from datetime import UTC, datetime
from typing import Any

from hubbub.monitor.running import Running
from hubbub.monitor.settings import MonitorSettings
from hubbub.store import Store

TICK, LATENESS = 0.25, 0.25
ROUNDS = 40


def settings(folder: str) -> MonitorSettings:
    return MonitorSettings.model_validate(
        {
            "stream": {"name": "site", "tick": f"{TICK}s"},
            "source": {"kind": "http", "spool": f"{folder}/spool"},
            "keys": {"names": [f"/{i}" for i in range(20)]},
            "privacy": {"max_ticks": 20, "timeout": "30s", "epsilon": 1.0},
            "collect": {"lateness": f"{LATENESS}s", "stay": "5s"},
            "store": {"url": f"{folder}/site.db"},
            "publish": {"port": 0, "public": True},
        }
    )


def watch(host: str, port: int, seen: dict[int, float], stop: threading.Event) -> None:
    """Note when each tick arrives at a viewer."""
    connection = http.client.HTTPConnection(host, port, timeout=30)
    connection.request("GET", "/v1/streams/site/live", headers={"Accept": "text/event-stream"})
    answer = connection.getresponse()
    while not stop.is_set():
        line = answer.readline().decode()
        if line.startswith("id:"):
            seen.setdefault(int(line[3:]), time.time())
    connection.close()


def main() -> list[dict[str, Any]]:
    added, acknowledged = [], []
    with tempfile.TemporaryDirectory() as folder:
        with Store.open(f"{folder}/site.db") as store:
            token = store.tokens.add("ingest")
        with Running(settings(folder), serve=True, say=lambda _: None) as running:
            assert running.address is not None
            host, port = running.address.removeprefix("http://").split(":")
            seen: dict[int, float] = {}
            stop = threading.Event()
            viewer = threading.Thread(target=watch, args=(host, int(port), seen, stop), daemon=True)
            viewer.start()
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/x-ndjson"}
            connection = http.client.HTTPConnection(host, int(port), timeout=30)
            for i in range(ROUNDS):
                event = {"time": datetime.now(UTC).isoformat(), "session": str(i), "path": f"/{i % 20}"}
                begun = time.perf_counter()
                connection.request("POST", "/v1/streams/site/events", json.dumps(event), headers)
                assert connection.getresponse().read()
                acknowledged.append(time.perf_counter() - begun)
                time.sleep(TICK)
            time.sleep(2 * (TICK + LATENESS))
            stop.set()
            with Store.open(f"{folder}/site.db") as store:
                for release in store.releases("site"):
                    tick = release.tick
                    if tick.index in seen and tick.start is not None and tick.length is not None:
                        added.append(seen[tick.index] - (tick.start + tick.length).timestamp() - LATENESS)
            viewer.join(timeout=5)
    ordered = sorted(added)
    return [
        {
            "what": f"added between the end of waiting and the viewer, median of {len(ordered)} ticks",
            "value": statistics.median(ordered) * 1000, "unit": "ms", "peer": "tick + lateness", "goal": "< 1000",
            "ratio": statistics.median(ordered) / (TICK + LATENESS), "limit": "how often the source is looked at",
        },
        {"what": "the same, worst", "value": ordered[-1] * 1000, "unit": "ms", "goal": "< 1000"},
        {
            "what": "an event sent and acknowledged (on disk), median",
            "value": statistics.median(acknowledged) * 1000, "unit": "ms", "limit": "one fsync",
        },
    ]  # fmt: skip


if __name__ == "__main__":
    for row in main():
        print(row)
