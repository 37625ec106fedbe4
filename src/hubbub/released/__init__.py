"""What may be seen by anyone: ticks, keys, releases, and the state of estimators (which saw released values only)."""

from hubbub.released.cost import Cost
from hubbub.released.keys import Keys
from hubbub.released.release import Release
from hubbub.released.rounding import plus_minus
from hubbub.released.snapshot import Snapshot
from hubbub.released.tick import Tick

__all__ = ["Cost", "Keys", "Release", "Snapshot", "Tick", "plus_minus"]
