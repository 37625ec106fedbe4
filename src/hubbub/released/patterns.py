"""Patterns that many published pages share: `/article/12345` and its like are one thing to whoever reads a page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

LEAST = 3
"""How many names a pattern must stand for to be offered."""

_NUMBERED = re.compile(
    r"""^(?:
        \d+                                          # 12345
      | \d{4}-\d{2}(?:-\d{2})?                       # 2026-01-31
      | [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}  # a UUID
      | (?=.*\d)[0-9a-f]{8,}                         # a digest
      | (?P<head>[^\d]*?)\d+(?P<tail>\.[a-z]{1,5})?  # page7, item-12.html
    )$""",
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern for keys, as `[keys]` in the settings takes it, and the published names that it stands for."""

    pattern: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        shown = ", ".join(self.names[:3])
        return f"{self.pattern} ({len(self.names):,}: {shown}{', …' if len(self.names) > 3 else ''})"


def patterns_of(names: Iterable[str], least: int = LEAST) -> list[Pattern]:
    """Patterns to approve or not, the one that stands for most names first; made from published names alone.

    Two kinds: names that differ in a number, a date or an identifier; and folders with many pages. A name that no
    pattern is offered for stays as it is.

    >>> [str(one) for one in patterns_of(["/", "/article/1", "/article/22", "/article/31", "/news/a", "/news/b"])]
    ['/article/* (3: /article/1, /article/22, /article/31)']
    """
    paths = [name for name in dict.fromkeys(names) if name.startswith("/") and "*" not in name]
    groups: dict[str, list[str]] = {}
    for path in paths:
        shape = _without_numbers(path)
        if shape != path:
            groups.setdefault(shape, []).append(path)
    found = {shape: members for shape, members in groups.items() if len(members) >= least}
    taken = {path for members in found.values() for path in members}
    left = [path for path in paths if path not in taken]
    folders: dict[str, list[str]] = {}
    for path in left:
        folder, _, last = path.rpartition("/")
        if folder and last:
            folders.setdefault(f"{folder}/*", []).append(path)
    for folder, members in folders.items():
        if len(members) >= least and folder not in found:
            found[folder] = members
    offered = [Pattern(pattern, tuple(members)) for pattern, members in found.items()]
    return sorted(offered, key=lambda one: (-len(one.names), one.pattern))


def _without_numbers(path: str) -> str:
    """Each part of a path that is a number, a date or an identifier becomes a star; neighbouring stars are one."""
    parts = [_starred(part) for part in path.split("/")]
    return re.sub(r"\*(?:/\*)+", "*", "/".join(parts))


def _starred(part: str) -> str:
    told = _NUMBERED.match(part)
    if told is None:
        return part
    return f"{told['head'] or ''}*{told['tail'] or ''}"
