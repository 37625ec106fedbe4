"""Which machine this is, as far as its files are concerned."""

from __future__ import annotations

from pathlib import Path

from hubbub.state import kept_word


def machine_name(folder: Path | None = None) -> str:
    """A random name that was given to this machine once, and is kept in its state folder.

    Offsets in a log mean something on the machine that has the log. A host name would do less well: containers get a
    new one at every start, and two machines may share one.
    """
    return kept_word("machine", 32, folder)
