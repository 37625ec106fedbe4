"""HTTP API, live events, dashboard, tokens. This room sees released values only."""

from hubbub.server.app import create_app
from hubbub.server.lab_app import create_lab_app
from hubbub.server.ports import CountsPort, EventPort, Fact, LabPort, Receipt, StatusPort, TruthPort
from hubbub.server.serving import Serving
from hubbub.server.settings import ServerSettings

__all__ = [
    "CountsPort",
    "EventPort",
    "Fact",
    "LabPort",
    "Receipt",
    "ServerSettings",
    "Serving",
    "StatusPort",
    "TruthPort",
    "create_app",
    "create_lab_app",
]
