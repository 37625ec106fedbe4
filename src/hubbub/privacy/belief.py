"""A promise about what somebody may come to believe, as a value that can be stored, compared and read aloud."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hubbub.errors import InvalidParameter
from hubbub.exact import exact
from hubbub.privacy.rounding import at_most

KIND = "belief"

ADVERSARY = (
    "Somebody who knows your habits (how likely each day is: the chain), this plan, and all that was shown on all "
    "days, and who reasons without a mistake."
)
NOT_COVERED = (
    "Your habits: the chain and the plan are taken to be known.",
    "Days that the chain was learned from, if it is told anybody: the chain before and after a day tells that day.",
    "Somebody who expects other days of you than the chain does: his belief starts elsewhere and may rise by more.",
    "Days that hang together. If days are independent, each keeps the promise whatever was shown on the others; "
    "the belief that you were there on at least one of k days may rise by k times as much.",
    "Beliefs that fall: that you were not there may become certain.",
    "What is told elsewhere: other apps, when an app asks, a device that is switched off because of where you are.",
)


@dataclass(frozen=True, slots=True)
class BeliefBound:
    """For each secret: whatever is shown, Pr[secret | shown] - Pr[secret] <= its rise (Goetz 2012, Def. 6).

    The sibling of `Guarantee` for what is decided on a person's side. `secrets` are pairs of what the secret is, in
    words, and by how much belief in it may rise. Proof: docs/proofs/contexts.md (proved).

    >>> print(BeliefBound((("clinic at each single time", Fraction(1, 10)),)))
    Whatever is shown, the belief of somebody who knows your habits and this plan rises by at most 10 points of a
    hundred for: clinic at each single time.
    """

    secrets: tuple[tuple[str, Fraction], ...]

    def __post_init__(self) -> None:
        sound = all(
            isinstance(words, str) and words and isinstance(rise, Fraction) and 0 < rise <= 1
            for words, rise in self.secrets
        )
        if not self.secrets or not sound:
            raise InvalidParameter(
                "A bound on belief names one or more secrets, each with an exact rise above 0 and at most 1.",
                'Give (("clinic", Fraction(1, 10)),).',
            )

    @property
    def weakest(self) -> Fraction:
        """The largest rise of all secrets."""
        return max(rise for _, rise in self.secrets)

    @property
    def adversary(self) -> str:
        """Against whom it holds."""
        return ADVERSARY

    @property
    def not_covered(self) -> tuple[str, ...]:
        """What it does not promise."""
        return NOT_COVERED

    @property
    def short(self) -> str:
        """For tables: the weakest of all secrets.

        >>> BeliefBound((("clinic", Fraction(1, 10)), ("bar", Fraction(1, 5)))).short
        'belief +20 points'
        """
        return f"belief +{at_most(100 * self.weakest)} points"

    def __str__(self) -> str:
        parts = [
            f"{at_most(100 * rise)} points of a hundred for: {'; '.join(names)}"
            for rise, names in sorted(self._by_rise().items())
        ]
        return (
            "Whatever is shown, the belief of somebody who knows your habits and this plan rises by at most "
            f"{', and by at most '.join(parts)}."
        )

    def _by_rise(self) -> dict[Fraction, list[str]]:
        found: dict[Fraction, list[str]] = {}
        for words, rise in self.secrets:
            found.setdefault(rise, []).append(words)
        return found

    def to_dict(self) -> dict[str, Any]:
        return {"kind": KIND, "secrets": [{"about": words, "rise": str(rise)} for words, rise in self.secrets]}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> BeliefBound:
        try:
            if stored["kind"] != KIND:
                raise KeyError
            return cls(tuple((entry["about"], exact(entry["rise"], "rise")) for entry in stored["secrets"]))
        except (KeyError, TypeError):
            raise InvalidParameter(
                "This is not a stored bound on belief.", "Give what `BeliefBound.to_dict` made."
            ) from None
