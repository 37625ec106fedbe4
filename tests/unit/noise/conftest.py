"""Byte sources that say what the test wants them to say."""

from __future__ import annotations

from collections.abc import Callable

import pytest


class Script:
    """Gives the bytes it was made from, then one byte for ever."""

    def __init__(self, text: bytes = b"", then: int = 0) -> None:
        self._text = text
        self._then = bytes([then])
        self.given = 0

    def take(self, count: int) -> bytes:
        self.given += count
        part, self._text = self._text[:count], self._text[count:]
        return part + self._then * (count - len(part))


@pytest.fixture
def script() -> Callable[..., Script]:
    return Script
