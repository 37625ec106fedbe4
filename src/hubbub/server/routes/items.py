"""Lists of items, for programs and for the page that searches in them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Annotated, Any
from urllib.parse import urlencode

import polars as pl
from fastapi import APIRouter, Depends, Header, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from hubbub.server import formats
from hubbub.server.desk import Desk, TheDesk
from hubbub.server.errors import InvalidRequest, NotFound
from hubbub.server.items_page import page_of
from hubbub.server.lists import STATES, ItemList, Overview
from hubbub.server.routes.describe import refusals
from hubbub.server.routes.inputs import MOST_TICK
from hubbub.server.routes.read import MOST_ROWS, reader
from hubbub.store import Stream

MOST_PAGES = 10**9
LONGEST_QUERY = 200
"""Items are not longer than that unless somebody asks for it."""

router = APIRouter(prefix="/v1", tags=["reading"], dependencies=[Depends(reader)], responses=refusals(401, 403, 503))

ListNumber = Annotated[
    int | None, Query(alias="list", ge=0, le=MOST_TICK, description="Which list; the newest if not given.")
]
Searched = Annotated[
    str, Query(alias="q", max_length=LONGEST_QUERY, description="Only items that hold this, in any case.")
]


@router.get(
    "/streams/{stream}/items",
    summary="A published list of items, whole or by pages, as JSON or CSV",
    responses={
        200: {"content": {formats.CSV: {}}, "description": "As JSON, or one line per item as CSV."},
        **refusals(404, 406, 422),
    },
)
async def items(
    request: Request,
    desk: TheDesk,
    stream: str,
    number: ListNumber = None,
    query: Searched = "",
    page: Annotated[
        int | None,
        Query(ge=1, le=MOST_PAGES, description="A page of 100 items, from 1, with words; all items if not given."),
    ] = None,
    form: Annotated[str | None, Query(alias="format", description="json or csv, for plain links.")] = None,
    accept: Annotated[str | None, Header()] = None,
) -> Response:
    kind = formats.choose(accept, form, ("json", "csv"))
    asked = desk.feed.stream(stream)
    if not asked.finds_keys:
        raise NotFound("This stream holds no lists.", "It is a stream of counts: read its releases.")
    return await run_in_threadpool(_answer, request, desk, asked, number, query, page, kind)


def _answer(
    request: Request, desk: Desk, stream: Stream, number: int | None, query: str, page: int | None, kind: str
) -> Response:
    overview = desk.lists.overview(stream)
    wanted = overview.newest if number is None else number
    if wanted is None:
        raise NotFound("No list has been published yet.", "Ask again after the first one.")
    shown = desk.lists.read(stream, wanted)
    headers = {"Cache-Control": "no-cache", "Vary": "Accept"}
    if kind == formats.CSV:
        body = _csv(shown, _whole(shown, query, page))
        headers["Content-Disposition"] = f'attachment; filename="{stream.name}-{shown.number}.csv"'
    else:
        facts = _head(desk, stream, overview, shown)
        if page is None:
            rows = _whole(shown, query, page)
            facts |= {"items": len(shown), "found": len(rows), "counted": shown.counted, "rows": rows}
        else:
            facts |= page_of(shown, query, page)
            facts["next"] = _next(request, page + 1) if page < facts["pages"] else None
        body = json.dumps(facts, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    headers["ETag"] = f'"{hashlib.sha256(body).hexdigest()[:20]}"'
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=kind, headers=headers)


def _head(desk: Desk, stream: Stream, overview: Overview, shown: ItemList) -> dict[str, Any]:
    about = None if desk.items is None else desk.items.about(stream)
    facts: dict[str, Any] = {
        "stream": stream.name,
        "list": shown.number,
        "lists": [{"list": number, "state": STATES[state]} for number, state in overview.states],
        "left": overview.left,
    }
    if about is not None:
        card = about.card if shown.counted else about.card_without_counts
        facts |= {"guarantee": dict(about.guarantee), "card": list(card)}
    return facts


def _whole(shown: ItemList, query: str, page: int | None) -> list[dict[str, Any]]:
    """All that was found, or a page of it, in numbers alone."""
    if page is not None:
        return [{name: row[name] for name in _columns(shown)} for row in page_of(shown, query, page)["rows"]]
    found = shown.find(query)
    if len(found) > MOST_ROWS:
        raise InvalidRequest(
            f"That are {len(found):,} items; an answer has at most {MOST_ROWS:,}.",
            "Ask for them by `page`, or search with `q`. `releases` has the whole list as Parquet or Arrow.",
        )
    return [shown.row(place, words=False) for place in found]


_NUMBERS = ("value", "standard_error", "lower", "upper")


def _columns(shown: ItemList) -> Sequence[str]:
    return ("rank", "item", *_NUMBERS) if shown.counted else ("rank", "item")


def _csv(shown: ItemList, rows: list[dict[str, Any]]) -> bytes:
    """One line per item. A list without counts has items alone: there is no order in it."""
    kinds = {"rank": pl.String, "item": pl.String, **dict.fromkeys(_NUMBERS, pl.Float64)}
    columns = _columns(shown) if shown.counted else ("item",)
    table = pl.DataFrame(
        {name: [row[name] for row in rows] for name in columns}, schema={name: kinds[name] for name in columns}
    )
    return table.with_columns(pl.lit(shown.number).alias("list")).write_csv().encode()


def _next(request: Request, page: int) -> str:
    pairs = [(name, value) for name, value in request.query_params.multi_items() if name != "page"]
    return f"{request.url.path}?{urlencode([('page', str(page)), *pairs])}"
