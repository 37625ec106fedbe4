"""What a sender is told."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a batch. It goes back to its sender alone. A repetition has an equal receipt.

    `duplicate` says that the batch had been taken before.
    """

    accepted: int
    malformed: int
    duplicate: bool = field(compare=False)
