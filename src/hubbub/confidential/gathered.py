"""What all that is released from has in common."""

from __future__ import annotations

from hubbub.confidential.sealed import Sealed
from hubbub.released import Tick


class Gathered(Sealed):
    """What was gathered in one tick and nobody may see: counts (`Counts`), or who has which item.

    The bound of the stream's unit must already be enforced: a mechanism can add noise, not take people out again.
    """

    __slots__ = ()

    tick: Tick
