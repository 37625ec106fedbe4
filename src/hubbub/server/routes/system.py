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
    responses={
        503: {
            "description": "Nothing can be released or taken: the store does not answer or takes no writes, the source "
            "is away, events cannot be kept, or the pipeline has stopped or is stuck."
        }
    },
)
async def healthz(desk: TheDesk) -> JSONResponse:
    """Fixed words for strangers; whole seconds only: how long a turn takes to the millisecond would tell how much
    came in."""
    trouble = desk.feed.trouble
    body: dict[str, Any] = {"status": "ok", "store": trouble or "ok"}
    healthy = trouble is None
    if desk.pulse is not None:
        pulse = desk.pulse.pulse()
        if trouble is None and not pulse.store_writes:
            body["store"] = "no_writes"
        body["pipeline"] = pulse.state
        body["source"] = pulse.source
        body["trouble"] = pulse.trouble or None
        body["seconds_since_beat"] = _whole(pulse.seconds_since_beat)
        body["seconds_since_tick"] = _whole(pulse.seconds_since_tick)
        healthy = healthy and pulse.is_healthy
    if not healthy or body.get("trouble"):
        body["status"] = "degraded"
    return JSONResponse(body, 200 if healthy else 503, {"Cache-Control": "no-store"})


def _whole(seconds: float | None) -> int | None:
    return None if seconds is None else int(seconds)


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
