"""Range streams by replay: every strategy and method, every unit, every kind of promise, many pairs of neighbours."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hubbub.checks.replay import draw_ranges, replay_ranges
from hubbub.privacy import Event, Guarantee, Session, User, Window
from hubbub.ranges import METHODS, Fenwick, RangeStream, Toeplitz, Tree
from hubbub.released import Keys

FEW, MANY = Keys(["a", "b", "c"]), Keys([f"key {i}" for i in range(6)])
STRATEGIES = [
    Fenwick(1),
    Fenwick(4),
    Fenwick(3, (Fraction(1, 2), Fraction(1, 4), Fraction(1, 8))),
    Tree((8,), trust=Fraction(3, 4)),
    Tree((4, 4), shares=(Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))),
    Tree((3, 2, 3), subtracts=True),
    Toeplitz(16),
    Toeplitz(32, reach=16),
]
UNITS = [Event(), Window(7), Session(max_ticks=3), Session(max_ticks=20, max_items=3), User(40, horizon=400)]


def replayed(unit, seed, *, pure, batches, **options):
    """The largest share of the promise that a pair cost; few keys and many take different ways through the program."""
    shares = []
    kinds = [Guarantee.zcdp(unit, "1/2"), Guarantee.approximate(unit, 1, "1e-6")]
    for guarantee in [*kinds, *([Guarantee.pure(unit, 1)] if pure else [])]:
        for number, keys in enumerate((FEW, MANY)):
            pair = draw_ranges(np.random.default_rng([seed, number]), unit, keys, batches=batches)

            def make(names, source, guarantee=guarantee):
                return RangeStream(names, guarantee, window=40, source=source, **options)

            shares.append(replay_ranges(make, pair, guarantee, seed).share)
    return max(shares)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_every_strategy(strategy):
    toeplitz = isinstance(strategy, Toeplitz)
    shares = [
        replayed(unit, seed, pure=not toeplitz, batches=not toeplitz, strategy=strategy)
        for seed, unit in enumerate(UNITS)
    ]
    assert 0.5 < max(shares) <= 1, "a test that finds much less than what is charged would see little"


@pytest.mark.parametrize("method", METHODS)
def test_every_method(method):
    for seed, unit in enumerate(UNITS[:4]):
        assert replayed(unit, seed, pure=method != "toeplitz", batches=False, method=method) <= 1
