"""The person's half: says what the cut says, picks the best for the true context, and sends nothing else."""

import ast
import hashlib
import json
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random

import numpy as np
import pytest
from tests.support import hostile_answers as hostile

import hubbub.personal.client as module
from hubbub.personal import (
    Catalogue,
    Categories,
    ClickRates,
    Client,
    ClientRefusal,
    Combined,
    Cut,
    Decimals,
    LearnedTable,
    RateTable,
    Selector,
)

TOWN = Categories.of_grid(8, 8)
FOOD = Categories({"food": None, "café": "food", "bar": "food", "espresso": "café", "tea": "café", "wine": "bar"})
BOTH = Combined({"place": Decimals(61, -150, 62, -149, 2), "query": FOOD}, ("place", "query", "place"))
CUT = Cut.plan(TOWN, ["3,2"], leaves=10)


def contexts_of(hierarchy, rng, count):
    if hierarchy is BOTH:
        return [
            {"place": (61 + rng.random(), -150 + rng.random()), "query": rng.choice(["espresso", "tea", "wine"])}
            for _ in range(count)
        ]
    return [rng.choice([leaf.name for leaf in hierarchy.leaves()]) for _ in range(count)]


@pytest.mark.parametrize(
    "cut",
    [
        CUT,
        Cut.plan(FOOD, ["tea"], leaves=2),
        Cut.plan(BOTH, [{"place": "61.22,-149.92"}], leaves=90),
        Cut.plan(BOTH, [{"query": "wine"}], leaves=2, finest=3),
        Cut(BOTH),
    ],
)
def test_it_says_what_the_cut_says(cut):
    client, rng = Client(cut.to_bytes()), Random(1)
    for context in contexts_of(cut.hierarchy, rng, 200):
        assert client.generalise(context) == cut.generalise(context).name
        path = client._tree.path(context)
        assert path == [(node.name, node.first, node.leaves) for node in cut.hierarchy.path(context)]


def test_places_at_borders_are_told_the_same():
    world = Decimals(-90, -180, 90, 180, 5)
    client = Client(Cut(world).to_bytes())
    for place in [
        (90, 180),
        (-90, -180),
        (0, 0),
        (-0.00001, 0.3),
        (61.22913, -149.912044),
        "0.3,0.1",
        (89.99999, 1e-9),
        (89.9999999999999, 179.9999999999999),
        (" 61.5", "-1.5e1"),
    ]:
        assert client.generalise(place) == Cut(world).generalise(place).name


def catalogue(results=30, **more):
    rng = np.random.default_rng(2)
    rates = rng.random((results, 64))
    return Catalogue(RateTable(TOWN, [f"shop {i}" for i in range(results)], rates), **more), rates


def test_it_picks_the_best_of_what_was_sent():
    served, rates = catalogue()
    client = Client(CUT.to_bytes())
    for leaf in TOWN.leaves():
        answer = served.answer(client.request(leaf.name, 5))
        sent = [int(name.removeprefix("shop ")) for name in json.loads(answer)["results"]]
        best = max(sent, key=lambda row: rates[row, leaf.first])
        assert client.pick(leaf.name, answer) == f"shop {best}"


def test_with_a_floor_it_may_show_nothing():
    served, rates = catalogue(3, floor=0.8)
    client = Client(CUT.to_bytes())
    shown = [client.pick(leaf.name, served.answer(client.request(leaf.name, 2))) for leaf in TOWN.leaves()]
    assert None in shown
    for leaf, result in zip(TOWN.leaves(), shown, strict=True):
        assert result is None or rates[int(result.removeprefix("shop ")), leaf.first] >= 0.8


def test_all_contexts_of_a_node_send_the_same_bytes():
    client = Client(CUT.to_bytes())
    sent = {}
    for leaf in TOWN.leaves():
        sent.setdefault(CUT.node_of(leaf.first).name, set()).add(client.request(leaf.name, 5))
    assert all(len(bodies) == 1 for bodies in sent.values())
    assert len(sent) == 49


class Recorder(BaseHTTPRequestHandler):
    """A server that writes down every byte it gets."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.heard.append((self.path, str(self.headers).encode(), body))
        answer = self.server.served.answer(body)
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args):
        pass


@pytest.fixture
def recorder():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    server.heard, server.served = [], catalogue()[0]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def test_nothing_but_the_node_is_on_the_wire(recorder):
    """Every request from below one node, head and body, is the same to the last byte."""
    client = Client(CUT.to_bytes())
    address = f"http://127.0.0.1:{recorder.server_port}/v1/select"
    node = TOWN.named("0,0 x4")
    below = [leaf.name for leaf in TOWN.leaves(node)]
    shown = [client.ask(name, address, k=5) for name in below]
    assert {one.sent for one in shown} == {"0,0 x4"}
    assert len({one.result for one in shown}) > 1, "the true context decided what is shown"
    assert len(set(recorder.heard)) == 1
    path, head, body = recorder.heard[0]
    assert (path, json.loads(body)) == ("/v1/select", {"node": "0,0 x4", "k": 5})
    assert b"cookie" not in head.lower()
    assert b"3,2" not in head + body
    client.ask("7,7", address, k=5)  # the control: a context that is told is seen
    assert b"7,7" in recorder.heard[-1][2]


def test_a_person_keeps_one_plan(tmp_path):
    pin, other = tmp_path / "pin", Cut.plan(TOWN, ["7,7"], leaves=10)
    Client(CUT.to_bytes(), pin=pin)
    Client(CUT.to_bytes(), pin=pin)
    with pytest.raises(ClientRefusal, match="another plan"):
        Client(other.to_bytes(), pin=pin)
    for torn in (b"", b"\xff", Client(CUT.to_bytes()).digest[:20].encode(), b"x" * 64):
        pin.write_bytes(torn)
        with pytest.raises(ClientRefusal, match="pin is not whole"):
            Client(CUT.to_bytes(), pin=pin)
    pin.unlink()
    pin.symlink_to(tmp_path / "nowhere")
    with pytest.raises(ClientRefusal, match="cannot be kept"):
        Client(CUT.to_bytes(), pin=pin)
    with pytest.raises(ClientRefusal, match="cannot be kept"):
        Client(CUT.to_bytes(), pin=tmp_path / "none" / "pin")


PINNING = """
import os, signal, sys
sys.path.insert(0, sys.argv[4])
from client import Client
at, left = sys.argv[2], int(sys.argv[3])
def before(name):
    real = getattr(os, name)
    def stop(*given, **more):
        global left
        if name != "open" or "pin" in str(given[0]):
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
        return real(*given, **more)
    setattr(os, name, stop)
for name in ("open", "fdopen", "fsync", "link", "unlink"):
    before(name)
Client(open(sys.argv[1], "rb").read(), pin=at)
print("pinned", left)
"""


def test_a_person_is_not_locked_out_by_a_kill_at_any_step(tmp_path):
    """Killed before each call that touches the disk: the pin is whole or not there, and the same plan goes on."""
    plan = tmp_path / "plan"
    plan.write_bytes(CUT.to_bytes())
    for step in range(20):
        pin = tmp_path / f"{step}.pin"
        folder = str(Path(module.__file__).parent)  # the file alone: the rest of the house takes a second to load
        words = [sys.executable, "-I", "-S", "-c", PINNING, str(plan), str(pin), str(step), folder]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        assert not pin.exists() or pin.read_text() == Client(CUT.to_bytes()).digest
        Client(CUT.to_bytes(), pin=pin)
        if done.returncode == 0:
            break
        assert done.returncode == -9, done.stderr
    assert 5 <= step < 19, "every step was met, and the last run ended by itself"


def test_two_at_once_of_one_plan_are_not_refused_and_two_plans_never_both_sent(tmp_path):
    plans = [CUT.to_bytes(), Cut.plan(TOWN, ["7,7"], leaves=10).to_bytes()]

    def start(plan, pin, gate, found):
        gate.wait()
        try:
            found.append(Client(plan, pin=pin).digest)
        except ClientRefusal as error:
            found.append(error)

    for turn in range(40):
        alike, found = turn % 2, []
        gate = threading.Barrier(4)
        every = [threading.Thread(target=start, args=(plans[0 if alike else i % 2], tmp_path / f"{turn}", gate, found))
                 for i in range(4)]  # fmt: skip
        for one in every:
            one.start()
        for one in every:
            one.join(30)
        sent = {one for one in found if isinstance(one, str)}
        assert len(sent) == 1
        assert len(found) == 4
        assert all("another plan" in str(one) for one in found if not isinstance(one, str))
        assert not alike or all(isinstance(one, str) for one in found)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")], "nothing is left lying about"


def raw_server(answers):
    """Sends raw bytes to whoever connects, one list of pieces after the other; tells what it heard."""
    listening = socket.create_server(("127.0.0.1", 0))
    heard = []

    def serve():
        for pieces in answers:
            try:
                held, _ = listening.accept()
            except OSError:
                return
            with held:
                heard.append(held.recv(65536))
                try:
                    for piece in pieces:
                        held.sendall(piece)
                        if len(pieces) > 50:
                            time.sleep(0.02)
                except OSError:
                    continue

    threading.Thread(target=serve, daemon=True).start()
    return listening, f"http://127.0.0.1:{listening.getsockname()[1]}", heard


def said(text, head=b"HTTP/1.1 200 OK"):
    return [head + b"\r\nContent-Length: %d\r\n\r\n" % len(text) + text]


def test_no_redirect_is_followed():
    """A server must not make a device ask another address, which may be inside the person's own network."""
    other, elsewhere, heard_elsewhere = raw_server([said(b"{}")])
    moved = [[f"HTTP/1.1 {code} Moved\r\nLocation: {elsewhere}/x\r\nContent-Length: 0\r\n\r\n".encode()]
             for code in (301, 302, 303, 307, 308)]  # fmt: skip
    listening, address, heard = raw_server(moved)
    for code in (301, 302, 303, 307, 308):
        with pytest.raises(ClientRefusal, match=f"status {code}"):
            Client(CUT.to_bytes()).ask("3,2", address, 2)
    assert len(heard) == 5
    assert not heard_elsewhere
    listening.close()
    other.close()


def test_only_http_is_asked(tmp_path):
    (tmp_path / "answer").write_text(json.dumps(hostile.fitting(TOWN)))
    for address in (f"file://{tmp_path}/answer", "ftp://127.0.0.1/x", "notaurl", "", "http://", "//127.0.0.1/x"):
        with pytest.raises(ClientRefusal, match="begins with http"):
            Client(CUT.to_bytes()).ask("3,2", address, 2)
    for address in ("http://127.0.0.1:port/x", "http://[::1/x", "http://a b/x", "http://127.0.0.1:9/\n"):
        with pytest.raises(ClientRefusal, match="does not answer"):
            Client(CUT.to_bytes()).ask("3,2", address, 2)


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        ([b"\x00\x01\x02"], "not as one does"),
        ([b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000 + b"\r\n\r\n"], "not as one does"),
        ([b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"], "does not fit"),
        ([b""], "not as one does"),
        (said(b"[" * 60_000), "does not fit"),
        (said(b" " * 70_000), "does not fit"),
        (said(b"\xff\xfe"), "does not fit"),
        (said(b"{}", b"HTTP/1.1 404 No"), "different hierarchies"),
        (said(b"{}", b"HTTP/1.1 409 No"), "coarser cut"),
        (said(b"{}", b"HTTP/1.1 422 No"), "smaller k"),
        (said(b"{}", b"HTTP/1.1 503 No"), "status 503"),
    ],
)
def test_whatever_a_server_says_is_a_refusal(pieces, words):
    listening, address, _ = raw_server([pieces])
    with pytest.raises(ClientRefusal, match=words):
        Client(CUT.to_bytes()).ask("3,2", address, 2)
    listening.close()


def test_a_server_that_drips_does_not_hold_a_client(monkeypatch):
    """Each byte comes in time, and all together never would: the limit is for the whole."""
    monkeypatch.setattr(module, "_SECONDS", 0.5)
    listening, address, _ = raw_server([[b"H"] * 100_000, [b"HTTP/1.1 200 OK\r\nX: ", *[b"x"] * 100_000]])
    for _ in range(2):
        with pytest.raises(ClientRefusal, match="does not answer"):
            Client(CUT.to_bytes()).ask("3,2", address, 2)
    listening.close()


def test_a_plan_that_was_changed_is_not_used():
    whole = CUT.to_bytes()
    for broken in (b"", b"{}", b"[]", whole[:-20], whole.replace(b"0,0 x4", b"0,0 x2", 1), b'{"plan":7}',
                   b"[" * 200_000):  # fmt: skip
        with pytest.raises(ClientRefusal, match="not whole"):
            Client(broken)
    facts = json.loads(whole)
    for version in (1, 3, None, [2]):
        with pytest.raises(ClientRefusal, match=r"not of version 2.*make it anew"):
            Client(json.dumps({**facts, "version": version}).encode())


def test_a_context_that_the_plan_does_not_know_sends_nothing():
    def send(address, body):
        raise AssertionError("sent")

    for cut, contexts in [
        (CUT, ["9,9", "0,0 x4", None, 7]),
        (Cut(BOTH), [{"place": (0, 0), "query": "tea"}, {"query": "tea"}, "tea", {"place": "x", "query": "tea"}]),
        (
            Cut(BOTH),
            [
                {"place": place, "query": "tea"}
                for place in (
                    (1e308, 0),
                    (10**400, 0),
                    (None, None),
                    (True, -149.5),
                    ([], 0),
                    "61.5,１",
                    "61.5,-1_49",
                    "0x3d,-149.5",
                    (61.1, -149.5, 3),
                    {61.1: 1, -149.5: 2},
                    (62.0001, -149.5),
                    "61.1,",
                    "61.1,inf",
                    "61.1,nan",
                    b"61",
                )
            ],
        ),
        (Cut(BOTH), [{"place": (float("nan"), 1), "query": "tea"}, {"place": (61.1, -149.5), "query": "food"}]),
    ]:
        client = Client(cut.to_bytes(), send=send)
        for context in contexts:
            with pytest.raises(ClientRefusal, match="nothing was sent"):
                client.ask(context, "http://127.0.0.1:9/", 5)


BELOW = [leaf.name for leaf in TOWN.leaves(TOWN.named("0,0 x4"))]


def outcomes(answer, k=2):
    """What every context below one node makes of the same answer."""
    client, found = Client(CUT.to_bytes()), []
    for name in BELOW:
        try:
            found.append(client.pick(name, answer.encode("utf-8", "surrogatepass"), k))
        except ClientRefusal as error:
            found.append(error)
    return found


@pytest.mark.parametrize("answer", hostile.bad(TOWN))
def test_an_answer_that_does_not_fit_is_refused_in_every_context(answer):
    """A server that garbles the run of one place must not see, by an error that is reported, who is there."""
    found = outcomes(answer)
    assert all(isinstance(one, ClientRefusal) for one in found)
    assert len({str(one) for one in found}) == 1


def test_any_answer_is_refused_in_all_contexts_or_in_none():
    refused = []
    for answer in [*hostile.good(TOWN), *hostile.garbled(TOWN, 400)]:
        found = {isinstance(one, ClientRefusal) for one in outcomes(answer)}
        assert len(found) == 1, answer
        refused.append(found.pop())
    assert refused[: len(hostile.GOOD)] == [False] * len(hostile.GOOD)
    assert 50 < sum(refused) < 400, "both kinds were met"


def test_a_server_with_the_same_names_in_another_order_is_refused():
    """Runs go by the numbers of contexts: such an answer would fit, and show everybody what is best elsewhere."""
    west, east = {"clinic": "west", "park": "west"}, {"bar": "east", "port": "east"}
    ours = Categories({"town": None, "west": "town", "east": "town", **west, **east})
    other = Categories({"town": None, "east": "town", "west": "town", **east, "park": "west", "clinic": "west"})
    log = [("clinic", "pharmacy", 100, 50), ("clinic", "ice cream", 100, 1),
           ("park", "ice cream", 100, 50), ("park", "pharmacy", 100, 1)]  # fmt: skip
    client = Client(Cut.plan(ours, ["clinic"], leaves=2).to_bytes())
    answers = [Catalogue(LearnedTable(ClickRates.fit(tree, log))).answer(client.request("clinic", 2))
               for tree in (ours, other)]  # fmt: skip
    assert [client.pick(name, answers[0]) for name in ("clinic", "park")] == ["pharmacy", "ice cream"]
    for name in ("clinic", "park"):
        with pytest.raises(ClientRefusal, match="different hierarchies"):
            client.pick(name, answers[1])


def test_what_is_asked_in_vain():
    client = Client(CUT.to_bytes())
    with pytest.raises(ClientRefusal, match="whole number"):
        client.request("3,2", 0)
    with pytest.raises(ClientRefusal, match="does not answer"):
        client.ask("3,2", "http://127.0.0.1:9/", 5)


def test_the_file_depends_on_nothing(tmp_path):
    tree = ast.parse(Path(module.__file__).read_text())
    imported = {
        (node.module if isinstance(node, ast.ImportFrom) else node.names[0].name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert imported <= set(sys.stdlib_module_names)
    copied = tmp_path / "client.py"
    copied.write_bytes(Path(module.__file__).read_bytes())
    (tmp_path / "plan.json").write_bytes(CUT.to_bytes())
    code = "from client import Client; print(Client(open('plan.json','rb').read()).generalise('3,2'))"
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, env={})
    assert done.stdout.strip() == "0,0 x4", done.stderr


def test_selectors_and_clients_agree_on_every_context():
    """What the selector calls the best is what the client shows."""
    served, rates = catalogue(40)
    client = Client(Cut(TOWN, finest=0).to_bytes())
    chosen = Selector(served.table.results, rates).choose(7)
    answer = served.answer(client.request("0,0", 7))
    shown = [client.pick(leaf.name, answer) for leaf in TOWN.leaves()]
    assert shown == [chosen.results[place] for place in chosen.best]


@pytest.mark.parametrize("stops", [None, "0,0 x4", [4], {"0,0 x4": 1}])
def test_a_plan_whose_stops_are_no_list_of_names_sends_nothing(stops):
    """Also with a right digest: without its stops a plan would tell every context."""
    file = json.loads(CUT.to_bytes())
    facts = json.loads(file["plan"]) | {"stops": stops}
    for told in (facts, {name: value for name, value in facts.items() if name != "stops"}):
        text = json.dumps(told)
        changed = file | {"plan": text, "digest": hashlib.sha256(text.encode()).hexdigest()}
        with pytest.raises(ClientRefusal, match="not whole"):
            Client(json.dumps(changed).encode())
