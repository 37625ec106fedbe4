"""What anyone may see: ticks, domains, releases, and the state of estimators (which saw released values only)."""

from hubbub.released.cost import Cost
from hubbub.released.discovered import Discovered, same_whole
from hubbub.released.domain import Domain, domain_from
from hubbub.released.grid import Grid
from hubbub.released.hierarchy import Hierarchy
from hubbub.released.joint import JointErrors
from hubbub.released.keys import Keys
from hubbub.released.maps import Map
from hubbub.released.release import Release
from hubbub.released.rounding import plus_minus
from hubbub.released.snapshot import Snapshot
from hubbub.released.tick import Tick
from hubbub.released.totals import Span, SpanTotal, total, total_over
from hubbub.released.value import Value

__all__ = [
    "Cost",
    "Discovered",
    "Domain",
    "Grid",
    "Hierarchy",
    "JointErrors",
    "Keys",
    "Map",
    "Release",
    "Snapshot",
    "Span",
    "SpanTotal",
    "Tick",
    "Value",
    "domain_from",
    "plus_minus",
    "same_whole",
    "total",
    "total_over",
]
