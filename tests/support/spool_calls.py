"""Stands between the spool and the kernel: counts its calls, lets one of them fail, and watches whose files it uses."""

from __future__ import annotations

import errno
import os
from collections import Counter
from types import FunctionType
from typing import Any

from hubbub.monitor.spool import calls

NAMES = sorted(name for name, made in vars(calls).items() if isinstance(made, FunctionType))
WITH_A_NUMBER = {"close", "write", "read", "sync", "truncate", "status", "protect", "lock"}

FAULTS = {
    "open_file": ("EMFILE", "ENOSPC", "EROFS", "EINTR"),
    "write": ("ENOSPC", "EIO", "EINTR", "half", "short"),
    "sync": ("EIO", "ENOSPC", "done"),
    "truncate": ("EIO", "EROFS", "EINTR"),
    "rename": ("ENOSPC", "EROFS", "done"),
    "unlink": ("EIO", "EROFS", "done"),
    "close": ("EINTR",),
    "read": ("EIO", "EINTR"),
    "status": ("EIO",),
    "names": ("EIO", "EMFILE"),
    "make_folder": ("ENOSPC", "EROFS"),
    "protect": ("EROFS",),
    "lock": ("ENOLCK",),
    "exists": (),
}
"""By name of the error; `done`: the kernel did it and says EIO; `half`: half is written, then the disk is full;
`short`: half is written, and the rest may follow."""


class Kernel:
    """Call number `at` of the kind `call` fails (and all after it, if `lasting`; then those of the kind `also` too)."""

    def __init__(self, call: str = "", fault: str = "", at: int = -1, lasting: bool = False, also: str = "") -> None:
        self.call, self.fault, self.at, self.lasting, self.also = call, fault, at, lasting, also
        self.counts: Counter[str] = Counter()
        self.fired = 0
        self.strangers: list[str] = []
        self._mine: set[int] = set()
        self._real = {name: getattr(calls, name) for name in NAMES}

    def install(self, patch: Any) -> None:
        for name in NAMES:
            patch.setattr(calls, name, self._wrapped(name))

    def _wrapped(self, name: str) -> Any:
        def call(*given: Any) -> Any:
            if name in WITH_A_NUMBER and given[0] not in self._mine:
                self.strangers.append(f"{name} on a number that is not the spool's")
                raise OSError(errno.EBADF, "not ours")
            place = self.counts[name]
            self.counts[name] += 1
            if name == self.call and (place == self.at or (self.lasting and place > self.at)):
                self.fired += 1
                return self._fail(name, given)
            if self.fired and name == self.also:
                return self._fail(name, given)
            return self._do(name, given)

        return call

    def _do(self, name: str, given: tuple[Any, ...]) -> Any:
        result = self._real[name](*given)
        if name == "open_file":
            self._mine.add(result)
        if name == "close":
            self._mine.discard(given[0])
        return result

    def _fail(self, name: str, given: tuple[Any, ...]) -> Any:
        if name == "write" and self.fault in ("half", "short"):
            number, data, offset = given
            taken = self._do(name, (number, data[: max(1, len(data) // 2)], offset))
            if self.fault == "short":
                return taken
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if self.fault == "done" or name == "close":  # the kernel lets go of a number whatever it says
            self._do(name, given)
        number = errno.EIO if self.fault == "done" else getattr(errno, self.fault)
        raise OSError(number, os.strerror(number))
