"""From events to bounded counts: sources, cuts, sessions, ticks, key domains, and the collector that joins them."""

from hubbub.collect.batch import Batch
from hubbub.collect.clock import SteadyClock
from hubbub.collect.collector import Collector
from hubbub.collect.counting import Counting, CountingByCuts
from hubbub.collect.cutter import Cutter
from hubbub.collect.domain import KeyDomain
from hubbub.collect.ended import Ended, PeriodEnded
from hubbub.collect.filters import Filters
from hubbub.collect.pages import Found
from hubbub.collect.ready_made import ReadyMade
from hubbub.collect.resume import Resume
from hubbub.collect.source import Source
from hubbub.collect.statistics import Statistics
from hubbub.collect.times import Live, Replay

__all__ = [
    "Batch", "Collector", "Counting", "CountingByCuts", "Cutter", "Ended", "Filters", "Found", "KeyDomain", "Live",
    "PeriodEnded", "ReadyMade", "Replay", "Resume", "Source", "Statistics",
    "SteadyClock",
]  # fmt: skip
