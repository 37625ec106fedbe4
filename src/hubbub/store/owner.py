"""Who holds a reservation, and whether it is still there."""

from __future__ import annotations

import hashlib
import os
import platform
import uuid
from functools import cache
from pathlib import Path

_living: set[str] = set()
"""The curators of this very process that have not been closed."""


MENDED = "mended"
"""The owner of ticks that were booked to mend a ledger: nobody who could draw for them."""


AWAITS = "awaits"
"""How the owner of ticks begins that are measured elsewhere: restarts do not end it (`AwaitingCurator`)."""


def new_owner() -> str:
    """A name for one curator: host, process, when that process began, and a number of its own."""
    owner = f"{_host()}:{os.getpid()}:{_began(os.getpid())}:{uuid.uuid4().hex}"
    _living.add(owner)
    return owner


def retire(owner: str) -> None:
    _living.discard(owner)


def is_gone(owner: str) -> bool:
    """True if that curator is known to run no more; False if it runs, or runs where we cannot see.

    Nothing rests on the answer but time: a curator that is wrongly taken for gone loses a tick and is told so when
    it settles, one that is wrongly taken for alive is waited for.
    """
    if owner in _living:
        return False
    if owner == MENDED:
        return True
    if owner.startswith(AWAITS):
        return False
    host, pid, began, _ = owner.split(":")
    if host != _host():
        return False
    return int(pid) == os.getpid() or _began(int(pid)) != began


@cache
def _host() -> str:
    """This machine since its last start, as seen from this container: elsewhere a process number means nothing."""
    boot = _read("/proc/sys/kernel/random/boot_id")
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return hashlib.sha256(f"{platform.node()} {boot} {space}".encode()).hexdigest()[:16]


def _began(pid: int) -> str:
    """When a process began, in clock ticks since the machine did: a number used again is another process."""
    words = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    if len(words) > 19:
        return "" if words[0] in "ZX" else words[19]  # a process that only waits to be reaped runs no more
    try:
        os.kill(pid, 0)  # without /proc: signal 0 only asks whether it is there
    except ProcessLookupError:
        return ""
    except OSError:
        pass
    return "?"


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
