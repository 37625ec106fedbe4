"""What /healthz and the terminal tell of a monitor that cannot release or take anything: the real thing, made to fail.

As it was: a full disk, a deleted spool and a log that is not there were all answered with 200 and `store: ok`.
"""

from __future__ import annotations

import errno
import os
import shutil
import threading
import time

import httpx
import pytest
from tests.support.patience import until
from tests.support.small_site import write_settings
from tests.support.spools import body

from hubbub.collect.cutter import EVENTS_REFUSED
from hubbub.errors import StoreUnavailable
from hubbub.monitor.pipeline import STORE_AWAY
from hubbub.monitor.running import Running
from hubbub.monitor.settings import MonitorSettings
from hubbub.monitor.spool import calls
from hubbub.monitor.spool.spool import CANNOT_WRITE, FULL, GONE
from hubbub.monitor.toml import read_toml
from hubbub.store import Store

EVENTS = "/v1/streams/site/events"


class Stage:
    """A monitor that listens on HTTP, or follows a log; ticks of a fifth of a second."""

    def __init__(self, folder, kind="http"):
        self.folder, self.spool, self.log, self.said = folder, folder / "hidden-spool", folder / "access.log", []
        sources = {
            "http": f'kind = "http"\nspool = "{self.spool}"',
            "log": f'kind = "log"\npath = "{self.log}"',
            "counts": 'kind = "counts"',
        }
        path = write_settings(
            folder / "site.toml", f"{folder}/hidden.db", sources[kind], tick="200ms", lateness="100ms"
        )
        with Store.open(folder / "hidden.db") as store:
            self.token = store.tokens.add("ingest")
        self.settings = read_toml(path, MonitorSettings)

    def running(self):
        return Running(self.settings, serve=True, say=self.said.append)

    def send(self, running, path="/a", key=None, where=EVENTS):
        named = {} if key is None else {"Idempotency-Key": key}
        return httpx.post(
            running.address + where, content=body(path), timeout=60,
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/x-ndjson", **named},
        )  # fmt: skip


def health(running):
    answer = httpx.get(f"{running.address}/healthz", timeout=60)
    assert "hidden" not in answer.text
    assert "/" not in answer.text
    return answer.status_code, answer.json()


def becomes(running, code, /, **facts):
    until(
        lambda: (now := health(running))[0] == code and now[1].items() >= facts.items(),
        f"health is {code} with {facts}",
    )


WELL = {"status": "ok", "store": "ok", "pipeline": "ok", "source": "ok", "trouble": None}


def test_a_spool_that_was_deleted(tmp_path):
    stage = Stage(tmp_path)
    with stage.running() as running:
        assert stage.send(running).status_code == 202
        becomes(running, 200, **WELL)
        shutil.rmtree(stage.spool)
        # Nobody need send anything for it to be noticed.
        becomes(running, 503, status="degraded", store="ok", source="no_writes", trouble=GONE)
        refused = stage.send(running)
        assert refused.status_code == 503
        assert refused.json()["error"]["code"] == "events_not_kept"
        assert "nothing of this batch was taken" in refused.json()["error"]["message"]
        until(lambda: f"trouble: {GONE}" in stage.said, "the terminal says so")
    assert sum(GONE in line for line in stage.said) == 1
    with stage.running() as running:
        assert stage.send(running).status_code == 202, "the way out is to start it again"


@pytest.mark.parametrize(
    ("also", "code", "words"),
    [
        ((), "events_not_kept", "nothing of this batch was taken"),
        (("truncate", "open_file"), "events_in_doubt", "whether this batch was taken is not known"),
    ],
)
def test_a_full_disk_under_the_spool(tmp_path, monkeypatch, caplog, also, code, words):
    """The sender is told what became of the batch, the owner why; and it is over without anybody sending."""
    stage = Stage(tmp_path)

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/hidden/path")

    with stage.running() as running:
        assert stage.send(running).status_code == 202
        with monkeypatch.context() as disk:
            for call in ("write", *also):
                disk.setattr(calls, call, full)
            for _ in range(20):
                refused = stage.send(running, "/b", "one")
                assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
                assert refused.json()["error"]["code"] == code
                assert words in refused.json()["error"]["message"]
                assert "same Idempotency-Key" in refused.json()["error"]["hint"]
                assert "space" not in refused.text
            becomes(running, 503, source="no_writes", trouble=CANNOT_WRITE)
            # What nobody could send is not published as a zero.
            until(lambda: any(EVENTS_REFUSED in line for line in stage.said), "a tick is predicted")
            becomes(running, 503, source="no_writes", trouble=CANNOT_WRITE)
        reasons = [line.getMessage() for line in caplog.records if code in line.getMessage()]
        assert len(reasons) == 1, "once a minute, whichever way the batches came"
        assert "No space left on device" in reasons[0]
        assert "hidden" not in caplog.text
        becomes(running, 200, **WELL)
        assert stage.send(running, "/b", "one").status_code == 202


def test_a_key_with_another_body_has_an_error_of_its_own(tmp_path):
    stage = Stage(tmp_path)
    with stage.running() as running:
        assert stage.send(running, "/a", "one").status_code == 202
        for _ in range(2):  # the long way, and the short one
            refused = stage.send(running, "/b", "one")
            assert (refused.status_code, refused.json()["error"]["code"]) == (422, "key_reused")
            assert "same to the last byte" in refused.json()["error"]["hint"]


def test_a_spool_that_is_full_until_there_is_room(tmp_path):
    stage = Stage(tmp_path)
    with stage.running() as running:
        assert stage.send(running).status_code == 202
        spool = running._spool
        room, spool._max_bytes = spool._max_bytes, spool._log.size
        assert stage.send(running).status_code == 429
        becomes(running, 503, source="no_writes", trouble=FULL)
        spool._max_bytes = room
        becomes(running, 200, **WELL)


def test_a_store_that_takes_no_writes(tmp_path, monkeypatch):
    stage = Stage(tmp_path)

    def full(*_):
        raise StoreUnavailable("The disk of hidden.db is full.")

    monkeypatch.setattr("hubbub.monitor.pipeline.SAY_AGAIN", 3600.0)
    with stage.running() as running:
        becomes(running, 200, **WELL)
        with monkeypatch.context() as disk:
            disk.setattr(Store, "keep_cut", full)
            becomes(running, 503, status="degraded", store="no_writes", pipeline="waiting", trouble=STORE_AWAY)
            time.sleep(1)  # several tries: 0.2, 0.4, 0.8 s
        becomes(running, 200, **WELL)
    assert sum("is full" in line for line in stage.said) == 1, "said once, and after a minute again"
    assert not any(STORE_AWAY in line for line in stage.said), "the reason was said already"


def test_counts_that_could_not_be_stored(tmp_path, monkeypatch):
    stage = Stage(tmp_path, "counts")

    def full(*_):
        raise StoreUnavailable("The disk of hidden.db is full.")

    def send(running):
        return httpx.post(
            f"{running.address}/v1/streams/site/counts", json={"values": {"/a": 1, "/b": 2}}, timeout=60,
            headers={"Authorization": f"Bearer {stage.token}", "Idempotency-Key": "one"},
        )  # fmt: skip

    with stage.running() as running:
        until(lambda: send(running).status_code < 300, "the first tick is over")
        becomes(running, 200, **WELL)
        with monkeypatch.context() as disk:
            disk.setattr(Store, "answer", full)
            assert send(running).status_code == 503
        becomes(running, 503, store="no_writes", trouble=STORE_AWAY)
        assert send(running).status_code == 200
        becomes(running, 200, **WELL)


def test_a_log_that_is_not_there(tmp_path):
    stage = Stage(tmp_path, "log")
    stage.log.touch()
    with stage.running() as running:
        becomes(running, 200, **WELL)
        stage.log.unlink()
        becomes(running, 503, status="degraded", store="ok", source="away", pipeline="waiting")
        assert health(running)[1]["trouble"] == "The log is not there."
        until(lambda: "trouble: The log is not there." in stage.said, "the terminal says so")
        stage.log.touch()
        becomes(running, 200, **WELL)
        until(lambda: "trouble is over" in stage.said, "and that it is over")


def test_what_is_only_slow_is_told_and_is_no_failure(tmp_path):
    stage = Stage(tmp_path)
    with stage.running() as running:
        running._spool._troubles["delete"] = "Settled events cannot be deleted from the spool."
        status, said = health(running)
        assert (status, said["status"], said["source"]) == (200, "degraded", "ok")
        running._spool._troubles["delete"], running._spool._troubles["read"] = "", "The spool cannot be read."
        held = threading.Event()
        running._spool.poll = lambda _: held.wait(60)  # so that nobody reads it meanwhile
        assert running.pulse().source == "away"
        held.set()
        del running._spool.poll
