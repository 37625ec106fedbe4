"""A followed log: lines a second from its bytes to events, and what noise costs beside good lines of the same size.

One core's work: `FollowedFile.poll` reads, cuts and parses in the thread that calls it. The log is made up. The peer is
`LineFile` over the same bytes, and for noise the good log. Rotation happens once, in the middle.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from hubbub.collect.sources import AccessLog, FollowedFile, JsonLines, LineFile
from hubbub.collect.sources.line_format import LineFormat

LINES, NOISE = 300_000, 600_000
_AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:116.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/116.0 Safari/537.36"
_PATTERNS = {
    "empty lines": b"\n",
    "short lines": b"x\n",
    "open braces": b"{\n",
    "brackets": b"[" * 60_000 + b"\n",
    "escaped quotation marks": b'\\"' * 21 + b"\n",
    "long escapes": b'a "' + b"\\\\" * 20_000 + b"\n",
    "nested objects": b'{"a":' * 12_000 + b"\n",
    "long numbers": b'{"a":' + b"1" * 4_000 + b"}\n",
}


def main() -> list[dict[str, object]]:
    rows = []
    for name, lines, make in (("combined log", AccessLog(), combined), ("JSON log", JsonLines(), json_line)):
        data = b"".join(make(i) for i in range(LINES))
        (wall, work), peer = followed(data, lines), once(data, lines)
        rate, ratio = LINES / work, work / peer
        rows.append(
            row(f"{name}, followed", rate, "lines/s", "read once, processor time", ratio, ">= 100,000", 100_000)
        )
        rows.append(row(f"{name}, followed, by the clock", LINES / wall, "lines/s", "", None, "", None))
        good = processor(lambda d=data, p=lines: p.parse(d[:NOISE]))  # type: ignore[misc]
        for kind, pattern in _PATTERNS.items():
            noise = pattern * (NOISE // len(pattern))
            cost = processor(lambda n=noise, p=lines: p.parse(n))  # type: ignore[misc]
            rows.append(
                row(f"0.6 MB of noise: {kind}", cost, "s", f"{name}, {good:.3f} s", cost / good, "<= 10 x", 10.0)
            )
    return rows


def row(
    what: str, value: float, unit: str, peer: str, ratio: float | None, goal: str, limit: float | None
) -> dict[str, object]:
    return {"what": what, "value": value, "unit": unit, "peer": peer, "ratio": ratio, "goal": goal, "limit": limit}


def combined(i: int) -> bytes:
    clock = b"%02d:%02d:%02d" % (i // 100_000 % 24, i // 1_000 % 60, i // 17 % 60)
    return b'10.%d.%d.%d - - [01/Mar/2026:%s +0000] "GET /section/page-%d.html?ref=%d HTTP/1.1" 200 %d "-" "%s"\n' % (
        i % 5, i // 256 % 256, i % 256, clock, i % 200, i % 7, i % 9000, _AGENT.encode(),
    )  # fmt: skip


def json_line(i: int) -> bytes:
    clock = b"%02d:%02d:%02d" % (i // 100_000 % 24, i // 1_000 % 60, i // 17 % 60)
    return b'{"time":"2026-03-01T%s+00:00","remote_addr":"10.0.%d.%d","uri":"/page-%d","status":200,"agent":"%s"}\n' % (
        clock, i // 256 % 256, i % 256, i % 200, _AGENT.encode(),
    )  # fmt: skip


def followed(data: bytes, lines: LineFormat) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "access.log"
        half = data.rfind(b"\n", 0, len(data) // 2) + 1
        path.write_bytes(data[:half])
        source = FollowedFile(path, lines)
        source.open({})
        wall, work, came = time.perf_counter(), time.process_time(), 0
        for rest in (data[half:], b""):
            until = source.frontier()
            assert until is not None
            reached = False
            while not reached:
                batch = source.poll(until)
                came, reached = came + batch.events.height, batch.reached
            os.rename(path, path.with_name("access.log.1" if rest else "access.log"))
            path.write_bytes(rest) if rest else None
        took = time.perf_counter() - wall, time.process_time() - work
        source.close()
    assert came == LINES
    return took


def once(data: bytes, lines: LineFormat) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "access.log"
        path.write_bytes(data)
        with LineFile(path, lines) as source:
            return processor(lambda: sum(batch.events.height for batch in source), repeat=1)


def processor(work: Callable[[], object], repeat: int = 3) -> float:
    best = float("inf")
    for _ in range(repeat):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best
