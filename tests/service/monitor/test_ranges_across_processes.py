"""A monitor in one process, `hubbub serve` in another, one PostgreSQL between them: questions reach the chooser."""

import json
import subprocess
import sys
import urllib.error
import urllib.request

from tests.support.patience import PATIENCE, until

from hubbub.store import Store

SETTINGS = """
[stream]
name = "site"
tick = "50ms"
[source]
kind = "counts"
[keys]
names = ["front", "news"]
other = false
[privacy]
protect = "event"
epsilon = 1.0
[method]
name = "lpa"
[ranges]
window = 128
[store]
url = "{url}"
[publish]
port = 0
public = true
"""


class Process:
    """A command that prints its address."""

    def __init__(self, *words):
        self.running = subprocess.Popen(
            [sys.executable, "-m", "hubbub", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for line in self.running.stdout:
            if "http://127.0.0.1:" in line:
                self.address = "http://127.0.0.1:" + line.split("http://127.0.0.1:")[1].split()[0].rstrip('".,')
                return
        raise AssertionError("it never said where it listens")

    def get(self, path):
        with urllib.request.urlopen(self.address + path, timeout=PATIENCE) as answer:
            return json.load(answer)

    def end(self):
        self.running.terminate()
        self.running.communicate(timeout=PATIENCE)
        return self.running.returncode


def send(monitor, token, ticks):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    for tick in ticks:
        body = json.dumps({"tick": tick, "values": {"front": 50, "news": 9}}).encode()
        request = urllib.request.Request(f"{monitor.address}/v1/streams/site/counts", body, headers)
        until(lambda request=request: taken(request), f"tick {tick} is over")


def taken(request):
    """False while the tick is not over."""
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            assert answer.status == 201
            return True
    except urllib.error.HTTPError as refused:
        code = json.load(refused)["error"]["code"]
    assert code == "tick_not_over"
    return False


def test_questions_asked_elsewhere_choose_the_next_tree(tmp_path, postgres_url):
    path = tmp_path / "site.toml"
    path.write_text(SETTINGS.format(url=postgres_url))
    with Store.open(postgres_url) as store:
        token = store.tokens.add("ingest")
        monitor = Process("monitor", str(path), "--quiet")
        send(monitor, token, range(3))
        first = store.state("site.ranges").facts["segments"][-1]
        serve = Process("serve", postgres_url, "--port", "0", "--public")
        try:
            until(lambda: any(s["latest_tick"] == 2 for s in serve.get("/v1/streams")["streams"]), "it is seen")
            answers = [serve.get("/v1/streams/site/range?from=1&to=1&key=news") for _ in range(40)]
            assert {answer["source"] for answer in answers} == {"ranges"}
            assert len({json.dumps(answer) for answer in answers}) == 1, "asking again costs nothing and tells nothing"
            until(lambda: len(store.recent_queries("site")) == 40, "it is seen")
            assert store.recent_queries("site") == [1] * 40
            send(monitor, token, range(3, 131))  # the next segment begins on the way
            facts = store.state("site.ranges").facts
            assert facts["lengths"] == [1] * 40
            assert facts["segments"][-1]["strategy"] != first["strategy"]
            assert facts["segments"][-1]["strategy"]["height"] == 1, (
                "for single ticks there is nothing better than no tree"
            )
            asked = "/v1/streams/site/range?from=10&to=130"
            until(lambda: serve.get(asked)["to"] == 130, "the last tick is there")
            got = serve.get(asked)
            assert (got["source"], got["ticks"], got["missing"]) == ("ranges", 121, 0)
            assert abs(got["sum"]["value"] - 121 * 59) < 8 * got["sum"]["standard_error"]
            budget = serve.get("/v1/streams/site/budget")
            assert (budget["total"], budget["spent"]) == ("1", "1")
            here = monitor.get("/v1/streams/site/range?from=10&to=130")
            assert here["sum"] == got["sum"], "any two servers give the same answer"
        finally:
            serve.end()
            ended = monitor.end()
        assert ended == 0
        assert store.verify("site").ok
        assert store.verify("site.ranges").ok
