"""Budget absorption: a publication takes what quiet ticks before it left, and is paid back by silence after it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.noise import ByteSource
from hubbub.privacy import Guarantee
from hubbub.release.window_budget import WindowBudget
from hubbub.released import Domain


class Ba(WindowBudget):
    """BA of Kellaris, Papadopoulos, Xiao & Papadias 2014 (Alg. 2).

    Guarantee
        Protects: all that one person does within any w consecutive ticks (or another unit, without saving).
        Enforced by the caller: the unit's `max_items`, before counting.
        Formula: epsilon/(2w) a tick for the question; every tick has epsilon/(2w) for a publication, which one that is
        published may take over from at most w - 1 ticks before it. As many ticks after it then publish nothing.
        Not covered: when releases appear, and people's activity over more than w ticks.
        Reference: Kellaris et al. 2014, Thm 3 (composition over a window) and Thm 5.
        Proof: docs/proofs/window.md (proved).

    >>> from hubbub.privacy import Window
    >>> from hubbub.released import Keys
    >>> print(Ba(Keys(["front"]), Guarantee.pure(Window(10), 1)).guarantee)
    What one person does within any 10 consecutive ticks changes any output's probability by at most a factor
    e^1 = 2.72, ...
    >>> from hubbub.released import Tick
    >>> ba = Ba(Keys(["front"]), Guarantee.pure(Window(10), 1))
    >>> ba.cost(Tick(0)), ba.cost(Tick(4))  # four ticks of silence have been saved
    (Cost(epsilon=1/10), Cost(epsilon=3/10))
    """

    name: ClassVar[str] = "ba"

    def __init__(self, keys: Domain, guarantee: Guarantee, *, source: ByteSource | None = None, **options: Any) -> None:
        super().__init__(keys, guarantee, source=source, **options)
        self._free_from = 0  # the first tick whose own share is not yet spoken for

    def _price(self, tick: int) -> Fraction:
        absorbed = min(tick - self._free_from + 1, self.window)
        return self._question * max(absorbed, 0)

    def _paid(self, tick: int, price: Fraction) -> None:
        # The publication took over `price / share - 1` shares of others: so many ticks after it stay silent.
        self._free_from = tick + math.ceil(price / self._question)

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts, arrays = super()._state()
        return {**facts, "free_from": self._free_from}, arrays

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[np.int64]]) -> None:
        super()._restore(facts, arrays)
        self._free_from = facts["free_from"]
