"""What a monitoring system may know: OpenMetrics, and nothing confidential.

What comes in is not counted here: where each event is a request of its own, the number of ingest requests *is* the
confidential count. The pipeline's own figures are for the curator, behind a token.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING

from hubbub.server.clock import is_stale

if TYPE_CHECKING:
    from hubbub.server.feed import Feed

CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"


class Meters:
    """Counts answers to readers, by route and status class."""

    def __init__(self) -> None:
        self._answers: Counter[tuple[str, str]] = Counter()

    def answered(self, route: str, status: int) -> None:
        self._answers[route, f"{status // 100}xx"] += 1

    def text(self, feed: Feed, at: datetime) -> str:
        """The exposition. Stream names are letters, digits, dots, dashes and underscores, so they need no escaping."""
        lines = [
            "# TYPE hubbub_viewers gauge",
            "# HELP hubbub_viewers Live connections that are held now.",
            f"hubbub_viewers {feed.viewers}",
            "# TYPE hubbub_store_reachable gauge",
            "# HELP hubbub_store_reachable 1 where the last look into the store went well.",
            f"hubbub_store_reachable {int(feed.trouble is None)}",
            "# TYPE hubbub_latest_tick gauge",
            "# HELP hubbub_latest_tick Number of the newest released tick.",
        ]
        channels = {stream.name: feed.channel(stream.name) for stream in feed.streams}
        lines += [f'hubbub_latest_tick{{stream="{name}"}} {c.last_tick}' for name, c in channels.items()]
        lines += [
            "# TYPE hubbub_stale gauge",
            "# HELP hubbub_stale 1 where the next release is overdue.",
        ]
        for name, channel in channels.items():
            tick = channel.history[-1].tick if channel.history else None
            lines.append(f'hubbub_stale{{stream="{name}"}} {int(is_stale(tick, channel.arrived, at))}')
        lines += [
            "# TYPE hubbub_answers counter",
            "# HELP hubbub_answers Answers to readers, by route and status class. Ingest is not counted.",
        ]
        lines += [
            f'hubbub_answers_total{{route="{route}",status="{status}"}} {many}'
            for (route, status), many in sorted(self._answers.items())
        ]
        return "\n".join([*lines, "# EOF", ""])
