"""`python -m tests.support.broken_monitor FAULT SETTINGS`: the command `hubbub monitor` with a pipeline that fails.

In a process of its own: a command that ends badly may take standard output and signals with it.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from hubbub.cli.main import main
from hubbub.errors import LedgerBroken
from hubbub.monitor import running

SECRET = "777000111"


class Odd(BaseException): ...


FAULTS: dict[str, BaseException] = {
    "ValueError": ValueError(f"the visitor {SECRET}"),
    "OSError": OSError(24, f"Too many open files {SECRET}"),
    "MemoryError": MemoryError(SECRET),
    "Odd": Odd(SECRET),
    "SystemExit": SystemExit(SECRET),
    "KeyboardInterrupt": KeyboardInterrupt(SECRET),
    "LedgerBroken": LedgerBroken("A line was changed."),
}


class Broken:
    """A pipeline that does what it was told to when it is told to run."""

    trouble = source_trouble = ""
    waits_for_store = False
    clock_behind = timedelta(0)

    def __init__(self, act: Callable[[Broken], object]) -> None:
        self.stop, self.beat, self.closed = threading.Event(), time.monotonic(), False
        self._act = act

    def run(self) -> None:
        self._act(self)

    def status(self) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        self.closed = True


def fail(name: str) -> Callable[[Broken], object]:
    def act(_: Broken) -> object:
        raise FAULTS[name]

    return act


if __name__ == "__main__":
    running.open_pipeline = lambda *_, **__: (Broken(fail(sys.argv[1])), None)  # type: ignore[assignment,return-value]
    sys.exit(main(["monitor", sys.argv[2], "--quiet"]))
