"""The whole of `Adaptive`, replayed: neighbours that saw the same noisy values in the first round.

Noise is chosen so that both see them; what the second round and the counts then add noise to may differ by no more than
one user is allowed, in every small log.
"""

import itertools

import numpy as np
import pytest

from hubbub.itemlogs import Adaptive, ItemLog
from hubbub.itemlogs import rounds as module
from hubbub.itemlogs.thresholds import UNIT
from hubbub.noise import simulation

ITEMS, LIMIT = 3, 2
EDGES = list(itertools.product(range(3), range(ITEMS)))


class Given:
    """Noise that makes of whatever was weighed the values that are wanted, and remembers what that was."""

    def __init__(self, noise, wanted, weighed):
        self.variance_parameter, self.variance, self.quantile = noise.variance_parameter, noise.variance, noise.quantile
        self._wanted, self._weighed = wanted, weighed

    def sample(self, n):
        return self._wanted[:n] - self._weighed[-1][:n]


def run(pairs, first, second, monkeypatch):
    """What was weighed in both rounds, and what was listed, when noisy weights come out as given."""
    weighed = []

    def watched(*arguments):
        weighed.append(weigh(*arguments))
        return weighed[-1]

    weigh = module.weigh
    with monkeypatch.context() as patch, simulation(4) as source:
        patch.setattr(module, "weigh", watched)
        method = Adaptive(1, "1e-6", LIMIT, count_share=0, source=source)
        method._noises = [
            Given(noise, one, weighed) for noise, one in zip(method._noises, (first, second), strict=True)
        ]
        log = ItemLog.from_codes(
            np.array([user for user, _ in pairs], dtype=np.uint32),
            np.array([item for _, item in pairs], dtype=np.uint32),
            [str(item) for item in range(ITEMS)],
        )
        listed = set(method.publish(log))
    return weighed, listed


@pytest.mark.parametrize("first", [(0, 0, 0), (1, 20, 200), (200, 20, 20), (15, 14, -14)])
def test_every_small_log(first, monkeypatch):
    values = np.array(first) * UNIT
    after, seen = np.array([200, 200, 0]) * UNIT, 0
    for chosen in itertools.product((False, True), repeat=len(EDGES)):
        pairs = [edge for edge, has in zip(EDGES, chosen, strict=True) if has]
        other = [pair for pair in pairs if pair[0] != 0]
        (with_one, with_two), listed = run(pairs, values, after, monkeypatch)
        (without_one, without_two), other_listed = run(other, values, after, monkeypatch)
        first_alone, second_alone = (
            np.flatnonzero((theirs == 0) & (mine > 0)).tolist()
            for mine, theirs in ((with_one, without_one), (with_two, without_two))
        )
        if any(first[item] > 100 for item in first_alone):
            continue  # published for one user alone: that is within delta, and nothing is promised of the rest
        for mine, theirs in ((with_one, without_one), (with_two, without_two)):
            assert int(np.sum((mine - theirs).astype(object) ** 2)) <= UNIT**2
        assert {item for item in listed if int(item) not in second_alone} == other_listed
        seen += bool(other_listed)
    assert seen > 50, "hardly anything was ever listed: nothing would be found"
