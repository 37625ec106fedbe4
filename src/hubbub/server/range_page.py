"""What the Ranges page shows: a curve to drag over, the total of a range, the present tree, what others asked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool

from hubbub.errors import HubbubError
from hubbub.ranges.pair import PairWindow
from hubbub.released import Tick
from hubbub.server import charts, clock, curves
from hubbub.server.channel import Channel
from hubbub.server.curves import Curve, Point
from hubbub.server.errors import RequestRefused
from hubbub.store import Stream

if TYPE_CHECKING:
    from hubbub.server.desk import Desk

SPANS = (90, 360, 1440)
"""How many ticks back the curve may begin, besides everything there is."""

POINTS = 160
RECENT = 256
"""Questions that the picture of lengths shows: as many as a chooser looks at."""

_MOST_BOXES = 64


async def facts(
    desk: Desk,
    stream: Stream,
    key: str | None,
    last: int,
    question: tuple[str, str] | None,
    sum_between: Callable[..., Awaitable[dict[str, Any]]],
) -> dict[str, Any]:
    """Everything on the page. `question` is the range that someone chose, `sum_between` answers it."""
    channel = desk.feed.channel(stream.name)
    if not channel.history or channel.is_bare:
        return {"key": key, "curve": None}
    drawn = await curve(desk, stream, key, last)
    first, newest = drawn["first_tick"], drawn["newest"]
    # Without a question the last quarter of the curve is added up, to show what the page does; nobody asked for it.
    wanted = question or (str(newest - (newest - first) // 4), str(newest))
    answer, wrong = None, ""
    try:
        keys = None if key is None else [key]
        answer = await sum_between(desk, stream.name, *wanted, keys, each=key is None, record=question is not None)
    except RequestRefused as refusal:
        wrong = f"{refusal.message} {refusal.hint}"
    return {
        "key": key,
        "curve": drawn,
        "answer": answer,
        "wrong": wrong,
        "wanted": wanted,
        "picked": picked(drawn, answer),
        "tree": await tree(desk, stream),
        "asked": await asked(desk, stream),
    }


async def curve(desk: Desk, stream: Stream, key: str | None, last: int) -> dict[str, Any]:
    """The curve with its edges; the first and the last tick that can be dragged over."""
    channel = desk.feed.channel(stream.name)
    positions = None if key is None else [channel.keys.position(key)]
    answered = await desk.ranges.ask(stream.name, lambda window: _from_window(window, positions, last))
    drawn, first, newest, step, reach = answered or _from_history(channel, positions, last)
    top = charts.nice_top([drawn])
    tick = channel.history[-1].tick
    return {
        "drawing": charts.draw(drawn, first, max(newest, first + 1), top),
        "top": f"{top:,.0f}",
        "edges": (_edge(tick, first), _edge(tick, newest)),
        "step": clock.ticks(step, tick) if step > 1 else None,
        "first_tick": first,
        "newest": newest,
        "spans": [(n, clock.ticks(n, tick)) for n in SPANS if n < reach] + [(0, clock.ticks(reach, tick))],
        "asked_span": last if last in SPANS and last < reach else 0,
    }


def _from_window(window: PairWindow, positions: Sequence[int] | None, last: int) -> tuple[Curve, int, int, int, int]:
    """Means over stretches of ticks, each with the error of its total: what is drawn is what is added up."""
    newest, oldest = window.next_tick - 1, window.window.oldest
    reach = newest - oldest + 1
    first = max(oldest, newest - last + 1) if last in SPANS else oldest
    step = math.ceil((newest - first + 1) / POINTS)
    points: list[Point] = []
    for end in range(newest, first - 1, -step):
        start = max(first, end - step + 1)
        total = window.total(start, end, positions)
        many = end - start + 1 - total.missing
        at = (start + end) // 2
        if many:
            value, lower, upper = (
                round(max(n, 0.0) / many, 1) for n in (total.value, total.lower, total.upper)
            )  # fmt: skip
            points.append((at, value, lower, upper, 0))
        else:
            points.append((at, None, None, None, 0))
    return Curve.of(points[::-1]), first, newest, step, reach


def _from_history(channel: Channel, positions: Sequence[int] | None, last: int) -> tuple[Curve, int, int, int, int]:
    """Without a stream of ranges: the recent releases as every other chart shows them."""
    history = list(channel.history)
    recent = history[-last:] if last in SPANS else history
    points, step = curves.thin(recent, POINTS)
    drawn = curves.of_total(points) if positions is None else curves.of_keys(points, channel.keys, positions)[0]
    newest = recent[-1].tick.index
    return drawn, recent[0].tick.index, newest, step, newest - history[0].tick.index + 1


def picked(curve: dict[str, Any], answer: dict[str, Any] | None) -> tuple[str, str]:
    """Where the range lies on the curve, in its box of 600: left edge and width."""
    if answer is None:
        return "0", "0"
    scale = 600 / max(1, curve["newest"] - curve["first_tick"])
    left, right = (
        min(600.0, max(0.0, scale * (answer[end] - curve["first_tick"]))) for end in ("from", "to")
    )  # fmt: skip
    return f"{left:.1f}", f"{max(right - left, 2.0 if right > 0 else 0.0):.1f}"


def _edge(newest: Tick, index: int) -> str:
    """When a tick begins, in a few letters; its number where ticks have no clock time."""
    if newest.start is None or newest.length is None:
        return f"tick {index:,}"
    return f"{newest.start + (index - newest.index) * newest.length:%H:%M:%S}"


async def tree(desk: Desk, stream: Stream) -> dict[str, Any] | None:
    """The present tree as rows of boxes, the widest on top, and how much of it is filled; None without ranges."""
    facts = await desk.ranges.ask(stream.name, lambda window: window.describe())
    if facts is None or facts["strategy"] is None:
        return None
    size, measured = facts["size"], facts["measured"]
    filled = measured % size or size
    spans = sorted({level["span"] for level in facts["levels"]}, reverse=True)
    rows = []
    for span in spans:
        many = size // span
        boxes = many if many <= _MOST_BOXES else 1
        rows.append({"span": span, "many": many, "boxes": boxes})
    return {
        "title": facts["title"],
        "size": size,
        "filled": filled,
        "part": f"{100 * filled / size:.1f}",
        "rows": rows,
        "spans": _listed([f"{span:,}" for span in spans]),
        "single": size == 1,
        "since": facts["start"],
    }


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


async def asked(desk: Desk, stream: Stream) -> dict[str, Any]:
    """How long the last ranges were that readers asked for, in steps of factor two."""
    try:
        lengths = await run_in_threadpool(desk.store.recent_queries, stream.name, RECENT)
    except HubbubError:  # the rest of the page can be told from memory
        return {"many": None, "bars": []}
    channel = desk.feed.channel(stream.name)
    tick = channel.history[-1].tick if channel.history else None
    counted = Counter(length.bit_length() - 1 for length in lengths)
    if not counted:
        return {"many": 0, "bars": []}
    low, high = 0, max([*counted, 9])
    most = max(counted.values())
    bars = [
        {
            "y": f"{98 - 98 * counted[power] / most:.1f}",
            "height": f"{98 * counted[power] / most:.1f}",
            "many": counted[power],
            "words": clock.ticks(1 << power, tick),
        }
        for power in range(low, high + 1)
    ]
    usual = sorted(lengths)[len(lengths) // 2]
    return {
        "many": len(lengths),
        "bars": bars,
        "usual": clock.ticks(usual, tick),
        "shortest": clock.ticks(1, tick),
        "longest": clock.ticks(1 << high, tick),
    }
