"""Where the public data sets of the experiments lie."""

from __future__ import annotations

import os
from pathlib import Path

from hubbub.errors import InvalidInput

VARIABLE = "HUBBUB_DATA"
_DEFAULT = Path(__file__).resolve().parents[3].parent / "shared" / "data"


def folder() -> Path:
    """The folder of data sets: what the environment variable `HUBBUB_DATA` names, or `../shared/data`."""
    return Path(os.environ.get(VARIABLE) or _DEFAULT)


def find(name: str) -> Path:
    """The path of a data set's file, such as `msnbc/msnbc990928.seq.gz`.

    >>> find("no/such/file")
    Traceback (most recent call last):
    ...
    hubbub.errors.InvalidInput: The data set 'no/such/file' is not there. ...
    """
    path = folder() / name
    if not path.is_file():
        raise InvalidInput(
            f"The data set {name!r} is not there.",
            f"Set the environment variable {VARIABLE} to the folder that holds it.",
        )
    return path
