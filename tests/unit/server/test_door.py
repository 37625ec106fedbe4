"""Connections: capped, with deadlines; nobody who waits, trickles or does not read keeps others out.

All of it on real sockets. Deadlines are short here because a test waits for them, never because something else must be
done within them: what must not be cut off is given an hour.
"""

from __future__ import annotations

import resource
import socket
import subprocess
import sys
import threading
import time
from urllib.parse import urlsplit

import httpx
import pytest
from tests.support.patience import until

from hubbub.errors import InvalidParameter
from hubbub.server import ServerSettings, Serving, create_app
from hubbub.server.connection import LONGEST_HEAD, MOST_PIPELINED
from hubbub.server.door import RESERVE, UNKNOWN, Deadlines, Door, room

EVENTS = "/v1/streams/site/events"
LIVE = "/v1/streams/site/live"
AN_HOUR = 3600.0


def settings(**more):
    """Nothing is cut off unless the test says so."""
    patient = {"head_seconds": AN_HOUR, "body_seconds": AN_HOUR, "pace_seconds": AN_HOUR, "idle_seconds": AN_HOUR}
    return ServerSettings(**{"public": True, "port": 0, "poll_seconds": 0.05, **patient, **more})


@pytest.fixture
def serve(site, pipeline):
    """Serve with these settings; the address, and how many connections the server holds."""
    running = []

    def start(**more):
        app = create_app(site.store, settings=settings(**more), events=pipeline)
        running.append(Serving(app).start())
        return running[-1]

    yield start
    for one in running:
        one.stop()


LINES: list[socket.socket] = []


@pytest.fixture(autouse=True)
def hang_up():
    yield
    for raw in LINES:
        raw.close()
    LINES.clear()


def call(serving, first=b"", receive_buffer=None):
    where = urlsplit(serving.address)
    raw = socket.socket()
    LINES.append(raw)
    raw.settimeout(60)
    if receive_buffer is not None:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    raw.connect((where.hostname, where.port))
    if first:
        raw.sendall(first)
    return raw


HEALTH = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


def answered(serving, request):
    """A line on which this request was answered with 200. On a busy machine even a good one can miss a short deadline
    between being let in and being read; then it calls again."""
    for _ in range(100):
        raw = call(serving, request)
        try:
            if b" 200 OK" in raw.recv(65536):
                return raw
        except ConnectionResetError:
            continue
    raise AssertionError("never answered")


def rest(raw):
    """All that comes until the other side closes; the end may be a reset."""
    got = b""
    try:
        while piece := raw.recv(65536):
            got += piece
    except ConnectionResetError:
        pass
    return got


def test_half_a_head_is_dropped_by_the_deadline(serve):
    serving = serve(head_seconds=0.2)
    half = [call(serving, b"GET /healthz HTTP/1.1\r\nHost: x\r\n") for _ in range(30)]
    silent = [call(serving) for _ in range(30)]
    for raw in half:
        assert rest(raw).startswith(b"HTTP/1.1 408")
    for raw in silent:
        assert rest(raw) == b""
    until(lambda: len(serving.door) == 0, "all were dropped")
    answered(serving, HEALTH)


def test_so_is_a_second_head_on_a_connection_that_was_good(serve):
    serving = serve(head_seconds=0.2)
    raw = answered(serving, HEALTH)
    time.sleep(1)  # idle between two requests is no fault: longer than a head may take, and the line still stands
    raw.sendall(HEALTH)
    assert b" 200 OK" in raw.recv(65536)
    raw.sendall(b"GET /hea")
    assert rest(raw).startswith(b"HTTP/1.1 408")


def test_an_idle_connection_ends_after_its_time(serve):
    serving = serve(idle_seconds=0.2)
    raw = call(serving, HEALTH)
    assert b" 200 OK" in rest(raw)


def upload(sending, length):
    head = f"POST {EVENTS} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n"
    return (head + "".join(f"{name}: {value}\r\n" for name, value in sending.items()) + "\r\n").encode()


def slow_upload(serving, sending, length=5000):
    return call(serving, upload(sending, length) + b"{")


@pytest.mark.parametrize("more", [{"body_seconds": 0.3}, {"pace_seconds": 0.2, "min_rate": 1e6}])
def test_a_slow_body_is_dropped_and_others_are_served_meanwhile(serve, sending, pipeline, more):
    """As many slow uploads as bodies are held at a time, and then as many again: nobody else notices."""
    serving = serve(max_uploads=8, **more)
    slow = [slow_upload(serving, sending) for _ in range(16)]
    for _ in range(5):
        assert call(serving, upload(sending, 2) + b"{}").recv(65536).startswith(b"HTTP/1.1 202")
    for raw in slow:
        assert rest(raw).startswith(b"HTTP/1.1 408")
    assert pipeline.batches == [b"{}"] * 5, "nothing of what was cut off was taken"
    until(lambda: serving._server.config.app.state.desk.intake._held == 0, "what was held is given back")


def test_a_body_that_keeps_its_pace_is_taken(serve, sending, pipeline):
    """The control: what is steady is not cut off, however long it takes in all."""
    serving = serve(pace_seconds=3, min_rate=0.1)
    raw = slow_upload(serving, sending, length=21)
    for _ in range(20):
        time.sleep(0.2)
        raw.sendall(b"x")
    assert raw.recv(65536).startswith(b"HTTP/1.1 202")
    assert pipeline.batches == [b"{" + b"x" * 20]


def test_the_rest_of_a_refused_body_has_a_deadline_too(serve):
    serving = serve(body_seconds=0.5)
    for _ in range(50):  # on a busy machine the deadline may come before the refusal
        if b" 401 Unauthorized" in rest(slow_upload(serving, {"Content-Type": "application/x-ndjson"})):
            return
    raise AssertionError("never refused")


def test_an_answer_that_nobody_takes_ends(serve):
    serving = serve(send_seconds=0.3, min_rate=1e6)
    raw = call(serving, b"GET /assets/plotly.min.js HTTP/1.1\r\nHost: x\r\n\r\n", receive_buffer=4096)
    assert raw.recv(15) == b"HTTP/1.1 200 OK"
    until(lambda: len(serving.door) == 0, "it was cut off")


def test_a_viewer_lives_on(serve, site):
    """Every deadline is over many times; the viewer takes what there is, and stays."""
    serving = serve(body_seconds=0.1, pace_seconds=0.1, idle_seconds=0.1, min_rate=1e6)
    with httpx.stream("GET", serving.address + LIVE, timeout=30) as answer:
        lines = answer.iter_lines()
        assert next(lines).startswith("retry")
        time.sleep(1.5)
        newest = site.tick().tick.index
        assert any(line == f"id: {newest}" for line, _ in zip(lines, range(50), strict=False))


def test_idle_connections_above_the_cap_make_room(serve):
    """Whoever has waited longest without a word goes; health and pages are answered on new connections all the time."""
    serving = serve(max_connections=20)
    idle = []
    for _ in range(100):
        idle.append(call(serving))
        if len(idle) % 20 == 0:
            assert httpx.get(f"{serving.address}/healthz").status_code == 200
    until(lambda: len(serving.door) <= 20, "no more than were allowed")
    for raw in idle[:60]:
        assert rest(raw) == b"", "the oldest were let go"
    assert httpx.get(f"{serving.address}/top").status_code == 200


def test_where_all_are_busy_the_next_is_turned_away(serve, sending):
    serving = serve(max_connections=20)
    busy = [slow_upload(serving, sending) for _ in range(20)]
    until(lambda: not serving.door._waiting and len(serving.door) == 20, "all are being read")
    assert rest(call(serving, HEALTH))[:12] in (b"HTTP/1.1 503", b"")
    assert len(serving.door) == 20
    busy[0].close()
    until(lambda: len(serving.door) == 19, "one left")
    assert httpx.get(f"{serving.address}/healthz").status_code == 200


def test_viewers_leave_room_for_those_who_come_and_go(serve):
    serving = serve(max_connections=20, max_viewers=1000)
    live = f"GET {LIVE} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    answers = [call(serving, live).recv(12)[-3:] for _ in range(40)]
    assert answers == [b"200"] * 15 + [b"503"] * 25
    assert httpx.get(f"{serving.address}/healthz").status_code == 200


FLOOD = """
import resource, socket, sys, threading, time
from pathlib import Path
import httpx
resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300))
from tests.support.site import Site
from hubbub.server import ServerSettings, Serving, create_app
site = Site(Path(sys.argv[1])).run(2)
app = create_app(site.store, settings=ServerSettings(public=True, port=0, poll_seconds=0.05))
with Serving(app) as serving:
    print(serving.address, flush=True)
    for line in sys.stdin:  # at each line the store is opened anew and a tick is released
        from hubbub.store import Store
        with Store.open(site.path) as again:
            again.streams()
        site.tick()
        print(serving.door.most, len(serving.door), flush=True)
site.close()
"""


def test_idle_connections_never_take_the_files_of_the_store(tmp_path):
    """A process that may open 300 files and is called by 1,100: the store can be opened, ticks go on."""
    own = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if own < 1500:
        pytest.skip("1,100 callers need as many files, and this process may not open them: raise `ulimit -n`")
    with subprocess.Popen(
        [sys.executable, "-c", FLOOD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as run:
        address = urlsplit(run.stdout.readline().strip())
        for number in range(1100):
            LINES.append(socket.create_connection((address.hostname, address.port), timeout=60))
            if number % 100 == 99:
                run.stdin.write("\n")
                run.stdin.flush()
                most, held = map(int, run.stdout.readline().split())
                assert most == 300 - RESERVE
                assert held <= most
                assert httpx.get(address.geturl() + "/healthz", timeout=60).status_code == 200
        run.stdin.close()
        assert run.wait(60) == 0


@pytest.mark.parametrize(
    "request_",
    [
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + b"y" * (LONGEST_HEAD + 10) + b"\r\n\r\n",
        b"GET /" + b"y" * (LONGEST_HEAD + 10) + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nX: " + b"y" * (LONGEST_HEAD + 10),
        b"nonsense\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -3\r\n\r\n",
    ],
)
def test_what_is_no_request_is_refused(serve, request_):
    serving = serve()
    raw = call(serving, request_)
    assert rest(raw)[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 431", b"")
    until(lambda: len(serving.door) == 0, "and the line is closed")


def test_only_so_many_requests_wait_behind_each_other(serve, sending, pipeline):
    serving = serve()
    pipeline.hold.clear()
    one = upload(sending, 2) + b"{}"
    few = call(serving, one * 5)
    many = call(serving, one * (MOST_PIPELINED + 20))
    assert b"400" in rest(many)
    pipeline.hold.set()
    got = b""
    while got.count(b"HTTP/1.1 202") < 5:
        got += few.recv(65536)


def test_the_cap_follows_from_the_limit_of_open_files(monkeypatch):
    monkeypatch.setattr("hubbub.server.door.open_files", lambda: 1024)
    assert room(settings()) == 1024 - RESERVE
    assert room(settings(max_connections=100)) == 100
    with pytest.raises(InvalidParameter, match="1,024 files"):
        room(settings(max_connections=1000))
    monkeypatch.setattr("hubbub.server.door.open_files", lambda: 100)
    assert room(settings()) == 100 // 8
    monkeypatch.setattr("hubbub.server.door.open_files", lambda: None)
    assert room(settings()) == UNKNOWN
    assert room(settings(max_connections=5000)) == 5000


class Line:
    """A connection as the door sees it."""

    def __init__(self):
        self.dropped = self.late = False

    def drop(self):
        self.dropped = True

    def is_overdue(self, now, allowed):  # noqa: ARG002
        return self.late


def test_the_longest_idle_goes_first():
    now = [0.0]
    door = Door(2, Deadlines(1, 1, 1, 1, 1), lambda: now[0])
    first, second, third, fourth = (Line() for _ in range(4))
    assert door.enter(first)
    assert door.enter(second)
    door.asks(first)
    door.waits(first)  # it was answered: now the second has waited longer
    assert door.enter(third)
    assert (first.dropped, second.dropped) == (False, True)
    door.asks(first)
    door.asks(third)
    assert not door.enter(fourth), "both are busy"
    door.waits(second)  # it has left already
    assert not door.enter(fourth)
    third.late = True
    door.look()
    assert not third.dropped, "it is not looked all the time"
    now[0] += 1
    door.look()
    assert third.dropped
    assert len(door) == 1


def test_many_at_once_are_all_answered(serve):
    """The kernel's queue is long even where few are let in at a time."""
    serving = serve()
    codes = []

    def ask():
        codes.append(httpx.get(f"{serving.address}/healthz", timeout=60).status_code)

    threads = [threading.Thread(target=ask) for _ in range(60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [200] * 60
