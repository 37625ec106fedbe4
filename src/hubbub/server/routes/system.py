"""For machines that watch over this one."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.concurrency import run_in_threadpool

from hubbub.server.access import require
from hubbub.server.desk import TheDesk
from hubbub.server.errors import NotOffered
from hubbub.server.metrics import CONTENT_TYPE
from hubbub.server.routes.describe import refusals
from hubbub.server.words import fit_for_curator

router = APIRouter(tags=["system"])


async def curator(request: Request, desk: TheDesk) -> None:
    await require(request, desk, "curator")


@router.get(
    "/healthz",
    summary="Is it alive?",
    responses={503: {"description": "The store does not answer; the last picture is still served."}},
)
async def healthz(desk: TheDesk) -> JSONResponse:
    trouble = desk.feed.trouble
    body = {"status": "ok" if trouble is None else "degraded", "store": trouble or "ok"}
    return JSONResponse(body, 200 if trouble is None else 503, {"Cache-Control": "no-store"})


@router.get("/metrics", summary="OpenMetrics; nothing confidential", response_class=PlainTextResponse)
async def metrics(desk: TheDesk) -> PlainTextResponse:
    text = desk.meters.text(desk.feed, desk.clock())
    return PlainTextResponse(text, media_type=CONTENT_TYPE, headers={"Cache-Control": "no-store"})


@router.get(
    "/v1/streams/{stream}/status",
    summary="The pipeline's own facts, for the curator",
    dependencies=[Depends(curator)],
    responses=refusals(401, 403, 404, 501),
)
async def status(desk: TheDesk, stream: str) -> dict[str, Any]:
    desk.feed.stream(stream)
    if desk.status is None:
        raise NotOffered("This server only reads the store.", "Ask where `hubbub monitor` runs.")
    return {"stream": stream, "status": fit_for_curator(await run_in_threadpool(desk.status.status, stream))}
