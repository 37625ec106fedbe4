"""Counts that add up: the estimate beside plain weighted least squares."""

from __future__ import annotations

import numpy as np
import pytest

from hubbub.gather.top_down.consistent import consistent

BELOW = {"top": ("a", "b", "c"), "a": ("a1", "a2"), "b": ("b1", "b2", "b3"), "b2": ("x", "y")}
LEAVES = ("a1", "a2", "b1", "x", "y", "b3", "c")


def leaves_of(name: str) -> set[str]:
    return {name} if name in LEAVES else set().union(*(leaves_of(part) for part in BELOW[name]))


def test_it_is_weighted_least_squares():
    """Solved once more as one linear system: every count is a sum of leaves."""
    rng = np.random.default_rng(5)
    names = [part for parts in BELOW.values() for part in parts]
    for _ in range(20):
        counts = {name: (float(rng.normal(50, 20)), float(rng.uniform(0.5, 9))) for name in names}
        design = np.array([[leaf in leaves_of(name) for leaf in LEAVES] for name in names], dtype=float)
        weights = np.diag([1 / counts[name][1] for name in names])
        spread = np.linalg.inv(design.T @ weights @ design)
        leaves = spread @ design.T @ weights @ np.array([counts[name][0] for name in names])
        found = consistent(counts, BELOW, "top")
        assert set(found) == {"top", *names}
        for name, (value, variance) in found.items():
            row = np.array([leaf in leaves_of(name) for leaf in LEAVES], dtype=float)
            assert value == pytest.approx(row @ leaves)
            assert variance == pytest.approx(row @ spread @ row)
        for name, parts in BELOW.items():
            assert found[name][0] == pytest.approx(sum(found[part][0] for part in parts))


def test_a_measured_top_counts_too():
    assert consistent({"t": (9.0, 1.0), "a": (4.0, 1.0), "b": (2.0, 1.0)}, {"t": ("a", "b")}, "t")["t"] == (8.0, 2 / 3)
