"""The pages' addresses."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import parse_qs

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

from hubbub.server import items_page, map_page, range_page
from hubbub.server.access import COOKIE, may, role_of, same_site
from hubbub.server.assets import Assets
from hubbub.server.desk import Desk, TheDesk
from hubbub.server.errors import RequestRefused
from hubbub.server.pages import DEFAULT_WINDOW, WINDOWS, Pages
from hubbub.server.rendering import link
from hubbub.server.routes.inputs import position_of
from hubbub.server.routes.items import MOST_PAGES, ListNumber, Searched
from hubbub.server.routes.ranges import sum_between
from hubbub.server.views import budget_of
from hubbub.server.words import fit_for_curator
from hubbub.store import Stream

router = APIRouter(include_in_schema=False)

StreamName = Annotated[str | None, Query(max_length=100)]
TicksBack = Annotated[int, Query(alias="last")]


def _pages(request: Request) -> Pages:
    pages: Pages = request.app.state.pages
    return pages


def _stream(desk: Desk, name: str | None) -> Stream | None:
    """The stream that a page shows; None in a store that has none yet."""
    if name is not None:
        return desk.feed.stream(name)
    if desk.settings.stream is not None:
        return desk.feed.stream(desk.settings.stream)
    return desk.feed.streams[0] if desk.feed.streams else None


def _window(desk: Desk, stream: Stream, asked: int) -> int:
    """How far back to look: as asked; otherwise an hour (at ten seconds per tick), or less while there is less."""
    if asked in WINDOWS:
        return asked
    return WINDOWS[0] if len(desk.feed.channel(stream.name).history) <= WINDOWS[0] else DEFAULT_WINDOW


def _to_login(request: Request) -> Response:
    onward = request.url.path
    return RedirectResponse(f"/login?next={onward}", 303, {"Cache-Control": "no-store"})


def _to(path: str, stream: str | None) -> Response:
    """To the page that fits the kind of stream: an address may have been kept, or the stream chosen on another page."""
    return RedirectResponse(link(path, {"stream": stream}), 303, {"Cache-Control": "no-cache"})


@router.get("/")
async def live(request: Request, desk: TheDesk, stream: StreamName = None, last: TicksBack = 0) -> Response:
    if not await may(request, desk, "reader"):
        return _to_login(request)
    shown = _stream(desk, stream)
    if shown is None:
        return _pages(request).nothing()
    if shown.finds_keys:
        return await _items(request, desk, shown, None, "", 1)
    if desk.feed.channel(shown.name).is_map:
        return await _map(request, desk, shown)
    return _pages(request).live(shown, _window(desk, shown, last))


@router.get("/items")
async def items(
    request: Request,
    desk: TheDesk,
    stream: StreamName = None,
    number: ListNumber = None,
    query: Searched = "",
    page: Annotated[int, Query(ge=1, le=MOST_PAGES)] = 1,
) -> Response:
    if not await may(request, desk, "reader"):
        return _to_login(request)
    shown = _stream(desk, stream)
    if shown is None:
        return _pages(request).nothing()
    if not shown.finds_keys:
        return _to("/", stream)
    return await _items(request, desk, shown, number, query, page)


async def _items(request: Request, desk: Desk, stream: Stream, number: int | None, query: str, page: int) -> Response:
    facts = await run_in_threadpool(items_page.facts, desk, stream, number, query, page)
    return _pages(request).items(stream, facts)


@router.get("/map")
async def map_of(request: Request, desk: TheDesk, stream: StreamName = None) -> Response:
    """Which tick and area are shown is the script's matter: the address tells it."""
    if not await may(request, desk, "reader"):
        return _to_login(request)
    shown = _stream(desk, stream)
    if shown is None:
        return _pages(request).nothing()
    return await _map(request, desk, shown) if desk.feed.channel(shown.name).is_map else _to("/", stream)


async def _map(request: Request, desk: Desk, stream: Stream) -> Response:
    async with desk.adding:
        facts = await run_in_threadpool(map_page.facts, desk, stream)
    return _pages(request).map(stream, facts)


@router.get("/top")
async def top(request: Request, desk: TheDesk, stream: StreamName = None) -> Response:
    if not await may(request, desk, "reader"):
        return _to_login(request)
    shown = _stream(desk, stream)
    if shown is None:
        return _pages(request).nothing()
    if shown.finds_keys:
        return _to("/items", stream)
    return _to("/map", stream) if desk.feed.channel(shown.name).is_map else _pages(request).top(shown)


@router.get("/key")
async def key(
    request: Request,
    desk: TheDesk,
    name: Annotated[str, Query(max_length=2000)],
    stream: StreamName = None,
    last: TicksBack = 0,
    start: Annotated[str | None, Query(alias="from", max_length=40)] = None,
    end: Annotated[str | None, Query(alias="to", max_length=40)] = None,
) -> Response:
    if not await may(request, desk, "reader"):
        return _to_login(request)
    shown = _stream(desk, stream)
    if shown is None:
        return _pages(request).nothing()
    if shown.finds_keys:
        return _to("/items", stream)
    if desk.feed.channel(shown.name).is_map:
        return _to("/map", stream)
    position_of(desk.feed.keys(shown.name), name)
    answer, wrong = None, ""
    if start and end:
        try:
            answer = await sum_between(desk, shown.name, start, end, [name])
        except RequestRefused as refusal:
            wrong = f"{refusal.message} {refusal.hint}"
    return _pages(request).key(shown, name, _window(desk, shown, last), answer, wrong)


@router.get("/ranges")
async def ranges(
    request: Request,
    desk: TheDesk,
    stream: StreamName = None,
    key: Annotated[str | None, Query(max_length=2000)] = None,
    last: TicksBack = 0,
    start: Annotated[str | None, Query(alias="from", max_length=40)] = None,
    end: Annotated[str | None, Query(alias="to", max_length=40)] = None,
) -> Response:
    if not await may(request, desk, "reader"):
        return _to_login(request)
    shown = _stream(desk, stream)
    if shown is None:
        return _pages(request).nothing()
    if shown.finds_keys:
        return _to("/items", stream)
    chosen = key or None  # a form sends an empty one for all keys
    if chosen is not None:
        position_of(desk.feed.keys(shown.name), chosen)
    question = (start, end) if start and end else None
    shared = None if question else (chosen, last)
    return await _pages(request).ranges(
        shown, shared, lambda: range_page.facts(desk, shown, chosen, last, question, sum_between)
    )


@router.get("/guarantee")
async def guarantee(request: Request, desk: TheDesk, stream: StreamName = None) -> Response:
    if not await may(request, desk, "reader"):
        return _to_login(request)
    shown = _stream(desk, stream)
    if shown is None:
        return _pages(request).nothing()
    return _pages(request).guarantee(shown, await run_in_threadpool(budget_of, desk, shown.name))


@router.get("/about")
async def about(request: Request, desk: TheDesk, stream: StreamName = None) -> Response:
    if not await may(request, desk, "reader"):
        return _to_login(request)
    shown = _stream(desk, stream)
    return _pages(request).nothing() if shown is None else _pages(request).about(shown)


@router.get("/curator")
async def curator(request: Request, desk: TheDesk, stream: StreamName = None) -> Response:
    if not await may(request, desk, "curator"):
        return _to_login(request)
    shown = _stream(desk, stream)
    if shown is None:
        return _pages(request).nothing()
    status = None
    if desk.status is not None:
        status = fit_for_curator(await run_in_threadpool(desk.status.status, shown.name))
        status.pop("ticks_lost", None)  # the page has it from the ledger
    page = _pages(request).curator(shown, await run_in_threadpool(budget_of, desk, shown.name), status)
    page.headers["Cache-Control"] = "no-store"
    return page


@router.get("/login")
async def login(request: Request, onward: Annotated[str, Query(alias="next", max_length=200)] = "/") -> Response:
    return _pages(request).login("", _local(onward), 200)


@router.post("/login")
async def enter(request: Request, desk: TheDesk) -> Response:
    """Keep a token in a cookie that scripts cannot read and other sites cannot cause to be sent."""
    same_site(request)
    form = parse_qs((await request.body()).decode("utf-8", "replace"), max_num_fields=10)
    token, onward = form.get("token", [""])[0].strip(), _local(form.get("next", ["/"])[0])
    role = await role_of(desk, token) if token else None
    if role not in ("reader", "curator"):
        wrong = "This token is unknown, was revoked, or is meant for sending data only."
        return _pages(request).login(wrong, onward, 403)
    response = RedirectResponse(onward, 303, {"Cache-Control": "no-store"})
    secure = request.url.scheme == "https"
    response.set_cookie(COOKIE, token, max_age=30 * 86400, httponly=True, samesite="strict", secure=secure, path="/")
    return response


@router.post("/logout")
async def leave(request: Request) -> Response:
    same_site(request)
    response = RedirectResponse("/", 303)
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return response


@router.get("/assets/{name}")
async def asset(request: Request, name: str) -> Response:
    assets: Assets = request.app.state.assets
    file = await run_in_threadpool(assets.get, name)
    headers = {"ETag": file.etag, "Cache-Control": "public, max-age=86400", "Vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == file.etag:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(file.packed, media_type=file.media_type, headers={**headers, "Content-Encoding": "gzip"})
    return Response(file.body, media_type=file.media_type, headers=headers)


def _local(address: str) -> str:
    """Only a path of this server: a login page must not send people elsewhere."""
    return address if address.startswith("/") and not address.startswith(("//", "/\\")) else "/"
