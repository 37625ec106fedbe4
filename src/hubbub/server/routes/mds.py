"""Maps as cities ask for them: in the shape of MDS Metrics."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from hubbub.released import Tick
from hubbub.server import mds
from hubbub.server.desk import Desk, TheDesk
from hubbub.server.errors import InvalidRequest, NotFound
from hubbub.server.routes.describe import refusals
from hubbub.server.routes.inputs import MOST_TICK, position_of
from hubbub.server.routes.read import MOST_ROWS, reader

router = APIRouter(prefix="/v1", tags=["reading"], dependencies=[Depends(reader)], responses=refusals(401, 403, 503))

Date = Annotated[str, Field(max_length=40)] | float
Names = Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=10_000)]


class Filter(BaseModel):
    """Only these places."""

    name: str = Field(max_length=40)
    values: Names


class MetricsQuery(BaseModel):
    """What MDS Metrics calls a query; other fields are not looked at."""

    measures: Annotated[list[str], Field(min_length=1, max_length=20)]
    interval: str = Field(max_length=40)
    start_date: Date
    end_date: Date | None = None
    timezone: str = Field(default="UTC", max_length=60)
    dimensions: Annotated[list[str], Field(max_length=5)] = []
    filters: Annotated[list[Filter], Field(max_length=5)] = []


@router.get(
    "/streams/{stream}/mds/metrics", summary="What can be asked of a map by MDS Metrics", responses=refusals(404, 422)
)
async def discover(desk: TheDesk, stream: str) -> dict[str, Any]:
    newest, length = _clocked(desk, stream)
    asked = desk.feed.stream(stream)
    oldest = await run_in_threadpool(desk.maps.oldest, asked)
    return mds.discovery(_start(newest) - (newest.index - oldest) * length, length)


@router.post(
    "/streams/{stream}/mds/metrics",
    summary="Counts of a map in the shape of MDS Metrics, with an interval where MDS says -1",
    responses=refusals(404, 413, 422),
)
async def ask(desk: TheDesk, stream: str, query: MetricsQuery) -> dict[str, Any]:
    newest, length = _clocked(desk, stream)
    unknown = [name for name in query.measures if name not in mds.MEASURES]
    if unknown or any(name not in mds.DIMENSIONS for name in query.dimensions) or len(query.dimensions) > 1:
        raise InvalidRequest("There is no such measure, or no such dimensions.", "GET the same address lists them.")
    if query.interval != mds.duration(length) or query.timezone != "UTC":
        raise InvalidRequest("Counts are told by tick, and in UTC.", f"Use interval={mds.duration(length)}.")
    begin = mds.moment(query.start_date, "start_date")
    end = begin if query.end_date is None else mds.moment(query.end_date, "end_date")
    # All intervals that begin from the first to the last date, both included; a tick is one interval.
    first = newest.index - (_start(newest) - begin) // length
    last = newest.index + (end - _start(newest)) // length
    return await _answered(desk, stream, query, max(first, 0), min(last, newest.index))


@router.get(
    "/streams/{stream}/mds/metrics/{tick}",
    summary="One tick of a map in the shape of MDS Metrics, by place, or by area where places are many",
    responses=refusals(404, 422),
)
async def one(desk: TheDesk, stream: str, tick: Annotated[int, Path(ge=0, le=MOST_TICK)]) -> dict[str, Any]:
    newest, length = _clocked(desk, stream)
    if tick > newest.index:
        raise NotFound("There is no such tick.", f"The newest is {newest.index}.")
    dimension = "geography_id" if len(desk.feed.keys(stream)) <= MOST_ROWS else "area"
    start = (_start(newest) - (newest.index - tick) * length).isoformat()
    query = MetricsQuery(
        measures=list(mds.MEASURES), interval=mds.duration(length), start_date=start, end_date=start,
        dimensions=[dimension],
    )  # fmt: skip
    return await _answered(desk, stream, query, tick, tick)


async def _answered(desk: Desk, stream: str, query: MetricsQuery, first: int, last: int) -> dict[str, Any]:
    asked, keys = desk.feed.stream(stream), desk.feed.keys(stream)
    chosen = [name for one in query.filters if one.name == "geography_id" for name in one.values]
    if len(query.filters) > (1 if chosen else 0) or (chosen and "area" in query.dimensions):
        raise InvalidRequest("There is no such filter.", "Filter by geography_id, without the dimension `area`.")
    for name in chosen:
        position_of(keys, name)
    dimension = query.dimensions[0] if query.dimensions else None
    many = max(0, last - first + 1)
    rows = many * (len(chosen) or len(keys) if dimension == "geography_id" else 1)
    if many > mds.MOST_INTERVALS or rows > MOST_ROWS or many * len(keys) > 50 * MOST_ROWS:
        raise InvalidRequest(
            f"An answer has at most {mds.MOST_INTERVALS} intervals and {MOST_ROWS:,} rows.",
            "Ask for fewer intervals, filter by geography_id, or use the dimension `area`.",
        )

    def read() -> dict[str, Any]:
        releases = desk.store.releases(asked, first=first, last=last) if many else ()
        said = query.model_dump(exclude={"filters"}) | {"filters": [one.model_dump() for one in query.filters]}
        return mds.answer(desk.maps, releases, said, dimension, chosen)

    async with desk.adding:
        return await run_in_threadpool(read)


def _clocked(desk: Desk, stream: str) -> tuple[Tick, timedelta]:
    """The newest tick and how long ticks are, of a map whose ticks have a clock time."""
    desk.maps.place(desk.feed.stream(stream))
    history = desk.feed.channel(stream).history
    if not history:
        raise NotFound("Nothing has been released yet.", "Ask again after the first tick.")
    newest = history[-1].tick
    if newest.start is None or newest.length is None:
        raise InvalidRequest("The ticks of this stream have no clock time, which MDS needs.", "Read its releases.")
    return newest, newest.length


def _start(tick: Tick) -> datetime:
    assert tick.start is not None
    return tick.start.astimezone(UTC)
