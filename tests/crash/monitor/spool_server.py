"""Runs for `test_kill_spool.py`: many senders push into a spool while a reader reads and settles, until it is killed.

Says on its standard output, a line each: `took NAME` when a batch was acknowledged; `read PLACE NAME …` when batches
were handed over, before anything of them is settled.
"""

import json
import sys
import threading
from pathlib import Path

from hubbub.monitor.spool import Spool

SENDERS = 6


def main(folder: str, generation: str, place: str) -> None:
    spool = Spool(Path(folder), segment_bytes=3_000, segment_seconds=0.05)
    positions = json.loads(place)
    say = threading.Lock()

    def tell(*words: str) -> None:
        with say:
            sys.stdout.write(" ".join(words) + "\n")
            sys.stdout.flush()

    tell("open", str(spool.open(positions)))

    def send(sender: int) -> None:
        for n in range(10**9):
            name = f"{generation}.{sender}.{n}"
            line = json.dumps({"time": 0, "session": "s", "key": name, "filling": "x" * (n * 37 % 500)})
            receipt = spool.push("s", line.encode(), name, str(sender))
            assert receipt.accepted == 1
            assert not receipt.duplicate
            tell("took", name)

    for sender in range(SENDERS):
        threading.Thread(target=send, args=(sender,), daemon=True).start()
    while True:
        spool.wait(1.0)
        until = spool.frontier()
        assert until is not None
        reached = False
        while not reached:
            batch = spool.poll(until)
            reached = batch.reached
            tell("read", json.dumps(batch.positions, separators=(",", ":")), *batch.events["path"].to_list())
            spool.settle(batch.positions)


if __name__ == "__main__":
    main(*sys.argv[1:])
