"""A client's way to the servers: sent again until it is thanked for, counted once, and never to one who lies."""

from __future__ import annotations

import http.server
import json
import threading
from contextlib import contextmanager

import pytest
from tests.support.gathering import BEGIN, Gathering

from hubbub.errors import (
    BudgetExceeded,
    GatherUnavailable,
    InvalidInput,
    InvalidParameter,
    QueryClosed,
    QueryMismatch,
    ReportReplayed,
)
from hubbub.gather import line as lines
from hubbub.gather.issuer_desk import IssuerDesk
from hubbub.gather.line import Line
from hubbub.gather.sending import Sender, fetch_plan, fetch_ticket
from hubbub.gather.tickets import TicketKey
from hubbub.server import ServerSettings, Serving, Tls, create_gather_app

CODES = ["invitation of ann"]


class Answers(http.server.BaseHTTPRequestHandler):
    """Says what it is told to, one after the other; None hangs up."""

    protocol_version = "HTTP/1.1"
    ready: list
    asked: list

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.asked.append((self.path, body, dict(self.headers)))
        answer = self.ready.pop(0)
        if answer is None:
            self.close_connection = True
            return
        status, data = answer
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST

    def log_message(self, *_):
        pass


@contextmanager
def answering(*ready):
    kind = type("Kind", (Answers,), {"ready": list(ready), "asked": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), kind)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    line = Line(f"http://127.0.0.1:{server.server_port}")
    try:
        yield line, kind.asked
    finally:
        line.close()
        server.shutdown()
        thread.join()
        server.server_close()


def refusal(code, words="No."):
    return json.dumps({"error": {"code": code, "message": words, "hint": ""}}).encode()


@pytest.fixture
def plan(tmp_path):
    world = Gathering(tmp_path)
    world.stop()
    return world.plan


def sender(plan, line, patience=1.0):
    return Sender(plan, line, epsilon=10**6, patience=patience, clock=lambda: BEGIN, wait=lambda _: None)


def test_the_same_report_until_it_is_taken(plan):
    busy = (429, refusal("overloaded"))
    away = (503, refusal("store_unavailable"))
    with answering(busy, away, None, (500, b"?"), (200, b"{}")) as (line, asked):
        assert sender(plan, line, patience=100).send(2) == 0
        assert len({body for _, body, _ in asked}) == 1
        assert len(asked) == 5


def test_thanks_that_were_lost(plan):
    """Refused as replayed after a try that was not answered: it was taken."""
    replayed = (409, refusal("report_replayed"))
    with answering((503, b""), replayed) as (line, _):
        sender(plan, line).send(1)
    with answering(replayed) as (line, _), pytest.raises(ReportReplayed):  # of a first try that says something else
        sender(plan, line).send(1)


def test_it_is_not_tried_for_ever(plan):
    with answering(*[(503, b"")] * 20) as (line, asked), pytest.raises(GatherUnavailable):
        sender(plan, line, patience=1.0).send(1)
    assert 2 < len(asked) < 10


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (409, refusal("query_closed"), QueryClosed),
        (422, refusal("invalid_input"), InvalidInput),
        (404, refusal("not_found"), InvalidInput),
        (404, b"a page", GatherUnavailable),
        (200, b"x" * 2000, GatherUnavailable),
    ],
)
def test_what_is_refused_is_not_sent_again(plan, monkeypatch, status, body, error):
    monkeypatch.setattr(lines, "LARGEST_ANSWER", 1000)
    with answering((status, body), (status, body)) as (line, _), pytest.raises(error):
        sender(plan, line, patience=0).send(1)


def test_a_client_that_promises_more(plan):
    with answering() as (line, _), pytest.raises(BudgetExceeded):
        Sender(plan, line, clock=lambda: BEGIN).send(1)


def test_a_plan_that_both_tell(plan):
    one = (200, plan.encode())
    with answering(one) as (first, _), answering((503, b""), one) as (second, _):
        assert fetch_plan((first, second), patience=1).encode() == plan.encode()
    with answering(one) as (first, _), answering((503, b"")) as (second, _), pytest.raises(GatherUnavailable):
        fetch_plan((first, second))
    other = plan.encode().replace(b"colours", b"flavour")
    with (
        answering(one) as (first, _),
        answering((200, other)) as (second, _),
        pytest.raises(QueryMismatch, match="different plans"),
    ):
        fetch_plan((first, second))


def test_tickets_over_http(tmp_path):
    keys = [TicketKey.make()]
    with Gathering(tmp_path, issuer=[str(keys[0].public)]) as world:
        desk = IssuerDesk(world.plan, keys, CODES, tmp_path / "given", clock=lambda: BEGIN)
        with (
            Serving(create_gather_app(desk, settings=ServerSettings(port=0))) as issuer,
            Serving(create_gather_app(world.leader, settings=ServerSettings(port=0))) as leader,
        ):
            line, other = Line(issuer.address), Line(leader.address)
            ticket = fetch_ticket(world.plan, line, 0, CODES[0])
            sender(world.plan, other).send(1, {0: ticket})
            assert world.leader.counts(0)["unsettled"] == 1
            line.close()
            other.close()
        desk.stop()
        with answering((503, b""), (200, bytes(256))) as (line, _), pytest.raises(GatherUnavailable):
            fetch_ticket(world.plan, line, 0, CODES[0])


def test_plans_without_tickets(plan):
    with answering() as (line, _), pytest.raises(QueryMismatch, match="needs no tickets"):
        fetch_ticket(plan, line, 0, CODES[0])


def test_certificates_that_are_none(tmp_path):
    path = tmp_path / "authority"
    for text in (None, "nothing"):
        if text:
            path.write_text(text)
        with pytest.raises(InvalidInput, match="holds no certificates"):
            Line("https://127.0.0.1:1", authority=path)
    with Gathering(tmp_path / "world") as world:
        app = create_gather_app(world.leader, settings=ServerSettings(port=0), tls=True)
        with pytest.raises(InvalidParameter, match="in PEM"):
            Serving(app, tls=Tls(path, path))
        with pytest.raises(InvalidParameter, match="cannot be read"):
            Serving(app, tls=Tls(tmp_path / "no", path))
