"""Reports of clients and messages between two servers that add without seeing: passed on unread, in no log."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from hubbub.errors import Overloaded
from hubbub.server.errors import NotFound, UnsupportedMedia
from hubbub.server.ports import GatherPort
from hubbub.server.routes.describe import refusals

_HEADERS = {"Cache-Control": "no-store"}
BINARY = "application/octet-stream"
MARK = "hubbub-mark"
TICKET = "hubbub-ticket"
MOST_BUSY = 64
"""Bodies that are held at a time; who comes then is asked to come again."""

_SENT = {"requestBody": {"required": True, "content": {BINARY: {"schema": {"type": "string", "format": "binary"}}}}}


def port_of(request: Request) -> GatherPort:
    port: GatherPort = request.app.state.gather
    return port


router = APIRouter(tags=["gather"])
Port = Annotated[GatherPort, Depends(port_of)]
Round = Annotated[int, Path(ge=0, le=10**9, description="The round's number, from 0 on.")]


@router.get("/v1/gather", summary="What is asked, by whom it is added up, and when")
async def about(port: Port) -> Response:
    return Response(port.about(), media_type="application/json", headers=_HEADERS)


@router.get("/v1/gather/status", summary="How many rounds are over")
async def status(port: Port) -> Response:
    return JSONResponse(dict(await run_in_threadpool(port.status)), headers=_HEADERS)


@router.get("/v1/gather/rounds/{tick}", summary="What a round came to", responses=refusals(404, 409, 422))
async def result(tick: Round, port: Port) -> Response:
    return JSONResponse(dict(await run_in_threadpool(port.result, tick)), headers=_HEADERS)


@router.get("/v1/gather/rounds/{tick}/announcement", summary="What a client needs", responses=refusals(404, 409, 422))
async def announcement(tick: Round, port: Port) -> Response:
    return Response(port.announcement(tick), media_type=BINARY, headers=_HEADERS)


@router.post(
    "/v1/gather/rounds/{tick}/reports",
    summary="A client's report",
    responses=refusals(404, 409, 413, 415, 422, 429, 503),
    openapi_extra=_SENT,
)
async def report(tick: Round, request: Request, port: Port) -> Response:
    """A sealed report. It is on disk when the answer comes; the same one again is refused, and counts once."""
    _expect(port, "reports", request)
    body = await _body(request)
    try:
        await run_in_threadpool(port.take, tick, body, request.headers.get(TICKET, ""))
    finally:
        request.app.state.gather_busy -= 1
    return JSONResponse({"taken": True}, headers=_HEADERS)


@router.post(
    "/v1/gather/rounds/{tick}/{step}",
    summary="A message of the other server",
    responses=refusals(404, 409, 413, 415, 422, 429, 503),
    openapi_extra=_SENT,
)
async def tell(tick: Round, step: str, request: Request, port: Port) -> Response:
    """Bears the other server's mark, and so does the answer."""
    _expect(port, step, request)
    body = await _body(request)
    try:
        answer, mark = await run_in_threadpool(port.tell, tick, step, body, request.headers.get(MARK, ""))
    finally:
        request.app.state.gather_busy -= 1
    return Response(answer, media_type=BINARY, headers={"Cache-Control": "no-store", MARK: mark})


def _expect(port: GatherPort, step: str, request: Request) -> None:
    if step not in port.offers:
        raise NotFound("There is no such page.", "The two servers of a query take different messages.")
    if request.headers.get("content-type", "").partition(";")[0].strip() != BINARY:
        raise UnsupportedMedia("Messages are bytes.", f"Send `Content-Type: {BINARY}`.")


async def _body(request: Request) -> bytes:
    """Counted before it is read: what is held is bounded. Whoever calls this counts down."""
    state = request.app.state
    if state.gather_busy >= MOST_BUSY:
        raise Overloaded("Too many messages come at the same time.", "Send it again in a second.")
    state.gather_busy += 1
    try:
        return await request.body()
    except BaseException:
        state.gather_busy -= 1
        raise
