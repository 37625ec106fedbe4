"""What may be logged of an exception."""

from __future__ import annotations

import traceback


def place_of(error: BaseException) -> str:
    """File and line where an exception was raised; not its message."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename.rsplit('/', 1)[-1]}:{frames[-1].lineno}" if frames else "an unknown place"
