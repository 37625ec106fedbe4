"""A promise that was not kept."""

from __future__ import annotations


class CheckFailed(AssertionError):
    """What was promised and what happened instead; never a confidential value that is not the check's own."""


def expect(kept: bool, otherwise: str) -> None:
    """Raise `CheckFailed` unless the promise was kept (an `assert` would vanish under `python -O`)."""
    if not kept:
        raise CheckFailed(otherwise)
