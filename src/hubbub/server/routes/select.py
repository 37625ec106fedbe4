"""Results for a generalised context. What is asked is passed on unread, and written into no log."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from hubbub.errors import InvalidInput, InvalidParameter, TooFine, UnknownKey
from hubbub.server.errors import BadRequest, InvalidRequest, NotFound, RequestTooFine, UnsupportedMedia
from hubbub.server.ports import SelectPort
from hubbub.server.routes.describe import refusals

_HEADERS = {"Cache-Control": "no-store"}


def port_of(request: Request) -> SelectPort:
    port: SelectPort = request.app.state.select
    return port


router = APIRouter(tags=["select"])
Port = Annotated[SelectPort, Depends(port_of)]


@router.get("/v1/select", summary="Which hierarchy clients must have, and the limits")
async def about(port: Port) -> Response:
    return JSONResponse(dict(port.about()), headers=_HEADERS)


@router.post(
    "/v1/select",
    summary="Results for a generalised context",
    responses=refusals(400, 404, 409, 413, 415, 422),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {
                        "type": "object",
                        "additionalProperties": False,
                        "required": ["node", "k"],
                        "properties": {"node": {"type": "string"}, "k": {"type": "integer", "minimum": 1}},
                    }
                }
            },
        }
    },
)
async def select(request: Request) -> Response:
    """`{"node", "k"}` and nothing else: a true context does not belong here."""
    port = port_of(request)
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise UnsupportedMedia("A request for results is JSON.", "Send `Content-Type: application/json`.")
    if request.url.query:
        raise BadRequest(
            "A request for results has no query string: all of it is in the body.",
            'Post {"node", "k"} to /v1/select, and send nothing else.',
        )
    body = await request.body()
    return Response(await _answered(port, body), media_type="application/json", headers=_HEADERS)


async def _answered(port: SelectPort, body: bytes) -> Any:
    """In words for strangers; none repeats what was sent."""
    try:
        kept = port.kept(body)  # most requests are for nodes that somebody else has asked about
        return await run_in_threadpool(port.answer, body) if kept is None else kept
    except TooFine as error:
        raise RequestTooFine(error.message, error.hint) from None
    except UnknownKey:
        raise NotFound("There is no such node.", "Client and server need the same hierarchy: GET /v1/select.") from None
    except InvalidInput as error:
        raise BadRequest(error.message, error.hint) from None
    except InvalidParameter as error:
        raise InvalidRequest(error.message, error.hint) from None
