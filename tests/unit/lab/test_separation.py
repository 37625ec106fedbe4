"""The separation result at small size: exact expectations, nothing is drawn."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hubbub.itemlogs import ItemLog, Zealous
from hubbub.lab.separation import (
    PAIRS_OF_QUERIES,
    Goal,
    Inaccuracy,
    best_threshold,
    domain_needed,
    inaccuracy,
    nothing,
    pure,
    threshold_for,
    zealous,
)
from hubbub.lab.separation_table import POSSIBLE, cut_to, separation_plot, separation_rows, separation_table
from hubbub.noise import DiscreteLaplace

METHOD = Zealous(1, "0.001", max_items=2, users=1000)
GOAL = Goal.of(METHOD)
COUNTS = np.array([300, 200, GOAL.frequent + 1, GOAL.rare, 1, 1])
"""Three are frequent, two are rare, one is in between."""


def expected(passes_one, domain):
    """Definition 10, item by item."""
    missing = sum(1 - passes_one(int(c)) for c in COUNTS if c > GOAL.frequent)
    wrong = sum(passes_one(int(c)) for c in COUNTS if c < GOAL.rare)
    return missing, wrong + (domain - len(COUNTS)) * passes_one(0)


@pytest.mark.parametrize("threshold", [5, GOAL.frequent, 400])
def test_the_expectation_is_exact(threshold):
    noise = DiscreteLaplace(METHOD.thresholds.scale)
    got = inaccuracy(COUNTS, GOAL, 10_000, pure(METHOD.thresholds.scale, threshold))
    wanted = expected(lambda c: 1 - noise.cdf(threshold - c), 10_000)
    assert (got.missing, got.wrong) == pytest.approx(wanted)
    got = inaccuracy(COUNTS, GOAL, 10_000, zealous(METHOD))
    assert (got.missing, got.wrong) == pytest.approx(expected(lambda c: 1 - METHOD.miss_probability(c), 10_000))
    assert inaccuracy(COUNTS, GOAL, 10_000, nothing) == Inaccuracy(3, 0)


@pytest.mark.parametrize("accuracy", [0.5, 0.01])
def test_without_a_delta_an_empty_list_is_better_and_with_one_it_is_not(accuracy):
    domain = 10**18
    scale = METHOD.thresholds.scale
    threshold = threshold_for(scale, GOAL, accuracy)
    just = np.array([GOAL.frequent + 1])
    assert pure(scale, threshold)(just)[0] >= accuracy > pure(scale, threshold + 1)(just)[0]
    empty = inaccuracy(COUNTS, GOAL, domain, nothing).total
    assert inaccuracy(COUNTS, GOAL, domain, pure(scale, threshold)).total > 1000 * empty
    ours = inaccuracy(COUNTS, GOAL, domain, zealous(METHOD))
    assert ours.wrong == 0
    assert ours.total < 0.2 * empty  # of the three, the one just above tau' may be missing


def test_where_all_possible_items_are_known_and_few_pure_noise_will_do():
    scale = METHOD.thresholds.scale
    found = inaccuracy(COUNTS, GOAL, len(COUNTS), pure(scale, threshold_for(scale, GOAL, 0.5)))
    assert found.total < inaccuracy(COUNTS, GOAL, len(COUNTS), nothing).total


def test_the_best_threshold_afterwards_is_never_worse_than_nothing_but_finds_less():
    scale = METHOD.thresholds.scale
    best = inaccuracy(
        COUNTS, GOAL, PAIRS_OF_QUERIES, pure(scale, best_threshold(scale, COUNTS, GOAL, PAIRS_OF_QUERIES))
    )
    ours = inaccuracy(COUNTS, GOAL, PAIRS_OF_QUERIES, zealous(METHOD))
    assert ours.total < best.total <= 3


def test_theorem_12_holds_where_it_speaks():
    """From its domain on, any pure and c-accurate release is worse than nothing: so is this one."""
    goal = Goal(4, 20)
    needed = domain_needed(users=1000, max_items=2, epsilon=1.0, goal=goal, accuracy=0.5)
    threshold = threshold_for(Fraction(2), goal, 0.5)
    log = np.full(2000 // 21, 21)  # as many frequent items as a thousand users can have
    domain = math.ceil(needed)
    assert (
        inaccuracy(log, goal, domain, pure(Fraction(2), threshold)).total > inaccuracy(log, goal, domain, nothing).total
    )
    assert float(PAIRS_OF_QUERIES) == pytest.approx(5.3e35, rel=0.01)


def test_the_table():
    pairs = [(f"u{u}", f"i{i}") for i in range(3) for u in range(500)] + [(f"u{u}", f"own {u}") for u in range(20)]
    log = ItemLog.of([*pairs, *((f"u{0}", f"more {i}") for i in range(30))])
    assert np.bincount(cut_to(log, 10, seed=1).users.reveal()).max() == 10
    steps = []
    rows = separation_rows("small", log, 1, lambda: steps.append(1), runs=2)
    assert len(steps) == len(POSSIBLE)
    table = separation_table(rows)
    assert len(table.rows) == len(POSSIBLE)
    assert table.rows[-1][1] == "3.0 (3.0)"
    assert "e+" in table.rows[-1][2]
    assert {row["method"]: row["missing"] for row in rows}["adaptive"] == 0
    assert set(separation_plot(rows).points) == {row["method"] for row in rows}
