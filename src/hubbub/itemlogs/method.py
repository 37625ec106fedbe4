"""What all ways to publish a log's items have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.itemlogs.bounding import Pairs
from hubbub.itemlogs.claim import Claim
from hubbub.itemlogs.log import ItemLog
from hubbub.itemlogs.published import Published
from hubbub.noise import ByteSource

Progress = Callable[[str], None]
"""Told now and then what is going on; never what was found."""


class ItemMethod(ABC):
    """One promise, and a way to keep it. Each call of `publish` spends it again: two lists of one log add up."""

    name: ClassVar[str]

    def __init__(self, claim: Claim, source: ByteSource | None) -> None:
        self.claim = claim
        self._source = source

    def publish(self, log: ItemLog, progress: Progress | None = None) -> Published:
        """The items that may be told, with noisy counts."""
        if not isinstance(log, ItemLog):
            raise InvalidParameter(f"A log is an ItemLog; got {type(log).__name__}.", "Make it with `read_items`.")
        pairs = log.users.reveal(), log.items.reveal()
        labels = log.labels.reveal()
        found, counts = self._publish(pairs, len(labels), progress or _silent)
        names = [labels[int(code)] for code in found]
        return self._published(names, counts)

    @abstractmethod
    def _publish(
        self, pairs: Pairs, items: int, progress: Progress
    ) -> tuple[NDArray[np.intp], NDArray[np.int64] | None]:
        """The codes of the items to publish, and their noisy counts."""

    @abstractmethod
    def _published(self, names: list[str], counts: NDArray[np.int64] | None) -> Published:
        """The list as it is handed out, made from released values alone."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.claim.short}, at most {self.claim.max_items:,} items each>"


def _silent(_: str) -> None:
    pass
