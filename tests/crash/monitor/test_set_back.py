"""A store that was set back to a backup, with the whole monitor: refused with the way out, mended, gone on with."""

import os
import random
import sqlite3
import subprocess
import sys

import pytest
from tests.support.growing_log import GrowingLog
from tests.support.monitor_process import MonitorProcess
from tests.support.patience import until
from tests.support.small_site import log_source, write_settings
from tests.support.truth import Truth

from hubbub.store import Store


class Site:
    """A log that grows, and a monitor on a SQLite store."""

    def __init__(self, folder):
        self.folder, self.store, self.state = folder, folder / "site.db", folder / "state"
        self.log = GrowingLog(folder / "access.log", Truth(), "secret", random.Random(1), ())
        self.settings = write_settings(folder / "site.toml", str(self.store), log_source(folder / "access.log"))

    def monitor(self, *words):
        return MonitorProcess(self.settings, self.state, *words)

    def ticks(self):
        with Store.open(self.store, read_only=True, marks=self.state) as store:
            return [] if store.find("site") is None else list(store.releases("site"))

    def hubbub(self, *words):
        environment = os.environ | {"HUBBUB_STATE": str(self.state)}
        command = [sys.executable, "-m", "hubbub", *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, timeout=180, env=environment, check=False)


@pytest.fixture
def site(tmp_path):
    made = Site(tmp_path)
    made.log.start()
    yield made
    made.log.stop()


def backup(source, target):
    """With the database's own tool, while it runs."""
    with sqlite3.connect(source) as old, sqlite3.connect(target) as new:
        old.backup(new)
    old.close()
    new.close()


def test_a_restored_backup_releases_nothing_again(site):
    copy = site.folder / "copy.db"
    with site.monitor() as monitor:
        monitor.ready()
        until(lambda: len(site.ticks()) >= 2, "two ticks")
        backup(site.store, copy)
        known = len(site.ticks())
        until(lambda: len(site.ticks()) >= known + 3, "three more")
        monitor.kill()
    published = site.ticks()
    for ending in ("-wal", "-shm"):
        site.store.with_name(site.store.name + ending).unlink(missing_ok=True)
    copy.replace(site.store)
    held = len(site.ticks())
    assert held < len(published)

    for _ in range(2):
        with site.monitor() as monitor:
            assert monitor.ends() == 1
            told = " ".join(monitor.said)
            assert "ledger mend" in told
            assert "released" not in told
        assert len(site.ticks()) == held, "nothing came out"

    mended = site.hubbub("ledger", "mend", site.store, "site")
    assert mended.returncode == 0, mended.stderr
    assert "booked as lost" in mended.stdout
    with site.monitor() as monitor:
        monitor.ready()
        until(lambda: len([r for r in site.ticks()[len(published) :] if not r.is_predicted]) >= 2, "it goes on")
        assert monitor.stop() == 0
    after = site.ticks()
    assert [r.tick.index for r in after] == list(range(len(after)))
    forgotten = after[held : len(published)]
    assert all(r.is_predicted for r in forgotten), "none is drawn a second time"
    with Store.open(site.store, marks=site.state) as store:
        found = store.verify("site")
        assert found.ok, found.faults
        states = {debit.tick: debit.state for debit in store.debits("site")}
    assert {states[r.tick.index] for r in forgotten} == {"lost"}


CHANGED = {
    "tick": ({"tick": "2s"}, "tick"),
    "lateness": ({"lateness": "3s"}, "lateness"),
    "stay": ({"collect": "stay = false"}, "stay"),
    "identify": ({"collect": 'stay = "2s"\nidentify = ["person", "agent"]'}, "identify"),
    "bots": ({"collect": 'stay = "2s"\nbots = true'}, "filters"),
    "routes": ({"keys": 'routes = { "/a" = "/b", "/b" = "/a" }'}, "routes"),
    "keys": ({"keys": 'names = ["/a", "/c"]'}, "keys"),
    "max_ticks": ({"privacy": 'protect = "session"\nmax_ticks = 9\ntimeout = "5s"'}, "max_ticks"),
    "timeout": ({"privacy": 'protect = "session"\nmax_ticks = 2\ntimeout = "50s"'}, "timeout"),
}


def test_other_settings_than_the_stream_was_made_with_are_refused_by_name(tmp_path):
    site = Site(tmp_path)
    usual = {"privacy": 'protect = "session"\nmax_ticks = 2\ntimeout = "5s"', "collect": 'stay = "2s"'}
    source = log_source(tmp_path / "access.log")
    write_settings(site.settings, str(site.store), source, **usual)
    site.log.start()
    try:
        with site.monitor() as monitor:
            monitor.ready()
            until(lambda: len(site.ticks()) >= 1, "a tick")
            monitor.kill()
        before = len(site.ticks())
        for name, (changes, word) in CHANGED.items():
            write_settings(site.settings, str(site.store), source, **usual | changes)
            with site.monitor() as monitor:
                assert monitor.ends() not in (0, -9), name
                told = " ".join(monitor.said)
            assert word in told, (name, told)
            assert "another name" in told or "new stream" in told, (name, told)
            assert len(site.ticks()) == before, name
        write_settings(site.settings, str(site.store), source, **usual)
        with site.monitor() as monitor:
            monitor.ready()
            until(lambda: len(site.ticks()) > before, "with the old settings it goes on")
            assert monitor.stop() == 0
    finally:
        site.log.stop()
