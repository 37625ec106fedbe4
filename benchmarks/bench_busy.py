"""A site that never pauses: 100,000 lines a second in a followed log, 2,000 single posts a second, and every tick on
time.

A real `hubbub monitor` runs beside a writer of its own process, for `HUBBUB_BUSY_SECONDS` (60; ten minutes are 600).
What is asked: how long after its close each tick was debited, whether any is missing, and whether all that was written
or acknowledged was counted. The promise is one about single events with hardly any noise, so that the counts can be
read off; nobody's data.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from hubbub.store import Store, schema

SECONDS = int(os.environ.get("HUBBUB_BUSY_SECONDS", "60"))
TICK, LATENESS = 5, 2
LINES, POSTS, CONNECTIONS = 100_000, 2_000, 32
BLOCKS = 50  # a second


def settings(source: str, port: int, privacy: str) -> str:
    return f"""
[stream]
name = "site"
tick = "{TICK}s"
[source]
{source}
[keys]
names = ["/a", "/b"]
[privacy]
{privacy}
epsilon = 1000
allow_weak = true
[collect]
lateness = "{LATENESS}s"
[method]
name = "lpa"
[store]
url = "site.db"
[publish]
port = {port}
public = true
"""


def start(folder: Path, source: str, port: int, privacy: str = 'protect = "event"') -> subprocess.Popen[bytes]:
    (folder / "site.toml").write_text(settings(source, port, privacy))
    command = [sys.executable, "-m", "hubbub", "monitor", "site.toml", "--quiet"]
    environment = os.environ | {"HUBBUB_STATE": str(folder / "state")}
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE)
    assert process.stdout is not None
    for line in process.stdout:  # it says where its pages are when all is open
        if b"dashboard" in line:
            time.sleep(TICK)  # the first whole tick has begun
            return process
    raise RuntimeError("the monitor did not start")


def write_lines(path: str, seconds: int, out: Any) -> None:
    """So many lines a second, in small writes, as a web server flushes its log."""
    written, begun = 0, time.monotonic()
    each = LINES // BLOCKS
    with open(path, "ab", buffering=0) as log:
        for block in range(seconds * BLOCKS):
            stamp = datetime.now(UTC).strftime("%d/%b/%Y:%H:%M:%S +0000").encode()
            log.write(b"".join((b"10.0.%d.%d - - [" % (i >> 8, i & 255)) + stamp + _REST for i in range(each)))
            written += each
            time.sleep(max(0.0, begun + (block + 1) / BLOCKS - time.monotonic()))
    out.put((written, time.monotonic() - begun))


_REST = b'] "GET /a HTTP/1.1" 200 512 "-" "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"\n'


def post_events(port: int, token: str, seconds: int, out: Any) -> None:
    """One event a post, over connections that are kept, as an application's servers would send them."""

    async def sender(number: int, until: float) -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        accepted, due = 0, time.monotonic()
        while time.monotonic() < until:
            body = json.dumps(
                {"time": datetime.now(UTC).isoformat(), "session": f"{number}-{accepted}", "path": "/a"}
            ).encode()
            writer.write(
                b"POST /v1/streams/site/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
                b"Content-Type: application/x-ndjson\r\nContent-Length: %d\r\n\r\n%s"
                % (token.encode(), len(body), body)
            )
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if b"content-length" in line)
            await reader.readexactly(length)
            accepted += head.startswith(b"HTTP/1.1 202")
            due += CONNECTIONS / POSTS
            await asyncio.sleep(max(0.0, due - time.monotonic()))
        writer.close()
        return accepted

    async def everybody() -> int:
        until = time.monotonic() + seconds
        return sum(await asyncio.gather(*(sender(n, until) for n in range(CONNECTIONS))))

    begun = time.monotonic()
    out.put((asyncio.run(everybody()), time.monotonic() - begun))


def finish(process: subprocess.Popen[bytes], folder: Path) -> Found:
    """How late each tick was debited, how many ticks, how many of them predicted, how much was counted."""
    time.sleep(TICK + LATENESS + 3)
    used = _processor_seconds(process.pid)
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=60)
    ticks = list(ticks_of(folder).values())
    measured = [counted for _, counted in ticks if counted is not None]
    return [late for late, _ in ticks], len(ticks) - len(measured), sum(measured), used


def ticks_of(folder: Path) -> dict[datetime, tuple[float, int | None]]:
    """Of every tick: how late it was debited, and how much was counted in it; None where it was predicted."""
    found: dict[datetime, tuple[float, int | None]] = {}
    with Store.open(folder / "site.db", read_only=True) as store:
        with store.database.read() as connection:
            made = dict(connection.execute(sa.select(schema.debits.c.tick, schema.debits.c.reserved)).all())
        for release in store.releases("site"):
            tick = release.tick
            assert tick.start is not None
            close = tick.start + timedelta(seconds=TICK + LATENESS)
            counted = None if release.measurements is None else int(release.measurements.sum())
            found[tick.start] = made[tick.index] / 1e6 - close.timestamp(), counted
    return found


def _processor_seconds(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) // os.sysconf("SC_CLK_TCK")


Found = tuple[list[float], int, int, int]


def rows(what: str, goal: int, sent: int, took: float, found: Found) -> list[dict[str, Any]]:
    late, predicted, counted, used = found
    ticks = {"what": f"{what}: ticks", "value": len(late), "goal": f"{int(took) // TICK} or so"}
    cores = {"what": f"{what}: processor time", "value": used / took, "unit": "cores"}
    return [
        {"what": f"{what}: offered", "value": sent / took, "unit": "/s", "goal": f"{goal:,}"},
        ticks | {"limit": f"{predicted} predicted"},
        {"what": f"{what}: debited after close, median", "value": statistics.median(late), "unit": "s"},
        {"what": f"{what}: the same, worst", "value": max(late), "unit": "s", "goal": f"< {TICK}, a tick"},
        {"what": f"{what}: counted of what was written", "value": counted / sent, "goal": "1"},
        cores | {"limit": "of two, beside the writer"},
    ]


def main() -> list[dict[str, Any]]:
    return [*followed_log(), *single_posts()]


def followed_log() -> list[dict[str, Any]]:
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as name:
        folder, out = Path(name), context.Queue()
        log = folder / "access.log"
        log.touch()
        process = start(folder, 'kind = "log"\npath = "access.log"', 0)
        writer = context.Process(target=write_lines, args=(str(log), SECONDS, out))
        writer.start()
        sent, took = out.get()
        return rows("followed log, lines", LINES, sent, took, finish(process, folder))


def single_posts() -> list[dict[str, Any]]:
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as name:
        folder, out, port = Path(name), context.Queue(), _free_port()
        with Store.open(folder / "site.db") as store:
            token = store.tokens.add("ingest")
        process = start(folder, 'kind = "http"\nspool = "spool"', port)
        writer = context.Process(target=post_events, args=(port, token, SECONDS, out))
        writer.start()
        sent, took = out.get()
        return rows("single posts", POSTS, sent, took, finish(process, folder))


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    for row in main():
        print(row)
