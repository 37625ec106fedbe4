"""The reference page of all methods, made from what they declare.

python -m hubbub.methods.methods_page > docs/methods.md
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator

from hubbub.mechanism import Mechanism
from hubbub.methods.describe import described
from hubbub.methods.registry import METHODS

_HEAD = """# Methods and their options

Made by `python -m hubbub.methods.methods_page > docs/methods.md`; a test keeps it true. Options are given as
`hubbub release --method fast --option samples=50`, as `[method.options]` in a monitor's settings, or as
`make_mechanism("fast", keys, guarantee, samples=50)`. They are fixed with a stream: opened again with another value, it
is refused. A default that is not shown follows from the promise.
"""


def methods_page() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *(part for name in sorted(METHODS) for part in _method(METHODS[name]))]).rstrip() + "\n"


def _method(method: type[Mechanism]) -> Iterator[str]:
    yield f"## `{method.name}`\n"
    yield f"{(inspect.getdoc(method) or '').splitlines()[0]}\n"
    said = "; ".join(method.traits.sentences)
    yield f"{said[0].upper()}{said[1:]}.\n"
    rows = [f"| `{one['name']}` | {one['help']} | {one['values']} | {_default(one)} |" for one in described(method)]
    if rows:
        yield "| option | meaning | values | default |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"


def _default(one: dict[str, object]) -> str:
    if one["required"]:
        return "required"
    default = one["default"]
    return "" if default is None else f"`{default if isinstance(default, str) else json.dumps(default)}`"


if __name__ == "__main__":
    sys.stdout.write(methods_page())
