"""What an audit found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hubbub.privacy.guarantee import Guarantee


@dataclass(frozen=True, slots=True)
class Finding:
    """With chance `confidence` or more, the mechanism is not better than `bound`.

    `currency` is what is bounded: epsilon (at the guarantee's delta), or rho for a guarantee in zCDP.
    """

    guarantee: Guarantee
    currency: str
    stated: float
    bound: float
    confidence: float
    runs: int
    event: str
    likelier: float
    """Lower confidence bound of the event's chance on the stream where it is likelier."""
    rarer: float
    """Upper confidence bound of its chance on the other stream."""

    @property
    def accepted(self) -> bool:
        """False if the promise is broken. True says that this audit found nothing, not that nothing is wrong."""
        return self.bound <= self.stated

    @property
    def verdict(self) -> str:
        sure = f"{100 * self.confidence:.6g} %"
        if not self.accepted:
            return (
                f"BROKEN: {self.currency} is at least {self.bound:.4g}, but {self.stated:.4g} was promised "
                f"(confidence {sure}, {self.runs:,} runs per stream)."
            )
        return (
            f"accepted: {self.currency} is at least {self.bound:.4g}, and {self.stated:.4g} was promised "
            f"(confidence {sure}, {self.runs:,} runs per stream)."
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "guarantee": self.guarantee.to_dict(),
            "currency": self.currency,
            "stated": self.stated,
            "bound": self.bound,
            "accepted": self.accepted,
            "confidence": self.confidence,
            "runs": self.runs,
            "event": self.event,
            "chance_at_least": self.likelier,
            "chance_at_most_on_the_neighbour": self.rarer,
            "verdict": self.verdict,
        }
