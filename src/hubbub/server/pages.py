"""The pages: what each shows, made into HTML."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fastapi.responses import HTMLResponse

from hubbub.errors import HubbubError
from hubbub.privacy.rounding import at_least, at_most
from hubbub.released import Release
from hubbub.server import charts, clock, curves, list_words, views
from hubbub.server.channel import Channel
from hubbub.server.guard import policy
from hubbub.server.picture import Row, row_of
from hubbub.server.ranking import Ranking
from hubbub.server.rendering import templates
from hubbub.server.sums import total_of
from hubbub.server.words import curator_facts, interval_words, vouched
from hubbub.store import Stream

if TYPE_CHECKING:
    from hubbub.server.desk import Desk

WINDOWS = (90, 360, 1440)
"""How far back a page may look, in ticks: a quarter of an hour, an hour and four hours at ten seconds."""

DEFAULT_WINDOW = 360
MOST_LISTED = 1_000
"""Keys that a form lists to choose from; where there are more, one is typed."""

FEWEST = 30
"""Ticks that a chart is wide at least, so that the first few do not stretch across it."""

SPARK_POINTS = 72
CURVE_POINTS = 240
_KEPT = 64


class Pages:
    """Draws the pages. What many viewers see alike is drawn once per tick and kept."""

    def __init__(self, desk: Desk, version: str = "", *, has_lab: bool = False) -> None:
        self._desk = desk
        self._kept: OrderedDict[tuple[Any, ...], str] = OrderedDict()
        self._templates = templates(desk.settings, version, has_truth=desk.truth is not None, has_lab=has_lab)

    # ── pages ────────────────────────────────────────────────────────────────────────────────────────────────────

    def live(self, stream: Stream, window: int) -> HTMLResponse:
        channel = self._desk.feed.channel(stream.name)
        stale = self._is_stale(channel)

        def facts() -> dict[str, Any]:
            return self._head(stream, channel, "live", window) | self._live(channel, window)

        return self._drawn("live.html", (stream.name, window, channel.last_tick, stale), facts)

    def top(self, stream: Stream) -> HTMLResponse:
        channel = self._desk.feed.channel(stream.name)
        stale = self._is_stale(channel)

        def facts() -> dict[str, Any]:
            return self._head(stream, channel, "top", DEFAULT_WINDOW) | self._top(channel)

        return self._drawn("top.html", (stream.name, channel.last_tick, stale), facts)

    def key(self, stream: Stream, name: str, window: int, answer: dict[str, Any] | None, wrong: str) -> HTMLResponse:
        channel = self._desk.feed.channel(stream.name)
        facts = self._head(stream, channel, "key", window) | self._key(channel, name, window)
        page = self._page("key.html", facts | {"answer": answer, "wrong": wrong})
        # The chart library writes style elements as it draws; scripts stay as strict as everywhere.
        page.headers["Content-Security-Policy"] = policy(self._desk.settings, "; style-src 'self' 'unsafe-inline'")
        return page

    async def ranges(
        self, stream: Stream, shared: tuple[Any, ...] | None, facts_of: Callable[[], Awaitable[dict[str, Any]]]
    ) -> HTMLResponse:
        """`shared` names a view that many have alike: it is drawn once per tick. A range that someone chose is not."""
        channel = self._desk.feed.channel(stream.name)
        kept = None if shared is None else (stream.name, *shared, channel.last_tick, self._is_stale(channel))
        if kept is not None and ("ranges.html", *kept) in self._kept:
            return self._drawn("ranges.html", kept, dict)
        facts = await facts_of()
        rows, answer = [], facts.get("answer")
        if answer is not None and "each" in answer:
            rows = sorted(answer["each"], key=lambda row: -(row["value"] or 0))[: self._desk.settings.rows]
        head = self._head(stream, channel, "ranges", DEFAULT_WINDOW)
        has_window = self._desk.feed.ranges_of(stream.name) is not None
        facts = head | {"rows": rows, "has_window": has_window} | facts
        return self._page("ranges.html", facts) if kept is None else self._drawn("ranges.html", kept, lambda: facts)

    def items(self, stream: Stream, facts: dict[str, Any]) -> HTMLResponse:
        channel = self._desk.feed.channel(stream.name)
        return self._page("items.html", self._head(stream, channel, "items", DEFAULT_WINDOW) | facts)

    def map(self, stream: Stream, facts: dict[str, Any]) -> HTMLResponse:
        channel = self._desk.feed.channel(stream.name)
        return self._page("map.html", self._head(stream, channel, "map", DEFAULT_WINDOW) | facts)

    def guarantee(self, stream: Stream, budget: dict[str, Any]) -> HTMLResponse:
        channel = self._desk.feed.channel(stream.name)
        facts = self._head(stream, channel, "guarantee", DEFAULT_WINDOW)
        facts |= {"budget": budget, "bar": _bar(budget), "vouched": vouched(budget["attested"])}
        facts |= {"ranges_of": {ranges.name for name in budget["parts"] if (ranges := self._ranges_of(name))}}
        facts |= {"lists_of": {name for name in budget["parts"] if self._finds_keys(name)}}
        return self._page("guarantee.html", facts | self._ledger(stream))

    def _finds_keys(self, name: str) -> bool:
        return self._desk.feed.has(name) and self._desk.feed.stream(name).finds_keys

    def _ranges_of(self, name: str) -> Stream | None:
        return self._desk.feed.ranges_of(name)

    def about(self, stream: Stream) -> HTMLResponse:
        channel = self._desk.feed.channel(stream.name)
        example = None
        if channel.picture is not None:
            rows = [row for row in channel.picture.rows if row.quantity.is_above_zero]
            example = rows[len(rows) // 2] if rows else None
        facts = {"example": example, "intervals": interval_words(stream.method)}
        return self._page("about.html", self._head(stream, channel, "about", DEFAULT_WINDOW) | facts)

    def curator(self, stream: Stream, budget: dict[str, Any], status: dict[str, Any] | None) -> HTMLResponse:
        channel = self._desk.feed.channel(stream.name)
        lag = None
        if channel.history and (end := clock.end_of(channel.history[-1].tick)) is not None:
            lag = clock.span(timedelta(seconds=max(0, round((self._desk.clock() - end).total_seconds()))))
        facts = {
            "budget": budget,
            "lag": lag,
            "viewers": self._desk.feed.viewers,
            "trouble": self._desk.feed.trouble,
            "status": None if status is None else curator_facts(status),
        }
        head = self._head(stream, channel, "curator", DEFAULT_WINDOW)
        return self._page("curator.html", head | facts | self._ledger(stream))

    def nothing(self) -> HTMLResponse:
        """A store without a stream."""
        return self._page("nothing.html", self._bare("live"))

    def login(self, wrong: str, onward: str, status: int) -> HTMLResponse:
        return self._page("login.html", self._bare("login") | {"wrong": wrong, "onward": onward}, status)

    def error(self, error: HubbubError, status: int) -> HTMLResponse:
        return self._page("error.html", self._bare("error") | {"error": error, "status": status}, status)

    # ── what they show ───────────────────────────────────────────────────────────────────────────────────────────

    def _bare(self, page: str) -> dict[str, Any]:
        return {"page": page, "stream": None, "streams": self._desk.feed.streams, "query": {}}

    def _head(self, stream: Stream, channel: Channel, page: str, window: int) -> dict[str, Any]:
        release = channel.history[-1] if channel.history else None
        tick = None if release is None else release.tick
        several = len(self._desk.feed.streams) > 1
        return self._bare(page) | {
            "stream": stream,
            "keys": channel.keys,
            "is_map": channel.is_map,
            "settings": self._desk.settings.for_a_map() if channel.is_map else self._desk.settings,
            "listed": len(channel.keys) <= MOST_LISTED,
            "query": {"stream": stream.name} if several else {},
            "tick": tick,
            "moment": clock.moment(tick),
            "every": None if tick is None or tick.length is None else clock.span(tick.length),
            "predicted": release is not None and release.is_predicted,
            "notice": "" if channel.picture is None or channel.is_bare else channel.picture.notice,
            "stale": self._is_stale(channel),
            "promise": (promise := self._desk.feed.guarantee(stream.name).promise),
            "of_lists": list_words.said(promise, stream, alone=self._is_alone(stream)) if stream.finds_keys else None,
            "window": window,
            "windows": [(n, clock.ticks(n, tick)) for n in WINDOWS],
            "span": clock.ticks(min(window, max(len(channel.history), 1)), tick),
        }

    def _is_alone(self, stream: Stream) -> bool:
        """Whether no other stream draws from the grant."""
        grant = stream.part.grant.name
        return all(one.name == stream.name or one.part.grant.name != grant for one in self._desk.feed.streams)

    def _is_stale(self, channel: Channel) -> bool:
        tick = channel.history[-1].tick if channel.history else None
        return clock.is_stale(tick, channel.arrived, self._desk.clock())

    def _live(self, channel: Channel, window: int) -> dict[str, Any]:
        picture = channel.picture
        if picture is None or channel.is_bare:
            return {"picture": None}
        recent = list(channel.history)[-window:]
        points, step = curves.thin(recent, SPARK_POINTS)
        keys = picture.release.keys
        sparks = curves.of_keys(points, keys, [keys.position(row.key) for row in picture.rows])
        wide, wide_step = curves.thin(recent, CURVE_POINTS)
        total = curves.of_total(wide)
        last = picture.release.tick.index
        first = _left_edge(recent, window)
        top = charts.nice_top([total])
        return {
            "picture": picture,
            "rows": [
                (row, charts.draw(curve, first, last, curve.top or 1.0), _bar_of(row))
                for row, curve in zip(picture.rows, sparks, strict=True)
            ],
            "curve": charts.draw(total, first, last, top),
            "top": f"{top:,.0f}",
            "first_tick": recent[0].tick.index,
            "data": {
                "window": window,
                "step": step,
                "totalStep": wide_step,
                "top": top,
                "tick": last,
                "begin": recent[0].tick.index,
                "fewest": FEWEST,
                "decision": picture.decision,
                "total": total.points,
                "keys": {row.key: curve.points for row, curve in zip(picture.rows, sparks, strict=True)},
            },
        }

    def _top(self, channel: Channel) -> dict[str, Any]:
        facts = views.top_of(channel, self._desk.settings.rows)
        uppers = [row["upper"] for row in facts["top"] if row["upper"] is not None]
        edge = max([*uppers, 1.0])
        return {
            "ranked": [(row, _whisker(row, edge)) for row in facts["top"]],
            "omitted": 0 if channel.picture is None else channel.picture.omitted,
            "alerts": views.alerts_of(channel)[:10],
        }

    def _key(self, channel: Channel, name: str, window: int) -> dict[str, Any]:
        i = channel.keys.position(name)
        facts: dict[str, Any] = {"key": name, "row": None, "data": {}, "alerts": []}
        if not channel.history or channel.is_bare:
            return facts
        recent = list(channel.history)[-window:]
        release = recent[-1]
        (curve,) = curves.of_keys(curves.thin(recent, CURVE_POINTS)[0], channel.keys, [i])
        last = release.tick.index
        first = _left_edge(recent, window)
        top = charts.nice_top([curve])
        alerts = [alert for alert in views.alerts_of(channel) if alert["key"] == name]
        ranking = Ranking.of_release(release)
        marked = next((c for c in (channel.picture.changes if channel.picture else ()) if c.key == name), None)
        return facts | {
            "row": row_of(release, i, total_of(release), ranking.of(i), marked),
            "quantity": release.at(i),
            "curve": charts.draw(curve, first, last, top),
            "top": f"{top:,.0f}",
            "first_tick": recent[0].tick.index,
            "alerts": alerts,
            "data": {"key": name, "window": window, "first": recent[0].tick.index, "tick": last, "alerts": alerts},
        }

    def _ledger(self, stream: Stream) -> dict[str, Any]:
        verdict = self._desk.watch.verdicts.get(stream.name)
        if verdict is None:
            return {"verdict": None, "verified": ""}
        age = timedelta(seconds=max(1, round((self._desk.clock() - verdict.at).total_seconds())))
        return {"verdict": verdict, "verified": f"{clock.span(age)} ago"}

    # ── drawing ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _drawn(self, template: str, key: tuple[Any, ...], facts: Any) -> HTMLResponse:
        kept = (template, *key)
        if kept not in self._kept:
            self._kept[kept] = self._templates.get_template(template).render(facts())
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return _html(self._kept[kept])

    def _page(self, template: str, facts: dict[str, Any], status: int = 200) -> HTMLResponse:
        return _html(self._templates.get_template(template).render(facts), status)


def _html(text: str, status: int = 200) -> HTMLResponse:
    return HTMLResponse(text, status, {"Cache-Control": "no-cache"})


def _left_edge(recent: list[Release], window: int) -> int:
    """The tick at a chart's left edge. A short history fills the chart, once it has thirty ticks."""
    last = recent[-1].tick.index
    return max(last - window + 1, min(recent[0].tick.index, last - FEWEST + 1))


def _bar_of(row: Row) -> str:
    return "0" if row.share is None else f"{row.share.value:.1f}"


def _whisker(row: dict[str, Any], edge: float) -> dict[str, str]:
    """Where the interval and the estimate lie on a common scale, in per mille of the width."""
    return {name: f"{1000 * (row[name] or 0) / edge:.1f}" for name in ("lower", "value", "upper")} | {
        "width": f"{max(1000 * ((row['upper'] or 0) - (row['lower'] or 0)) / edge, 4):.1f}"
    }


def _slips(slips: dict[str, str] | None) -> dict[str, str] | None:
    """What may slip in all, what may have slipped, and what is left; None where nothing may."""
    if slips is None:
        return None
    total, spent, left = (Fraction(slips[name]) for name in ("total", "spent", "left"))
    return {"total": at_most(total), "spent": at_most(spent), "left": at_least(left)}


def _bar(budget: dict[str, Any]) -> dict[str, Any]:
    """Spent and left in per cent, and what each of the last ticks took."""
    total = Fraction(budget["total"])
    share = min(math.ceil(1000 * Fraction(budget["spent"]) / total) / 10, 100.0)  # spent rounds up, left rounds down
    currency = budget["currency"]
    costs = [(debit, Fraction(debit[currency])) for debit in budget["last_debits"]]
    most = max([cost for _, cost in costs], default=Fraction(1)) or Fraction(1)
    return {
        "spent": f"{share:.1f}",
        "left": f"{100 - share:.1f}",
        "amounts": {
            "total": at_most(total),
            "spent": at_most(Fraction(budget["spent"])),
            "left": at_least(Fraction(budget["left"])),
        },
        "parts": [
            (name, at_most(Fraction(part["total"])), at_most(Fraction(part["spent"])))
            for name, part in budget["parts"].items()
        ],
        "slips": _slips(budget.get("slips")),
        "free": None if budget["free_share"] == "0" else at_most(Fraction(budget["free_share"]) * total),
        "columns": [(debit, f"{float(100 * cost / most):.1f}", at_most(cost)) for debit, cost in costs],
    }
