"""From events to bounded counts: sources, sessions, ticks, key domains, and the collector that joins them."""

from hubbub.collect.batch import Batch
from hubbub.collect.clock import SteadyClock
from hubbub.collect.collector import Collector
from hubbub.collect.domain import KeyDomain
from hubbub.collect.filters import Filters
from hubbub.collect.resume import Resume
from hubbub.collect.run import collected
from hubbub.collect.source import Source
from hubbub.collect.statistics import Statistics
from hubbub.collect.times import Live, Replay

__all__ = [
    "Batch", "Collector", "Filters", "KeyDomain", "Live", "Replay", "Resume", "Source", "Statistics", "SteadyClock",
    "collected",
]  # fmt: skip
