"""The Lab's addresses. What passes through here belongs to the tab that sent it: it is neither read nor kept."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Generator, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse, StreamingResponse
from starlette.concurrency import run_in_threadpool

from hubbub.errors import HubbubError
from hubbub.loopback import is_loopback
from hubbub.server.access import may, require, same_site
from hubbub.server.errors import BadRequest, RoleMissing, UnsupportedMedia, body_of
from hubbub.server.lab_pages import LabPages
from hubbub.server.loopback import host_of, is_passed_on
from hubbub.server.ports import LabPort

_NO_STORE = {"Cache-Control": "no-store"}

Facts = Mapping[str, Any]


def lab_of(request: Request) -> LabPort:
    lab: LabPort = request.app.state.lab
    return lab


def _pages(request: Request) -> LabPages:
    pages: LabPages = request.app.state.lab_pages
    return pages


async def here(request: Request) -> None:
    """Only from this machine, straight, and by a name of it: a site elsewhere could have its own name lead here, and a
    proxy on this machine lets in whoever reaches it, under whichever name it likes."""
    if request.app.state.lab_anywhere:
        return
    peer = request.client
    if peer is None or not is_loopback(peer.host) or not is_loopback(host_of(request.headers.get("host", ""))):
        raise RoleMissing("The Lab is for this machine only.", "Open it as http://127.0.0.1 with its port.")
    if is_passed_on(request.headers.keys()):
        raise RoleMissing(
            "The Lab is for this machine only, and this came through a proxy: whoever sent it may be elsewhere.",
            "Open it as http://127.0.0.1 with its port, without a proxy; or, if you are sure that only the right "
            "people can reach it, start it with --lab-anywhere.",
        )


async def sender(request: Request) -> None:
    """Who may send: the Lab's own pages, and whoever may read."""
    same_site(request)
    desk = getattr(request.app.state, "desk", None)
    if desk is not None:
        await require(request, desk, "reader")


async def sent(request: Request) -> Facts:
    """The JSON object of a request. Another site cannot send this type without being asked first."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise UnsupportedMedia("The Lab takes JSON.", "Send `Content-Type: application/json`.")
    try:
        asked = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise BadRequest("The body is not JSON.", "Send one JSON object.") from None
    if not isinstance(asked, dict):
        raise BadRequest("The body is not a JSON object.", "Send one JSON object.")
    return asked


router = APIRouter(include_in_schema=False, dependencies=[Depends(here)])
Lab = Annotated[LabPort, Depends(lab_of)]
Asked = Annotated[Facts, Depends(sent)]
_OWN = [Depends(sender)]


@router.get("/lab")
async def playground(request: Request) -> Response:
    return await _to_login(request) or _pages(request).playground()


@router.get("/lab/plan")
async def plan_page(request: Request) -> Response:
    return await _to_login(request) or _pages(request).plan()


@router.get("/lab/contexts")
async def contexts_page(request: Request) -> Response:
    return await _to_login(request) or _pages(request).contexts()


@router.get("/lab/personal")
async def personal_page(request: Request) -> Response:
    return await _to_login(request) or _pages(request).personal()


@router.post("/lab/personal", dependencies=_OWN)
async def personal(lab: Lab, asked: Asked) -> Response:
    return JSONResponse(await run_in_threadpool(lab.personal, asked), headers=_NO_STORE)


@router.post("/lab/series", dependencies=_OWN)
async def series(lab: Lab, asked: Asked) -> Response:
    return JSONResponse(await run_in_threadpool(lab.series, asked), headers=_NO_STORE)


@router.post("/lab/run", dependencies=_OWN)
async def run(lab: Lab, asked: Asked) -> Response:
    return await _streamed(lab.run(asked))


@router.post("/lab/plan", dependencies=_OWN)
async def plan(lab: Lab, asked: Asked) -> Response:
    return await _streamed(lab.plan(asked))


@router.post("/lab/days", dependencies=_OWN)
async def days(lab: Lab, asked: Asked) -> Response:
    return JSONResponse(await run_in_threadpool(lab.days, asked), headers=_NO_STORE)


@router.post("/lab/contexts", dependencies=_OWN)
async def contexts(lab: Lab, asked: Asked) -> Response:
    return await _streamed(lab.contexts(asked))


@router.post("/lab/script", dependencies=_OWN)
async def script(lab: Lab, asked: Asked) -> Response:
    return PlainTextResponse(await run_in_threadpool(lab.script, asked), headers=_NO_STORE)


@router.post("/lab/live", dependencies=_OWN)
async def begin(lab: Lab, asked: Asked) -> Response:
    return JSONResponse(await run_in_threadpool(lab.begin, asked), 201, _NO_STORE)


@router.post("/lab/live/{run}", dependencies=_OWN)
async def step(lab: Lab, run: str, asked: Asked) -> Response:
    return JSONResponse(await run_in_threadpool(lab.step, run, asked), headers=_NO_STORE)


@router.delete("/lab/live/{run}", dependencies=_OWN)
async def end(lab: Lab, run: str) -> Response:
    await run_in_threadpool(lab.end, run)
    return Response(status_code=204)


async def _to_login(request: Request) -> Response | None:
    desk = getattr(request.app.state, "desk", None)
    if desk is None or await may(request, desk, "reader"):
        return None
    return RedirectResponse(f"/login?next={request.url.path}", 303, _NO_STORE)


async def _streamed(answers: Generator[Facts, None, None]) -> Response:
    """One line of JSON an answer. A refusal comes before the first; if the tab goes away, the work stops."""
    first = await run_in_threadpool(next, answers)

    async def lines() -> AsyncIterator[bytes]:
        try:
            answer: Facts | None = first
            while answer is not None:
                yield _line(answer)
                answer = await run_in_threadpool(next, answers, None)
        except HubbubError as error:
            yield _line(body_of(error, of_the_lab=True))
        finally:
            answers.close()

    return StreamingResponse(lines(), media_type="application/x-ndjson", headers=_NO_STORE)


def _line(answer: Facts) -> bytes:
    return json.dumps(answer, allow_nan=False, separators=(",", ":")).encode() + b"\n"
