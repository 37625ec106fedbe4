"""Maps: their shape, one frame per tick, and totals of areas."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Path, Query, Request, Response
from numpy.typing import NDArray
from starlette.concurrency import run_in_threadpool

from hubbub.errors import InvalidParameter, MissingExtra
from hubbub.released import Release
from hubbub.server import clock
from hubbub.server.desk import Desk, TheDesk
from hubbub.server.errors import InvalidRequest, NotFound, NotOffered
from hubbub.server.maps import described
from hubbub.server.routes.describe import refusals
from hubbub.server.routes.inputs import MOST_TICK, position_of
from hubbub.server.routes.read import TickNumber, reader

BINARY = "application/octet-stream"
MOST_CORNERS = 500
LONGEST_SHAPE = 20_000
MOST_LISTED = 2_000
"""Places of a named area that are listed, so that a page can show where it is."""

KEPT = "private, max-age=31536000, immutable"
"""A tick that was released never changes, and a map is named by its content: browsers keep both."""

router = APIRouter(prefix="/v1", tags=["reading"], dependencies=[Depends(reader)], responses=refusals(401, 403, 503))

_BINARY: dict[int | str, dict[str, Any]] = {
    200: {"content": {BINARY: {}}, "description": "Binary, as docs/formats.md describes it."}
}


@router.get(
    "/streams/{stream}/map", summary="What the map of a stream is, and where to read it", responses=refusals(404)
)
async def facts(desk: TheDesk, stream: str) -> dict[str, Any]:
    asked = desk.feed.stream(stream)
    channel = desk.feed.channel(stream)

    def tell() -> dict[str, Any]:
        place, base = desk.maps.place(asked), f"/v1/streams/{stream}/map"
        return {
            "stream": stream,
            "domain": channel.keys.kind,
            "map": channel.keys.digest,
            "cells": len(channel.keys),
            "noun": channel.keys.noun,
            "bounds": desk.maps.bounds(place),
            "latest_tick": channel.last_tick if channel.history else None,
            "shape": f"{base}/shape?map={channel.keys.digest}",
            "frames": f"{base}/frames/{{tick}}",
            "areas": f"/v1/streams/{stream}/area",
        }

    return await run_in_threadpool(tell)


@router.get(
    "/streams/{stream}/map/shape",
    summary="How a map is drawn: cells, roads, borders",
    response_class=Response,
    responses={**_BINARY, **refusals(404)},
)
async def shape(
    request: Request,
    desk: TheDesk,
    stream: str,
    named: Annotated[str, Query(alias="map", max_length=64, description="The map's digest, to keep the answer.")] = "",
) -> Response:
    asked, digest = desk.feed.stream(stream), desk.feed.keys(stream).digest
    tag = f'"{digest[:20]}"'
    headers = {"ETag": tag, "Cache-Control": KEPT if named == digest else "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(await _made(desk, desk.maps.shape, asked), media_type=BINARY, headers=headers)


@router.get(
    "/streams/{stream}/map/frames/{tick}",
    summary="One tick of a map, whole or as what changed since another",
    response_class=Response,
    responses={**_BINARY, **refusals(404)},
)
async def frame(
    desk: TheDesk,
    stream: str,
    tick: Annotated[int, Path(ge=0, le=MOST_TICK)],
    base: Annotated[
        TickNumber, Query(description="The tick that the reader has: what changed since is shorter.")
    ] = None,
) -> Response:
    asked = desk.feed.stream(stream)
    desk.maps.place(asked)
    return Response(
        await _made(desk, desk.maps.frame, asked, tick, base), media_type=BINARY, headers={"Cache-Control": KEPT}
    )


async def _made(desk: Desk, make: Any, *given: Any) -> bytes:
    """Frames and shapes take a while to make: a few at a time, so that they leave time for everyone else."""
    async with desk.adding:
        made: bytes = await run_in_threadpool(make, *given)
        return made


@router.get(
    "/streams/{stream}/area",
    summary="How many are in an area of a map, with an interval",
    responses=refusals(404, 422, 501),
)
async def area(
    desk: TheDesk,
    stream: str,
    tick: Annotated[TickNumber, Query(description="Which tick; the newest if not given.")] = None,
    bounds: Annotated[str | None, Query(max_length=200, description="A box: west,south,east,north.")] = None,
    polygon: Annotated[
        str | None, Query(max_length=LONGEST_SHAPE, description="Corners in turn: x,y,x,y,… (longitude first).")
    ] = None,
    name: Annotated[str | None, Query(alias="area", max_length=200, description="One of the areas of a frame.")] = None,
    cell: Annotated[str | None, Query(max_length=200, description="One cell, hexagon or zone by its name.")] = None,
    at: Annotated[int | None, Query(ge=0, description="The same by its place in the map, from 0.")] = None,
    ticks: Annotated[
        int | None, Query(ge=1, le=MOST_TICK, description="Over how many ticks up to that one: adds their mean.")
    ] = None,
) -> dict[str, Any]:
    """Places belong to an area by their middle. It costs nothing: only what was released is added up.

    With `ticks`, `mean` is how many were there on average, and `total` is of that tick alone as ever.
    """
    asked = desk.feed.stream(stream)
    desk.maps.place(asked)
    if sum(given is not None for given in (bounds, polygon, name, cell, at)) != 1:
        raise InvalidRequest(
            "An area is given in exactly one way.", "Give `bounds`, `polygon`, `area`, `cell` or `at`."
        )
    box = None if bounds is None else _box(bounds)
    corners = None if polygon is None else _corners(polygon)

    def answer() -> dict[str, Any]:
        release = desk.maps.release(asked, tick)
        if cell is not None or at is not None:
            one = position_of(release.keys, cell) if cell is not None else _within(release, at or 0)
            cells, first = np.array([one]), {"cell": release.keys.names[one]}
            return first | _told(release, 1, described(release.at(one))) | over(release, cells)
        if box is not None:
            cells = desk.maps.in_box(release, box)
        elif corners is not None:
            cells = _inside(desk, release, corners)
        else:
            cells = desk.maps.in_district(release, str(name))
        if not len(cells):
            raise NotFound(
                f"No {release.keys.noun} has its middle in this area, so there is nothing to add up.",
                f"That is not the same as none: ask for a larger area, or for the {release.keys.noun} itself.",
            )
        listed = {"places": cells.tolist()} if name is not None and len(cells) <= MOST_LISTED else {}
        now = _told(release, len(cells), described(desk.maps.total(release, cells)))
        return now | over(release, cells) | listed

    def over(last: Release, cells: NDArray[np.int64]) -> dict[str, Any]:
        if ticks is None:
            return {}
        span = desk.maps.span(asked, last, ticks, cells)
        words = clock.ticks(span.ticks, last.tick)
        return {
            "ticks": span.ticks,
            "span": words,
            "mean": described(span.mean),
            "any_measured": not span.mean.predicted,
        }

    async with desk.adding:
        return await run_in_threadpool(answer)


def _within(release: Release, at: int) -> int:
    if at >= len(release.keys):
        raise NotFound("The map has no such place.", f"It has {len(release.keys):,}, counted from 0.")
    return at


def _inside(desk: Desk, release: Release, corners: list[tuple[float, float]]) -> Any:
    try:
        return desk.maps.in_corners(release, corners)
    except MissingExtra:
        raise NotOffered("This server answers for rectangles alone.", "Ask for `bounds`.") from None
    except InvalidParameter:
        raise InvalidRequest(
            "This is no area: its border crosses itself, or holds nothing.", "Draw it without crossing a line."
        ) from None


def _told(release: Release, cells: int, total: dict[str, Any]) -> dict[str, Any]:
    return {
        "tick": release.tick.index,
        "moment": clock.moment(release.tick),
        "predicted": release.is_predicted,
        "cells": cells,
        "noun": release.keys.noun,
        "total": total,
    }


def _numbers(text: str, name: str) -> list[float]:
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = [math.nan]
    if not all(map(math.isfinite, numbers)):
        raise InvalidRequest(
            f"`{name}` is not a list of numbers.", "Separate them by commas, longitude before latitude."
        )
    return numbers


def _box(text: str) -> tuple[float, float, float, float]:
    numbers = _numbers(text, "bounds")
    if len(numbers) != 4 or numbers[0] > numbers[2] or numbers[1] > numbers[3]:
        raise InvalidRequest("`bounds` are four numbers that run from west to east and from south to north.",
                             "Give west,south,east,north.")  # fmt: skip
    return numbers[0], numbers[1], numbers[2], numbers[3]


def _corners(text: str) -> list[tuple[float, float]]:
    numbers = _numbers(text, "polygon")
    if len(numbers) % 2 or not 6 <= len(numbers) <= 2 * MOST_CORNERS:
        raise InvalidRequest(f"A polygon has from 3 to {MOST_CORNERS} corners, each with x and y.", "Give x,y,x,y,…")
    return list(zip(numbers[::2], numbers[1::2], strict=True))
