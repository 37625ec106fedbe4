"""The person's half: says what the cut says, picks the best for the true context, and sends nothing else."""

import ast
import hashlib
import json
import subprocess
import sys
import threading
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
    pin.write_bytes(b"\xff")
    with pytest.raises(ClientRefusal, match="another plan"):
        Client(CUT.to_bytes(), pin=pin)
    with pytest.raises(ClientRefusal, match="cannot be kept"):
        Client(CUT.to_bytes(), pin=tmp_path / "none" / "pin")


def test_a_plan_that_was_changed_is_not_used():
    whole = CUT.to_bytes()
    for broken in (b"", b"{}", b"[]", whole[:-20], whole.replace(b"0,0 x4", b"0,0 x2", 1), b'{"plan":7}'):
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
