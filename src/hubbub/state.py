"""Where this machine keeps what must not lie in a store."""

from __future__ import annotations

import os
from pathlib import Path

from hubbub.errors import StoreUnavailable


def state_folder() -> Path:
    """`$HUBBUB_STATE`, else `$XDG_STATE_HOME/hubbub`, else `~/.local/state/hubbub`.

    It holds this machine's name and the marks that tell whether a store was set back; so it must outlive the process,
    and must not be part of the store's backups.
    """
    if own := os.environ.get("HUBBUB_STATE"):
        return Path(own)
    if shared := os.environ.get("XDG_STATE_HOME"):
        return Path(shared) / "hubbub"
    try:
        return Path.home() / ".local" / "state" / "hubbub"
    except RuntimeError:
        raise StoreUnavailable(
            "This user has no home, so there is no place for marks, which tell whether a store was set back.",
            "Set HUBBUB_STATE to a folder that outlives the process and is not part of the store's backups.",
        ) from None
