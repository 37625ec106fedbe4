"""What comes in. Nothing of it is ever repeated, logged or counted here."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from hubbub.released import Domain
from hubbub.server.access import require_sender
from hubbub.server.desk import TheDesk
from hubbub.server.errors import BadRequest, InvalidRequest, NotOffered, UnsupportedMedia
from hubbub.server.fast_lane import KEY, LONGEST_KEY, receipt_text
from hubbub.server.media import NDJSON
from hubbub.server.ports import CountsSent
from hubbub.server.routes.describe import refusals
from hubbub.server.routes.inputs import MOST_TICK
from hubbub.server.senders import Sender

MOST_COUNT = 2**52

_ONLY_READS = "Send to the address where `hubbub monitor` runs with a source that listens."


async def sender(request: Request, desk: TheDesk) -> Sender:
    return await require_sender(request, desk)


TheSender = Annotated[Sender, Depends(sender)]
IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=LONGEST_KEY,
        pattern=KEY,
        description="A name for this request, the sender's own. Sent again under the same name it counts once.",
    ),
]

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
    response_class=JSONResponse,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {NDJSON[0]: {"schema": {"type": "string", "description": "One JSON object a line."}}},
        }
    },
)
async def events(
    request: Request, desk: TheDesk, stream: str, sent_by: TheSender, idempotency_key: IdempotencyKey = None
) -> Response:
    """Answers after the batch was taken, whole or not at all."""
    desk.feed.stream(stream)
    if desk.events is None:
        raise NotOffered("This server takes no events.", _ONLY_READS)
    _expect(request, desk.media)
    async with desk.intake.body(request) as body:
        receipt = await desk.intake.push(desk.events, stream, body, idempotency_key, sent_by.id)
    text = receipt_text(receipt.accepted, receipt.malformed, receipt.duplicate)
    return Response(text, 202, {"Cache-Control": "no-store"}, "application/json")


@router.post(
    "/streams/{stream}/counts",
    summary="Send one tick's counts and get its release",
    status_code=201,
    responses={200: {"description": "Sent before: the release that was drawn then."}},
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
async def counts(
    request: Request, desk: TheDesk, stream: str, sent_by: TheSender, idempotency_key: IdempotencyKey = None
) -> JSONResponse:
    """For people who count themselves. The unit's bound must have been enforced by whoever counted: no mechanism can
    take people out again. Every key needs a count, zero included. A `tick` or an `Idempotency-Key` must be there: what
    is sent again is then answered with the same release, and not drawn again."""
    desk.feed.stream(stream)
    keys = desk.feed.keys(stream)
    if desk.counts is None:
        raise NotOffered("This server takes no counts.", _ONLY_READS)
    _expect(request, ("application/json",))
    async with desk.intake.body(request) as body:
        tick, values = _counts(body, keys)
    if tick is None and idempotency_key is None:
        raise InvalidRequest(
            "There is neither a `tick` nor an `Idempotency-Key`: sent again, these counts would be drawn again.",
            "Give the tick's number, or a key of your own; see docs/api.md.",
        )
    sent = CountsSent(tick, idempotency_key, sent_by.id, values, sent_by.seal)
    answer = await run_in_threadpool(desk.counts.release, stream, sent)
    desk.feed.wake()
    facts = answer.release.to_dict()
    return JSONResponse(facts, 200 if answer.again else 201, {"Cache-Control": "no-store"})


def _expect(request: Request, kinds: tuple[str, ...]) -> None:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in kinds:
        raise UnsupportedMedia(f"The body must be of type {kinds[0]}.", f"Set `Content-Type: {kinds[0]}`.")
    if request.headers.get("content-encoding", "identity") != "identity":
        raise UnsupportedMedia("A compressed body is not taken.", "Send it as it is.")


def _counts(body: bytes, keys: Domain) -> tuple[int | None, dict[str, int]]:
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
        raise InvalidRequest(
            "`tick` must be a whole number from 0 on.", "Leave it out for the newest one that is over."
        )
    unknown = sum(name not in keys for name in values)
    if unknown:
        raise InvalidRequest(
            f"{unknown:,} of the names in `values` are not keys of the stream.", "Its keys are listed in every release."
        )
    missing = len(keys) - len(values)
    if missing:
        first = next(name for name in keys if name not in values)
        raise InvalidRequest(
            f"{missing:,} of {len(keys):,} keys have no count, {first!r} among them.",
            "Give 0 where nothing was counted: a missing key would tell that nobody was there.",
        )
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_COUNT:
            raise InvalidRequest(f"The count of {name!r} is not a whole number from 0 to 2^52.", "Send whole counts.")
    return tick, values
