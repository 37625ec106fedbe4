"""Named places between a server's durable writes, so that a test can stop the process at each of them."""

from __future__ import annotations

from collections.abc import Callable

STEPS = ("receive", "ask", "check", "conclude", "settle", "settled", "close", "open", "publish", "end")
"""What a server does with a message: each is one transaction."""

MOMENTS = (
    "begin",  # nothing is written yet
    "written",  # all is in the transaction, not committed
    "committed",  # it is durable; no answer was sent
)

FAULT_POINTS = (
    *(f"{step}:{moment}" for step in STEPS for moment in MOMENTS),
    "mark:begin",  # noise is drawn, and nothing on any disk knows of it
    "mark:committed",  # the machine's mark stands; the round's file does not know of it
)
"""Every name that `fault_point` is called with."""

_hook: Callable[[str], None] | None = None


def fault_point(name: str) -> None:
    """Nothing at all, unless a test has installed something to do here."""
    if _hook is not None:
        _hook(name)


def install(hook: Callable[[str], None] | None) -> None:
    """Call `hook` with the name of each fault point that is passed; None takes it away again. For tests only."""
    global _hook
    _hook = hook
