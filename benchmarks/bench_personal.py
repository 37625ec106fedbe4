"""Choosing results for a generalised context, beside greedy written plainly, and over HTTP beside a constant answer.

`python -m benchmarks personal`. Processor time throughout, however busy the machine is with other things. Three kinds
of instances, each 10,000 results x 1,000 contexts: *local* (shops in a town, clicked near by, bids of all sizes),
*alike* (all CTRs uniform at random, all bids 1: the worst case, in which no old bound is of use), and *bids* (the same
with bids of all sizes).
"""

from __future__ import annotations

import json
import resource
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from fastapi import FastAPI
from numpy.typing import NDArray
from tests.support.plain_greedy import plain_greedy

from hubbub.personal import Catalogue, Categories, ClickRates, Decimals, LearnedTable, RateTable, Selector
from hubbub.server import ServerSettings, Serving, create_select_app

RESULTS, CONTEXTS, K = 10_000, 1_000, 10
POSTS, CONNECTIONS = 6_000, 16
CORE = 1_000_000
OTHERS, SAMPLE = 100_000, 500
Floats = NDArray[np.float64]


def main() -> list[dict[str, Any]]:
    rng = np.random.default_rng(1)
    rows = []
    for kind in ("local", "alike", "bids"):
        rows += choosing(kind, *instance(rng, kind, RESULTS, CONTEXTS))
    return [*rows, *small(rng), *strangers(), *serving(rng)]


def instance(rng: np.random.Generator, kind: str, results: int, contexts: int) -> tuple[Floats, Floats]:
    """CTRs and bids."""
    bids = np.ones(results) if kind == "alike" else rng.lognormal(0, 1, results)
    if kind != "local":
        return rng.random((results, contexts)), bids
    shops, side = rng.random((results, 2)), int(np.ceil(np.sqrt(contexts)))
    cells = np.array([(i // side, i % side) for i in range(contexts)]) / side
    away = np.sqrt(((shops[:, None] - cells[None]) ** 2).sum(axis=2))
    return rng.beta(2, 8, results)[:, None] * np.exp(-away / 0.05), bids


def seconds(act: Callable[[], Any], times: int) -> float:
    """The median of processor time."""
    found = []
    for _ in range(times):
        began = time.process_time()
        act()
        found.append(time.process_time() - began)
    return float(np.median(found))


def choosing(kind: str, rates: Floats, bids: Floats) -> list[dict[str, Any]]:
    selector = Selector([str(i) for i in range(len(rates))], rates, bids=bids)
    worth = rates * bids[:, None] / rates.shape[1]
    chosen = selector.choose(K)
    assert [int(name) for name in chosen.results] == plain_greedy(worth, K), "not the same choice"
    ours, plain = seconds(lambda: selector.choose(K), 9), seconds(lambda: plain_greedy(worth, K), 3)
    what = f"{kind}: {len(rates):,} x {rates.shape[1]:,}, k = {K}"
    named = "plain greedy in NumPy, every gain at every step; same choice"
    rows = [
        {"what": what, "value": 1000 * ours, "unit": "ms", "peer": named, "ratio": plain / ours,
         "goal": "<= 100 ms", "limit": 100.0},
        {"what": f"{kind}: how many times as fast as plain greedy", "value": plain / ours, "unit": "x", "peer": named,
         "ratio": plain / ours, "goal": ">= 20 x", "limit": 20.0},
        {"what": f"{kind}: part of the bound on the best", "value": chosen.quality, "unit": "", "peer": None,
         "ratio": None, "goal": ">= 0.63", "limit": 0.63},
    ]  # fmt: skip
    if kind == "bids":
        anew = seconds(lambda: Selector(selector.results, rates, bids=bids).choose(K), 3)

        def changed() -> None:
            selector.set_bid("17", 2.0)
            selector.choose(K)

        rows.append(
            {"what": "a bid changes, and it is chosen again", "value": 1000 * seconds(changed, 9), "unit": "ms",
             "peer": "a selector made anew", "ratio": anew / seconds(changed, 9), "goal": None, "limit": None}
        )  # fmt: skip
    return rows


def pure_greedy(worth: list[list[float]], k: int) -> list[int]:
    """Goetz 2012, Alg. 6, in plain Python."""
    best, chosen = [0.0] * len(worth[0]), []
    for _ in range(k):
        gains = [sum(max(one - held, 0.0) for one, held in zip(row, best, strict=True)) for row in worth]
        place = max(range(len(worth)), key=lambda row: (gains[row], -row))
        chosen.append(place)
        best = [max(one, held) for one, held in zip(worth[place], best, strict=True)]
    return chosen


def small(rng: np.random.Generator) -> list[dict[str, Any]]:
    rates, bids = instance(rng, "local", 1000, 100)
    selector = Selector([str(i) for i in range(1000)], rates, bids=bids)
    worth = (rates * bids[:, None] / 100).tolist()
    assert [int(name) for name in selector.choose(K).results] == pure_greedy(worth, K)
    ours = seconds(lambda: selector.choose(K), 9)
    ratio = seconds(lambda: pure_greedy(worth, K), 1) / ours
    return [
        {"what": f"local: 1,000 x 100, k = {K}", "value": 1000 * ours, "unit": "ms",
         "peer": "plain greedy in pure Python; same choice", "ratio": ratio, "goal": None, "limit": None}
    ]  # fmt: skip


def strangers() -> list[dict[str, Any]]:
    """What a node costs that nobody asked before, when few and when very many others were asked."""
    world = Decimals(61, -150, 62, -149)
    log = [("61.22913,-149.912044", f"result {i}", 40, i) for i in range(3)]
    held = Catalogue(LearnedTable(ClickRates.fit(world, log)))

    def ask(number: int) -> None:
        held.answer(json.dumps({"node": f"61.{number // 1000:04d},-149.{1 + number % 1000:04d}", "k": 3}).encode())

    for number in range(OTHERS // 20):  # all that is kept is full
        ask(number)
    before, memory = sampled(ask, OTHERS // 20), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(OTHERS // 20 + SAMPLE, OTHERS):
        ask(number)
    after, grown = sampled(ask, OTHERS), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    return [
        {"what": f"a node that nobody asked before, after {OTHERS:,} others", "value": CORE * after, "unit": "µs",
         "peer": f"after {OTHERS // 20:,} others", "ratio": after / before, "goal": "<= 2 x", "limit": 2.0},
        {"what": "memory that these took", "value": grown / 1024, "unit": "MB", "peer": None, "ratio": None,
         "goal": "<= 20 MB", "limit": 20.0},
    ]  # fmt: skip


def sampled(ask: Callable[[int], None], first: int) -> float:
    """The median of processor time over nodes that are all new."""
    found = []
    for number in range(first, first + SAMPLE):
        began = time.process_time()
        ask(number)
        found.append(time.process_time() - began)
    return float(np.median(found))


# ── over HTTP ────────────────────────────────────────────────────────────────────────────────────────────────────


def serving(rng: np.random.Generator) -> list[dict[str, Any]]:
    town = Categories.of_grid(32, 32)
    rates, bids = instance(rng, "local", RESULTS, town.contexts)
    names = [f"shop {i}" for i in range(RESULTS)]
    held = Catalogue(RateTable(town, names, rates), bids=dict(zip(names, bids.tolist(), strict=True)))
    nodes = [f"{8 * x},{8 * y} x8" for x in range(4) for y in range(4)]
    bodies = [json.dumps({"node": node, "k": K}) for node in nodes]
    began = time.process_time()
    longest = max(len(held.answer(body.encode())) for body in [*bodies, json.dumps({"node": town.root.name, "k": K})])
    first = (time.process_time() - began) / (len(bodies) + 1)
    ours, reached = measured(create_select_app(held, settings=ServerSettings(port=0)), bodies)
    constant = held.answer(bodies[0].encode())
    peer, most = measured(smallest(constant), bodies)
    named = "the same server, an application that answers constant JSON"
    return [
        {"what": f"one request, {RESULTS:,} results held", "value": ours, "unit": "µs", "peer": named,
         "ratio": ours / peer, "goal": "<= 1,000 µs", "limit": 1000.0},
        {"what": "requests/s that one core bears", "value": CORE / ours, "unit": "requests/s", "peer": named,
         "ratio": peer / ours, "goal": ">= 1,000", "limit": 1000.0},
        {"what": "requests/s reached while measuring", "value": reached, "unit": "requests/s", "peer": named,
         "ratio": reached / most, "goal": ">= 1,000", "limit": 1000.0},
        {"what": "the first request for a node", "value": 1000 * first, "unit": "ms", "peer": None, "ratio": None,
         "goal": None, "limit": None},
        {"what": "the longest answer", "value": float(longest), "unit": "bytes", "peer": None, "ratio": None,
         "goal": "<= 10,000", "limit": 10_000.0},
    ]  # fmt: skip


def smallest(answer: bytes) -> FastAPI:
    """The same server around an application that reads a body and always says the same."""
    app = FastAPI()
    app.state.settings, app.state.let_go, app.state.lab = ServerSettings(port=0), lambda: None, None
    from hubbub.server.sparing import Sparing

    app.state.sparing = Sparing()
    head = [(b"content-length", str(len(answer)).encode()), (b"content-type", b"application/json")]

    async def bare(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await FastAPI.__call__(app, scope, receive, send)
            return
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": answer})

    app.middleware_stack = bare  # type: ignore[assignment]
    return app


def measured(app: FastAPI, bodies: list[str]) -> tuple[float, float]:
    """Microseconds of the server's processor time a request, and requests a second."""
    with Serving(app) as running:
        send_all(running.address, bodies, 500)
        used = time.process_time()
        elapsed = send_all(running.address, bodies, POSTS)
        return CORE * (time.process_time() - used) / POSTS, POSTS / elapsed


def send_all(address: str, bodies: list[str], posts: int) -> float:
    """Seconds by the senders' own clock: starting them takes longer than their work."""
    command = [sys.executable, "-m", "benchmarks.bench_personal", "send", address, str(posts)]
    done = subprocess.run(command, input="\n".join(bodies), capture_output=True, text=True, check=True)
    answered, elapsed = done.stdout.split()
    assert answered == str(posts), done.stdout
    return float(elapsed)


def send(address: str, posts: int) -> None:
    """The clients' side: each connection sends its next request when it has the answer to the last."""
    where = urlsplit(address)
    head = f"POST /v1/select HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Type: application/json\r\nContent-Length: "
    requests = [f"{head}{len(body)}\r\n\r\n{body}".encode() for body in sys.stdin.read().splitlines()]
    choose, asked, answered, began = selectors.DefaultSelector(), 0, 0, time.monotonic()
    parts: dict[Any, bytes] = {}
    for _ in range(CONNECTIONS):
        one = socket.create_connection((where.hostname, where.port), timeout=30)
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        one.sendall(requests[asked % len(requests)])
        asked += 1
        choose.register(one, selectors.EVENT_READ)
    while answered < posts:
        for key, _ in choose.select(timeout=30):
            one = key.fileobj
            assert isinstance(one, socket.socket)
            got = one.recv(1 << 16)
            if not got:
                raise SystemExit("the server closed the connection")
            text = parts.get(one, b"") + got
            top, end, body = text.partition(b"\r\n\r\n")
            length = top.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            if not end or len(body) < int(length or 0):
                parts[one] = text
                continue
            parts[one] = b""
            assert top.split(b" ", 2)[1] == b"200", top
            answered += 1
            if asked < posts:
                one.sendall(requests[asked % len(requests)])
                asked += 1
    print(answered, time.monotonic() - began)


if __name__ == "__main__":
    send(sys.argv[2], int(sys.argv[3]))
