"""A monitor takes what is sent to its own stream, and nothing that is sent to another one of the same store."""

from __future__ import annotations

from hubbub.errors import UnknownStream


def expect_own(asked: str, own: str) -> None:
    """Refuse what belongs elsewhere: its people may be others, under another promise."""
    if asked != own:
        raise UnknownStream(
            f"Nothing can be sent to the stream {asked!r} here: this monitor counts {own!r}.",
            f"Send to {own!r}, or to the monitor of {asked!r}. Nothing was kept.",
        )
