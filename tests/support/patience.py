"""How tests wait: for something to be so, however long the machine takes; never for a span of time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE = 180.0
"""Seconds after which something that must happen has not happened; nothing is faster for a smaller number."""

T = TypeVar("T")


def until(happened: Callable[[], T], what: str, seconds: float = PATIENCE) -> T:
    """Wait for a condition; on a slow machine it comes later, that is all."""
    end = time.monotonic() + seconds
    while not (found := happened()):
        assert time.monotonic() < end, f"after {seconds:g} s still not: {what}"
        time.sleep(0.02)
    return found


def until_on(page, expression: str) -> None:
    """The same of a page. Playwright's own waiting evaluates text in the page, which our policy forbids."""
    end = time.monotonic() + PATIENCE
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"never true: {expression}"
        page.wait_for_timeout(50)
