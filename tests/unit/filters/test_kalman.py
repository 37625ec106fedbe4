"""Each filter against an oracle that shares nothing with it: the joint covariance of all states and measurements."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from hubbub.errors import InvalidModel
from hubbub.filters import DenseState, Links, ScalarState, dense, diagonal, observe_gaussian, scalar

TICKS, SIZE = 6, 4


def chain(rng):
    matrix = rng.uniform(size=(SIZE, SIZE))
    return 0.9 * matrix / matrix.sum(0)


def oracle(start, spread, matrix, process, drive, noise, measured):
    """E[x(T) | all z] and its covariance, by conditioning one big Gaussian; rows of NaN are missing measurements."""
    size, ticks = len(start), len(measured)
    means, blocks = [start], [[spread]]
    for _ in range(1, ticks):
        means.append(matrix @ means[-1] + drive)
        row = [matrix @ block for block in blocks[-1]]
        row.append(matrix @ blocks[-1][-1] @ matrix.T + process)
        blocks.append(row)
    joint = np.zeros((ticks * size, ticks * size))
    for i in range(ticks):
        for j in range(i + 1):
            block = blocks[i][j]
            joint[i * size : (i + 1) * size, j * size : (j + 1) * size] = block
            joint[j * size : (j + 1) * size, i * size : (i + 1) * size] = block.T
    mean, flat = np.concatenate(means), measured.ravel()
    kept = ~np.isnan(flat)
    total = joint[np.ix_(kept, kept)] + noise * np.eye(kept.sum())
    last = slice((ticks - 1) * size, ticks * size)
    gain = joint[last][:, kept] @ np.linalg.inv(total)
    return mean[last] + gain @ (flat - mean)[kept], joint[last, last] - gain @ joint[last][:, kept].T


@pytest.mark.parametrize("missing", [(), (2,), (0, 5)])
def test_dense_is_the_conditional_gaussian(missing):
    rng = np.random.default_rng(3)
    matrix, drive = chain(rng), rng.uniform(1, 5, SIZE)
    root = rng.normal(size=(SIZE, SIZE))
    process, spread = root @ root.T, 4.0 * np.eye(SIZE)
    measured = rng.normal(10, 5, (TICKS, SIZE))
    measured[list(missing)] = np.nan
    state = DenseState(np.full(SIZE, 8.0), spread)
    for k in range(TICKS):
        if k:
            state = dense.predict(state, matrix, process, drive)
        if k not in missing:
            state = dense.correct(state, measured[k], 9.0)
    mean, covariance = oracle(np.full(SIZE, 8.0), spread, matrix, process, drive, 9.0, measured)
    np.testing.assert_allclose(state.mean, mean, rtol=1e-10)
    np.testing.assert_allclose(state.covariance, covariance, rtol=1e-8, atol=1e-10)


def test_scalar_is_the_conditional_gaussian_of_a_random_walk():
    rng = np.random.default_rng(4)
    measured = rng.normal(10, 5, (TICKS, SIZE))
    state = ScalarState(np.zeros(SIZE), np.full(SIZE, 100.0))
    for k in range(TICKS):
        if k:
            state = scalar.predict(state, 2.0)
        state = scalar.correct(state, measured[k], 9.0)
    eye = np.eye(SIZE)
    mean, covariance = oracle(np.zeros(SIZE), 100.0 * eye, eye, 2.0 * eye, 0.0, 9.0, measured)
    np.testing.assert_allclose(state.mean, mean, rtol=1e-10)
    np.testing.assert_allclose(state.variance, covariance.diagonal(), rtol=1e-10)


def test_diagonal_is_exact_where_keys_do_not_mix():
    rng = np.random.default_rng(5)
    stay = rng.uniform(0.2, 0.9, SIZE)
    measured = rng.normal(10, 5, (TICKS, SIZE))
    links = Links.of(csr_array(np.diag(stay)))
    state = ScalarState(np.full(SIZE, 8.0), np.full(SIZE, 4.0))
    for k in range(TICKS):
        if k:
            state = diagonal.predict(state, links, 2.0, 3.0)
        state = diagonal.correct(state, measured[k], 9.0)
    mean, covariance = oracle(
        np.full(SIZE, 8.0), 4.0 * np.eye(SIZE), np.diag(stay), 2.0 * np.eye(SIZE), 3.0, 9.0, measured
    )
    np.testing.assert_allclose(state.mean, mean, rtol=1e-10)
    np.testing.assert_allclose(state.variance, covariance.diagonal(), rtol=1e-10)


def test_the_process_variance_is_that_of_people_who_move_independently():
    rng = np.random.default_rng(6)
    matrix, people, arrivals = chain(rng), np.array([400, 300, 200, 100]), np.array([20.0, 30.0, 40.0, 50.0])
    draws = np.zeros((20_000, SIZE))
    for j in range(SIZE):
        draws += rng.multinomial(people[j], [*matrix[:, j], 1 - matrix[:, j].sum()], size=len(draws))[:, :SIZE]
    draws += rng.poisson(arrivals, size=draws.shape)
    links = Links.of(csr_array(matrix))
    # A variance estimated from n draws has a relative error of sqrt(2/n) = 1 %; five of those are 5 %.
    np.testing.assert_allclose(diagonal.process_variance(links, people, arrivals), draws.var(0), rtol=0.05)
    full = np.diag(matrix @ people + arrivals) - matrix @ np.diag(people) @ matrix.T
    np.testing.assert_allclose(full, np.cov(draws.T), rtol=0.05, atol=8.0)


def test_observed_gaussians_give_the_dense_filter_itself():
    rng = np.random.default_rng(7)
    root = rng.normal(size=(SIZE, SIZE))
    state = DenseState(rng.normal(size=SIZE), root @ root.T + np.eye(SIZE))
    measured = rng.normal(0, 4, SIZE)
    seen = observe_gaussian(state.mean, state.covariance.diagonal(), measured, 3.0)
    one, other = dense.correct(state, measured, 3.0), dense.correct_observed(state, seen)
    np.testing.assert_allclose(one.mean, other.mean, rtol=1e-9)
    np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-9)


def test_a_covariance_that_is_none_is_refused():
    with pytest.raises(InvalidModel, match="positive definite"):
        dense.correct(DenseState(np.zeros(2), np.array([[1.0, 9.0], [9.0, 1.0]])), np.zeros(2), 1.0)


def test_a_thousand_ticks_keep_the_covariance_positive():
    rng = np.random.default_rng(8)
    matrix = chain(rng)
    state = DenseState(np.zeros(SIZE), 1e12 * np.eye(SIZE))
    for _ in range(1000):
        state = dense.correct(dense.predict(state, matrix, 1e-6 * np.eye(SIZE)), rng.normal(size=SIZE), 1e-3)
    assert np.linalg.eigvalsh(state.covariance).min() > 0
    np.testing.assert_allclose(state.covariance, state.covariance.T, rtol=1e-12)
