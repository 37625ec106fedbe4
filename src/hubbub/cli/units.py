"""The unit that a command's options name."""

from __future__ import annotations

from hubbub.errors import InvalidParameter
from hubbub.privacy import Event, Session, Unit, User, Window


def unit_of(name: str, max_ticks: int | None, horizon: int, max_items: int = 1) -> Unit:
    """What is protected, by its name on the command line.

    >>> unit_of("user", None, 52)
    User(max_ticks=52, ticks=52, max_items=1)
    """
    if name == "event":
        if max_items != 1:
            raise InvalidParameter("An event counts under one key.", "Protect a session, a user or a window instead.")
        return Event()
    if name == "user":
        return User(max_ticks=max_ticks, horizon=horizon, max_items=max_items)
    if name not in ("session", "window"):
        raise InvalidParameter(f"There is no unit {name!r}.", "Known units: event, session, user, window.")
    if max_ticks is None:
        raise InvalidParameter(
            f"The unit {name!r} needs --max-ticks: in how many ticks can one {name} count at most?",
            "Give the bound that was enforced when counting, e.g. --max-ticks 20. Without any bound protect a person "
            "over the whole series: --unit user.",
        )
    return (Session if name == "session" else Window)(max_ticks, max_items=max_items)
