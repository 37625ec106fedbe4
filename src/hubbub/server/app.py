"""Puts the server together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException

from hubbub.errors import HubbubError
from hubbub.server import clock as clocks
from hubbub.server.assets import Assets
from hubbub.server.body import BodyLimit
from hubbub.server.desk import Desk
from hubbub.server.errors import InvalidRequest, MethodNotAllowed, NotFound, RequestRefused, answer, status_of, words_of
from hubbub.server.fast_lane import FastLane
from hubbub.server.feed import Feed
from hubbub.server.guard import Guard
from hubbub.server.head import Head
from hubbub.server.intake import Intake
from hubbub.server.lab_pages import LabPages
from hubbub.server.lists import Lists
from hubbub.server.loopback import require_loopback
from hubbub.server.maps import Maps
from hubbub.server.pages import Pages
from hubbub.server.ports import CountsPort, EventPort, ItemsPort, LabPort, PulsePort, SelectPort, StatusPort, TruthPort
from hubbub.server.public import OwnersLog
from hubbub.server.questions import Questions
from hubbub.server.ranges import Ranges
from hubbub.server.routes import ingest, live, maps, mds, pages, ranges, read, system
from hubbub.server.routes import items as item_routes
from hubbub.server.routes import lab as lab_routes
from hubbub.server.routes import select as select_routes
from hubbub.server.settings import ServerSettings
from hubbub.server.sparing import Sparing
from hubbub.server.watch import LedgerWatch
from hubbub.store import Store

ABOUT = """Live statistics about people, with a privacy guarantee that can be proved. Every number comes with its
interval. Errors have one shape: `{"error": {"code", "message", "hint"}}`."""


NO_TELEMETRY: TelemetryConfig = {
    "tracing": False, "metrics": False, "logs": False, "operation_spans": False, "auto_configure": False,
}  # fmt: skip
"""The framework would tell a collector, if the environment names one, about every request and what went wrong in it:
how many events came in and when, and the messages of exceptions. That is for nobody."""


def create_app(
    store: Store,
    *,
    settings: ServerSettings | None = None,
    events: EventPort | None = None,
    counts: CountsPort | None = None,
    status: StatusPort | None = None,
    truth: TruthPort | None = None,
    pulse: PulsePort | None = None,
    items: ItemsPort | None = None,
    select: SelectPort | None = None,
    lab: LabPort | None = None,
    lab_anywhere: bool = False,
    clock: clocks.Clock = clocks.now,
) -> FastAPI:
    """The application that serves `store`. What no port is given for is not offered.

    `app.state.desk.feed.wake()` tells it, from any thread, that there is a new release; without that it looks every
    `poll_seconds` by itself. With a `lab` there is the Lab, for this machine only unless `lab_anywhere` says otherwise.
    """
    chosen = settings or ServerSettings()
    if lab is not None and not lab_anywhere:
        require_loopback(chosen.host)
    sparing = Sparing()
    feed = Feed(store, chosen, clock, sparing)
    desk = Desk(
        store, chosen, feed, LedgerWatch(store, feed, clock), clock, Ranges(store, feed), Questions(store),
        Intake(chosen), OwnersLog(sparing), Lists(store, feed), Maps(store, feed), events=events, counts=counts,
        status=status, truth=truth, pulse=pulse, items=items,
    )  # fmt: skip

    from hubbub.version import __version__

    # The usual interactive pages load scripts from elsewhere, so they are off; the description itself is served.
    app = FastAPI(
        title="Hubbub", version=__version__, description=ABOUT, lifespan=_life_of(desk), docs_url=None,
        redoc_url=None, telemetry=NO_TELEMETRY,
    )  # fmt: skip
    app.state.desk, app.state.sparing = desk, sparing
    app.state.assets = Assets()
    app.state.settings = chosen
    app.state.pages = Pages(desk, app.state.assets.version, has_lab=lab is not None)
    for router in (
        read.router,
        item_routes.router,
        maps.router,
        mds.router,
        ranges.router,
        live.router,
        ingest.router,
        system.router,
        pages.router,
    ):
        app.include_router(router)
    if select is not None:
        app.state.select = select
        app.include_router(select_routes.router)
    app.state.lab, app.state.lab_anywhere, app.state.let_go = lab, lab_anywhere, desk.feed.end
    if lab is not None:
        app.state.lab_pages = LabPages(lab, chosen, app.state.assets.version, alone=False)
        app.state.let_go = _both(desk.feed.end, lab.close)
        app.include_router(lab_routes.router)
    explain_errors(app, desk.owners)
    app.add_middleware(BodyLimit, settings=chosen, lab=lab is not None)
    app.add_middleware(Head)
    app.add_middleware(FastLane, desk=desk)
    app.add_middleware(Guard, settings=chosen, meters=desk.meters, sparing=sparing)
    return app


def _life_of(desk: Desk) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    """What begins with the application and ends with it."""

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:  # noqa: ARG001
        await desk.feed.start()
        await desk.watch.start()
        try:
            yield
        finally:
            await desk.feed.stop()
            await desk.watch.stop()
            await desk.questions.stop()
            desk.intake.close()

    return life


def _both(first: Callable[[], None], second: Callable[[], None]) -> Callable[[], None]:
    def let_go() -> None:
        first()
        second()

    return let_go


def explain_errors(app: FastAPI, owners: OwnersLog, *, pages: bool = True) -> None:
    """Every refusal in the one shape; a person's browser gets it as a page, where there are `pages`. The owner's log
    gets the reasons."""
    app.state.error_pages = pages

    @app.exception_handler(HubbubError)
    async def refused(request: Request, error: HubbubError) -> Response:
        if not isinstance(error, RequestRefused):
            owners.note(error)
        return _answer(request, error)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        # Name and rule only: what was sent is not repeated.
        said = "; ".join(f"`{fault['loc'][-1]}`: {fault['msg']}" for fault in error.errors()[:3])
        return _answer(request, InvalidRequest(f"{said}.", "GET /openapi.json describes every parameter."))

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        return _answer(request, _from_http(error), dict(error.headers or {}))


def _from_http(error: HTTPException) -> RequestRefused:
    if error.status_code == 405:
        return MethodNotAllowed("This address does not take that method.", "GET /openapi.json lists the routes.")
    return NotFound("There is no such page.", "GET /openapi.json lists the routes.")


def _answer(request: Request, error: HubbubError, headers: dict[str, Any] | None = None) -> Response:
    wants_page = "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/v1/")
    wants_page = wants_page and request.app.state.error_pages
    of_the_lab = request.url.path.startswith("/lab") and request.app.state.lab is not None
    if wants_page:
        message, hint = words_of(error, of_the_lab=of_the_lab)
        response: Response = request.app.state.pages.error(HubbubError(message, hint), status_of(error))
        return response
    return answer(error, headers, of_the_lab=of_the_lab)
