"""What is no request: refused in the one shape, and said once a minute, however often it comes."""

from __future__ import annotations

import json
import logging
import resource
import socket
import subprocess
import sys
from contextlib import suppress
from urllib.parse import urlsplit

import httpx
import pytest

from hubbub.server import ServerSettings, Serving, create_app
from hubbub.server.connection import LONGEST_HEAD, MOST_PIPELINED
from hubbub.server.door import MOST, RESERVE, raise_open_files, room, too_few
from hubbub.server.sparing import MOST_KINDS, Sparing

LONG = b"y" * (LONGEST_HEAD + 10)
RUBBISH = {
    "nonsense": (b"nonsense\r\n\r\n", 400, "bad_request"),
    "binary": (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", 400, "bad_request"),
    "two lengths": (
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "bad_request",
    ),
    "http/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "bad_request"),
    "a long header": (b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + LONG + b"\r\n\r\n", 431, "head_too_long"),
    "a long head without end": (b"GET /healthz HTTP/1.1\r\nX: " + LONG, 431, "head_too_long"),
    "a long address": (b"GET /" + LONG + b" HTTP/1.1\r\nHost: x\r\n\r\n", 431, "head_too_long"),
}  # fmt: skip


@pytest.fixture
def serving(site):
    settings = ServerSettings(public=True, port=0, poll_seconds=0.05)
    with Serving(create_app(site.store, settings=settings)) as made:
        yield made


def ask(address, request):
    """All that is answered."""
    where, got = urlsplit(address), b""
    with socket.create_connection((where.hostname, where.port), timeout=60) as raw:
        raw.sendall(request)
        while piece := raw.recv(65536):
            got += piece
    return got


@pytest.mark.parametrize("name", RUBBISH)
def test_every_refusal_has_the_one_shape(serving, name):
    request, status, code = RUBBISH[name]
    head, _, body = ask(serving.address, request).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert b"content-type: application/json" in head
    assert b"content-length: %d" % len(body) in head
    said = json.loads(body)["error"]
    assert said["code"] == code
    assert said["message"]
    assert said["hint"]


def test_pipelined_requests_above_the_limit_too(serving):
    answers = ask(serving.address, b"GET /v1/streams HTTP/1.1\r\nHost: x\r\n\r\n" * (MOST_PIPELINED + 60))
    assert b"Too many requests wait behind one" in answers


def test_rubbish_is_said_once(serving, caplog):
    for _ in range(40):
        ask(serving.address, b"nonsense\r\n\r\n")
    upgrade = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n"
    for _ in range(5):
        assert b" 200 OK" in ask(serving.address, upgrade)
    assert [line.getMessage() for line in caplog.records] == [
        "Invalid HTTP request received.",
        "Somebody asked for a WebSocket; there is none here.",
    ]
    assert serving.door.sparing.held_back == 43


def test_after_a_minute_comes_the_number(caplog):
    now = [0.0]
    sparing = Sparing(lambda: now[0])
    for _ in range(1001):
        sparing.say("a", "Rubbish.")
        sparing.say("b", "Refused.", counted=False)
    now[0] = 59.0
    sparing.look()
    assert [line.getMessage() for line in caplog.records] == ["Rubbish.", "Refused."]
    now[0] = 60.0
    sparing.look()
    sparing.look()
    assert caplog.records[-1].getMessage() == "Rubbish. (1,000 times within the last minute)"
    sparing.say("b", "Refused.", counted=False)
    assert [line.getMessage() for line in caplog.records[2:]] == [
        "Rubbish. (1,000 times within the last minute)",
        "Refused.",
    ], "how often is not told where it would tell how many events came"
    for number in range(10 * MOST_KINDS):
        sparing.say(f"kind {number}", "Another.", level=logging.ERROR)
    assert len(caplog.records) <= MOST_KINDS + 5, "the kinds are bounded too"


FEW = """
import resource, sys
from pathlib import Path
soft, hard = map(int, sys.argv[2:])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
from tests.support.site import Site
from hubbub.server import ServerSettings, Serving, create_app
site = Site(Path(sys.argv[1])).run(2)
with Serving(create_app(site.store, settings=ServerSettings(public=True, port=0, poll_seconds=0.05))) as serving:
    print(serving.address, serving.door.most, flush=True)
    held = []
    for line in sys.stdin:
        if line == "take\\n":  # all files that are left
            try:
                while True: held.append(open("/dev/null"))
            except OSError:
                pass
        else:
            while held: held.pop().close()
        print("done", flush=True)
site.close()
"""


class Few:
    """A server in a process that may open few files."""

    def __init__(self, folder, soft, hard):
        words = [sys.executable, "-c", FEW, str(folder), str(soft), str(hard)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(words, text=True, **pipes)
        self.address, most = self.process.stdout.readline().split()
        self.most = int(most)

    def tell(self, word):
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    def ends(self):
        _, said = self.process.communicate(timeout=60)
        assert self.process.returncode == 0
        return said


def test_with_few_files_fewer_connections_are_held_and_nothing_breaks(tmp_path):
    few = Few(tmp_path, 64, 64)
    assert few.most == 8
    where = urlsplit(few.address)
    idle = [socket.create_connection((where.hostname, where.port), timeout=60) for _ in range(100)]
    assert httpx.get(f"{few.address}/healthz", timeout=60).status_code == 200
    few.tell("take")
    more = [socket.create_connection((where.hostname, where.port), timeout=60) for _ in range(20)]
    more[-1].sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    more[-1].settimeout(0.5)
    with suppress(TimeoutError):  # time for the server to try, and to be refused by the system
        more[-1].recv(100)
    few.tell("give back")
    assert httpx.get(f"{few.address}/healthz", timeout=60).status_code == 200
    for one in (*idle, *more):
        one.close()
    said = few.ends()
    assert "may open 64 files only: at most 8 connections" in said
    assert "Traceback" not in said
    assert said.count("too many files are open") <= 1, said


def test_a_soft_limit_is_raised_as_far_as_the_hard_one_allows(tmp_path):
    few = Few(tmp_path, 64, 1000)
    assert few.most == 1000 - RESERVE
    assert "may open 1,000 files only" in few.ends()


def test_how_far_the_limit_is_raised(monkeypatch):
    asked = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: asked.append(limits))

    def at(soft, hard, **settings):
        asked.clear()
        monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
        raise_open_files(ServerSettings(**settings))
        return asked

    endless = resource.RLIM_INFINITY
    assert at(1024, endless) == [(MOST + RESERVE, endless)]
    assert at(1024, 4096) == [(4096, 4096)]
    assert at(1024, 4096, max_connections=1000) == [(1192, 4096)]
    assert at(4096, 4096) == at(endless, endless) == at(1024, 4096, max_connections=100) == []

    def refuse(*_):
        raise ValueError("not allowed")

    monkeypatch.setattr(resource, "setrlimit", refuse)
    assert at(1024, 4096) == []
    assert room(ServerSettings()) == 1024 - RESERVE
    assert "624 of them live viewers" in too_few(ServerSettings())
    assert too_few(ServerSettings(max_viewers=600)) == too_few(ServerSettings(max_connections=100)) == ""
