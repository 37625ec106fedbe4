"""The Lab by itself: no store, no stream, no token."""

from __future__ import annotations

from fastapi import FastAPI, Response
from fastapi.responses import RedirectResponse

from hubbub.server.app import NO_TELEMETRY, explain_errors
from hubbub.server.assets import Assets
from hubbub.server.body import BodyLimit
from hubbub.server.guard import Guard
from hubbub.server.head import Head
from hubbub.server.lab_pages import LabPages
from hubbub.server.loopback import require_loopback
from hubbub.server.metrics import Meters
from hubbub.server.ports import LabPort
from hubbub.server.public import OwnersLog
from hubbub.server.routes import lab as lab_routes
from hubbub.server.routes.pages import asset
from hubbub.server.settings import ServerSettings
from hubbub.server.sparing import Sparing


def create_lab_app(lab: LabPort, *, settings: ServerSettings | None = None, anywhere: bool = False) -> FastAPI:
    """The application of `hubbub lab`. It is for this machine only, unless `anywhere` says otherwise."""
    from hubbub.version import __version__

    chosen = settings or ServerSettings(title="Hubbub Lab")
    if not anywhere:
        require_loopback(chosen.host)
    app = FastAPI(
        title="Hubbub Lab", version=__version__, docs_url=None, redoc_url=None, openapi_url=None, telemetry=NO_TELEMETRY
    )  # fmt: skip
    app.state.settings = chosen
    app.state.assets = Assets()
    app.state.lab, app.state.lab_anywhere, app.state.let_go = lab, anywhere, lab.close
    app.state.lab_pages = app.state.pages = LabPages(lab, chosen, app.state.assets.version, alone=True)
    app.include_router(lab_routes.router)
    app.add_api_route("/assets/{name}", asset)

    @app.get("/")
    async def front() -> Response:
        return RedirectResponse("/lab", 307)

    app.state.sparing = sparing = Sparing()
    explain_errors(app, OwnersLog(sparing))
    app.add_middleware(BodyLimit, settings=chosen, lab=True)
    app.add_middleware(Head)
    app.add_middleware(Guard, settings=chosen, meters=Meters(), sparing=sparing)
    return app
