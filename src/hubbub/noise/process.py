"""Which process is this? What must not be shared with a forked child is marked with the answer."""

from __future__ import annotations

import os
from typing import TypeAlias

Mark: TypeAlias = tuple[int, int]

_generation = 0


def _forked() -> None:
    global _generation
    _generation += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def here() -> Mark:
    """Differs between a process and all of its forks.

    The number of forks since the first process catches a reused process number; the process number catches a fork
    that was made without Python's knowledge.
    """
    return _generation, os.getpid()
