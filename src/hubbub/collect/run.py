"""Joins a source to a collector."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hubbub.collect.collector import Collector
from hubbub.collect.source import Source
from hubbub.confidential import Counts


def collected(
    source: Source, collector: Collector, *, stop: Callable[[], bool] = lambda: False, timeout: float = 1.0
) -> Iterator[Counts]:
    """The counts of each tick as it becomes final, until the source is over or `stop()` says so.

    The source must have been opened where the collector resumes. When the source is over the rest is flushed; when
    stopped it is not, so that a restart can go on from the last resume point.
    """
    while not stop():
        batch = source.poll(timeout)
        if batch is None:
            yield from collector.drain()
            return
        yield from collector.add(batch)
