"""How templates become pages: escaped, strict, and with the few helpers that all of them use."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from hubbub.server.settings import ServerSettings


def templates(settings: ServerSettings, version: str, **facts: Any) -> Environment:
    """The pages' templates; `facts` are what all of them know. `version` is part of the addresses of their files."""
    made = Environment(
        loader=PackageLoader("hubbub.server"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    known = {"has_truth": False, "has_lab": False, "lab_alone": False, "is_map": False, **facts}
    made.globals.update(settings=settings, version=version, link=link, **known)
    made.filters["data"] = data_block
    return made


def link(path: str, query: dict[str, Any], **more: Any) -> str:
    """An address that restores a view."""
    pairs = {name: value for name, value in {**query, **more}.items() if value is not None}
    return f"{path}?{urlencode(pairs)}" if pairs else path


def data_block(facts: Any) -> Markup:
    """JSON for a `<script type="application/json">`: no key can end the element early."""
    text = json.dumps(facts, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e"))
