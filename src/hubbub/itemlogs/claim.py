"""What a published list promises, as a value that can be stored, added up and read aloud."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hubbub.errors import InvalidInput, InvalidParameter
from hubbub.exact import Exact, whole
from hubbub.privacy import Guarantee, User
from hubbub.privacy.rounding import at_most, factor
from hubbub.privacy.zcdp import epsilon_of_rho

DEFINITIONS = ("approximate", "probabilistic")
MOST_ITEMS = 10_000
"""More items of one user than this leave nothing but noise."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Neighbouring logs differ by one user, added or removed with everything that the user ever did.

    | definition | what holds for neighbours D, D' and every set of lists S |
    |---|---|
    | approximate | P[M(D) in S] <= e^epsilon P[M(D') in S] + delta (the papers' indistinguishability) |
    | probabilistic | given the lots: lists of probability 1 - delta together, each at most e^epsilon times as likely |

    For a ledger the same stands there as `rho` and `rho_delta`: M is rho-zCDP, but for a part of probability at most
    `rho_delta` (Bun & Steinke 2016, Def. 8.1). Of several lists about the same users both numbers add up.

    >>> print(Claim.checked(1, "1e-6", 10).sentence)
    With or without any one user, with all that they ever did, the probability of any set of lists is at most e^1 = 2.72
    times what it is otherwise, plus 1e-6. In a round of finding each user counts for at most 10 different items, ...
    """

    epsilon: Fraction
    delta: Fraction
    max_items: int
    definition: str = "approximate"
    rho: Fraction = Fraction(0)
    rho_delta: Fraction = Fraction(0)
    users: int | None = None
    lists: int = 1
    """How many lists there may be, of which all together this is promised."""
    who: str = "user"
    """What neighbouring logs differ by: a user with all that they ever did, or a session, which is in one list only."""

    @classmethod
    def following(cls, rho: Fraction, slips: Fraction, max_items: int, lists: int = 1) -> Claim:
        """An (epsilon, delta) that follows from rho-zCDP but for `slips`: delta is twice that."""
        return cls(epsilon_of_rho(rho, slips), 2 * slips, max_items, rho=rho, rho_delta=slips, lists=lists)

    @classmethod
    def checked(
        cls, epsilon: Exact, delta: Exact, max_items: int, *, users: int | None = None, allow_weak: bool = False
    ) -> Claim:
        """The numbers, refused where they promise nothing; with `users` it is the probabilistic definition."""
        if whole(max_items, "max_items", "A user who counts for nothing can share nothing.") > MOST_ITEMS:
            raise InvalidParameter(
                f"`max_items` must be at most {MOST_ITEMS:,}; got {max_items:,}: noise grows with it.",
                "5 to 50 are usual.",
            )
        promise = Guarantee.approximate(_unit(max_items), epsilon, delta, allow_weak=allow_weak)
        assert promise.epsilon is not None
        if users is None:
            return cls(promise.epsilon, promise.delta, max_items)
        whole(users, "users", "It is a public number: how many users the log may hold at most.")
        return cls(promise.epsilon, promise.delta, max_items, "probabilistic", users=users)

    @property
    def guarantee(self) -> Guarantee:
        """The same as a `Guarantee` of the house, in one tick."""
        return Guarantee(_unit(self.max_items), epsilon=self.epsilon, delta=self.delta)

    @property
    def short(self) -> str:
        kind = "" if self.definition == "approximate" else f" ({self.definition})"
        return f"epsilon = {at_most(self.epsilon)}, delta = {at_most(self.delta)}{kind} for each {self.who}"

    @property
    def sentence(self) -> str:
        """The promise as a paragraph that a lawyer could read."""
        shown = factor(self.epsilon)
        times = f"e^{at_most(self.epsilon)}{f' = {shown}' if shown else ''}"
        whole = "user, with all that they ever did" if self.who == "user" else f"{self.who}, whatever else somebody did"
        both = f"With or without any one {whole}, "
        what = "lists" if self.lists == 1 else f"outcomes of all {self.lists:,} lists together"
        if self.definition == "approximate":
            said = (
                f"{both}the probability of any set of {what} is at most {times} times what it is otherwise, "
                f"plus {at_most(self.delta)}."
            )
        else:
            said = (
                f"{both}the probability of the list is at most {times} times what it is otherwise, for all lists but "
                f"some that together have a probability of at most {at_most(self.delta)}, whatever the lots were that "
                f"chose each user's items; for logs of at most {self.users:,} users."
            )
        return (
            f"{said} In a round of finding each {self.who} counts for at most {self.max_items:,} different items"
            f"{'' if self.lists == 1 else ' of a list'}, once for each, which is enforced. {self._adds_up}"
        )

    @property
    def _adds_up(self) -> str:
        if self.who != "user":
            return f"Each {self.who} is in one list only; several of one person add up."
        several = "Several" if self.lists == 1 else "Other"
        return f"{several} lists about the same users add up; so do users who are one person."

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, exact numbers as text."""
        return {
            "definition": self.definition,
            "neighbours": f"one {self.who} added or removed",
            **({} if self.definition == "approximate" else {"given": "the lots that chose each user's items"}),
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "max_items": self.max_items,
            "zcdp": {"rho": str(self.rho), "delta": str(self.rho_delta)},
            "users": self.users,
            "lists": self.lists,
        }

    @classmethod
    def from_dict(cls, facts: dict[str, Any]) -> Claim:
        try:
            return cls(
                Fraction(facts["epsilon"]),
                Fraction(facts["delta"]),
                int(facts["max_items"]),
                str(facts["definition"]),
                Fraction(facts["zcdp"]["rho"]),
                Fraction(facts["zcdp"]["delta"]),
                facts["users"],
                int(facts.get("lists", 1)),
                "session" if str(facts["neighbours"]).startswith("one session") else "user",
            )
        except (KeyError, TypeError, ValueError, ZeroDivisionError):
            raise InvalidInput("The guarantee of the list cannot be read.", "Was it written by Hubbub?") from None

    def __str__(self) -> str:
        return self.sentence


def _unit(max_items: int) -> User:
    return User(max_ticks=1, horizon=1, max_items=max_items)
