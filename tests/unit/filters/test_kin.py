"""How large keys are altogether, and what is told of those that the noise hides."""

import numpy as np

from hubbub.filters import kin

ERROR = 20.0


def taught(truth, rounds=150, seed=1):
    rng = np.random.default_rng(seed)
    shares = kin.begin()
    for _ in range(rounds):
        level = truth + rng.normal(0, ERROR, len(truth))
        shares = kin.learn(shares, level, np.full(len(truth), ERROR**2))
    return shares, level


def test_shares_add_up_and_learn_where_the_keys_are():
    shares, _ = taught(np.array([300.0] * 300 + [4.0] * 300))
    assert abs(shares.sum() - 1.0) < 1e-9
    near = (kin.SIZES > 200) & (kin.SIZES < 450)
    assert 0.4 < shares[near].sum() < 0.6
    between = (kin.SIZES > 60) & (kin.SIZES < 200)
    assert shares[between].sum() < 0.05


def test_hidden_keys_are_told_as_their_kind_and_others_as_they_are():
    truth = np.array([3.0] * 500 + [5000.0])
    shares, level = taught(truth)
    values = kin.tell(shares, level, np.full(501, ERROR**2))
    assert np.abs(values[:500] - 3).mean() < 0.25 * np.abs(np.maximum(level[:500], 0) - 3).mean()
    assert values[-1] == level[-1]


def test_what_is_told_does_not_jump():
    shares, _ = taught(np.array([3.0] * 100 + [60.0] * 100))
    levels = np.linspace(-50, 200, 1000)
    values = kin.tell(shares, levels, np.full(len(levels), ERROR**2))
    assert (np.diff(values) > -1e-9).all()
    assert np.diff(values).max() < 8.0  # of an error of 20


def test_many_keys_are_told_as_few_would_be():
    """Beyond a thousand keys a table answers: nearly the same values."""
    shares, _ = taught(np.array([3.0] * 100 + [60.0] * 100))
    rng = np.random.default_rng(2)
    level, variance = rng.normal(30, 40, 5000), rng.uniform(50, 900, 5000)
    many = kin.tell(shares, level, variance)
    few = np.concatenate([kin.tell(shares, level[i : i + 500], variance[i : i + 500]) for i in range(0, 5000, 500)])
    away = np.abs(many - few) / np.sqrt(variance)
    assert away.mean() < 0.02
    assert np.quantile(away, 0.98) < 0.3  # between two kinds the values rise steeply, and a table rounds that off


def test_one_key_and_no_noise_at_all():
    for level, variance in ((0.0, 1e-12), (-1e15, 1.0), (2.0**52, 1e20), (7.0, 1e30)):
        shares = kin.learn(kin.begin(), np.array([level]), np.array([variance]))
        value = kin.tell(shares, np.array([level]), np.array([variance]))
        assert np.isfinite(shares).all()
        assert np.isfinite(value).all()
        assert (shares > 0).all()
