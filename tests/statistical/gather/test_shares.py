"""What one share alone looks like."""

from __future__ import annotations

from random import Random

import numpy as np

from hubbub.gather.prio3 import Prio3Count

DRAWS = 4000
MOST = 340
"""Of 4,000 in one of 16 parts: mean 250, standard deviation 15.3. Above 340 in any of 16 parts, for both values: below
1e-7."""


def busiest(randomness: list[bytes], value: int) -> int:
    """The most shares of the leader that begin alike, in the four highest bits of the measurement's share."""
    count = Prio3Count()
    shares = [count.shard(b"", value, bytes(16), one)[1][0] for one in randomness]
    return int(np.bincount([share[7] >> 4 for share in shares], minlength=16).max())


def test_the_leaders_share_is_spread_as_evenly_for_one_as_for_nothing():
    random = Random(4)
    for value in (0, 1):
        assert busiest([random.randbytes(64) for _ in range(DRAWS)], value) < MOST


def test_control_without_fresh_randomness_it_is_not():
    random = Random(4)
    few = [random.randbytes(64) for _ in range(8)]
    assert busiest([few[at % 8] for at in range(DRAWS)], 1) > MOST


def test_the_helpers_share_does_not_depend_on_what_is_measured():
    randomness = Random(3).randbytes(64)
    first, second = (Prio3Count().shard(b"", value, bytes(16), randomness)[1] for value in (0, 1))
    assert first[1] == second[1]
    assert first[0] != second[0]
