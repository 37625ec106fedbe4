"""Where a source ended when a tick closed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from hubbub.confidential.sealed import Sealed

PAST_LOST = "after a break, open visits cannot be counted"
"""The doubt of the first cut after a start that could not prove its past; public words."""


@dataclass(frozen=True, slots=True, repr=False)
class Cut(Sealed):
    """One look at a source's end, made by the clock: what lies before it came in time, what lies behind it is late.

    | field | meaning |
    |---|---|
    | `tick` | this tick and all before it are closed by the cut; -1 for the look with which a stream begins |
    | `time` | what the clock said |
    | `frontier` | where the source ended then |
    | `source` | the identity of the source: to others the frontier means nothing |
    | `doubt` | why the ticks that it closes cannot be measured; empty where they can |
    | `shared` | whether the frontier means the same on other machines (a broker); otherwise the store seals it |

    A frontier tells how much was written by when, so a cut is confidential: it prints without it.

    >>> from datetime import UTC
    >>> Cut(3, datetime(2026, 1, 1, tzinfo=UTC), {"file": "4711"})
    Cut(3, <confidential>)
    """

    tick: int
    time: datetime
    frontier: Mapping[str, str]
    source: str = ""
    doubt: str = ""
    shared: bool = False

    @property
    def begins_anew(self) -> bool:
        """Whoever made it had lost the past: nothing was read between the cut before it and its own beginning."""
        return self.doubt == PAST_LOST

    def __repr__(self) -> str:
        return f"Cut({self.tick}, <confidential>)"
