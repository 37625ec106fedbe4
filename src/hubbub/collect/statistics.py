"""What the curator may know about the collecting, and nobody else."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, repr=False)
class Statistics:
    """Exact numbers about people's events: confidential, never to be published or put on a public page.

    They print as `<confidential>`; `for_curator()` gives them as a dictionary.

    | number | what it counts |
    |---|---|
    | `events` | events handed over by the source |
    | `counted` | requests that count in a tick |
    | `beyond_bound` | events dropped because their session had used up `max_ticks` |
    | `superseded` | events that gave way to a later one of the same session in the same tick |
    | `late`, `ahead`, `outside` | events too late, too far in the future, outside the replay's span |
    | `rebuilding` | events read again after a restart, for ticks that are out already |
    | `unknown` | events with a path that is no key (under `other` if there is one, dropped if not) |
    | `bots`, `assets`, `not_shown` | events left out by the filters |
    | `malformed`, `oversized` | lines that could not be read |
    | `open`, `waiting` | sessions in memory, events that wait for their tick |
    | `state_bytes` | memory of both |

    >>> Statistics(events=3)
    Statistics(<confidential>)
    """

    events: int = 0
    counted: int = 0
    beyond_bound: int = 0
    superseded: int = 0
    late: int = 0
    ahead: int = 0
    outside: int = 0
    rebuilding: int = 0
    unknown: int = 0
    bots: int = 0
    assets: int = 0
    not_shown: int = 0
    malformed: int = 0
    oversized: int = 0
    open: int = 0
    waiting: int = 0
    state_bytes: int = 0

    def for_curator(self) -> dict[str, int]:
        return asdict(self)

    def __repr__(self) -> str:
        return "Statistics(<confidential>)"
