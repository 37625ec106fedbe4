"""One of two servers that add up what neither sees: no store, no stream, no token, no page."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware

from hubbub.errors import InvalidParameter
from hubbub.loopback import is_loopback
from hubbub.server.app import NO_TELEMETRY, explain_errors
from hubbub.server.body import BodyLimit
from hubbub.server.guard import Guard
from hubbub.server.head import Head
from hubbub.server.metrics import Meters
from hubbub.server.ports import GatherPort
from hubbub.server.public import OwnersLog
from hubbub.server.routes import gather as gather_routes
from hubbub.server.settings import ServerSettings
from hubbub.server.sparing import Sparing


def create_gather_app(port: GatherPort, *, settings: ServerSettings | None = None, tls: bool = False) -> FastAPI:
    """The application of `hubbub gather leader` and `helper`. In the clear it is served on this machine alone."""
    from hubbub.version import __version__

    chosen = (settings or ServerSettings(title="Hubbub")).model_copy(update={"max_body": port.largest})
    if not tls and not is_loopback(chosen.host):
        raise InvalidParameter(
            f"Without TLS nothing is served on {chosen.host}, which other machines can reach: who answers would "
            "be seen, and nobody could be sure which server it is.",
            "Give --certificate and --key, or --host 127.0.0.1.",
        )
    app = FastAPI(
        title="Hubbub gather", version=__version__, docs_url=None, redoc_url=None, telemetry=NO_TELEMETRY
    )  # fmt: skip
    app.state.settings, app.state.gather, app.state.lab = chosen, port, None
    app.state.gather_busy = 0
    app.state.let_go = _nothing
    app.include_router(gather_routes.router)
    app.state.sparing = sparing = Sparing()
    explain_errors(app, OwnersLog(sparing), pages=False)
    app.add_middleware(BodyLimit, settings=chosen)
    # A page of any site may ask its readers: nothing here depends on who sends, and no cookie is looked at.
    allowed = ["content-type", gather_routes.TICKET]
    app.add_middleware(CORSMiddleware, allow_origins=["*"], allow_methods=["GET", "POST"], allow_headers=allowed)
    app.add_middleware(Head)
    app.add_middleware(Guard, settings=chosen, meters=Meters(), sparing=sparing)
    return app


def _nothing() -> None:
    """There is nobody to let go: no connection stays open."""
