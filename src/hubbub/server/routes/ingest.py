"""What comes in. Nothing of it is ever repeated, logged or counted here."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from hubbub.errors import Overloaded
from hubbub.released import Keys
from hubbub.server.access import require
from hubbub.server.desk import TheDesk
from hubbub.server.errors import BadRequest, InvalidRequest, NotOffered, UnsupportedMedia
from hubbub.server.formats import to_dicts
from hubbub.server.routes.describe import refusals
from hubbub.server.routes.inputs import MOST_TICK

NDJSON = ("application/x-ndjson", "application/ndjson", "application/jsonl")
MOST_COUNT = 2**52

_ONLY_READS = "Send to the address where `hubbub monitor` runs with a source that listens."


async def sender(request: Request, desk: TheDesk) -> None:
    await require(request, desk, "ingest")


router = APIRouter(
    prefix="/v1",
    tags=["ingest"],
    dependencies=[Depends(sender)],
    responses=refusals(400, 401, 403, 404, 409, 413, 415, 422, 429, 501, 503),
)


@router.post(
    "/streams/{stream}/events",
    summary="Send events, one JSON object a line",
    status_code=202,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {NDJSON[0]: {"schema": {"type": "string", "description": "One JSON object a line."}}},
        }
    },
)
async def events(
    request: Request,
    desk: TheDesk,
    stream: str,
    idempotency_key: Annotated[
        str | None,
        Header(
            min_length=1,
            max_length=200,
            pattern=r"^[!-~]+$",
            description="A name for this batch. Sent again under the same name it is not counted again.",
        ),
    ] = None,
) -> JSONResponse:
    """Answers after the batch was taken, whole or not at all."""
    desk.feed.stream(stream)
    if desk.events is None:
        raise NotOffered("This server takes no events.", _ONLY_READS)
    _expect(request, NDJSON)
    body = await _body(request, desk.settings.max_uploads)
    receipt = await run_in_threadpool(desk.events.push, stream, body, idempotency_key)
    facts = {"accepted": receipt.accepted, "malformed": receipt.malformed, "duplicate": receipt.duplicate}
    return JSONResponse(facts, 202, {"Cache-Control": "no-store"})


@router.post(
    "/streams/{stream}/counts",
    summary="Send one tick's counts and get its release",
    status_code=201,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {
                        "type": "object",
                        "required": ["values"],
                        "additionalProperties": False,
                        "properties": {
                            "tick": {"type": ["integer", "null"], "minimum": 0, "maximum": MOST_TICK},
                            "values": {
                                "type": "object",
                                "additionalProperties": {"type": "integer", "minimum": 0, "maximum": MOST_COUNT},
                            },
                        },
                    }
                }
            },
        }
    },
)
async def counts(request: Request, desk: TheDesk, stream: str) -> JSONResponse:
    """For people who count themselves. The unit's bound must have been enforced by whoever counted: no mechanism can
    take people out again. Every key needs a count, zero included."""
    keys = desk.feed.stream(stream).keys
    if desk.counts is None:
        raise NotOffered("This server takes no counts.", _ONLY_READS)
    _expect(request, ("application/json",))
    tick, values = _counts(await _body(request, desk.settings.max_uploads), keys)
    release = await run_in_threadpool(desk.counts.release, stream, tick, values)
    desk.feed.wake()
    return JSONResponse(to_dicts([release], None)[0], 201, {"Cache-Control": "no-store"})


def _expect(request: Request, kinds: tuple[str, ...]) -> None:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in kinds:
        raise UnsupportedMedia(f"The body must be of type {kinds[0]}.", f"Set `Content-Type: {kinds[0]}`.")
    if request.headers.get("content-encoding", "identity") != "identity":
        raise UnsupportedMedia("A compressed body is not taken.", "Send it as it is.")


async def _body(request: Request, most: int) -> bytes:
    """The body; only so many are read at a time, each no larger than the limit, so memory stays bounded."""
    reading: asyncio.Semaphore = request.app.state.reading
    if reading.locked():
        raise Overloaded(
            f"{most} requests are being read already; nothing was taken.", "Send again later.", retry_after=1
        )
    async with reading:
        return await request.body()


def _counts(body: bytes, keys: Keys) -> tuple[int | None, dict[str, int]]:
    """Tick and counts, checked by hand: an error may name a key of the stream, never what was sent."""
    try:
        given: Any = json.loads(body)
    except (ValueError, RecursionError):
        raise BadRequest("The body is not JSON.", 'Send {"tick": 0, "values": {"front": 12, …}}.') from None
    if not isinstance(given, dict) or not set(given) <= {"tick", "values"} or not isinstance(given.get("values"), dict):
        raise InvalidRequest(
            "The body must be an object with `values` and perhaps `tick`.", 'Send {"tick": 0, "values": {"front": 12}}.'
        )
    tick, values = given.get("tick"), given["values"]
    if tick is not None and (isinstance(tick, bool) or not isinstance(tick, int) or not 0 <= tick <= MOST_TICK):
        raise InvalidRequest("`tick` must be a whole number from 0 on.", "Leave it out for the next tick.")
    unknown = sum(name not in keys for name in values)
    if unknown:
        raise InvalidRequest(
            f"{unknown:,} of the names in `values` are not keys of the stream.", "Its keys are listed in every release."
        )
    missing = [name for name in keys if name not in values]
    if missing:
        raise InvalidRequest(
            f"{len(missing):,} of {len(keys):,} keys have no count, {missing[0]!r} among them.",
            "Give 0 where nothing was counted: a missing key would tell that nobody was there.",
        )
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_COUNT:
            raise InvalidRequest(f"The count of {name!r} is not a whole number from 0 to 2^52.", "Send whole counts.")
    return tick, values
