"""Reading what a request names."""

from __future__ import annotations

from datetime import datetime

from hubbub.released import Domain, Tick
from hubbub.server.errors import InvalidRequest, NotFound

MOST_TICK = 2**62 - 1


def tick_at(text: str, name: str, newest: Tick) -> int:
    """The number of the tick that `text` names: a number, or a time with its zone.

    >>> tick_at("17", "from", Tick(40))
    17
    """
    if text.isascii() and text.isdigit():
        if int(text) > MOST_TICK:
            raise InvalidRequest(f"`{name}` is beyond any tick.", "Ticks are counted from 0.")
        return int(text)
    try:
        time = datetime.fromisoformat(text.replace(" ", "+"))  # a plus sign in an address arrives as a space
    except ValueError:
        raise InvalidRequest(
            f"`{name}` is neither a tick nor a time.", "Give a whole number, or a time such as 2026-01-31T12:00:00Z."
        ) from None
    if time.tzinfo is None:
        raise InvalidRequest(f"`{name}` does not say its time zone.", "Add Z for UTC: 2026-01-31T12:00:00Z.")
    if newest.start is None or newest.length is None:
        raise InvalidRequest("The ticks of this stream have no clock time.", f"Give `{name}` as a tick's number.")
    return max(0, newest.index + (time - newest.start) // newest.length)


def position_of(keys: Domain, name: str) -> int:
    """Like `Keys.position`, without repeating what was asked for: an answer may end up in a log."""
    if name not in keys:
        raise NotFound("The stream has no such key.", "Its keys are listed in every release.")
    return keys.position(name)


def positions_of(keys: Domain, names: list[str] | None) -> list[int] | None:
    return None if not names else [position_of(keys, name) for name in dict.fromkeys(names)]
