"""What is over: a tick, or a period of many ticks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts, Sealed
from hubbub.released import Tick


@dataclass(frozen=True, slots=True)
class Ended:
    """The counts of a tick that takes no more events, and whether they may pass for a measurement.

    `doubt` says in public words why they may not: the clock was set, the source was away, the past was lost. Such a
    tick is predicted, and costs nothing. The reasons come from clocks and machines, never from what was counted.
    """

    counts: Counts
    doubt: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class PeriodEnded(Sealed):
    """Who looked at what in a period that takes no more events: what its list of pages is made from.

    `sessions` and `pages` are pairs of numbers from 0 on, each pair once; `names` are the pages' own. A period of which
    nothing was measured (`doubtful`) has no list of its own.
    """

    tick: Tick
    sessions: NDArray[np.uint32]
    pages: NDArray[np.uint32]
    names: Sequence[str]
    doubtful: bool = False

    def __repr__(self) -> str:
        return f"PeriodEnded({self.tick}, <confidential>)"
