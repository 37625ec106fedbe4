"""The pages of the Lab."""

from __future__ import annotations

from typing import Any

from fastapi.responses import HTMLResponse

from hubbub.errors import HubbubError
from hubbub.server.guard import policy
from hubbub.server.ports import LabPort
from hubbub.server.rendering import templates
from hubbub.server.settings import ServerSettings


class LabPages:
    """Draws the Lab's pages. They hold choices, never data: a series comes in later and stays in the tab."""

    def __init__(self, lab: LabPort, settings: ServerSettings, version: str, *, alone: bool) -> None:
        self._lab, self._settings = lab, settings
        self._templates = templates(settings, version, has_lab=True, lab_alone=alone)

    def playground(self) -> HTMLResponse:
        return self._drawn("lab.html", "lab")

    def plan(self) -> HTMLResponse:
        return self._drawn("plan.html", "plan")

    def contexts(self) -> HTMLResponse:
        return self._page("contexts.html", {"choices": self._lab.choices()}, "contexts")

    def personal(self) -> HTMLResponse:
        return self._page("personal.html", {}, "personal")

    def error(self, error: HubbubError, status: int) -> HTMLResponse:
        return self._page("error.html", {"error": error, "status": status}, "error", status)

    def _drawn(self, template: str, page: str) -> HTMLResponse:
        drawn = self._page(template, {"choices": self._lab.choices()}, page)
        # The chart library writes style elements as it draws; scripts stay as strict as everywhere.
        drawn.headers["Content-Security-Policy"] = policy(self._settings, "; style-src 'self' 'unsafe-inline'")
        return drawn

    def _page(self, template: str, facts: dict[str, Any], page: str, status: int = 200) -> HTMLResponse:
        bare: dict[str, Any] = {"page": page, "stream": None, "streams": [], "query": {}}
        text = self._templates.get_template(template).render(bare | facts)
        return HTMLResponse(text, status, {"Cache-Control": "no-store"})
