"""The server: what a page costs, and how many live viewers hold on loopback.

`python -m benchmarks server`. Viewers live in a process of their own, so that reading 500 streams does not take the
server's time; all else is one process, as `hubbub serve` is.
"""

from __future__ import annotations

import json
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from tests.support.site import Site

from hubbub.server import ServerSettings, Serving, create_app

VIEWERS = 500
TICKS = 12
PAGES = 200


def main() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        site = Site(Path(folder), start=datetime.now(UTC) - timedelta(hours=1)).run(360)
        settings = ServerSettings(public=True, port=0, poll_seconds=30)
        app = create_app(site.store, settings=settings)
        with Serving(app) as serving:
            rows = pages(serving.address, app, site)
            rows += viewers(serving.address, app, site)
        site.close()
    return rows


def pages(address: str, app: Any, site: Site) -> list[dict[str, Any]]:
    """Processor time of a page view, the asking client's own included, and the peer: the smallest answer there is.

    Processor time, since that is what a page view costs the server, however busy the machine is with other things.
    """
    with httpx.Client(base_url=address) as client:
        client.get("/")
        smallest = each(client, "/healthz", PAGES)
        kept = each(client, "/", PAGES)
        drawn = []
        for _ in range(25):
            site.tick()
            app.state.desk.feed.wake()
            newest = site.next_tick - 1
            while app.state.desk.feed.channel("site").last_tick < newest:
                time.sleep(0.005)
            began = time.process_time()
            client.get("/")
            drawn.append(1000 * (time.process_time() - began))
        other = {path: each(client, path, 40) for path in ("/top", "/guarantee", "/key?name=sports")}
    peer = "GET /healthz"

    def row(what: str, value: float) -> dict[str, Any]:
        return {
            "what": what, "value": value, "unit": "ms", "peer": peer, "ratio": value / smallest,
            "goal": "<= 20 ms", "limit": 20.0,
        }  # fmt: skip

    rows = [row("page view, picture already drawn", kept), row("page view, first of a tick", statistics.median(drawn))]
    return rows + [row(f"page view {path}", value) for path, value in other.items()]


def each(client: httpx.Client, path: str, times: int) -> float:
    """Median milliseconds of processor time from asking to having the whole answer, on loopback."""
    spans = []
    for _ in range(times):
        began = time.process_time()
        assert client.get(path).status_code == 200
        spans.append(1000 * (time.process_time() - began))
    return statistics.median(spans)


def viewers(address: str, app: Any, site: Site) -> list[dict[str, Any]]:
    """From the feed's wake to the moment at which each of 500 viewers has the tick."""
    command = [sys.executable, "-m", "benchmarks.bench_server", "watch", address, str(VIEWERS), str(TICKS)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdin is not None
        assert watching.stdout is not None
        watching.stdout.readline()  # all are connected and have their first event
        held = app.state.desk.feed.viewers
        alone, woken = [], []
        for _ in range(TICKS):
            site.tick()
            woken.append(time.time())
            app.state.desk.feed.wake()
            time.sleep(0.7)
        got: list[list[float]] = json.loads(watching.stdout.readline())
    lasts = [max(times) - began for times, began in zip(got, woken, strict=True)]
    firsts = [min(times) - began for times, began in zip(got, woken, strict=True)]
    alone = statistics.median(firsts)
    worst, usual = max(lasts), statistics.median(lasts)
    return [
        {
            "what": "live viewers held", "value": held, "unit": "viewers", "peer": None, "ratio": None,
            "goal": f">= {VIEWERS}", "limit": VIEWERS,
        },
        {
            "what": f"tick to the last of {held} viewers, median", "value": 1000 * usual, "unit": "ms",
            "peer": "tick to the first viewer", "ratio": usual / alone, "goal": "< 1,000 ms", "limit": 1000.0,
        },
        {
            "what": f"tick to the last of {held} viewers, worst of {TICKS}", "value": 1000 * worst, "unit": "ms",
            "peer": "tick to the first viewer", "ratio": worst / alone, "goal": "< 1,000 ms", "limit": 1000.0,
        },
    ]  # fmt: skip


def watch(address: str, many: int, ticks: int) -> None:
    """The viewers' side: open `many` live connections, note when each gets each tick."""
    where = urlsplit(address)
    choose = selectors.DefaultSelector()
    parts: dict[socket.socket, bytes] = {}
    request = b"GET /v1/streams/site/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for _ in range(many):
        viewer = socket.create_connection((where.hostname, where.port), timeout=30)
        viewer.sendall(request)
        viewer.setblocking(False)
        choose.register(viewer, selectors.EVENT_READ)
        parts[viewer] = b""
    seen: dict[int, list[float]] = {}
    ready, announced = 0, False
    last: int | None = None
    while True:
        for key, _ in choose.select(timeout=30):
            viewer = key.fileobj
            assert isinstance(viewer, socket.socket)
            with suppress(BlockingIOError):
                parts[viewer] += viewer.recv(1 << 20)
            *events, parts[viewer] = parts[viewer].split(b"\n\n")
            for event in events:
                if b"id: " not in event:
                    continue
                tick = int(event.split(b"id: ", 1)[1].split(b"\n", 1)[0])
                if not announced:
                    ready += 1
                    last = tick
                elif last is not None and tick > last:
                    seen.setdefault(tick, []).append(time.time())
        if not announced and ready == many:
            announced = True
            print("ready", flush=True)
        if len(seen) == ticks and all(len(times) == many for times in seen.values()):
            print(json.dumps([seen[tick] for tick in sorted(seen)]), flush=True)
            return


if __name__ == "__main__":
    if sys.argv[1:2] == ["watch"]:
        watch(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        from benchmarks.__main__ import show

        show("bench_server", main())
