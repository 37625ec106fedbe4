"""Budget distribution: each publication takes half of what the window has left."""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from itertools import takewhile
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.noise import ByteSource
from hubbub.privacy import Guarantee
from hubbub.release.window_budget import WindowBudget
from hubbub.released import Domain

FEWEST = 2**30
"""A publication that would cost less than epsilon over this is not worth having; its noise could hardly be drawn."""


class Bd(WindowBudget):
    """BD of Kellaris, Papadopoulos, Xiao & Papadias 2014 (Alg. 1).

    Guarantee
        Protects: all that one person does within any w consecutive ticks (or another unit, without saving).
        Enforced by the caller: the unit's `max_items`, before counting.
        Formula: epsilon/(2w) a tick for the question; a publication costs half of epsilon/2 less what the last w - 1
        ticks' publications cost. Both add discrete Laplace noise of scale max_items / cost.
        Not covered: when releases appear, and people's activity over more than w ticks.
        Reference: Kellaris et al. 2014, Thm 3 (composition over a window) and Thm 4.
        Proof: docs/proofs/window.md (proved).

    >>> from hubbub.privacy import Window
    >>> from hubbub.released import Keys
    >>> print(Bd(Keys(["front"]), Guarantee.pure(Window(10), 1)).guarantee)
    What one person does within any 10 consecutive ticks changes any output's probability by at most a factor
    e^1 = 2.72, ...
    >>> from hubbub.released import Tick
    >>> Bd(Keys(["front"]), Guarantee.pure(Window(10), 1)).cost(Tick(0))  # 1/20 for the question, 1/4 to publish
    Cost(epsilon=3/10)
    """

    name: ClassVar[str] = "bd"

    def __init__(self, keys: Domain, guarantee: Guarantee, *, source: ByteSource | None = None, **options: Any) -> None:
        super().__init__(keys, guarantee, source=source, **options)
        self._recent: deque[tuple[int, Fraction]] = deque()
        self._held = Fraction(0)  # their sum: a window may be thousands of ticks long

    def _price(self, tick: int) -> Fraction:
        gone = takewhile(lambda paid: paid[0] <= tick - self.window, self._recent)
        held = self._held - sum((price for _, price in gone), Fraction(0))
        price = (self.guarantee.budget / 2 - held) / 2
        # Halving for ever makes fractions of ever more digits: round down to what noise can be drawn for.
        parts = price * FEWEST // self.guarantee.budget
        return self.guarantee.budget * parts / FEWEST

    def _paid(self, tick: int, price: Fraction) -> None:
        self._recent.append((tick, price))
        self._held += price
        while self._recent[0][0] <= tick - self.window:
            self._held -= self._recent.popleft()[1]

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts, arrays = super()._state()
        return {**facts, "recent": [[at, str(price)] for at, price in self._recent]}, arrays

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[np.int64]]) -> None:
        super()._restore(facts, arrays)
        self._recent = deque((at, Fraction(price)) for at, price in facts["recent"])
        self._held = sum((price for _, price in self._recent), Fraction(0))
