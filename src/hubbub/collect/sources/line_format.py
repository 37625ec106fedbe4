"""How lines become events."""

from __future__ import annotations

from typing import Protocol

import polars as pl

from hubbub.collect.layout import Layout


class LineFormat(Protocol):
    """Reads each line by itself: a broken one takes no other with it."""

    layout: Layout
    """Which columns its events have."""

    def parse(self, lines: bytes) -> tuple[pl.DataFrame, int]:
        """Events with the columns of `Batch`, and how many lines were none."""
