"""Shares of noise: what is refused, what is told, and the paths that a random draw hardly ever takes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hubbub.errors import InvalidParameter
from hubbub.noise import DiscreteLaplace, PolyaShare
from hubbub.noise.polya import negative_binomial, root_bounds


@pytest.mark.parametrize("scale", [0, -1, "1/1001", 4097, float("nan")])
def test_scales_that_are_refused(scale):
    with pytest.raises(InvalidParameter, match="scale"):
        PolyaShare(scale, 10)


@pytest.mark.parametrize("parts", [0, -3, 2**40 + 1, 1.5, True])
def test_parts_that_are_refused(parts):
    with pytest.raises(InvalidParameter, match="parts"):
        PolyaShare(1, parts)


@pytest.mark.parametrize("n", [-1, 2**28 + 1, 1.5, True])
def test_draws_that_are_refused(n):
    with pytest.raises(InvalidParameter, match="`n`"):
        PolyaShare(1, 2).sample(n)


def test_what_is_told():
    share = PolyaShare("1/2", 4)
    assert repr(share) == "PolyaShare(scale=1/2, parts=4)"
    assert share.variance * 4 == pytest.approx(DiscreteLaplace("1/2").variance)
    assert share.total.scale == Fraction(1, 2)
    assert share.sample(0).tolist() == []


def test_the_difference_of_two_words(script):
    """Both halves of the bytes: the first are taken off by the second."""
    outcomes = negative_binomial(Fraction(20), 2)
    decided = np.flatnonzero(outcomes.buckets > 0)[[0, -1]]
    low, high = (int(word) for word in decided)
    words = [low, high, high, low]
    source = script(b"".join(word.to_bytes(2, "little") for word in words))
    a, b = outcomes.buckets[low], outcomes.buckets[high]
    assert PolyaShare(20, 2, source).sample(2).tolist() == [a - b, b - a]
    assert source.given == 8


def test_the_far_tail_is_drawn_exactly(script):
    """64 ones and then zeros: the table does not reach so far."""
    source = script(b"\xff\xff\x00\x00" + b"\xff" * 8 + b"\x00" * 8)
    (drawn,) = PolyaShare(1, 1, source).sample(1)
    # U = 1 - 2^-64: outcome k has P(X > k) = exp(-(k+1)) < 2^-64 for the first time at k = 44.
    assert drawn == 44


def test_the_root_of_one_is_one():
    assert root_bounds(1 << 16, 1 << 16, 3, 16) == (1 << 16, 1 << 16)
