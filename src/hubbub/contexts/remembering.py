"""Coins that know what was shown last: the adversary knows it too, so there is nothing to lose and much to gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hubbub.contexts.chain import ContextChain
from hubbub.contexts.frontier import Flags
from hubbub.contexts.pieces import Ground, Numbers, Pieces
from hubbub.contexts.policy import Policy, check_secrets
from hubbub.contexts.secret import Secret, check_delta, targets
from hubbub.errors import InvalidParameter
from hubbub.exact import Exact, whole

LEVELS = 10
MOST_LEVELS = 255
Levels = NDArray[np.int64]
Piece = tuple[int, int]
"""When it began, and with which context; (-1, 0) begins with the day."""

_WORK = 1e11
"""How many multiplications a plan may take: a minute or two. A larger chain is tried in fewer manners."""


@dataclass(frozen=True)
class Manner:
    """A way to plan a piece. No manner is best for all, and each piece takes the one that shows most.

    `share`: nothing is shown at a tick at which less than this part of the possible contexts could be shown (1: all of
    them or none, as `Simulatable` does). `wait`: nor in the first ticks. `turned`: contexts that are worth least are
    shown first, which keeps the others for cover. `coins`: chances are those of another plan.
    """

    share: float = 0.0
    wait: int = 0
    turned: bool = False
    coins: Levels | None = None


MANNERS = (
    *(Manner(share=share) for share in (1.0, 0.7)),
    Manner(share=0.5, turned=True),
    *(Manner(share=share) for share in (0.0, 0.9, 0.3)),
    *(Manner(share=share, turned=True) for share in (0.9, 0.7)),
    *(Manner(wait=ticks) for ticks in (2, 1, 4)),
    *(Manner(share=share, turned=True) for share in (0.3, 0.0)),
)
"""The most useful ones first: of a large chain only some are tried."""


class Remembering(Policy):
    """Each context is suppressed with a chance that depends on the tick, and on which context was shown last and when.

    Given what was shown last, the past of a day tells nothing about its future. So what happens after it is planned
    alone, from the evening on: each piece of the day takes the chances that show most, counting what the next piece
    will show. The schedule of `Simulatable` and the coins of `Probabilistic` are special cases.

    Guarantee
        Protects: for each secret, each tick and each possible output, an adversary's belief rises by at most delta
        (Goetz 2012, Def. 6), if the adversary's chain is this one.
        Enforced here: every piece of output is checked, with a margin that covers rounding. By the caller: that the
        chain is the person's, that days are independent of one another, that nothing else is shown. A tick that is
        missed silences the rest of the day.
        Formula: Pr[X_t = s | output] - Pr[X_t = s] <= delta.
        Not covered: an adversary with another chain (`docs/proofs/contexts.md`, 7), beliefs that *fall*, when an app
        asks, contexts that the chain holds for impossible (they are suppressed).
        Reference: Goetz 2012, Def. 6 and Prop. 5; the policy is Hubbub's own.
        Proof: docs/proofs/contexts.md, section 8 (proved).

    >>> chain = ContextChain(("s", "x"), ("1/2", "1/2"), [[(0, 1), (0, 1)]])
    >>> policy = Remembering.plan(chain, [Secret("s")], "1/4")
    >>> round(policy.utility, 2), policy.suppression(0, 1, -1, -1)
    (1.3, Fraction(2, 5))
    """

    name = "remembering"

    def __init__(
        self,
        chain: ContextChain,
        secrets: Sequence[Secret],
        delta: Exact,
        levels: Mapping[Piece, Levels],
        parts: int,
        utility: float,
    ) -> None:
        self.levels, self.parts = dict(levels), parts
        super().__init__(chain, secrets, delta, utility)

    @classmethod
    def plan(
        cls,
        chain: ContextChain,
        secrets: Sequence[Secret],
        delta: Exact,
        *,
        levels: int = LEVELS,
        coins: Sequence[Levels] = (),
        manners: Sequence[Manner] = MANNERS,
    ) -> Remembering:
        """`coins` are plans of `Probabilistic` with the same number of levels, tried for each piece as well."""
        secrets, rise = check_secrets(secrets), check_delta(delta)
        if whole(levels, "levels") > MOST_LEVELS:
            raise InvalidParameter(f"`levels` is at most {MOST_LEVELS} here; got {levels}.", "10 is usual.")
        ground = Ground(chain.steps, targets(chain, chain.steps, secrets, rise))
        tried = [Manner(coins=plan) for plan in coins] + list(manners)
        tried = tried[: max(1, int(_WORK / _work(chain, sum(map(len, ground.points.values())))))]
        made: dict[Piece, Levels] = {}
        worth = np.zeros((chain.ticks + 1, chain.size))  # [t + 1, i]: how much is shown after i was shown at t
        for began in range(chain.ticks - 1, -2, -1):
            contexts = np.flatnonzero(ground.showable[began]) if began >= 0 else np.array([0])
            if began == chain.ticks - 1 or not len(contexts):
                continue
            found = [_walk(Pieces(ground, began, contexts), worth, manner, levels) for manner in tried]
            best = np.argmax([gain for gain, _ in found], axis=0)
            for place, context in enumerate(contexts.tolist()):
                worth[began + 1, context] = found[best[place]][0][place]
                made[began, context] = found[best[place]][1][place]
        return cls(chain, secrets, rise, _reached(made, levels), levels, float(worth[0, 0]))

    def suppression(self, tick: int, context: int, last_tick: int, last_context: int) -> Fraction:
        piece = self.levels.get((last_tick, max(last_context, 0)))
        if piece is None or not 0 <= tick - last_tick - 1 < len(piece):
            return Fraction(1)
        return Fraction(int(piece[tick - last_tick - 1, context]), self.parts)


def too_large(chain: ContextChain, secrets: Sequence[Secret]) -> bool:
    """Whether a plan would take longer than a few minutes, so that `Hybrid` does without it."""
    points = sum(len(secret.ticks(chain)) * len(secret.contexts) for secret in secrets)
    return _work(chain, points) > _WORK


def _work(chain: ContextChain, points: int) -> float:
    return chain.ticks**2 / 4 * chain.size**3 * (1 + points)


def _walk(pieces: Pieces, worth: Numbers, manner: Manner, parts: int) -> tuple[Numbers, Levels]:
    """Plan pieces in one manner: how much they and what follows them show, and levels [piece, ticks since, context]."""
    ticks, began = pieces.ground.steps.ticks, pieces.began
    gain = np.zeros(len(pieces.here))
    levels = np.full((len(gain), ticks - began - 1, pieces.here.shape[1]), parts, dtype=np.int64)
    for tick in range(began + 1, ticks):
        free = pieces.free()
        total = pieces.here.sum(axis=1)
        if manner.share:
            free &= ((pieces.here * free).sum(axis=1) >= manner.share * total * (1 - 1e-12))[:, None]
        if tick <= began + manner.wait:
            free[:] = False
        if free.any():
            value = pieces.here * (1 + worth[tick + 1])
            conditions = pieces.conditions()
            if manner.coins is None:
                chosen = _lowest(conditions, free, -value if manner.turned else value, parts)
            else:
                chosen = np.where(free, manner.coins[tick], parts)
            chosen = np.where(pieces.silent(conditions, chosen / parts)[:, None], chosen, parts)
            levels[:, tick - began - 1] = chosen
            gain += pieces.mass * (value * (1 - chosen / parts)).sum(axis=1)
        if tick < ticks - 1:
            pieces.advance(levels[:, tick - began - 1] / parts)
        if not pieces.possible.any():
            break
    return gain, levels


def _lowest(conditions: Numbers, free: Flags, value: Numbers, parts: int) -> Levels:
    """For all pieces at once: one chance after the other, the largest value first, as low as conditions allow."""
    pieces = np.arange(len(free))
    levels = np.full(free.shape, parts, dtype=np.int64)
    load = conditions.sum(axis=2)
    order = np.argsort(np.where(free, -value, np.inf), axis=1, kind="stable")
    for place in range(int(free.sum(axis=1).max())):
        context = order[:, place]
        column = conditions[pieces, :, context]
        rest = load - column
        helps = column < 0
        needed = np.where(helps, rest / np.where(helps, -column, 1), np.where(rest > 0, 1.0, 0.0))
        lowest = np.clip(needed.max(axis=1, initial=0.0), 0, 1)
        level = np.where(free[pieces, context], np.ceil(lowest * parts), parts).astype(np.int64)
        levels[pieces, context] = level
        load = rest + column * (level / parts)[:, None]
    return levels


def _reached(made: Mapping[Piece, Levels], parts: int) -> dict[Piece, Levels]:
    """Only pieces that can begin, each up to the last tick at which it may end."""
    kept: dict[Piece, Levels] = {}
    waiting: list[Piece] = [(-1, 0)]
    while waiting:
        piece = waiting.pop()
        if piece in kept or piece not in made:
            continue
        shown = made[piece] < parts
        ends = np.flatnonzero(shown.any(axis=1))
        kept[piece] = made[piece][: ends[-1] + 1 if len(ends) else 0]
        waiting += [(piece[0] + 1 + int(since), int(context)) for since, context in np.argwhere(shown)]
    return kept
