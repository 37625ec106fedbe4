"""HTTP API, live events, dashboard, tokens. This room sees released values only."""

from hubbub.server.app import create_app
from hubbub.server.gather_app import create_gather_app
from hubbub.server.lab_app import create_lab_app
from hubbub.server.ports import (
    CountsAnswer,
    CountsPort,
    CountsSent,
    EventPort,
    Fact,
    GatherPort,
    LabPort,
    Pulse,
    PulsePort,
    Receipt,
    SelectPort,
    StatusPort,
    TruthPort,
)
from hubbub.server.select_app import create_select_app
from hubbub.server.serving import Serving, Tls
from hubbub.server.settings import ServerSettings

__all__ = [
    "CountsAnswer",
    "CountsPort",
    "CountsSent",
    "EventPort",
    "Fact",
    "GatherPort",
    "LabPort",
    "Pulse",
    "PulsePort",
    "Receipt",
    "SelectPort",
    "ServerSettings",
    "Serving",
    "StatusPort",
    "Tls",
    "TruthPort",
    "create_app",
    "create_gather_app",
    "create_lab_app",
    "create_select_app",
]
