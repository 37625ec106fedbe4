"""A server that chooses results, by itself: no store, no stream, no token, no page."""

from __future__ import annotations

from fastapi import FastAPI

from hubbub.server.app import NO_TELEMETRY, explain_errors
from hubbub.server.body import BodyLimit
from hubbub.server.guard import Guard
from hubbub.server.head import Head
from hubbub.server.metrics import Meters
from hubbub.server.ports import SelectPort
from hubbub.server.public import OwnersLog
from hubbub.server.routes import select as select_routes
from hubbub.server.settings import ServerSettings
from hubbub.server.sparing import Sparing

_LARGEST = 4096


def create_select_app(port: SelectPort, *, settings: ServerSettings | None = None) -> FastAPI:
    """The application of `hubbub select serve`. Anybody who reaches it may ask: it knows nothing about people."""
    from hubbub.version import __version__

    chosen = (settings or ServerSettings(title="Hubbub")).model_copy(update={"max_body": _LARGEST})
    app = FastAPI(
        title="Hubbub select", version=__version__, docs_url=None, redoc_url=None, telemetry=NO_TELEMETRY
    )  # fmt: skip
    app.state.settings, app.state.select, app.state.lab = chosen, port, None
    app.state.let_go = _nothing
    app.include_router(select_routes.router)
    app.state.sparing = sparing = Sparing()
    explain_errors(app, OwnersLog(sparing), pages=False)
    app.add_middleware(BodyLimit, settings=chosen)
    app.add_middleware(Head)
    app.add_middleware(Guard, settings=chosen, meters=Meters(), sparing=sparing)
    return app


def _nothing() -> None:
    """There is nobody to let go: no connection stays open."""
