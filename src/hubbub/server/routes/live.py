"""The live connection."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Response

from hubbub.server.desk import TheDesk
from hubbub.server.errors import TooManyViewers
from hubbub.server.live import LiveResponse
from hubbub.server.routes.describe import refusals
from hubbub.server.routes.read import reader

router = APIRouter(prefix="/v1", tags=["reading"], dependencies=[Depends(reader)], responses=refusals(401, 403, 503))


@router.get(
    "/streams/{stream}/live",
    summary="Releases as they appear (server-sent events)",
    response_class=Response,
    responses={
        200: {"content": {"text/event-stream": {}}, "description": "An event `release` a tick; its id is the tick."},
        **refusals(404),
    },
)
async def live(
    desk: TheDesk,
    stream: str,
    last_event_id: Annotated[
        str | None, Header(description="The last tick that was seen: what came after it is sent first.")
    ] = None,
) -> Response:
    channel = desk.feed.channel(stream)
    if desk.feed.viewers >= desk.most_viewers:
        raise TooManyViewers("There are too many viewers now.", "Try again soon; GET …/releases works meanwhile.")
    after = _seen(last_event_id, channel.last_tick)
    missed = b""
    if after is not None and not channel.reaches(after):
        after, missed = await desk.feed.missed(stream, after)
    # Spread over four seconds, so that after a restart not everyone comes back in the same moment.
    retry = 1000 + desk.feed.viewers * 397 % 4000
    return LiveResponse(
        channel, after, missed, feed=desk.feed, send_seconds=desk.settings.send_seconds, retry_milliseconds=retry
    )


def _seen(text: str | None, newest: int) -> int | None:
    """The tick a viewer has seen; None where it names none of ours."""
    if text is None or not (text.isascii() and text.isdigit()) or len(text) > 18 or int(text) > newest:
        return None
    return int(text)
