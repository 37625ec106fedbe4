"""Where marks are kept: a folder of this machine's user, outside every store."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

from hubbub.state import state_folder
from hubbub.store.mark_file import MarkFile

Where: TypeAlias = Path | Literal[False] | None


class Marks:
    """Finds the mark of each stream of one store; `None` for all of them where marks are switched off."""

    def __init__(self, where: Where, store: str) -> None:
        self._where = where
        self._store = store

    def of(self, genesis: bytes) -> MarkFile | None:
        if self._where is False:
            return None
        return MarkFile(self._where or state_folder(), self._store, genesis)
