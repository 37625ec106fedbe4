"""A site whose keys nobody listed: a log, a store and a clock set by hand.

A weak epsilon makes noise vanish and thresholds low, so that counts can be read off the releases.
"""

import json
from datetime import UTC, datetime, timedelta

from hubbub.monitor.assembly import open_pipeline
from hubbub.monitor.settings import MonitorSettings
from hubbub.store import Store

START = datetime(2026, 1, 1, 10, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


class FoundSite:
    """A log, a store and a clock that outlive the pipelines that run on them."""

    def __init__(self, folder, *, http=False, **keys):
        self.now, self.said, self.released, self.log = START, [], [], folder / "access.jsonl"
        self.log.write_text('{"time": "2025-12-31T00:00:00+00:00", "person": "x", "path": "/"}\n')
        self.store = Store.open(folder / "site.db", marks=folder / "marks")
        self.keys = {"discover": "10m", "max_items": 2, "keep": 2, **keys}
        self.privacy = {
            "protect": "session", "epsilon": 3000, "delta": 1e-3, "max_ticks": 3, "timeout": "5m", "allow_weak": True,
        }  # fmt: skip
        self.method = {"name": "lpa"}
        self.pipeline = self.spool = None
        self.source = {"kind": "log", "format": "json", "path": self.log}
        if http:
            self.source = {"kind": "http", "spool": folder / "spool"}

    def settings(self):
        return MonitorSettings.model_validate(
            {
                "stream": {"name": "site", "tick": "1m"},
                "source": self.source,
                "keys": self.keys,
                "privacy": self.privacy,
                "collect": {"lateness": "1s", "stay": False},
                "method": self.method,
                "store": {"url": str(self.log.parent / "site.db")},
            }
        )

    def open(self):
        self.pipeline, self.spool = open_pipeline(
            self.settings(), self.store, clock=lambda: self.now, on_release=self.released.append, say=self.said.append
        )
        return self

    def close(self):
        if self.pipeline is not None:
            self.pipeline.close()
        self.pipeline = None

    def die(self):
        """Without a word: what was reserved is left as it is."""
        self.pipeline._source.close()
        self.pipeline = None

    def visit(self, path, people, name="p", ago=0):
        time = (self.now - timedelta(seconds=ago)).isoformat()
        lines = [json.dumps({"time": time, "person": f"{name}{i}", "path": path}) + "\n" for i in range(people)]
        if self.spool is not None:
            self.spool.push("site", "".join(lines).encode())
            return
        with self.log.open("a") as log:
            log.writelines(lines)

    def minutes(self, count=1):
        for _ in range(count):
            self.now += MINUTE
            self.pipeline.catch_up()
        self.now += timedelta(seconds=2)
        self.pipeline.catch_up()
        self.now -= timedelta(seconds=2)

    def counts(self, first=0):
        return [
            None if one.measurements is None else dict(zip(one.keys.names, one.measurements.tolist(), strict=True))
            for one in self.store.releases("site", first=first)
        ]

    def lists(self):
        return [None if one.is_predicted else one.keys.names[:-1] for one in self.store.releases("site.keys")]


def busy(site, *, minutes=10, name="p", pages=("/", "/news")):
    """Every minute, thirty sessions of their own on each page, and one on a page that nobody else sees."""
    for minute in range(minutes):
        for page in pages:
            site.visit(page, 30, f"{name}{minute}{page}", ago=-20)
        site.visit(f"/secret/{name}{minute}", 1, f"{name}{minute}s", ago=-20)
        site.minutes()
