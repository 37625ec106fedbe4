"""A whole series released at once, on two neighbours."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hubbub.checks.replay.loss import Loss
from hubbub.checks.replay.replayed import Replayed, within
from hubbub.checks.replay.script import CountPair
from hubbub.checks.replay.tape import Tape
from hubbub.checks.replay.transcript import Transcript
from hubbub.confidential import Counts
from hubbub.noise import ByteSource, simulation
from hubbub.release import Dft
from hubbub.released import Tick


def replay_series(make: Callable[[ByteSource], Dft], pair: CountPair, seed: int = 0) -> Replayed:
    """As `replay_releaser`, for a mechanism that takes all counts before it releases any; the steps of `pair` are left
    aside."""
    with simulation(seed) as source:
        first = Tape(source)
        seen = _play(make(first), pair, pair.one)
        second = first.again()
        again = make(second)
        seen_again = _play(again, pair, pair.two)
    seen.expect_same(seen_again, lambda tick: f"tick {tick}")
    second.finish()
    return within(Loss.between(first.rows, second.rows, again.guarantee).total, again.guarantee, first)


def _play(series: Dft, pair: CountPair, table: NDArray[np.int64]) -> Transcript:
    seen = Transcript()
    with seen.refusals(0):
        counts = [Counts.of(pair.keys, Tick(tick), row) for tick, row in enumerate(table)]
        for release in series.release_series(counts):
            seen.release(release.tick.index, release)
    return seen
