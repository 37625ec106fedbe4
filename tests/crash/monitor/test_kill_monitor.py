"""kill -9 of the whole monitor in mid-stream: what was acknowledged is counted once, nothing is spent twice.

A weak epsilon makes noise vanish (a scale of 1/500), so that the measurements are the counts.
"""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from datetime import UTC, datetime

import pytest

from hubbub.store import Store

KILLS = 3
SETTINGS = """
[stream]
name = "site"
tick = "500ms"
[source]
kind = "http"
spool = "{folder}/spool"
[keys]
names = ["/a", "/b"]
other = false
[privacy]
protect = "session"
max_ticks = 2
timeout = "5s"
epsilon = 1000.0
allow_weak = true
[collect]
lateness = "1s"
stay = false
[method]
name = "lpa"
[ranges]
window = 200
method = "none"
[store]
url = "{folder}/site.db"
[publish]
port = 0
public = true
"""


class Running:
    """A monitor in a process of its own."""

    def __init__(self, path):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hubbub", "monitor", str(path), "--quiet"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        for line in self.process.stdout:
            if line.startswith("The dashboard: http://"):
                self.host, port = line.split("//")[1].strip().split(":")
                self.port = int(port)
                return
        raise AssertionError(self.process.stderr.read())

    def send(self, token, body, key):
        """True if the batch was acknowledged."""
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/x-ndjson", "Idempotency-Key": key}
        try:
            connection = http.client.HTTPConnection(self.host, self.port, timeout=10)
            connection.request("POST", "/v1/streams/site/events", body, headers)
            return connection.getresponse().status == 202
        except OSError:
            return False
        finally:
            connection.close()

    def end(self, number):
        os.kill(self.process.pid, number)
        code = self.process.wait(timeout=60)
        said = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return code, said


@pytest.fixture
def settings(tmp_path):
    path = tmp_path / "site.toml"
    path.write_text(SETTINGS.format(folder=tmp_path))
    with Store.open(tmp_path / "site.db") as store:
        token = store.tokens.add("ingest")
    return path, token


def test_kill_nine_in_mid_stream(settings, tmp_path):
    path, token = settings
    sure, unsure = {}, {}
    for round_ in range(KILLS + 1):
        running = Running(path)
        ends = time.monotonic() + 2.5
        while time.monotonic() < ends:
            key, now = str(uuid.uuid4()), datetime.now(UTC)
            body = json.dumps({"time": now.isoformat(), "session": key, "key": "/a"}).encode()
            (sure if running.send(token, body, key) else unsure)[key] = now
            time.sleep(0.01)
        if round_ < KILLS:
            running.end(signal.SIGKILL)
    time.sleep(2.5)  # the last ticks become final
    assert running.end(signal.SIGTERM) == (0, "")

    with Store.open(tmp_path / "site.db") as store:
        found = store.verify("site")
        assert found.ok, found.faults
        releases = list(store.releases("site"))
        lost = found.lost
        beside = store.verify("site.ranges")
        assert beside.ok, beside.faults
        again = {r.tick.index: r for r in store.releases("site.ranges")}
    assert [r.tick.index for r in releases] == list(range(len(releases))), "no tick twice, none left out"
    measured = [r for r in releases if not r.is_predicted]
    assert len(releases) - len(measured) == lost
    assert len(again) >= len(releases) - KILLS, "a kill costs ranges at most the tick in hand"
    for release in measured:
        other = again.get(release.tick.index)
        if other is not None and not other.is_predicted:
            assert other.measurements.tolist() == release.measurements.tolist(), "both streams saw the same counts"
    counted = sum(int(r.measurements[0]) for r in measured)
    assert sum(int(r.measurements[1]) for r in measured) == 0

    spans = [(r.tick.start, r.tick.start + r.tick.length) for r in measured]
    expected = sum(any(start <= at < end for start, end in spans) for at in sure.values())
    assert expected > 100, "too little was sent to tell anything"
    assert expected <= counted <= expected + len(unsure)
    print(f"\n{KILLS} kills: {len(sure)} acknowledged, {lost} ticks lost, {counted} of {expected} counted")


def test_a_taken_port_and_a_broken_file_start_nothing(settings, tmp_path):
    path, _ = settings
    with Store.open(tmp_path / "site.db"):
        pass
    running = Running(path)
    try:
        other = tmp_path / "other.toml"
        other.write_text(path.read_text().replace("port = 0", f"port = {running.port}").replace("site.db", "other.db"))
        done = subprocess.run(
            [sys.executable, "-m", "hubbub", "monitor", str(other)], capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 2
        assert "Cannot listen" in done.stderr
    finally:
        assert running.end(signal.SIGTERM)[0] == 0
