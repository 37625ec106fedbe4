"""A tick that is over."""

from __future__ import annotations

from dataclasses import dataclass

from hubbub.confidential import Counts


@dataclass(frozen=True, slots=True)
class Ended:
    """The counts of a tick that takes no more events, and whether they may pass for a measurement.

    `doubt` says in public words why they may not: the clock was set, the source was away, the past was lost. Such a
    tick is predicted, and costs nothing. The reasons come from clocks and machines, never from what was counted.
    """

    counts: Counts
    doubt: str = ""
