"""A warm process that forks monitors with ranges and kills them between, and inside, the two curators.

Run as `python pair_server.py ADDRESS FOLDER POINT…`. For each fault point it forks two children: one dies by SIGKILL
when the live stream passes the point, the other when that of ranges does. After each death it looks at what is left in
both ledgers, and prints one JSON line. The children tell what they draw through files that outlive them.
"""

from __future__ import annotations

import collections
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

from hubbub.confidential import Counts
from hubbub.mechanism import Measurement
from hubbub.monitor import paired
from hubbub.privacy import Guarantee, Session
from hubbub.ranges import RangeStream
from hubbub.release import Lpa
from hubbub.released import Cost, Keys, Tick
from hubbub.store import Store, faults

KEYS = Keys([f"page {i}" for i in range(4)])
WHOLE = Guarantee.pure(Session(max_ticks=10), 1)
PLAN = paired.RangePlan(64, method="two-level")
NAMES = {"live": "site", "ranges": "site.ranges"}
TICKS_BEFORE = 2


def line(tick: Tick, measured: Any) -> bytes:
    assert measured is not None
    return f"{tick.index} {','.join(map(str, measured))}\n".encode()


def recording(kind: Any, file: int) -> Any:
    """A mechanism that writes each draw down the moment it is made."""

    class Recording(kind):  # type: ignore[misc]
        def _measure(self, counts: Counts, cost: Cost) -> Measurement:
            made: Measurement = super()._measure(counts, cost)
            os.write(file, line(made.tick, made.values))
            return made

    return Recording


def opened(store: Store, folder: Path) -> paired.JoinedCurator:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    files = {name: os.open(folder / name, flags) for name in NAMES}
    paired.RangeStream = recording(RangeStream, files["ranges"])
    found = paired.open_curator(store, "site", KEYS, WHOLE, recording(Lpa, files["live"]), PLAN)
    assert isinstance(found, paired.JoinedCurator)
    return found


def child(address: str, folder: Path, point: str, whose: str) -> None:
    """Release ticks; die when the stream that `whose` names passes `point` in the third tick."""
    with Store.open(address) as store:
        pair = opened(store, folder)
        passed = collections.Counter[str]()

        def die(name: str) -> None:
            # A tick passes each point once in the live stream and then once in that of ranges.
            if name == point:
                passed[name] += 1
                if passed[name] == 2 * TICKS_BEFORE + (1 if whose == "live" else 2):
                    os.kill(os.getpid(), signal.SIGKILL)

        faults.install(die)
        while True:
            tick = pair.next_tick
            pair.release(Counts.of(KEYS, Tick(tick), [tick, 1, 2, 3]))


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


def look(address: str, folder: Path) -> dict[str, Any]:
    """What is left; raises if a promise is broken."""
    facts: dict[str, Any] = {}
    with Store.open(address) as store:
        for name, stream in NAMES.items():
            drawn = [row.split(" ") for row in (folder / name).read_text().splitlines()]
            found = store.verify(stream)
            assert found.ok, found.faults
            debits = {str(debit.tick): debit for debit in store.debits(stream)}
            stored = {
                str(r.tick.index): line(r.tick, r.measurements).decode().split()[1]
                for r in store.releases(stream)
                if not r.is_predicted
            }
            assert len({tick for tick, _ in drawn}) == len(drawn), "a tick was drawn twice"
            assert len({values for _, values in drawn}) == len(drawn), "the same noise twice"
            for tick, values in drawn:
                assert not debits[tick].limit.is_free, "a draw that was charged nothing"
                assert stored.get(tick, values) == values, "the stored draw is another one"
            facts[name] = {
                "drawn": len(drawn),
                "stored": len(stored),
                "lost": found.lost,
                "ticks": sorted(map(int, stored)),
            }
        budget = store.budget("site")
        assert budget.spent <= budget.guarantee.budget == 1
        facts["spent"] = str(budget.spent)
    return facts


def main() -> None:
    address, folder, points = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    for point in points:
        for whose in NAMES:
            pid = fork(lambda point=point, whose=whose: child(address, folder, point, whose))
            _, status = os.waitpid(pid, 0)
            if not (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL):
                raise SystemExit(f"the child at {point} of {whose} ended by itself: {status}")
            receiver, sender = os.pipe()
            pid = fork(lambda sender=sender: os.write(sender, json.dumps(look(address, folder)).encode()))
            os.close(sender)
            _, status = os.waitpid(pid, 0)
            answer = os.read(receiver, 1 << 20)
            os.close(receiver)
            if status != 0:
                raise SystemExit(f"after a kill at {point} of {whose}: a promise was broken")
            sys.stdout.write(json.dumps({"point": point, "whose": whose, **json.loads(answer)}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
