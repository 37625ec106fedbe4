"""A warm process that forks those who make streams of one grant, and kills them.

Run as `python grant_server.py ADDRESS FOLDER SEED ROUND…` where a round is `rivals` or a point of
`faults.CREATION_POINTS`. At a point, one child dies while it makes two streams of a grant that is new. `rivals` are
three that draw one part after the other of the same grant, and are killed at random moments. After each round it looks
at what is left, and prints one JSON line.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import traceback
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

from hubbub.errors import GrantExhausted
from hubbub.privacy import Grant, Guarantee, Session
from hubbub.released import Keys
from hubbub.store import Definition, Store, faults

KEYS = Keys(["front", "news"])
PROMISE = Guarantee.pure(Session(max_ticks=10), 1)


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


def pair(number: int) -> list[Definition]:
    grant = Grant(f"grant-{number}", PROMISE)
    parts = {f"site-{number}": grant.part("2/3"), f"site-{number}.ranges": grant.part("1/3")}
    return [Definition.of(name, KEYS, part, "lpa") for name, part in parts.items()]


def die_at(address: str, marks: Path, number: int, point: str) -> None:
    def die(name: str) -> None:
        if name == point:
            os.kill(os.getpid(), signal.SIGKILL)

    faults.install(die)
    with Store.open(address, marks=marks) as store:
        store.create_streams(pair(number))


def draw_all(address: str, marks: Path, number: int, who: int, ready: int) -> None:
    """Until nothing is left of the grant; then wait to be killed."""
    grant = Grant(f"shared-{number}", PROMISE)
    with Store.open(address, marks=marks, patience=60) as store:
        os.write(ready, b".")
        for turn in range(1000):
            with suppress(GrantExhausted):
                store.create_stream(f"s{number}-{who}-{turn}", KEYS, grant.part("1/12"), "lpa")
                continue
            break
    time.sleep(600)


def kill_rivals(address: str, marks: Path, number: int, chance: random.Random) -> None:
    listening, ready = os.pipe()
    pids = [fork(lambda who=who: draw_all(address, marks, number, who, ready)) for who in range(3)]
    os.close(ready)
    for _ in pids:
        os.read(listening, 1)
    os.close(listening)
    for pid in pids:
        time.sleep(chance.uniform(0, 0.06))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def look(address: str, marks: Path) -> dict[str, Any]:
    """What is left; raises if a grant is over-drawn, or anything is half made."""
    with Store.open(address, marks=marks) as store:
        streams = {stream.name: stream for stream in store.streams()}
        drawn: dict[str, Fraction] = {}
        for kept in store.grants():
            assert kept.shares, "a grant without a stream"
            assert kept.left >= 0, "more was drawn than all of it"
            assert kept.grant.name.startswith("shared") or kept.left == 0, "one of two streams is missing"
            drawn[kept.grant.name] = 1 - kept.left
        for name, stream in streams.items():
            assert store.verify(name).ok
            mark = store.ledger(stream).mark
            assert mark is not None
            assert mark.read() is not None, "a stream without a mark"
        assert {name for kept in store.grants() for name in kept.shares} == set(streams)
        return {"streams": len(streams), "drawn": {name: str(share) for name, share in drawn.items()}}


def main() -> None:
    address, folder, seed, rounds = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    chance, marks = random.Random(seed), folder / "marks"  # when to kill, not for privacy
    pid = fork(lambda: Store.open(address, marks=marks).close())
    os.waitpid(pid, 0)
    for number, where in enumerate(rounds):
        if where == "rivals":
            kill_rivals(address, marks, number, chance)
        else:
            pid = fork(lambda number=number, where=where: die_at(address, marks, number, where))
            _, status = os.waitpid(pid, 0)
            if not (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL):
                raise SystemExit(f"the child at {where} ended by itself: {status}")
        receiver, sender = os.pipe()
        pid = fork(lambda sender=sender: os.write(sender, json.dumps(look(address, marks)).encode()))
        os.close(sender)
        _, status = os.waitpid(pid, 0)
        answer = os.read(receiver, 1 << 16)
        os.close(receiver)
        if status != 0:
            raise SystemExit(f"after a kill at {where}: a promise was broken")
        sys.stdout.write(json.dumps({"where": where, "number": number, **json.loads(answer)}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
