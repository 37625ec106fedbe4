"""The browser's client on its way to the servers: both are asked, the first one answered, nothing else is sent."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.support.gather_page import KEYS, Servers, World, announced
from tests.support.gather_processes import Programs, hubbub

from hubbub.errors import HubbubError
from hubbub.gather import SealKey
from hubbub.gather.messages import SealedReport
from hubbub.gather.prio3 import Count, Histogram

ADDRESSES = ["https://leader.test", "https://helper.test"]
NOW = datetime(2026, 3, 1, 12, 5, tzinfo=UTC)

ASKING = """
localStorage.clear();
const at = (now) => ({ epsilon: 1e9, now: now ?? given.now });
"""


@pytest.fixture(scope="module")
def world(chromium):
    made = World(chromium)
    yield made
    made.context.close()


class Line:
    """Both servers' addresses, as a page sees them: what is fetched from them is told, what is posted is taken by a
    real leader. `lost` answers are never heard by the page, though the report has arrived."""

    def __init__(self, world: World, announcement: bytes) -> None:
        self.servers = Servers(announcement)
        opens = NOW.replace(minute=0).isoformat()
        plan = json.dumps({"opens": opens, "every": 600.0, "ticks": 3, "labels": ["red", "green", "blue", "none"]})
        self.told = {"/v1/gather": plan.encode(), "/v1/gather/rounds/0/announcement": announcement}
        self.changed: dict[str, bytes] = {}
        self.heard: list[Any] = []
        self.lost = self.busy = 0
        self.page = world.page
        self.page.route("https://*.test/**", self._answer)

    def _answer(self, route: Any) -> None:
        request = route.request
        self.heard.append((request.method, request.url, request.post_data_buffer, request.all_headers()))
        server, path = request.url[: len(ADDRESSES[0])], request.url[len(ADDRESSES[0]) :]
        anybody = {"access-control-allow-origin": "*"}
        if request.method == "GET":
            found = self.told.get(path, b"")
            body = self.changed.get(path, found) if server == ADDRESSES[1] else found
            route.fulfill(body=body, status=200 if body else 404, headers=anybody)
            return
        if self.busy:
            self.busy -= 1
            route.fulfill(status=503, body="", headers=anybody)
            return
        try:
            self.servers.leader.receive(SealedReport.decode(request.post_data_buffer))
            status, body = 200, "{}"
        except HubbubError as error:
            status, body = 409, json.dumps({"error": {"code": error.code, "message": "", "hint": ""}})
        if self.lost:
            self.lost -= 1
            route.abort()
        else:
            route.fulfill(status=status, body=body, headers=anybody)

    @property
    def posted(self) -> list[bytes]:
        return [body for method, _, body, _ in self.heard if method == "POST"]


@pytest.fixture
def line(world):
    made = Line(world, announced(Histogram(4)))
    yield made
    world.page.unroute("https://*.test/**")


def asked(world: World, program: str, **given: Any) -> Any:
    return world.run(ASKING + program, {"servers": ADDRESSES, "now": NOW.timestamp() * 1000, **given})


def test_a_page_asks_both_servers_and_answers_the_first(world, line):
    world.context.add_cookies([{"name": "who", "value": "me", "url": one} for one in ADDRESSES])
    told = asked(world, """
      const said = [];
      for (const answer of [2, 2, 0]) {
        const client = await Client.ask(given.servers, at());
        await client.answer(answer);
        said.push(client.labels[answer]);
      }
      return said;
    """)  # fmt: skip
    assert told == ["blue", "blue", "red"]
    line.servers.check()
    assert line.servers.sums() == [1, 0, 2, 0]
    paths = ("/v1/gather", "/v1/gather/rounds/0/announcement")
    once = sorted(("GET", server + path) for path in paths for server in ADDRESSES)
    post = ("POST", ADDRESSES[0] + "/v1/gather/rounds/0/reports")
    assert sorted(one[:2] for one in line.heard) == sorted([*once, post] * 3)
    assert not {"cookie", "referer"} & {name for one in line.heard for name in one[3]}
    assert len({len(body) for body in line.posted}) == 1, "all answers are equally long"


def test_servers_that_do_not_say_the_same_get_no_answer(world, line):
    mine = announced(Histogram(4), servers=(KEYS[0], SealKey.make()))
    cases = [
        {"/v1/gather/rounds/0/announcement": mine},
        {"/v1/gather": line.told["/v1/gather"].replace(b"red", b"rot")},
    ]
    for line.changed in cases:
        told = asked(world, "return refused(async () => (await Client.ask(given.servers, at())).answer(1));")
        assert "ask different things" in told["words"]
    assert not line.posted


def test_an_answer_that_may_have_arrived_is_sent_again_as_it_is(world, line):
    line.lost = line.busy = 1
    told = asked(world, """
      const client = await Client.ask(given.servers, at());
      const said = [await refused(() => client.again())];
      said.push(await refused(() => client.answer("2")));
      said.push(await refused(() => client.answer(2)));
      said.push(await refused(() => client.answer(3)));
      said.push(await refused(() => client.again()));
      said.push(await refused(() => client.again()));
      return said;
    """)  # fmt: skip
    words = ["Nothing was answered", "nothing was sent", "did not say", "was answered", "did not say"]
    assert all(one["refused"] and word in one["words"] for one, word in zip(told[:-1], words, strict=True))
    assert told[-1] == {"done": None}
    assert len(line.posted) == 3
    assert len(set(line.posted)) == 1
    assert (line.servers.leader.waiting, line.servers.leader.refused) == (1, {"report_replayed": 1})


def test_a_query_is_answered_once(world, line):
    told = asked(world, """
      const both = await Promise.all([0, 1].map(() => Client.ask(given.servers, { ...at(), pin: localStorage })));
      const said = await Promise.all([1, 2].map((answer) => refused(() => both[0].answer(answer))));
      said.push(await refused(() => Client.ask(given.servers, { ...at(), pin: localStorage })));
      return [...said, Object.entries({ ...localStorage })];
    """)  # fmt: skip
    assert sorted(one.get("words", "") for one in told[:2]) == [
        "", "Error: This was answered; `again` sends the same answer again."
    ]  # fmt: skip
    assert "has answered this query" in told[2]["words"]
    assert told[3] == [[f"hubbub-gather-{line.servers.query.digest.hex()}", "answered"]]
    assert len(line.posted) == 1


def test_refusals_of_a_server_are_told(world, line):
    line.servers.leader.state = "closed"
    told = asked(world, "return refused(async () => (await Client.ask(given.servers, at())).answer(1));")
    assert "refuses the answer (query_closed)" in told["words"]


def test_what_is_not_asked(world, line):
    far = "const far = (...servers) => refused(() => Client.ask(servers, at()));"
    told = asked(world, far + """
      const [leader, helper] = given.servers;
      const said = [await far(leader), await far(leader, leader + "/x"), await far(leader, "http://helper.test")];
      said.push(await far("leader.test", helper), await far(leader, "http://127.0.0.1.evil.test"));
      for (const now of [given.now - 6e6, given.now + 6e6, NaN])
        said.push(await refused(() => Client.ask(given.servers, at(now))));
      const client = await Client.read(bytes(given.announcement), { epsilon: 1e9 });
      said.push(await refused(() => client.answer(1)));
      return said;
    """, announcement=line.told["/v1/gather/rounds/0/announcement"].hex())  # fmt: skip
    words = [
        "Two servers",
        "Two servers",
        "https",
        "https",
        "https",
        "asked now",
        "asked now",
        "changed on",
        "no server",
    ]
    for one, word in zip(told, words, strict=True):
        assert one["refused"]
        assert word in one["words"]
    for plan in (b"", b"[]", b"\xff", b"{}", line.told["/v1/gather"].replace(b"600.0", b"0")):
        line.told["/v1/gather"] = plan
        told = asked(world, "return refused(() => Client.ask(given.servers, at()));")
        assert told["refused"]
    assert not line.posted


def test_the_programs_take_what_a_page_sends(world, tmp_path):
    """Real servers in processes of their own; a page of another origin asks them, as `hubbub gather client` does."""
    asked = ["--ask", "histogram:3", "--labels", "red,green,blue", "--clients", "4", "--minimum", "3"]
    with Programs(tmp_path, *asked, "--epsilon", "1600", "--allow-weak") as programs:
        servers = [one.ready().address for one in (programs.leader, programs.helper)]
        # To Chromium the page is from elsewhere, since a test answered for its server; only here are servers loopback.
        world.context.grant_permissions(["local-network-access"])
        given = {"servers": servers, "now": time.time() * 1000}
        told = world.run(ASKING + """
          const said = [];
          for (const answer of [2, 0, 2]) {
            const client = await Client.ask(given.servers, at());
            await client.answer(answer);
            said.push(client.labels[answer]);
            if (said.length === 1) await client.again();
          }
          return said;
        """, given)  # fmt: skip
        assert told == ["blue", "red", "blue"]
        both = ["--leader", servers[0], "--helper", servers[1], "--epsilon", "10000"]
        assert hubbub("client", *both, "green")["sent"] == 1
        result = programs.result()
        assert (result["sums"], result["reports"]) == ([1, 1, 2], 4)
        late = world.run(ASKING + """
          const client = await Client.ask(given.servers, at());
          return refused(() => client.answer(1));
        """, given)  # fmt: skip
        assert late["refused"]
        assert "refuses the answer (query_closed)" in late["words"]


SAMPLE = Path(__file__).parents[2] / "docs" / "samples" / "answer.html"


class Shown:
    """The sample page, for two servers of ours."""

    def __init__(self, chromium, **plan: Any) -> None:
        self.world = World(chromium)
        page = self.page = self.world.page
        self.line = Line(self.world, announced(**plan))
        text = SAMPLE.read_text()
        for example, ours in zip(("https://leader.example", "https://helper.example"), ADDRESSES, strict=True):
            assert text.count(example) == 2
            text = text.replace(example, ours)
        page.route("**/answer.html", lambda route: route.fulfill(body=text, content_type="text/html"))
        page.clock.set_fixed_time(NOW)
        self.complaints: list[str] = []
        page.on("console", lambda said: self.complaints.append(said.text))

    def open(self) -> Shown:
        self.page.goto("http://localhost/answer.html")
        return self

    def says(self, words: str) -> None:
        self.page.get_by_text(words).wait_for()

    def close(self) -> None:
        self.world.context.close()


@pytest.mark.parametrize(("circuit", "choice"), [(Histogram(4), "blue"), (Count(), "Yes")], ids=["four", "yes"])
def test_the_sample_page(chromium, circuit, choice):
    shown = Shown(chromium, circuit=circuit, name="<b>Your colour</b>", epsilon=2)
    for person in range(2):
        shown.open().says("<b>Your colour</b>")
        shown.says(shown.line.servers.query.promise)
        shown.says("the noisy sum of at least 2 answers")
        shown.page.get_by_role("button", name=choice).click()
        shown.says("your answer has arrived")
        if person == 0:
            shown.open().says("has answered this query")
            shown.page.evaluate("localStorage.clear()")  # another person
    shown.line.servers.check()
    assert shown.line.servers.leader.reports == 2
    assert not shown.complaints
    shown.close()


def test_the_sample_page_sends_again_what_may_have_arrived(chromium):
    shown = Shown(chromium, circuit=Histogram(4), epsilon=2).open()
    shown.line.lost = 1
    shown.page.get_by_role("button", name="red").click()
    shown.says("did not say that it has the answer")
    shown.page.get_by_role("button", name="the same answer again").click()
    shown.says("your answer has arrived")
    assert len(set(shown.line.posted)) == 1
    assert shown.line.servers.leader.waiting == 1
    shown.close()


def test_the_sample_page_keeps_its_own_bound_and_its_policy(chromium):
    """Nothing is asked of the person where too little is promised; and a page with this policy can tell no third."""
    shown = Shown(chromium, circuit=Histogram(4), epsilon="2.01").open()
    shown.says("promises an epsilon of 2.01; this client answers up to 2")
    assert shown.page.get_by_role("button").count() == 0
    assert not shown.line.posted
    before = len(shown.world.heard)
    tell = "(address) => fetch(address, { method: 'POST', body: 'x' }).then(() => 'told', () => 'kept')"
    assert shown.page.evaluate(tell, "https://third.invalid/") == "kept"
    assert len(shown.world.heard) == before
    assert shown.page.evaluate(tell, f"{ADDRESSES[0]}/v1/gather") == "told", "the control: the first server hears it"
    shown.close()
