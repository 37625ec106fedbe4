"""What readers get: releases, ranking, alerts, the budget."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.concurrency import run_in_threadpool

from hubbub.released import Domain, Release
from hubbub.server import formats, tables
from hubbub.server.access import require
from hubbub.server.desk import Desk, TheDesk
from hubbub.server.errors import InvalidRequest, NotAcceptable, NotFound
from hubbub.server.routes.describe import refusals
from hubbub.server.routes.inputs import MOST_TICK, position_of
from hubbub.server.views import alerts_of, budget_of, guarantee_of, top_of
from hubbub.spatial.maps import map_of

MOST_TICKS = 1000
"""The largest page of releases, in ticks."""

MOST_CELLS = 5_000_000
"""The most that is read for one request, in ticks times keys."""

MOST_ROWS = 100_000
"""The largest answer in JSON or CSV that is made at once, in ticks times keys: some 15 MB. One tick that is larger by
itself is sent in pieces."""

MOST_RANKED = 20_000
"""Keys that are put in order at once; of more, a worker thread does it, so that nobody else waits."""


async def reader(request: Request, desk: TheDesk) -> None:
    await require(request, desk, "reader")


router = APIRouter(prefix="/v1", tags=["reading"], dependencies=[Depends(reader)], responses=refusals(401, 403, 503))

TickNumber = Annotated[int | None, Query(ge=0, le=MOST_TICK)]
KeyNames = Annotated[list[str] | None, Query(max_length=100, description="Only these keys; all, if none is named.")]


@router.get("/streams", summary="The streams of this server")
async def streams(desk: TheDesk) -> dict[str, Any]:
    listed = []
    drawing = Counter(stream.part.grant.name for stream in desk.feed.streams)
    for stream in desk.feed.streams:
        channel = desk.feed.channel(stream.name)
        listed.append(
            {
                "name": stream.name,
                "keys": len(channel.keys),
                "domain": channel.keys.kind,
                "method": stream.method,
                "created": stream.created.isoformat(),
                "grant": stream.part.grant.name,
                "guarantee": guarantee_of(stream, alone=drawing[stream.part.grant.name] == 1),
                "finds_keys": stream.finds_keys,
                "range_window": desk.feed.range_window(stream.name),
                "latest_tick": channel.last_tick if channel.history else None,
            }
        )
    return {"streams": listed}


@router.get(
    "/streams/{stream}/releases",
    summary="Releases by tick, as JSON, CSV, Parquet, Arrow or, of a map, GeoJSON",
    responses={
        200: {
            "content": {formats.CSV: {}, formats.PARQUET: {}, formats.ARROW: {}, formats.GEOJSON: {}},
            "description": "In the format that was asked for.",
        },
        **refusals(404, 406, 422),
    },
)
async def releases(
    request: Request,
    desk: TheDesk,
    stream: str,
    first: Annotated[TickNumber, Query(description="The first tick; 0 if not given.")] = None,
    last: Annotated[TickNumber, Query(description="The last tick, included; the newest if not given.")] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_TICKS, description="How many ticks at most.")] = 100,
    key: KeyNames = None,
    form: Annotated[
        str | None, Query(alias="format", description="json, csv, parquet, arrow or geojson, for plain links.")
    ] = None,
    accept: Annotated[str | None, Header()] = None,
) -> Response:
    kind = formats.choose(accept, form)
    keys = desk.feed.keys(stream)
    rows = len(set(key)) if key else len(keys)
    if kind == formats.GEOJSON and (key or map_of(keys) is None):
        raise NotAcceptable("GeoJSON holds all places of a map, and nothing else.", "Take another format, or no `key`.")
    as_text = kind in (formats.JSON, formats.CSV)
    in_pieces = kind == formats.GEOJSON or (as_text and rows > MOST_ROWS)
    if in_pieces and as_text and limit > 1 and (first is None or first != last):
        raise InvalidRequest(
            f"Every tick of this stream has {rows:,} {keys.noun}s; JSON and CSV hold one tick of so many.",
            "Ask for one with `first` and limit=1. Or name some with `key`, ask for the largest (`top`), or take "
            "format=parquet or format=arrow.",
        )
    if in_pieces:
        limit = 1
    elif as_text:
        limit = min(limit, MOST_ROWS // rows)
    limit = min(limit, max(1, MOST_CELLS // len(keys)))  # whole releases are read, whichever keys are shown

    def read() -> Response:
        for name in key or ():
            _expect_known(desk, stream, keys, name)
        rows = list(desk.store.releases(stream, first=first, last=last, limit=limit + 1))
        page, more = rows[:limit], len(rows) > limit
        link = _next(request, page[-1].tick.index + 1) if more else None
        headers = {"Cache-Control": "no-cache", "Vary": "Accept"}
        if link:
            headers["Link"] = f'<{link}>; rel="next"'
        if key:
            page = [part for release in page if (part := formats.part_of(release, key)) is not None]
        if in_pieces and page:
            return _streamed(stream, page[0], kind, link, headers)
        if kind in (formats.JSON, formats.GEOJSON):
            body = {"stream": stream, "releases": [release.to_dict() for release in page], "next": link}
            return JSONResponse(body, headers=headers)
        headers["Content-Disposition"] = f'attachment; filename="{stream}.{formats.ENDINGS[kind]}"'
        return Response(formats.written(page, kind), media_type=kind, headers=headers)

    return await run_in_threadpool(read)


@router.get(
    "/streams/{stream}/top",
    summary="The largest keys, with brackets where the noise ties them",
    responses=refusals(404),
)
async def top(
    desk: TheDesk, stream: str, k: Annotated[int, Query(ge=1, le=1000, description="How many keys.")] = 10
) -> dict[str, Any]:
    channel = desk.feed.channel(stream)
    if len(channel.keys) > MOST_RANKED:
        return await run_in_threadpool(top_of, channel, k)
    return top_of(channel, k)


@router.get("/streams/{stream}/alerts", summary="Changes beyond the noise", responses=refusals(404))
async def alerts(desk: TheDesk, stream: str) -> dict[str, Any]:
    return {"stream": stream, "alerts": alerts_of(desk.feed.channel(stream))}


@router.get("/streams/{stream}/budget", summary="Spent, left, and the guarantee in a sentence", responses=refusals(404))
async def budget(desk: TheDesk, stream: str) -> dict[str, Any]:
    desk.feed.stream(stream)
    return await run_in_threadpool(budget_of, desk, stream)


@router.get("/streams/{stream}/truth", include_in_schema=False)
async def truth(
    desk: TheDesk,
    stream: str,
    first: Annotated[int, Query(ge=0, le=MOST_TICK)],
    last: Annotated[int, Query(ge=0, le=MOST_TICK)],
) -> dict[str, Any]:
    """The demo's overlay. A server that is not the demo has no such thing."""
    if desk.truth is None:
        raise NotFound("There is no such page.", "GET /openapi.json lists the routes.")
    desk.feed.stream(stream)
    if not 0 <= last - first <= MOST_TICKS * 2:
        raise InvalidRequest("The range is empty or too long.", f"Ask for at most {MOST_TICKS * 2:,} ticks.")
    values = await run_in_threadpool(desk.truth.overlay, stream, first, last)
    return {"confidential": True, "first": first, "keys": {key: list(counts) for key, counts in values.items()}}


def _streamed(stream: str, release: Release, kind: str, link: str | None, headers: dict[str, str]) -> Response:
    """One tick of very many keys, sent as it is written: nobody's memory holds it whole."""
    if kind == formats.JSON:
        return StreamingResponse(tables.json_pieces(stream, release, link), media_type=kind, headers=headers)
    pieces = tables.csv_pieces(release) if kind == formats.CSV else tables.geojson_pieces(stream, release)
    named = f"{stream}-{release.tick.index}.{formats.ENDINGS[kind]}"
    headers["Content-Disposition"] = f'attachment; filename="{named}"'
    return StreamingResponse(pieces, media_type=kind, headers=headers)


def _expect_known(desk: Desk, stream: str, keys: Domain, name: str) -> None:
    """A key of today, or one that the stream counted before a released decision changed that."""
    if name not in keys and name not in desk.store.stream(stream).keys:
        earlier = (decision.keys for decision in desk.store.decisions(stream))
        position_of(next((one for one in earlier if name in one), keys), name)


def _next(request: Request, first: int) -> str:
    pairs = [(name, value) for name, value in request.query_params.multi_items() if name != "first"]
    return f"{request.url.path}?{urlencode([('first', str(first)), *pairs])}"
