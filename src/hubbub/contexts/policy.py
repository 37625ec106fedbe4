"""What decides, tick by tick, whether a context is shown or suppressed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from hubbub.contexts.chain import ContextChain
from hubbub.contexts.secret import Secret, check_delta
from hubbub.errors import InvalidParameter
from hubbub.exact import Exact
from hubbub.privacy.belief import BeliefBound

if TYPE_CHECKING:
    from hubbub.contexts.compiled import Compiled
    from hubbub.contexts.day import Day


class Policy(ABC):
    """A plan for every day of one chain. Make one with a subclass's `plan`.

    What a policy does depends on the tick, the context, and which context it showed last and when; nothing else.
    """

    name = ""

    def __init__(self, chain: ContextChain, secrets: Sequence[Secret], delta: Exact, utility: float) -> None:
        self.chain = chain
        self.secrets = check_secrets(secrets)
        self.delta = check_delta(delta)
        self.utility = utility
        """How many contexts of a day are shown, on average over days of the chain."""

    @abstractmethod
    def suppression(self, tick: int, context: int, last_tick: int, last_context: int) -> Fraction:
        """The chance that this context is suppressed now; `last_tick` = -1 if nothing was shown yet."""

    def compile(self) -> Compiled:
        """A small table that a device can carry."""
        from hubbub.contexts.compiled import compile_policy  # it knows all policies, and they their base

        return compile_policy(self)

    def start_day(self, path: str | Path | None = None) -> Day:
        """Decide about a day, tick by tick; with `path` it outlives a restart."""
        from hubbub.contexts.day import Day

        return Day(self.compile(), path)

    @property
    def private(self) -> bool:
        """Whether it keeps a promise at all."""
        return True

    @property
    def promise(self) -> BeliefBound | None:
        """What it promises, to whom, and what not; None if nothing."""
        if not self.private:
            return None
        names = [str(s) if s.sometime else f"{s} at each single time" for s in self.secrets]
        return BeliefBound(tuple(zip(names, self.deltas, strict=True)))

    @property
    def words(self) -> str:
        """The promise in a sentence."""
        if self.promise is None:
            names = "; ".join(str(secret) for secret in self.secrets)
            return f"Promises nothing: {names} can often be told from what is shown before and after."
        return str(self.promise)

    @property
    def deltas(self) -> tuple[Fraction, ...]:
        """What each secret's belief may rise by."""
        return tuple(self.delta if secret.delta is None else secret.delta for secret in self.secrets)

    def __repr__(self) -> str:
        share = self.utility / self.chain.ticks
        return f"{type(self).__name__}(delta={float(self.delta):g}, shows {share:.1%} of {self.chain.ticks} ticks)"


def check_secrets(secrets: Sequence[Secret]) -> tuple[Secret, ...]:
    kept = tuple(secrets)
    if not kept or not all(isinstance(secret, Secret) for secret in kept):
        raise InvalidParameter(
            "A policy needs at least one secret: something that must not be given away.", 'Give [Secret("clinic")].'
        )
    return kept
