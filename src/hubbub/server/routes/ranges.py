"""Totals over ranges of ticks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from hubbub.ranges.answer import PairAnswer
from hubbub.ranges.pair import PairWindow
from hubbub.released import Domain, Tick, Value
from hubbub.server import formats
from hubbub.server.desk import Desk, TheDesk
from hubbub.server.errors import InvalidRequest, NotFound
from hubbub.server.picture import largest
from hubbub.server.routes.describe import refusals
from hubbub.server.routes.inputs import positions_of, tick_at
from hubbub.server.routes.read import KeyNames, reader
from hubbub.server.sums import Sum
from hubbub.server.words import error_words, range_words

MOST_SUMMED = 20_000
"""The longest range that is added up tick by tick: about a second's work."""

MOST_CELLS = 5_000_000
"""The most that is read for one request, in ticks times keys."""

MOST_EACH = 10_000
"""The most keys whose own totals an answer lists."""

LARGEST = 1_000
"""How many it lists of a stream that has more: those that are largest now."""

router = APIRouter(prefix="/v1", tags=["reading"], dependencies=[Depends(reader)], responses=refusals(401, 403, 503))


@router.get(
    "/streams/{stream}/range",
    summary="The total over a range of ticks, with its interval",
    responses={
        200: {"content": {formats.CSV: {}}, "description": "As JSON, or one line per key as CSV."},
        **refusals(404, 406, 422),
    },
)
async def range_sum(
    desk: TheDesk,
    stream: str,
    start: Annotated[
        str, Query(alias="from", max_length=40, description="First tick: its number, or a time with its zone (ISO).")
    ],
    end: Annotated[str, Query(alias="to", max_length=40, description="Last tick, included; a number or a time.")],
    key: KeyNames = None,
    each: Annotated[bool, Query(description="Give the total of each key too.")] = False,
    form: Annotated[str | None, Query(alias="format", description="json or csv, for plain links.")] = None,
    accept: Annotated[str | None, Header()] = None,
) -> Response:
    """From the stream of ranges and the live measurements together, where there is one; otherwise the sum of
    the measurements."""
    kind = formats.choose(accept, form, ("json", "csv"))
    as_csv = kind == formats.CSV
    answer = await sum_between(desk, stream, start, end, key, each=each or as_csv)
    if as_csv:
        headers = {"Content-Disposition": f'attachment; filename="{stream}-range.csv"', "Vary": "Accept"}
        return Response(formats.range_to_csv(answer), media_type=kind, headers=headers)
    return JSONResponse(answer, headers={"Cache-Control": "no-cache", "Vary": "Accept"})


async def sum_between(
    desk: Desk, stream: str, start: str, end: str, key: list[str] | None, *, each: bool = False, record: bool = True
) -> dict[str, Any]:
    """The answer of `range`, which the pages show too. `record`: someone asked for exactly this."""
    channel = desk.feed.channel(stream)
    if desk.feed.stream(stream).finds_keys:
        raise InvalidRequest(
            "This stream holds lists of items, which have no total: one person is in a list with several items.",
            "Read a list: GET …/items.",
        )
    if not channel.history:
        raise NotFound("Nothing has been released yet.", "Ask again after the first tick.")
    newest = channel.history[-1].tick
    first, last = tick_at(start, "from", newest), tick_at(end, "to", newest)
    if first > last:
        raise InvalidRequest("`from` must not lie after `to`.", "Both are included; use the same tick for one.")
    if first > newest.index:
        raise InvalidRequest(
            "The range lies in the future.", f"The newest tick is {newest.index}; ask for one up to there."
        )
    last = min(last, newest.index)
    keys = desk.feed.keys(stream)
    positions = positions_of(keys, key)
    # Of a large domain the keys that are largest now: nobody reads a million of them.
    many = each and positions is None and len(keys) > MOST_EACH
    listed = largest(channel.history[-1], LARGEST) if many else None
    answer = await desk.ranges.ask(stream, lambda window: _from_pair(window, first, last, positions, each, listed))
    if answer is None:
        answer = await _from_measurements(desk, stream, keys, first, last, positions, each, listed)
    if record:
        desk.questions.note(stream, last - first + 1)
    quantities: list[Value] | None = answer.pop("each")
    total: Value = answer.pop("total")
    begins, ends = _times(newest, first, answer["to"])
    facts = {
        "stream": stream,
        "from": first,
        "begins": None if begins is None else begins.isoformat(),
        "ends": None if ends is None else ends.isoformat(),
        "words": range_words(begins, ends, first, answer["to"]),
        "error_words": error_words(total, answer["missing"], answer["predicted"]),
        "keys": key or None,
        **answer,
        "sum": total.described(),
    }
    if quantities is not None:
        shown = positions if listed is None else listed
        names = keys.names if shown is None else [keys.names[i] for i in shown]
        facts["each"] = [{"key": name, **one.described()} for name, one in zip(names, quantities, strict=True)]
        facts["omitted"] = 0 if listed is None else len(keys) - len(listed)
    return facts


def _from_pair(
    window: PairWindow,
    first: int,
    last: int,
    positions: list[int] | None,
    each: bool,
    listed: Sequence[int] | None,
) -> dict[str, Any] | None:
    """None where the window does not hold the range."""
    last = min(last, window.next_tick - 1)  # ranges follow the live stream by a moment
    if not window.window.oldest <= first <= last:
        return None
    answer = window.total(first, last, positions)
    return {
        "to": last,
        "ticks": last - first + 1 - answer.missing,
        "predicted": 0,
        "missing": answer.missing,
        "total": _at_least_zero(answer),
        "source": "ranges",
        "strategy": window.describe()["title"],
        "weight": round(answer.weight, 4),
        "each": [_at_least_zero(one) for one in window.each(first, last, listed or positions)] if each else None,
    }


async def _from_measurements(
    desk: Desk,
    stream: str,
    keys: Domain,
    first: int,
    last: int,
    positions: list[int] | None,
    each: bool,
    listed: Sequence[int] | None,
) -> dict[str, Any]:
    most = min(MOST_SUMMED, MOST_CELLS // len(keys))
    if last - first + 1 > most:
        oldest = await desk.ranges.ask(stream, lambda window: window.window.oldest)
        hint = "Ask for parts; their errors add up as squares."
        if oldest is not None:
            hint = f"From tick {oldest} on a range may be of any length; before, ask for parts."
        raise InvalidRequest(f"A range of this stream has at most {most:,} ticks.", hint)

    def add() -> dict[str, Any]:
        adding = Sum()
        for release in desk.store.releases(stream, first=first, last=last):
            if release.keys is not keys and release.keys != keys:
                begins = next(one.tick for one in reversed(desk.store.decisions(stream)))
                raise InvalidRequest(
                    f"What the stream counts was changed, and ticks before {begins} had other keys.",
                    f"Ask for a range from tick {begins} on; earlier ticks are in `releases`.",
                )
            adding.add(release, positions)
        return {
            "to": last,
            "ticks": adding.ticks,
            "predicted": adding.predicted,
            "missing": last - first + 1 - adding.ticks,
            "total": adding.quantity,
            "source": "measurements",
            "strategy": None,
            "weight": None,
            "each": adding.each(len(keys) if positions is None else len(positions), listed) if each else None,
        }

    async with desk.adding:
        return await run_in_threadpool(add)


def _at_least_zero(answer: PairAnswer) -> Value:
    """Cut at zero, since what is counted is never negative."""
    return Value(max(answer.value, 0.0), answer.standard_error, answer.lower, answer.upper)


def _times(newest: Tick, first: int, last: int) -> tuple[datetime | None, datetime | None]:
    """When the range begins and ends, if ticks have a clock time."""
    if newest.start is None or newest.length is None:
        return None, None
    start, length = newest.start, newest.length
    return start + (first - newest.index) * length, start + (last + 1 - newest.index) * length
