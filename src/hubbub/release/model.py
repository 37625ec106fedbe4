"""A model of how visitors move, as an option of a mechanism."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hubbub.mechanism.kinds import Kind
from hubbub.models import NavigationModel


class Model(Kind):
    """A `NavigationModel`, or the file that `hubbub fit` wrote. What a stream records is the hash of what it says."""

    words = "a model that `hubbub fit` wrote"

    def accept(self, value: Any, name: str) -> NavigationModel:
        if not isinstance(value, NavigationModel):
            raise self._wrong(type(value).__name__, name)
        return value

    def read(self, given: Any, name: str) -> NavigationModel:
        return NavigationModel.load(Path(given)) if isinstance(given, str | Path) else self.accept(given, name)

    def plain(self, value: Any) -> str:
        return f"sha256 {value.digest}"
