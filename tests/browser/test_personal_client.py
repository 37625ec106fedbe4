"""The JavaScript client in a real browser: decides as the Python one, and every request it makes is watched."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Error as PlaywrightError
from tests.support import hostile_answers as hostile

import hubbub.personal.client as module
from hubbub.personal import Catalogue, Categories, Client, ClientRefusal, Combined, Cut, Decimals, RateTable

MODULE = Path(module.__file__).with_name("client.mjs")
TOWN = Categories.of_grid(8, 8)
FOOD = Categories({"food": None, "café": "food", "bar": "food", "tea": "café", "wine": "bar", 'a "b"': "bar"})
BOTH = Combined({"place": Decimals(-62, -1, 62, 1, 3), "query": FOOD}, ("place", "query", "place"))
PLACES = [(61.22913, -0.912044), (-61.9999, 0.3), (0, 0), (-0.001, 0.9999), (62, 1), "0.3,0.1", (12.345, -0.5),
          (61.9999999999999, 0.99999999999), ["61.5", " -1.0e-1"], "+1.,.5"]  # fmt: skip
NOWHERE = [None, [None, None], [True, 0], [[], 0], ["0x1", "0"], ["", 0], [" ", 0], "0_1,0", "１,0",
           [1, 0, 0], [1e308, 0], {"0": 0, "1": 0, "length": 2}, "1,", [62.00001, 0]]  # fmt: skip
CUT = Cut.plan(TOWN, ["3,2"], leaves=10)

PATHS = """
async ({ plan, contexts }) => {
  const { Client } = await import("/client.mjs");
  const client = await Client.read(plan);
  return contexts.map((context) => client.request(context, 7));
}
"""

UNKNOWN = """
async ({ plan, places }) => {
  const { Client, ClientRefusal } = await import("/client.mjs");
  const client = await Client.read(plan);
  return places.map((place) => {
    try {
      return client.request({ place, query: "tea" }, 7);
    } catch (error) {
      return error instanceof ClientRefusal ? error.message : `no refusal: ${error}`;
    }
  });
}
"""

ASK = """
async ({ plan, contexts }) => {
  const { Client } = await import("/client.mjs");
  const client = await Client.read(plan, { pin: localStorage });
  const shown = [];
  for (const context of contexts) shown.push(await client.ask(context, "/v1/select", 5));
  return shown;
}
"""

REFUSED = """
async ({ plan, other }) => {
  const { Client, ClientRefusal } = await import("/client.mjs");
  const said = [];
  const refused = async (act) => {
    try {
      await act();
      said.push("done");
    } catch (error) {
      said.push(error instanceof ClientRefusal ? error.message : `no refusal: ${error}`);
    }
  };
  localStorage.clear();
  const client = await Client.read(plan, { pin: localStorage });
  await refused(() => Client.read(other, { pin: localStorage }));
  await refused(() => Client.read(plan.replace("0,0 x4", "0,0 x2")));
  await refused(() => Client.read("{}"));
  await refused(() => Client.read(plan.replace('"version": 2', '"version": 1')));
  for (const context of ["9,9", "0,0 x4", null, 7]) await refused(() => client.ask(context, "/v1/select", 5));
  await refused(() => client.request("3,2", 0));
  await refused(() => client.ask("3,2", "/gone", 5));
  await refused(() => client.ask("3,2", "/moved", 5));
  localStorage.setItem("hubbub-personal-plan", "");
  await refused(() => Client.read(plan, { pin: localStorage }));
  const full = { getItem: () => null, setItem: () => { throw new Error("full"); } };
  await refused(() => Client.read(plan, { pin: full }));
  return said;
}
"""


JUDGE = """
async ({ plan, contexts, answers }) => {
  const { Client, ClientRefusal } = await import("/client.mjs");
  const client = await Client.read(plan);
  const outcome = (context, answer) => {
    try {
      return client.pick(context, answer, 2);
    } catch (error) {
      return error instanceof ClientRefusal ? [error.message] : [`no refusal: ${error}`];
    }
  };
  return answers.map((answer) => contexts.map((context) => outcome(context, answer)));
}
"""


class World:
    """A page whose every request is written down, answered by a catalogue."""

    def __init__(self, chromium):
        rates = np.random.default_rng(2).random((30, 64))
        self.served = Catalogue(RateTable(TOWN, [f"shop {i}" for i in range(30)], rates))
        self.heard = []
        self.context = chromium.new_context()
        self.page = self.context.new_page()
        self.page.route("**/*", self._answer)
        self.page.goto("http://localhost/")
        self.heard.clear()

    def _answer(self, route):
        request = route.request
        self.heard.append((request.method, request.url, request.post_data, request.all_headers()))
        if request.url.endswith(".mjs"):
            route.fulfill(body=MODULE.read_text(), content_type="text/javascript")
        elif request.url.endswith("/v1/select"):
            answer = self.served.answer(request.post_data_buffer)
            route.fulfill(body=answer, content_type="application/json")
        elif request.url.endswith("/moved"):
            route.fulfill(status=302, headers={"Location": "http://localhost/v1/select"})
        elif request.url.endswith("/gone"):
            route.fulfill(status=404, body="")
        else:
            route.fulfill(body="<!doctype html><title>x</title>", content_type="text/html")


def test_a_browser_says_the_same_as_python(chromium):
    world = World(chromium)
    contexts = [{"place": place, "query": query} for place in PLACES for query in ("tea", "wine", 'a "b"')]
    for cut in (Cut(BOTH), Cut.plan(BOTH, [{"query": "tea"}], leaves=2), Cut(BOTH, finest=4)):
        plan = cut.to_bytes().decode()
        said = world.page.evaluate(PATHS, {"plan": plan, "contexts": contexts})
        client = Client(plan.encode())
        assert [json.loads(one) for one in said] == [json.loads(client.request(c, 7)) for c in contexts]
    world.context.close()


def test_what_is_no_place_is_none_in_both_halves(chromium):
    """A device that does not know where it is may say null: that is not 0 degrees."""
    world, client = World(chromium), Client(Cut(BOTH).to_bytes())
    said = world.page.evaluate(UNKNOWN, {"plan": Cut(BOTH).to_bytes().decode(), "places": NOWHERE})
    assert set(said) == {"A context is not among the plan's; nothing was sent."}
    for place in NOWHERE:
        with pytest.raises(ClientRefusal, match="nothing was sent"):
            client.request({"place": place, "query": "tea"}, 7)
    world.context.close()


def test_the_true_context_never_leaves_the_browser(chromium):
    """Requests from below one node are alike, head and body, though what is shown differs."""
    world = World(chromium)
    below = [leaf.name for leaf in TOWN.leaves(TOWN.named("0,0 x4"))]
    plan = CUT.to_bytes().decode()
    shown = world.page.evaluate(ASK, {"plan": plan, "contexts": [*below, "7,7"]})
    python = Client(CUT.to_bytes())
    for name, one in zip([*below, "7,7"], shown, strict=True):
        answer = world.served.answer(python.request(name, 5))
        assert one == {"result": python.pick(name, answer), "sent": python.generalise(name)}
    assert len({one["result"] for one in shown}) > 1
    asked = [one for one in world.heard if not one[1].endswith(".mjs")]
    assert [one[:2] for one in asked] == [("POST", "http://localhost/v1/select")] * 17
    assert len({json.dumps(one, sort_keys=True) for one in asked[:-1]}) == 1
    assert json.loads(asked[0][2]) == {"node": "0,0 x4", "k": 5}
    assert not {"cookie", "referer"} & set(asked[0][3])
    assert "7,7" in asked[-1][2], "the control: a context that is told is seen"
    world.context.close()


def test_what_cannot_be_is_refused(chromium):
    world = World(chromium)
    other = Cut.plan(TOWN, ["7,7"], leaves=10).to_bytes().decode()
    said = world.page.evaluate(REFUSED, {"plan": CUT.to_bytes().decode(), "other": other})
    assert said[0].startswith("This person uses another plan")
    assert [text.split(",")[0] for text in said[1:3]] == ["The plan is not whole"] * 2
    assert "not of version 2" in said[3]
    assert all("nothing was sent" in text for text in said[4:8])
    assert said[8].startswith("k is a whole number")
    assert said[9].startswith("The server knows no such node")
    assert "status 302" in said[10] or said[10].startswith("The server does not answer")
    assert said[11].startswith("The pin is not whole")
    assert said[12].startswith("Which plan a person uses cannot be kept")
    assert [one[1] for one in world.heard if one[0] == "POST"] == ["http://localhost/gone", "http://localhost/moved"]
    world.context.close()


def test_a_browser_judges_answers_as_python_does(chromium):
    """Every context below one node: refused in all or in none, in the same words, and otherwise the same is shown."""
    world, python = World(chromium), Client(CUT.to_bytes())
    below = [leaf.name for leaf in TOWN.leaves(TOWN.named("0,0 x4"))]
    answers = [*hostile.bad(TOWN), *hostile.good(TOWN), *hostile.garbled(TOWN, 200)]
    told = {"plan": CUT.to_bytes().decode(), "contexts": below, "answers": answers}

    def outcome(name, answer):
        try:
            return python.pick(name, answer.encode("utf-8", "surrogatepass"), 2)
        except ClientRefusal as error:
            return [str(error)]

    for answer, found in zip(answers, world.page.evaluate(JUDGE, told), strict=True):
        assert found == [outcome(name, answer) for name in below], answer
        assert len({isinstance(one, list) for one in found}) == 1, answer
    world.context.close()


def test_a_plan_without_its_stops_is_refused(chromium):
    """Also with a right digest: a plan without stops would tell every context."""
    world = World(chromium)
    file = json.loads(CUT.to_bytes())
    facts = json.loads(file["plan"])
    for told in (facts | {"stops": None}, {name: value for name, value in facts.items() if name != "stops"}):
        text = json.dumps(told)
        plan = json.dumps(file | {"plan": text, "digest": hashlib.sha256(text.encode()).hexdigest()})
        with pytest.raises(PlaywrightError, match="The plan is not whole"):
            world.page.evaluate(ASK, {"plan": plan, "contexts": ["3,2"]})
    assert not [one for one in world.heard if one[0] == "POST"]
    world.context.close()
