"""Where random bytes come from."""

from __future__ import annotations

from typing import Protocol


class ByteSource(Protocol):
    """Anything that gives `count` fresh, uniform, independent bytes."""

    def take(self, count: int) -> bytes | bytearray | memoryview: ...
