"""The options of a method as plain data, for pages and documents."""

from __future__ import annotations

from typing import Any

from hubbub.mechanism import Mechanism, options_of


def described(method: type[Mechanism]) -> list[dict[str, Any]]:
    """One entry per option: its name, what it means, which values it takes, and its default.

    >>> from hubbub.release import Sample
    >>> described(Sample)[0]["values"]
    'a whole number from 1 on'
    """
    return [
        {
            "name": name,
            "help": option.help,
            "values": option.kind.words,
            "default": None if option.is_required else option.plain(option.default),
            "required": option.is_required,
        }
        for name, option in options_of(method).items()
    ]
