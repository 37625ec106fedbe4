"""Two of everything: real monitors on one PostgreSQL, of which one is killed.

A weak epsilon makes noise vanish, so that measurements are counts.
"""

import json
import random
import threading
import time
from collections import Counter
from datetime import UTC, datetime

import pytest
from tests.support.growing_log import GrowingLog
from tests.support.monitor_process import MonitorProcess
from tests.support.patience import until
from tests.support.reckoning import reckon
from tests.support.small_site import log_source, write_settings
from tests.support.truth import Truth
from tests.support.viewer import Viewer

from hubbub.confidential.cut import PAST_LOST
from hubbub.store import Store


class NatsTraffic:
    """Publishes a few events at a time, without an end."""

    def __init__(self, server, truth):
        self._server, self._truth = server, truth
        self._stop, self.error = threading.Event(), None
        self._thread = threading.Thread(target=self._run)
        server.publish()

    def start(self):
        self._thread.start()

    def stop(self):
        self._stop.set()
        self._thread.join()
        if self.error is not None:
            raise self.error

    def _run(self):
        try:
            self._server.ask(self._send)
        except BaseException as error:
            self.error = error

    async def _send(self, jetstream):
        dice = random.Random(7)
        while not self._stop.is_set():
            key, second = dice.choice(["/a", "/b"]), int(time.time())
            moment = datetime.fromtimestamp(second, UTC).isoformat()
            body = json.dumps({"time": moment, "session": str(dice.random()), "path": key}).encode()
            await jetstream.publish("visits.site", body)
            self._truth.note([(second, key)], time.time())
            time.sleep(dice.uniform(0, 0.05))


def released(url, state):
    with Store.open(url, read_only=True, marks=state) as store:
        return [] if store.find("site") is None else list(store.releases("site"))


def until_ticks(url, state, count):
    until(lambda: len(released(url, state)) >= count, f"{count} ticks")


def roles(first, second):
    """The one at work and the one that stands by. That is the second, unless the machine is so busy that the first
    one's cut comes more than a second late."""

    def standing():
        return next((one for one in (second, first) if any("standing by" in line for line in list(one.said))), None)

    until(lambda: standing() or not (first.running and second.running), "one of them stands by")
    assert standing(), "\n".join([*first.said, *second.said])
    return (first, second) if standing() is second else (second, first)


def told(found):
    return f"{found.row()} {found.faults}"


def test_one_broker_and_one_takes_over_without_a_gap(tmp_path, nats_server, postgres_url):
    truth = Truth()
    traffic = NatsTraffic(nats_server, truth)
    source = f'kind = "nats"\nservers = ["{nats_server.url}"]\nstream = "visits"'
    settings = write_settings(tmp_path / "site.toml", postgres_url, source)
    states = tmp_path / "one", tmp_path / "two"  # two machines
    viewer = Viewer(lambda: next((m.address for m in (second, first) if m.running), None), "nothing is planted")
    traffic.start()
    with MonitorProcess(settings, states[0]) as first:
        first.ready()
        until_ticks(postgres_url, states[0], 2)
        with MonitorProcess(settings, states[1]) as second:
            second.ready()
            viewer.start()
            at_work, standing = roles(first, second)
            until_ticks(postgres_url, states[0], len(released(postgres_url, states[0])) + 3)
            at_work.kill()
            killed_at = len(released(postgres_url, states[1]))
            standing.says("taking over")
            until_ticks(postgres_url, states[1], killed_at + 12)
            traffic.stop()
            until(lambda: (viewer.newest() or 0) >= truth.newest, "all ticks are out")
            viewer.stop()
            assert standing.stop() == 0
    with Store.open(postgres_url, marks=states[1]) as store:
        found = reckon(store, truth, viewer, [*first.said, *second.said], 1)
    print("\n" + told(found))
    assert not found.faults, found.faults
    assert found.twice == 0
    assert found.lost <= 1, "the tick in hand"
    assert set(found.predicted) <= {"it began before the monitor did"}, told(found)
    assert found.measured >= 12


def test_a_log_each_and_no_zeros_after_the_change(tmp_path, postgres_url):
    states, logs, files = [tmp_path / "one", tmp_path / "two"], [], []
    truths = Truth(), Truth()
    for number, truth in enumerate(truths):
        folder = tmp_path / f"machine-{number}"
        folder.mkdir()
        logs.append(GrowingLog(folder / "access.log", truth, "secret", random.Random(number), ()))
        files.append(write_settings(folder / "site.toml", postgres_url, log_source(folder / "access.log")))
    for log in logs:
        log.start()
    try:
        with MonitorProcess(files[0], states[0]) as first:
            first.ready()
            until_ticks(postgres_url, states[0], 2)
            with MonitorProcess(files[1], states[1]) as second:
                second.ready()
                at_work, standing = roles(first, second)
                until(lambda: _measured_by(at_work) >= 2, "the one at work measures")
                at_work.kill()
                standing.says("taking over")
                until(
                    lambda: _measured_by(standing, since="taking over") >= 3 or not standing.running,
                    "ticks are measured again",
                )
                assert standing.running, "\n".join(standing.said)
                assert standing.stop() == 0
    finally:
        for log in logs:
            log.stop()
    with Store.open(postgres_url, marks=states[1]) as store:
        verified = store.verify("site")
        assert verified.ok, verified.faults
        ticks = list(store.releases("site"))
    assert [r.tick.index for r in ticks] == list(range(len(ticks)))
    assert any(PAST_LOST in line for line in standing.said if line.startswith("tick "))
    kinds = Counter()
    for release in ticks:
        second_of = int(release.tick.start.timestamp())
        if release.is_predicted:
            kinds["predicted"] += 1
            continue
        seen = dict(zip(release.keys, release.measurements.tolist(), strict=True))
        ours = [
            number
            for number, truth in enumerate(truths)
            if all(truth.certain[second_of, k] <= n <= truth.certain[second_of, k] + truth.unsure[second_of, k]
                   for k, n in seen.items())
        ]  # fmt: skip
        assert ours, f"tick {release.tick.index} says {seen}, which neither log held"
        kinds["measured"] += 1
    print(f"\n{dict(kinds)}")
    assert kinds["measured"] >= 5
    assert kinds["predicted"] >= 5


def _measured_by(process, since=""):
    said = list(process.said)
    begin = next(i for i, line in enumerate(said) if since in line)
    return sum("  released " in line for line in said[begin:])


def test_a_second_monitor_on_one_spool_is_refused(tmp_path):
    source = f'kind = "http"\nspool = "{tmp_path}/spool"'
    settings = write_settings(tmp_path / "site.toml", str(tmp_path / "site.db"), source)
    with MonitorProcess(settings, tmp_path / "state") as first:
        first.ready()
        with MonitorProcess(settings, tmp_path / "state") as second:
            assert second.ends() not in (0, -9)
            words = " ".join(second.said)
        assert "spool" in words
        assert "another" in words
        assert "Traceback" not in words
        assert first.running
        assert first.stop() == 0


@pytest.mark.parametrize("way", ["kill", "stop"])
def test_a_second_monitor_on_one_log_stands_by(tmp_path, way):
    truth = Truth()
    log = GrowingLog(tmp_path / "access.log", truth, "secret", random.Random(5), ())
    url, state = str(tmp_path / "site.db"), tmp_path / "state"
    settings = write_settings(tmp_path / "site.toml", url, log_source(tmp_path / "access.log"))
    viewer = Viewer(lambda: next((m.address for m in (second, first) if m.running), None), "nothing is planted")
    log.start()
    try:
        with MonitorProcess(settings, state) as first:
            first.ready()
            until_ticks(url, state, 2)
            with MonitorProcess(settings, state) as second:
                second.ready()
                viewer.start()
                at_work, standing = roles(first, second)
                before = len(released(url, state))
                getattr(at_work, way)()
                standing.says("taking over")
                until_ticks(url, state, before + 8)
                log.stop()
                until(lambda: (viewer.newest() or 0) >= truth.newest, "all ticks are out")
                viewer.stop()
                assert standing.stop() == 0
    finally:
        viewer.stop()
        log.abandon()
    with Store.open(url, marks=state) as store:
        found = reckon(store, truth, viewer, [*first.said, *second.said], 1)
    print("\n" + told(found))
    assert not found.faults, found.faults
    assert found.lost <= 1
    assert set(found.predicted) <= {"it began before the monitor did"}, told(found)
