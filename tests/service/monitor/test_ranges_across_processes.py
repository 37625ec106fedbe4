"""A monitor in one process, `hubbub serve` in another, one PostgreSQL between them: questions reach the chooser."""

import json
import subprocess
import sys
import time
import urllib.request

from hubbub.store import Store

SETTINGS = """
[stream]
name = "site"
tick = "1s"
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
        with urllib.request.urlopen(self.address + path, timeout=20) as answer:
            return json.load(answer)

    def end(self):
        self.running.terminate()
        self.running.communicate(timeout=30)
        return self.running.returncode


def send(monitor, token, count):
    for _ in range(count):
        body = json.dumps({"values": {"front": 50, "news": 9}}).encode()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{monitor.address}/v1/streams/site/counts", body, headers)
        with urllib.request.urlopen(request, timeout=20) as answer:
            assert answer.status == 201


def test_questions_asked_elsewhere_choose_the_next_tree(tmp_path, postgres_url):
    path = tmp_path / "site.toml"
    path.write_text(SETTINGS.format(url=postgres_url))
    with Store.open(postgres_url) as store:
        token = store.tokens.add("ingest")
        monitor = Process("monitor", str(path), "--quiet")
        send(monitor, token, 3)
        first = store.state("site.ranges").facts["segments"][-1]
        serve = Process("serve", postgres_url, "--port", "0", "--public")
        try:
            for _ in range(100):
                if any(s["latest_tick"] == 2 for s in serve.get("/v1/streams")["streams"]):
                    break
                time.sleep(0.1)
            answers = [serve.get("/v1/streams/site/range?from=1&to=1&key=news") for _ in range(40)]
            assert {answer["source"] for answer in answers} == {"ranges"}
            assert len({json.dumps(answer) for answer in answers}) == 1, "asking again costs nothing and tells nothing"
            for _ in range(100):
                if len(store.recent_queries("site")) == 40:
                    break
                time.sleep(0.1)
            assert store.recent_queries("site") == [1] * 40
            send(monitor, token, 128)  # the next segment begins on the way
            facts = store.state("site.ranges").facts
            assert facts["lengths"] == [1] * 40
            assert facts["segments"][-1]["strategy"] != first["strategy"]
            assert facts["segments"][-1]["strategy"]["height"] == 1, (
                "for single ticks there is nothing better than no tree"
            )
            for _ in range(100):
                got = serve.get("/v1/streams/site/range?from=10&to=130")
                if got["to"] == 130:
                    break
                time.sleep(0.1)
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
