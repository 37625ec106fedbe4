"""What one event a post costs the server, in processor time.

`python -m benchmarks ingest`. Senders live in a process of their own, on keep-alive connections over loopback; what is
measured is the processor time of the server's process alone, so it does not matter how busy the machine is with other
things. Behind the server stands a port that does nothing: how events are kept is measured in `bench_monitor`. The
peer is the smallest answer that the same server can give: an application that reads a body and says 202.
"""

from __future__ import annotations

import json
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI
from tests.support.site import Site

from hubbub.server import ServerSettings, Serving, create_app

POSTS = 6_000
CONNECTIONS = 16
RATE = 2_000
CORE = 1_000_000
"""Microseconds of processor time that one core has in a second."""

BODY = b'{"time": "2026-01-01T10:42:00Z", "session": "4711", "path": "/news/1"}\n'


@dataclass
class Taken:
    accepted: int = 1
    malformed: int = 0
    duplicate: bool = False


class Nowhere:
    """Takes everything, keeps nothing."""

    def push(self, *given: object) -> Taken:
        del given
        return Taken()

    def push_many(self, stream: str, batches: list[object]) -> list[Taken]:
        del stream
        return [Taken()] * len(batches)


def main() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        site = Site(Path(folder)).run(3)
        token = site.store.tokens.add("ingest")
        app = create_app(site.store, settings=ServerSettings(port=0, poll_seconds=30), events=Nowhere())
        ours, reached = measured(app, token)
        peer, _ = measured(smallest(), token)
        site.close()
    share = ours * RATE / CORE
    named = "an answer of 202 and nothing else, same server"
    return [
        {
            "what": "processor time of one post of one event", "value": ours, "unit": "µs", "peer": named,
            "ratio": ours / peer, "goal": "<= 250 µs", "limit": 250.0,
        },
        {
            "what": f"part of one core at {RATE:,} posts/s", "value": share, "unit": "cores", "peer": named,
            "ratio": ours / peer, "goal": "<= 0.5", "limit": 0.5,
        },
        {
            "what": "posts/s reached while measuring", "value": reached, "unit": "posts/s", "peer": None,
            "ratio": None, "goal": None, "limit": None,
        },
    ]  # fmt: skip


def smallest() -> FastAPI:
    """The same server around an application that does as little as one can."""
    app = FastAPI()
    app.state.settings = ServerSettings(port=0)
    app.state.let_go = lambda: None

    async def bare(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await FastAPI.__call__(app, scope, receive, send)
            return
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 202, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"{}"})

    app.middleware_stack = bare  # type: ignore[assignment]
    return app


def measured(app: FastAPI, token: str) -> tuple[float, float]:
    """Microseconds of processor time a post, and posts a second."""
    with Serving(app) as serving:
        send_all(serving.address, token, 500)
        used, began = time.process_time(), time.monotonic()
        send_all(serving.address, token, POSTS)
        return CORE * (time.process_time() - used) / POSTS, POSTS / (time.monotonic() - began)


def send_all(address: str, token: str, posts: int) -> None:
    command = [sys.executable, "-m", "benchmarks.bench_ingest", "send", address, token, str(posts)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"202": posts}, done.stdout


def send(address: str, token: str, posts: int) -> None:
    """The senders' side: each connection sends its next post when it has the answer to the last."""
    where = urlsplit(address)
    request = (
        f"POST /v1/streams/site/events HTTP/1.1\r\nHost: {where.netloc}\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/x-ndjson\r\nUser-Agent: bench\r\nAccept: */*\r\nContent-Length: {len(BODY)}\r\n\r\n"
    ).encode() + BODY
    choose = selectors.DefaultSelector()
    left, answered = posts, 0
    statuses: dict[str, int] = {}
    for _ in range(min(CONNECTIONS, posts)):
        sender = socket.create_connection((where.hostname, where.port), timeout=30)
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sender.sendall(request)
        left -= 1
        choose.register(sender, selectors.EVENT_READ)
    parts: dict[Any, bytes] = {}
    while answered < posts:
        for key, _ in choose.select(timeout=30):
            sender = key.fileobj
            assert isinstance(sender, socket.socket)
            got = sender.recv(1 << 16)
            if not got:
                raise SystemExit("the server closed the connection")
            text = parts.get(sender, b"") + got
            head, end, body = text.partition(b"\r\n\r\n")
            length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            if not end or len(body) < int(length or 0):
                parts[sender] = text
                continue
            parts[sender] = b""
            status = head.split(b" ", 2)[1].decode()
            statuses[status] = statuses.get(status, 0) + 1
            answered += 1
            if left:
                left -= 1
                sender.sendall(request)
    print(json.dumps(statuses))


if __name__ == "__main__":
    if sys.argv[1:2] == ["send"]:
        send(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        from benchmarks.__main__ import show

        show("bench_ingest", main())
