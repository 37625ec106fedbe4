"""Many replays of a mechanism by its name: what `hubbub audit --replay` runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hubbub.checks.failure import CheckFailed
from hubbub.checks.replay.ranges import draw_ranges, replay_ranges
from hubbub.checks.replay.releaser import replay_releaser
from hubbub.checks.replay.replayed import Replayed
from hubbub.checks.replay.script import draw_pair
from hubbub.checks.replay.whole_series import replay_series
from hubbub.exact import whole
from hubbub.mechanism import read_options
from hubbub.methods import make_mechanism, method_named
from hubbub.privacy import Guarantee
from hubbub.ranges import METHODS as RANGE_METHODS
from hubbub.ranges import RangeStream
from hubbub.release import Dft
from hubbub.released import Domain, Keys

Turn = Callable[[int], Replayed]
"""Replays the pair of that number."""


@dataclass(frozen=True)
class ReplayFinding:
    """What `pairs` neighbours have shown; `told_apart` says what told the last of them apart, or nothing."""

    guarantee: Guarantee
    method: str
    pairs: int
    restarts: int
    draws: int
    largest: Fraction
    told_apart: str = ""

    @property
    def accepted(self) -> bool:
        """False if the promise is broken. True says that these pairs showed nothing, not that no pair would."""
        return not self.told_apart

    @property
    def currency(self) -> str:
        return "epsilon" if self.guarantee.kind == "pure" else "rho"

    @property
    def verdict(self) -> str:
        if not self.accepted:
            return f"BROKEN: {self.told_apart}"
        return f"accepted: {self.pairs:,} pairs of neighbours look the same, and none costs more than is charged."

    def to_dict(self) -> dict[str, Any]:
        return {
            "guarantee": self.guarantee.to_dict(),
            "method": self.method,
            "pairs": self.pairs,
            "restarts": self.restarts,
            "draws": self.draws,
            "currency": self.currency,
            "promised": str(self.guarantee.budget),
            "largest": str(self.largest),
            "accepted": self.accepted,
            "told_apart": self.told_apart or None,
            "verdict": self.verdict,
        }


def replay_method(
    method: str,
    guarantee: Guarantee,
    *,
    keys: int = 2,
    ticks: int = 20,
    pairs: int = 200,
    window: int = 48,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> ReplayFinding:
    """Replay a mechanism, a method of ranges or `dft` on random pairs; it stops at the first that can be told apart.

    `options` are those of the mechanism, as numbers or as text; of a method of ranges those of a range stream.

    >>> from hubbub.privacy import Session
    >>> finding = replay_method("bd", Guarantee.pure(Session(max_ticks=3), 1), pairs=5)
    >>> finding.accepted, finding.pairs
    (True, 5)
    """
    domain = Keys([f"key {i}" for i in range(whole(keys, "keys"))])
    turn = _turn(method, domain, guarantee, whole(ticks, "ticks"), window, options or {}, seed)
    done: list[Replayed] = []
    told = ""
    for number in range(whole(pairs, "pairs")):
        try:
            done.append(turn(number))
        except CheckFailed as apart:
            told = str(apart)
            break
        if progress is not None:
            progress(1)
    return ReplayFinding(
        guarantee,
        method,
        len(done) + bool(told),
        sum(one.restarts for one in done),
        sum(one.draws for one in done),
        max((one.cost for one in done), default=Fraction(0)),
        told,
    )


def _turn(
    method: str, keys: Domain, guarantee: Guarantee, ticks: int, window: int, given: Mapping[str, Any], seed: int
) -> Turn:
    """What one replay is, for a mechanism of that name. It is made once here, so that wrong use is refused at once."""

    def generator(number: int) -> np.random.Generator:  # not for privacy
        return np.random.default_rng([seed, number])  # not for privacy

    if method in RANGE_METHODS or method == RangeStream.name:
        named = {} if method == RangeStream.name else {"method": method}
        stream = {"window": window, **named, **read_options(RangeStream, given)}
        made = RangeStream(keys, guarantee, **stream).method
        # Toeplitz noise waits for its sums, one tick at a time; `auto` may choose it.
        batches = made not in ("auto", "toeplitz")
        return lambda number: replay_ranges(
            lambda names, source: RangeStream(names, guarantee, **stream, source=source),
            draw_ranges(generator(number), guarantee.unit, keys, batches=batches, length=ticks),
            guarantee,
            number,
        )
    chosen = read_options(method_named(method), given)
    if method == Dft.name:
        series = {"coefficients": min(5, (ticks + 1) // 2), **chosen}
        Dft(keys, guarantee, **series)
        return lambda number: replay_series(
            lambda source: Dft(keys, guarantee, **series, source=source),
            draw_pair(generator(number), guarantee.unit, keys, ticks),
            number,
        )
    make_mechanism(method, keys, guarantee, **chosen)
    return lambda number: replay_releaser(
        lambda source: make_mechanism(method, keys, guarantee, **chosen, source=source),
        draw_pair(generator(number), guarantee.unit, keys, ticks),
        number,
    )
