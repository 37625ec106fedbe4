"""Where random bytes come from."""

from __future__ import annotations

from typing import Protocol

from hubbub.errors import InsecureRandomness, InvalidParameter


class ByteSource(Protocol):
    """Anything that gives `count` fresh, uniform, independent bytes.

    A source may also have an attribute `secure`. Only a source that says `secure = True` is let into production. One
    that has a method `draw(noise, n)` answers with whole draws of its own instead of bytes: it belongs to a check,
    which wants to see what noise is added to, and is never let into production.
    """

    def take(self, count: int) -> bytes | bytearray | memoryview: ...


def require_secure(source: ByteSource | None) -> None:
    """Refuse every source whose bytes could be foreseen. `None` means the operating system's, and is fine.

    >>> require_secure(None)
    """
    if source is not None and (getattr(source, "secure", False) is not True or hasattr(source, "draw")):
        raise InsecureRandomness(
            f"`{type(source).__name__}` is not a secure source of randomness: whoever knows its seed can take the "
            "noise away again.",
            "Leave `source` out; seeded sources are for simulations and tests only.",
        )


def checked_count(count: int) -> int:
    """How many bytes were asked for; shared by the sources here."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise InvalidParameter(f"`count` must be a whole number of bytes from 0 on; got {count!r}.")
    return count
