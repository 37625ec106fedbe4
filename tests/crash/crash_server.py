"""A warm process that forks curators and kills them.

Run as `python crash_server.py ADDRESS FOLDER SEED ROUND…` where a round is `random`, `rivals` or a fault point. For
each round it forks a child that releases ticks for ever, kills it with SIGKILL (from outside at a random moment, or
from within at the fault point), then looks at what is left, and prints one JSON line. Importing once and forking makes
a round cost milliseconds.

The child tells what it does through two files, written with O_APPEND before it goes on, which the kernel keeps when
the process dies: `drawn` gets each draw *before* the store settles it, `published` each release that was returned.
"""

from __future__ import annotations

import collections
import json
import os
import random
import signal
import sys
import time
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hubbub.confidential import Counts
from hubbub.errors import TickOutOfOrder, TickTaken
from hubbub.mechanism import Measurement, Traits
from hubbub.privacy import Guarantee, Session
from hubbub.release import Lpa
from hubbub.released import Cost, Keys, Tick
from hubbub.store import Store, faults

KEYS = Keys([f"page {i}" for i in range(5)])
SLIPS = bool(os.environ.get("CRASH_SLIPS"))
"""Whether the stream charges a second currency: what may slip."""

GUARANTEE = (
    Guarantee.zcdp(Session(max_ticks=10), 1, delta="1e-6") if SLIPS else Guarantee.pure(Session(max_ticks=10), 1)
)  # fmt: skip
NAME = "site"


class Recording(Lpa):
    """Writes each draw down the moment it is made, before anything else can happen to it."""

    drawn: int = -1
    traits = Traits(slips=SLIPS)

    def cost(self, tick: Tick) -> Cost:
        return replace(super().cost(tick), delta=self._account.even_slip)

    def _measure(self, counts: Counts, cost: Cost) -> Measurement:
        made = super()._measure(counts, cost)
        os.write(self.drawn, line(made.tick, made.values))
        return made


def line(tick: Tick, measured: Any) -> bytes:
    assert measured is not None
    return f"{tick.index} {','.join(map(str, measured))}\n".encode()


def child(address: str, folder: Path, where: str, reserve_ahead: int, pause: int, ready: int) -> None:
    """Release ticks until killed. At a fault point it is killed when it has come there the `pause`-th time."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    drawn, published = os.open(folder / "drawn", flags), os.open(folder / "published", flags)
    left = [pause]

    def die(name: str) -> None:
        if name == where:
            left[0] -= 1
            if left[0] <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

    faults.install(die)
    releaser = Recording(KEYS, GUARANTEE)
    releaser.drawn = drawn
    with Store.open(address) as store, store.curate(NAME, releaser, reserve_ahead=reserve_ahead) as curator:
        os.write(ready, b".")
        while True:
            tick = curator.next_tick
            try:
                release = curator.release(Counts.of(KEYS, Tick(tick), np.array([tick, 1, 2, 3, 4])))
            except (TickTaken, TickOutOfOrder):  # a rival was faster
                continue
            os.write(published, line(release.tick, release.measurements))


def fork(work: Any) -> int:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return pid


def kill_once(address: str, folder: Path, where: str, chance: random.Random) -> None:
    """One child, dead by SIGKILL when this returns."""
    if where == "rivals":
        kill_rivals(address, folder, chance)
        return
    ahead = chance.choice([1, 1, 4])
    if where.startswith("lost:"):  # there must be something to recover first: die after a draw
        kill_once(address, folder, "draw:done", chance)
    pause = 1 if where.startswith("lost:") else chance.randint(1, 4)
    listening, ready = os.pipe()
    pid = fork(lambda: child(address, folder, where, ahead, pause, ready))
    os.close(ready)
    if where == "random":
        if chance.random() < 0.75:  # else it may die while it opens the store and recovers
            os.read(listening, 1)
        time.sleep(chance.uniform(0, 0.05))
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    os.close(listening)
    if not (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL):
        raise SystemExit(f"the child at {where} ended by itself: {status}")


def kill_rivals(address: str, folder: Path, chance: random.Random) -> None:
    """Two curators at once; the survivor of the first kill has to get over what the other left."""
    pids, listening = [], []
    for _ in range(2):
        receiver, ready = os.pipe()
        ahead = chance.choice([1, 3])
        pids.append(fork(lambda ahead=ahead, ready=ready: child(address, folder, "", ahead, 0, ready)))
        os.close(ready)
        listening.append(receiver)
    for receiver in listening:
        os.read(receiver, 1)
        os.close(receiver)
    for pid in pids:
        time.sleep(chance.uniform(0, 0.1))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def read(path: Path) -> list[tuple[int, str]]:
    rows = path.read_text().splitlines() if path.exists() else []
    return [(int(tick), values) for tick, values in (row.split(" ") for row in rows)]


def look(address: str, folder: Path) -> dict[str, Any]:
    """What is left after a kill; raises if any promise is broken."""
    drawn, published = read(folder / "drawn"), read(folder / "published")
    facts: dict[str, Any] = {"drawn": len(drawn), "published": len(published), "debits": 0, "lost": 0}
    with Store.open(address) as store:
        if NAME not in [stream.name for stream in store.streams()]:
            assert not drawn
            return facts
        found = store.verify(NAME)
        assert found.ok, found.faults
        mark = store.ledger(NAME).mark
        marked = None if mark is None else mark.read()
        assert marked is not None, "nothing is marked"
        assert marked.tick >= max((tick for tick, _ in drawn), default=-1), "a draw without a mark"
        debits = {debit.tick: debit for debit in store.debits(NAME)}
        releases = [release.tick.index for release in store.releases(NAME)]
        stored = {
            str(release.tick.index): line(release.tick, release.measurements).decode().split()[1]
            for release in store.releases(NAME)
            if release.measurements is not None
        }
    assert len(set(releases)) == len(releases), "a tick has two releases"
    times = collections.Counter(tick for tick, _ in drawn)
    assert all(count == 1 for count in times.values()), "a tick was drawn twice"
    for tick, values in drawn:
        assert tick in debits, "a draw without a debit"
        assert not debits[tick].limit.is_free, "a draw that was charged nothing"
        assert debits[tick].cost.slips == SLIPS, "a draw that was charged nothing for what may slip"
        if debits[tick].state == "settled":
            assert stored[str(tick)] == values, "the stored draw is another one"
        else:
            assert str(tick) not in stored, "a lost draw was stored"
    for tick, values in published:
        assert stored.get(str(tick)) == values, "published, but not stored"
    assert len({values for _, values in drawn}) == len(drawn), "the same noise twice"
    facts |= {"debits": len(debits), "lost": found.lost, "reserved": found.reserved, "spent": str(found.spent)}
    return facts


def main() -> None:
    address, folder, seed, rounds = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    chance = random.Random(seed)  # when to kill, not for privacy
    for where in rounds:
        kill_once(address, folder, where, chance)
        # Looking opens a store, so it happens in a process of its own: the forking one stays clean.
        receiver, sender = os.pipe()
        pid = fork(lambda sender=sender: os.write(sender, json.dumps(look(address, folder)).encode()))
        os.close(sender)
        _, status = os.waitpid(pid, 0)
        answer = os.read(receiver, 65536)
        os.close(receiver)
        if status != 0:
            raise SystemExit(f"after a kill at {where}: a promise was broken")
        sys.stdout.write(json.dumps({"where": where, **json.loads(answer)}) + "\n")
        sys.stdout.flush()
    # The stream goes on: a last child releases ten ticks in peace.
    pid = fork(lambda: go_on(address, folder))
    _, status = os.waitpid(pid, 0)
    if status != 0:
        raise SystemExit("the stream does not go on")


def go_on(address: str, folder: Path) -> None:
    releaser = Recording(KEYS, GUARANTEE)
    releaser.drawn = os.open(folder / "drawn", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    with Store.open(address) as store, store.curate(NAME, releaser) as curator:
        for _ in range(10):
            assert not curator.release(
                Counts.of(KEYS, Tick(curator.next_tick), np.array([0, 1, 2, 3, 4]))
            ).is_predicted  # fmt: skip
        assert store.budget(NAME).reserved == 0
        assert store.verify(NAME).ok


if __name__ == "__main__":
    main()
