"""Kills both servers of real rounds over HTTP, by dice and at every fault point, and counts afterwards.

    python -m tests.crash.gather.kills 200

A round has as many answers as it takes, so it closes when the last one was added. Noise vanishes at a weak epsilon:
sums are exact, and must be those of all answers that were thanked for; or the round is refused. Servers are forked from
a process that has loaded everything, and run the programs of the command line; kill -9 ends them.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.support.gather_processes import free_port

import hubbub.cli.commands.gather
import hubbub.gather.helper_desk
import hubbub.gather.leader_desk
import hubbub.gather.peer
import hubbub.gather.running
import hubbub.server  # noqa: F401 - loaded once, before the first fork
from hubbub.cli.main import main
from hubbub.errors import GatherUnavailable
from hubbub.files import write_file
from hubbub.gather import faults
from hubbub.gather.client import Client
from hubbub.gather.line import Line
from hubbub.gather.planning import planned
from hubbub.gather.prio3 import Histogram
from hubbub.gather.sending import Sender

ANSWERS = 12
POINTS = {
    "leader": ("receive", "ask", "conclude", "settled", "close", "mark", "publish"),
    "helper": ("check", "settle", "open", "mark"),
}
PATIENCE = 60.0


@dataclass
class Tally:
    kills: Counter[str] = field(default_factory=Counter)
    right: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        return sum(self.kills.values())


class Round:
    def __init__(self, folder: Path, seed: int, scheme: str, tally: Tally) -> None:
        self.folder, self.random, self.tally = folder, random.Random(seed), tally
        self.ports = {"leader": free_port(), "helper": free_port()}
        self.plan, keys = planned(
            "q", Histogram(4), clients=ANSWERS, minimum=4, epsilon=1600, allow_weak=True, scheme=scheme,
            opens=datetime.now(UTC) - timedelta(seconds=1), every=timedelta(hours=1),
        )  # fmt: skip
        write_file(folder / "plan.json", self.plan.encode())
        for who, one in keys.items():
            one.save(folder / f"{who}.keys")
        self.answers = [self.random.randrange(4) for _ in range(ANSWERS)]
        self.processes: dict[str, int] = {}

    def run(self, most: int) -> None:
        for who in self.ports:
            self.start(who)
        clients = fork(self.send, self.folder / "clients.log")
        try:
            kills = 0
            while kills < most and not self.over():
                kills += self.kill_one()
            for who in self.ports:  # one of them may still wait for the point at which it dies
                kill(self.processes[who])
                self.start(who)
            self.judge()
        finally:
            for pid in (clients, *self.processes.values()):
                kill(pid)

    # ── processes ────────────────────────────────────────────────────────────────────────────────────────────────

    def start(self, who: str, point: str = "", passes: int = 1) -> None:
        words = [
            "gather", who, str(self.folder / "plan.json"), "--keys", str(self.folder / f"{who}.keys"),
            "--rounds", str(self.folder / who), "--port", str(self.ports[who]),
        ]  # fmt: skip
        if who == "leader":
            words += ["--helper", f"http://127.0.0.1:{self.ports['helper']}"]

        def serve() -> None:
            left = [passes]

            def die(name: str) -> None:
                if name == point:
                    left[0] -= 1
                    if not left[0]:
                        os.kill(os.getpid(), signal.SIGKILL)

            faults.install(die)
            os.environ["HUBBUB_STATE"] = str(self.folder / f"{who}.state")
            main(words)

        self.processes[who] = fork(serve, self.folder / f"{who}.log")

    def send(self) -> None:
        """All clients, one after the other; each sends until it is thanked."""
        sender = Sender(self.plan, self.line("leader"), epsilon=10**6, patience=10**6, wait=lambda _: time.sleep(0.05))
        client = Client.of(self.plan.announcement(0), epsilon=10**6)
        for at, answer in enumerate(self.answers):
            report = client.report(answer).encode()
            (self.folder / f"{at}.report").write_bytes(report)
            sender.send_report(0, report)
        (self.folder / "thanked").touch()

    def kill_one(self) -> int:
        """One server, or both, at a moment of the dice or at a fault point; and start it again."""
        whom = self.random.choice(["leader", "helper", "leader", "helper", "both"])
        chosen = list(self.ports) if whom == "both" else [whom]
        if whom != "both" and self.random.random() < 0.6:
            point = f"{self.random.choice(POINTS[whom])}:{self.random.choice(faults.MOMENTS)}"
            kill(self.processes[whom])
            self.tally.kills["before a point"] += 1
            self.start(whom, point, self.random.choice([1, 1, 2]))
            if wait(lambda: ended(self.processes[whom]) or self.over(), 3.0) and ended(self.processes[whom]):
                self.tally.kills[point] += 1
                self.start(whom)
                return 2
            return 1
        time.sleep(self.random.random() * 0.4)
        for who in chosen:
            kill(self.processes[who])
        for who in chosen:
            self.tally.kills["random"] += 1
            self.start(who)
        return len(chosen)

    # ── what came out ────────────────────────────────────────────────────────────────────────────────────────────

    def line(self, who: str) -> Line:
        return Line(f"http://127.0.0.1:{self.ports[who]}", seconds=10)

    def told(self, who: str) -> dict[str, Any]:
        line = self.line(who)
        try:
            return dict(json.loads(line.get("/v1/gather/rounds/0")))
        except GatherUnavailable:
            return {}
        finally:
            line.close()

    def over(self) -> bool:
        return self.told("leader").get("state") in ("opened", "ended")

    def given_up(self) -> bool:
        """Whether a server died between its mark and its file: for it the round may have been opened."""
        return any(self.told(who).get("reason") == "store_set_back" for who in self.ports)

    def judge(self) -> None:
        told = {}
        wait(lambda: self.over() or self.given_up(), PATIENCE)
        if self.given_up():  # the other one may not hear of it, and waits until the round's time is over
            if any(self.told(who).get("state") == "opened" for who in self.ports):
                self.tally.wrong.append(f"opened by one and given up by the other: {self.logs()}")
            self.tally.refused += 1
            return
        for who in ("leader", "helper"):
            if not wait(lambda who=who: self.told(who).get("state") in ("opened", "ended"), PATIENCE):  # type: ignore[misc]
                self.tally.wrong.append(f"the {who} never came to an end: {self.logs()}")
                return
            told[who] = self.told(who)
        expected = [self.answers.count(bucket) for bucket in range(4)]
        if told["leader"]["state"] == "ended":
            self.tally.refused += 1
        elif told["leader"] != told["helper"] or told["leader"]["sums"] != expected:
            self.tally.wrong.append(f"{expected} became {told}")
        elif self.left_behind():
            self.tally.wrong.append(f"of reports {self.left_behind()} are on a disk after the round")
        else:
            self.tally.right += 1

    def left_behind(self) -> list[str]:
        wait(lambda: all(b'"seal": ""' in (self.folder / f"{who}.keys").read_bytes() for who in self.ports), 20)
        files = [path for who in self.ports for path in (self.folder / who).iterdir()]
        reports = [path.read_bytes() for path in self.folder.glob("*.report")]
        return [path.name for path in files for report in reports if report[100:132] in path.read_bytes()]

    def logs(self) -> str:
        return " | ".join((self.folder / f"{who}.log").read_text()[-800:] for who in (*self.ports, "clients"))


def fork(what: Callable[[], Any], log: Path | None = None) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        with open(log or os.devnull, "a") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
        what()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def ended(pid: int) -> bool:
    """Whether it is gone, by itself or not; it stays known until it is killed here."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def kill(pid: int) -> None:
    with suppress(ProcessLookupError, ChildProcessError):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def wait(happened: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not (found := happened()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def kills(number: int, seed: int = 20260101, most: int = 12) -> Tally:
    """At least so many kills, over rounds of both schemes."""
    tally = Tally()
    memory = Path("/dev/shm")
    for at in range(10 * number):
        if tally.total >= number or tally.wrong:
            break
        with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
            Round(Path(folder), seed + at, "homomorphic" if at % 4 == 3 else "prio3", tally).run(most)
    return tally


if __name__ == "__main__":
    if "OPENBLAS_NUM_THREADS" not in os.environ:  # a process with threads may not be forked safely
        small = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        os.execve(sys.executable, [sys.executable, "-m", "tests.crash.gather.kills", *sys.argv[1:]], os.environ | small)
    found = kills(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
    for where, times in sorted(found.kills.items()):
        print(f"  {where:<22} {times:>4}")
    print(f"{found.total} kills; rounds right {found.right}, refused {found.refused}, wrong {len(found.wrong)}")
    for words in found.wrong:
        print(words)
    sys.exit(bool(found.wrong))
