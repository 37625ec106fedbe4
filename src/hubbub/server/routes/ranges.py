"""Totals over ranges of ticks."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from hubbub.ranges.pair import PairAnswer, PairWindow
from hubbub.released import Keys, Tick
from hubbub.server import formats
from hubbub.server.desk import Desk, TheDesk
from hubbub.server.errors import InvalidRequest, NotFound
from hubbub.server.quantity import Quantity
from hubbub.server.routes.describe import refusals
from hubbub.server.routes.inputs import positions_of, tick_at
from hubbub.server.routes.read import KeyNames, reader
from hubbub.server.sums import Sum
from hubbub.server.words import error_words, range_words

MOST_SUMMED = 20_000
"""The longest range that is added up tick by tick: about a second's work."""

MOST_CELLS = 5_000_000
"""The most that is read for one request, in ticks times keys."""

router = APIRouter(prefix="/v1", tags=["reading"], dependencies=[Depends(reader)], responses=refusals(401, 403, 503))


@router.get(
    "/streams/{stream}/range",
    summary="The total over a range of ticks, with its interval",
    responses={
        200: {"content": {formats.CSV: {}}, "description": "As JSON, or one line a key as CSV."},
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
    """From the stream's range companion and the live measurements together, where there is one; otherwise the sum of
    the measurements."""
    kind = formats.choose(accept, form, ("json", "csv"))
    as_csv = kind == formats.CSV
    found = await sum_between(desk, stream, start, end, key, each=each or as_csv)
    if as_csv:
        headers = {"Content-Disposition": f'attachment; filename="{stream}-range.csv"', "Vary": "Accept"}
        return Response(formats.range_to_csv(found), media_type=kind, headers=headers)
    return JSONResponse(found, headers={"Cache-Control": "no-cache", "Vary": "Accept"})


async def sum_between(
    desk: Desk, stream: str, start: str, end: str, key: list[str] | None, *, each: bool = False, record: bool = True
) -> dict[str, Any]:
    """The answer of `range`, which the pages show too. `record`: someone asked for exactly this."""
    known = desk.feed.stream(stream)
    channel = desk.feed.channel(stream)
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
    positions = positions_of(known.keys, key)
    answer = await desk.ranges.ask(stream, lambda window: _from_pair(window, first, last, positions, each))
    if answer is None:
        answer = await _from_measurements(desk, stream, known.keys, first, last, positions, each)
    if record:
        desk.questions.note(stream, last - first + 1)
    quantities: list[Quantity] | None = answer.pop("each")
    total: Quantity = answer.pop("total")
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
        "sum": total.to_dict(),
    }
    if quantities is not None:
        names = known.keys.names if positions is None else [known.keys.names[i] for i in positions]
        facts["each"] = [{"key": name, **one.to_dict()} for name, one in zip(names, quantities, strict=True)]
    return facts


def _from_pair(
    window: PairWindow, first: int, last: int, positions: list[int] | None, each: bool
) -> dict[str, Any] | None:
    """None where the window does not hold the range."""
    last = min(last, window.next_tick - 1)  # the companion follows the live stream by a moment
    if not window.window.oldest <= first <= last:
        return None
    found = window.total(first, last, positions)
    return {
        "to": last,
        "ticks": last - first + 1 - found.missing,
        "predicted": 0,
        "missing": found.missing,
        "total": _quantity(found),
        "source": "ranges",
        "strategy": window.describe()["title"],
        "weight": round(found.weight, 4),
        "each": [_quantity(one) for one in window.each(first, last, positions)] if each else None,
    }


async def _from_measurements(
    desk: Desk, stream: str, keys: Keys, first: int, last: int, positions: list[int] | None, each: bool
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
            "each": adding.each(len(keys) if positions is None else len(positions)) if each else None,
        }

    async with desk.adding:
        return await run_in_threadpool(add)


def _quantity(found: PairAnswer) -> Quantity:
    """Cut at zero, since what is counted is never negative."""
    return Quantity(max(found.value, 0.0), found.standard_error, found.lower, found.upper)


def _times(newest: Tick, first: int, last: int) -> tuple[datetime | None, datetime | None]:
    """When the range begins and ends, if ticks have a clock time."""
    if newest.start is None or newest.length is None:
        return None, None
    start, length = newest.start, newest.length
    return start + (first - newest.index) * length, start + (last + 1 - newest.index) * length
