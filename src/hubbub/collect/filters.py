"""Requests that are not people reading pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter

BOTS = (
    "bot", "crawl", "spider", "slurp", "curl/", "wget/", "python-", "go-http-client", "java/", "httpclient",
    "headless", "lighthouse", "monitor", "uptime", "scan", "feed", "preview", "facebookexternalhit",
)  # fmt: skip
"""Parts of the agent's name, in lower case, by which most automatic clients say what they are."""

ASSETS = (
    "avif", "bmp", "css", "eot", "gif", "ico", "jpeg", "jpg", "js", "map", "mjs", "mp3", "mp4", "otf", "png", "svg",
    "ttf", "webm", "webmanifest", "webp", "woff", "woff2", "xbm",
)  # fmt: skip
"""Extensions of what a page loads by itself."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which events are left out before anything else. Each looks at one event alone.

    | setting | leaves out | default |
    |---|---|---|
    | `bots` | agents whose name holds one of these (any case) | `BOTS`; `()` keeps all |
    | `assets` | paths that end in one of these extensions | `ASSETS`; `()` keeps all |
    | `statuses` | answers outside these ranges | 200-299 and 304; `()` keeps all |
    | `methods` | other methods | GET; `()` keeps all |

    A filter whose column the source does not have keeps everything.

    >>> Filters(methods=("GET", "POST")).methods
    ('GET', 'POST')
    """

    bots: Sequence[str] = BOTS
    assets: Sequence[str] = ASSETS
    statuses: Sequence[tuple[int, int]] = ((200, 299), (304, 304))
    methods: Sequence[str] = ("GET",)

    def __post_init__(self) -> None:
        for name in ("bots", "assets", "methods"):
            given = getattr(self, name)
            if isinstance(given, str) or not all(isinstance(part, str) and part for part in given):
                raise InvalidParameter(
                    f"`{name}` must be a list of words; got {given!r}.", "Use () to keep everything."
                )
        if not all(low <= high for low, high in self.statuses):
            raise InvalidParameter(f"`statuses` must be ranges such as (200, 299); got {self.statuses!r}.")

    @classmethod
    def none(cls) -> Filters:
        """Keep everything: for events that are no web requests."""
        return cls((), (), (), ())

    def bots_among(self, events: pl.DataFrame) -> NDArray[np.bool_]:
        if not self.bots or "agent" not in events.columns:
            return np.zeros(events.height, np.bool_)
        agents = events.get_column("agent")
        different = agents.unique().drop_nulls()
        automatic = different.filter(different.str.to_lowercase().str.contains_any(list(self.bots)))
        return agents.is_in(automatic.implode()).fill_null(False).to_numpy()

    def assets_among(self, places: pl.Series) -> NDArray[np.bool_]:
        if not self.assets:
            return np.zeros(len(places), np.bool_)
        endings = places.str.extract(r"\.([^./]*)$").str.to_lowercase()
        known = [extension.lower().lstrip(".") for extension in self.assets]
        return endings.is_in(known).fill_null(False).to_numpy()

    def not_shown(self, events: pl.DataFrame) -> NDArray[np.bool_]:
        """Where no page was asked for or shown: another method, an error, a redirect. Unknown counts as shown."""
        wrong = pl.lit(False)
        if self.statuses and "status" in events.columns:
            inside = pl.any_horizontal([pl.col("status").is_between(low, high) for low, high in self.statuses])
            wrong = wrong | ~inside.fill_null(True)
        if self.methods and "method" in events.columns:
            wrong = wrong | ~pl.col("method").is_in(list(self.methods)).fill_null(True)
        if wrong.meta.is_literal():
            return np.zeros(events.height, np.bool_)
        return events.select(wrong.alias("wrong")).to_series().to_numpy()
