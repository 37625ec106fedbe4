"""Decides a day as fast as it can and prints each decision; killed by the test. Arguments: POLICY DAY|- [SIZE]"""

import resource
import signal
import sys

from hubbub.contexts import Compiled, Day
from hubbub.errors import StoreUnavailable


def main(policy: str, path: str, size: str | None = None) -> None:
    if size is not None:  # the disk is full at this size: a write is cut short, then refused
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(size), int(size)))
    with Day(Compiled.load(policy), None if path == "-" else path) as day:
        for tick in range(len(day.outputs), 4000):
            try:
                print(tick, day.offer(tick, "x"), flush=True)
            except StoreUnavailable:
                print("refused", flush=True)
                break


if __name__ == "__main__":
    main(*sys.argv[1:])
