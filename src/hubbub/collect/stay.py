"""Where a session is between two requests."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from hubbub.collect.calendar import microseconds
from hubbub.errors import InvalidParameter


@dataclass(frozen=True, slots=True)
class Stay:
    """How a session counts in ticks in which it does not request anything.

    | setting | rule | a tick is final |
    |---|---|---|
    | `True` | on its last page until its next request, not after its last (Fan 2014, 3.1) | one timeout later |
    | a timedelta | on its last page until its next request, but no longer than this after the last | at once |
    | `False` | it counts only in ticks in which it requests | at once |

    >>> Stay.of(True).between, Stay.of(timedelta(minutes=2)).linger
    (True, 120000000)
    """

    between: bool
    linger: int | None = None

    @classmethod
    def of(cls, setting: bool | timedelta, timeout: timedelta | None = None) -> Stay:
        if isinstance(setting, timedelta):
            if setting <= timedelta(0) or (timeout is not None and setting > timeout):
                raise InvalidParameter(
                    f"`stay` must lie between nothing and the session's timeout; got {setting}, timeout={timeout}.",
                    "After the timeout the session is over and cannot stay anywhere.",
                )
            return cls(False, microseconds(setting))
        if not isinstance(setting, bool):
            raise InvalidParameter(f"`stay` is True, False or a timedelta; got {setting!r}.")
        return cls(setting)
