"""A lock of this machine on a plan: two programs that do not know of each other would spoil each other's rounds."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from hubbub.errors import StoreUnavailable
from hubbub.gather.server_keys import mark
from hubbub.state import state_folder


class PlanHold:
    """One process of a machine serves a plan as the same server, whatever folder it keeps rounds in.

    The kernel takes the lock away with the process.
    """

    def __init__(self, key: bytes, server: int, folder: Path | None = None) -> None:
        place = (folder or state_folder()) / "rounds"
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            name = mark(key, b"plan hold 1", bytes([server]))[:32]
            self._held: int | None = os.open(place / f"{name}.held", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreUnavailable(
                f"What this machine knows of rounds cannot be kept in {place}: {error.strerror}.",
                "Make the folder writable for this user, or set HUBBUB_STATE to another one.",
            ) from None
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.close()
            raise StoreUnavailable(
                "Another process of this machine serves this plan with these keys.",
                "Two would take each other's answers, and open nothing: stop one.",
            ) from None

    def close(self) -> None:
        if self._held is not None:
            os.close(self._held)
            self._held = None
