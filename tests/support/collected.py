"""Joins a source that is read once to a collector."""

from __future__ import annotations

from collections.abc import Iterator

from hubbub.collect import Collector, Source
from hubbub.confidential import Counts


def collected(source: Source, collector: Collector) -> Iterator[Counts]:
    """The counts of each tick of a replay as it becomes final, and the rest when the source is over."""
    while (batch := source.poll({})) is not None:
        yield from collector.add(batch)
    yield from collector.drain()
