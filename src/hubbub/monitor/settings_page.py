"""The reference page of a monitor's settings, made from their declaration.

python -m hubbub.monitor.settings_page > docs/settings.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from hubbub.monitor.settings import MonitorSettings

_HEAD = """# Settings of a live monitor

Made by `python -m hubbub.monitor.settings_page > docs/settings.md`; a test keeps it true. `hubbub init` writes a
commented sample. A wrong setting is refused with its file and line before anything starts. Spans of time are written
`10s`, `5min`, `2h`, `1d`.
"""


def settings_page() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *_tables()]).rstrip() + "\n"


def _tables() -> Iterator[str]:
    for name, field in MonitorSettings.model_fields.items():
        kinds = [kind for kind in get_args(field.annotation) or (field.annotation,) if kind is not type(None)]
        for kind in kinds:
            yield from _table(name, kind)


def _table(name: str, model: type[BaseModel]) -> Iterator[str]:
    fixed = model.model_fields.get("kind")
    yield f"## `[{name}]`" + ("" if fixed is None else f' with `kind = "{get_args(fixed.annotation)[0]}"`') + "\n"
    yield f"{(model.__doc__ or '').strip().splitlines()[0]}\n"
    rows = [_row(setting, field) for setting, field in model.model_fields.items() if setting != "kind"]
    yield "| setting | meaning | default |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def _row(name: str, field: FieldInfo) -> str:
    default = "required" if field.is_required() else _shown(field.default)
    return f"| `{name}` | {field.description or ''} | {default} |"


def _shown(value: Any) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, timedelta):
        seconds = value.total_seconds()
        return f"`{seconds / 60:g}min`" if seconds % 60 == 0 else f"`{seconds:g}s`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


if __name__ == "__main__":
    sys.stdout.write(settings_page())
