"""Whatever stops a pipeline is kept, said, shown by /healthz at once, and ends the process with a code above 0."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from tests.support.broken_monitor import FAULTS, SECRET, Broken
from tests.support.patience import PATIENCE, until

from hubbub.errors import InvalidParameter, LedgerBroken, UnknownStream
from hubbub.monitor import running as module
from hubbub.monitor.running import PipelineStopped, Running
from hubbub.monitor.settings import MonitorSettings
from hubbub.monitor.toml import read_toml
from hubbub.store import Store

ROOT = Path(__file__).parents[3]
SETTINGS = """
[stream]
name = "site"
tick = "{tick}"
[source]
kind = "counts"
[keys]
names = ["/a", "/b"]
other = false
[privacy]
epsilon = 1.0
[store]
url = "{folder}/site.db"
[publish]
port = 0
public = true
poll_seconds = 0.05
"""


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "site.toml"
    made.write_text(SETTINGS.format(folder=tmp_path, tick="10s"))
    with Store.open(tmp_path / "site.db"):
        pass
    return made


@pytest.fixture
def pipeline(monkeypatch):
    """Have this pipeline run instead of the real one."""

    def put(act):
        made = Broken(act)
        monkeypatch.setattr(module, "open_pipeline", lambda *given, **more: (made, None))  # noqa: ARG005
        return made

    return put


def settings(path) -> MonitorSettings:
    return read_toml(path, MonitorSettings)


def health(running):
    answer = httpx.get(f"{running.address}/healthz", timeout=60)
    return answer.status_code, answer.json()


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_any_failure_is_kept_said_shown_and_raised(path, pipeline, fault):
    go, lines = threading.Event(), []

    def act(own):
        go.wait(60)
        raise fault

    pipeline(act)
    with (  # noqa: PT012
        pytest.raises((PipelineStopped, LedgerBroken)) as stopped,
        Running(settings(path), serve=True, say=lines.append) as running,
    ):
        assert health(running)[0] == 200
        assert not running.finished
        go.set()
        until(lambda: running.finished, "the failure is noticed")
        status, said = health(running)
        assert (status, said["status"], said["pipeline"]) == (503, "degraded", "stopped")
        assert SECRET not in repr(said)
    assert stopped.value.exit_code != 0
    assert SECRET not in str(stopped.value) + "".join(lines)
    if not isinstance(fault, LedgerBroken):
        assert f"{type(fault).__name__} at test_running.py:" in stopped.value.message
    assert any("stopping" in line for line in lines)


@pytest.mark.parametrize("name", [name for name in FAULTS if name != "LedgerBroken"])
def test_the_command_ends_with_a_code_that_is_not_zero(path, name):
    command = [sys.executable, "-m", "tests.support.broken_monitor", name, str(path)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert ended.returncode == 1, ended.stderr
    assert f"{name} at broken_monitor.py" in ended.stderr
    assert SECRET not in ended.stderr + ended.stdout


@pytest.fixture
def now(monkeypatch):
    """What the clock of the module shows: it stands still, however long a busy machine takes."""
    shown = time.monotonic()
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: shown))
    return shown


def test_a_pipeline_that_does_not_turn_is_stuck(path, pipeline, now):
    made = pipeline(lambda own: own.stop.wait(600))
    with Running(settings(path), serve=True, say=lambda _: None) as running:
        made.beat = now - 29
        assert health(running)[0] == 200
        made.beat = now - 31
        status, said = health(running)
        assert (status, said["pipeline"]) == (503, "stuck")
        assert said["seconds_since_beat"] == 31
        assert said["seconds_since_tick"] is None
        made.beat = now
        made.trouble = "The log is not there."
        assert health(running)[1]["pipeline"] == "waiting"


def test_a_clock_that_is_far_behind_releases_nothing(path, pipeline, now):
    made = pipeline(lambda own: own.stop.wait(600))
    with Running(settings(path), serve=True, say=lambda _: None) as running:
        made.beat = now
        made.clock_behind = timedelta(seconds=30)
        assert health(running)[0] == 200
        made.clock_behind = timedelta(seconds=31)
        assert (health(running)[0], health(running)[1]["pipeline"]) == (503, "stuck")


def test_long_ticks_have_more_patience(path, pipeline, tmp_path, now):
    path.write_text(SETTINGS.format(folder=tmp_path, tick="1min"))
    made = pipeline(lambda own: own.stop.wait(600))
    with Running(settings(path), serve=False, say=lambda _: None) as running:
        made.beat = now - 170
        assert running.pulse().state == "ok"
        made.beat = now - 181
        assert running.pulse().state == "stuck"


def test_a_source_that_is_over_is_no_failure(path, pipeline):
    pipeline(lambda _: None)
    with Running(settings(path), serve=True, say=lambda _: None) as running:
        until(lambda: running.pulse().state == "over", "the source is over")
        assert health(running)[0] == 200
        assert not running.finished, "what there is goes on being served"
    with Running(settings(path), serve=False, say=lambda _: None) as running:
        until(lambda: running.finished, "and without a server the work is done")


def test_a_server_that_stops_by_itself_ends_it_too(path, pipeline):
    pipeline(lambda own: own.stop.wait(600))
    with (  # noqa: PT012
        pytest.raises(PipelineStopped, match="server stopped"),
        Running(settings(path), serve=True, say=lambda _: None) as running,
    ):
        running._serving._server.should_exit = True
        until(lambda: running.finished, "it is noticed")


def test_a_pipeline_that_does_not_stop_is_left_behind(path, pipeline):
    never = threading.Event()
    pipeline(lambda _: never.wait(600))
    with (
        pytest.raises(PipelineStopped, match="did not stop within"),
        Running(settings(path), serve=False, say=lambda _: None, stop_seconds=0.1),
    ):
        pass
    never.set()


def test_what_was_opened_is_closed_where_the_server_cannot_start(path, pipeline, monkeypatch):
    made = pipeline(lambda _: None)

    def refuse(app, how):
        raise OSError("no port")

    monkeypatch.setattr(module, "Serving", refuse)
    with pytest.raises(OSError, match="no port"), Running(settings(path), serve=True, say=lambda _: None):
        pass
    assert made.closed


def test_a_port_that_is_taken_names_the_setting(path, pipeline):
    """The monitor has no option --port: the hint must not send people to one."""
    pipeline(lambda _: None)
    with socket.create_server(("127.0.0.1", 0)) as other:
        path.write_text(path.read_text().replace("port = 0", f"port = {other.getsockname()[1]}"))
        with (
            pytest.raises(InvalidParameter, match="Cannot listen") as refused,
            Running(settings(path), serve=True, say=lambda _: None),
        ):
            pass
    assert refused.value.hint == "Set another `port` in the table [publish], or stop who holds it."


def test_passwords_are_masked_in_what_is_said(path, monkeypatch):
    lines = []

    def opened(settings, store, *, on_release, say):
        say("waiting: postgresql://ann:s3cret@db/site?password=s3cret does not answer")
        return Broken(lambda own: own.stop.wait(600)), None

    monkeypatch.setattr(module, "open_pipeline", opened)
    with Running(settings(path), serve=False, say=lines.append):
        pass
    assert lines == ["waiting: postgresql://***@db/site?password=*** does not answer"]


def test_counts_go_through_the_whole_house_and_a_retry_is_answered(tmp_path):
    """The real thing: settings, pipeline, server, token; ticks of a tenth of a second so that some are over soon."""
    path = tmp_path / "site.toml"
    path.write_text(SETTINGS.format(folder=tmp_path, tick="100ms"))
    with Store.open(tmp_path / "site.db") as store:
        token = store.tokens.add("ingest")
    body = {"values": {"/a": 12, "/b": 3}}
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "one"}

    def send(running, **more):
        return httpx.post(
            f"{running.address}/v1/streams/site/counts", json=body | more, headers=headers, timeout=60
        )  # fmt: skip

    with Running(settings(path), serve=True, say=lambda _: None) as running:
        until(lambda: send(running).status_code < 300, "the first tick is over")
        first = send(running)
        assert first.status_code == 200
        answer = httpx.get(f"{running.address}/v1/streams/site/status", timeout=60)
        assert answer.status_code == 401
        assert health(running)[1]["pipeline"] == "ok"
        with pytest.raises(UnknownStream):
            running.status("other")
        assert running.status("site")["ticks_settled"] == 1
        headers["Idempotency-Key"] = "two"
        far = send(running, tick=10**9)
        assert (far.status_code, far.json()["error"]["code"]) == (422, "tick_not_over")
        assert "the newest that can be sent is" in far.json()["error"]["message"]
        headers["Idempotency-Key"] = "one"
        assert send(running, tick=10**9).json()["error"]["code"] == "key_reused"
    with Running(settings(path), serve=True, say=lambda _: None) as running:
        again = send(running)
        assert (again.status_code, again.json()) == (200, first.json())
        assert running.status("site")["ticks_settled"] == 1
