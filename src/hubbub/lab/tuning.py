"""The paper's ways to choose the process noise: a grid for U-KF, a genetic algorithm for M-KF.

Kept as reproductions of Fan et al. 2014, section 5.2; `navigation` derives its process noise and needs neither. The
gains of a Kalman filter do not depend on the data, so each candidate's are worked out once and applied to all runs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hubbub.models import NavigationModel

Array = NDArray[np.float64]
POWERS: Array = np.array([10.0**power for power in range(-4, 10)])
"""The paper's search domain: 10^-4, 10^-3, …, 10^9."""


def _noisy(counts: NDArray[np.int64], scale: float, runs: int, rng: np.random.Generator) -> Array:
    """Training counts with Laplace noise, `runs` times. Training data are public: this noise protects nobody."""
    return counts[..., None] + rng.laplace(0.0, scale, (*counts.shape, runs))


def _errors(released: Array, counts: NDArray[np.int64]) -> Array:
    """The average relative error of each key."""
    truth = counts[..., None]
    errors: Array = (np.abs(np.maximum(released, 0.0) - truth) / np.maximum(truth, 1)).mean(axis=(0, 2))
    return errors


def tune_ukf(counts: NDArray[np.int64], scale: float, rng: np.random.Generator, runs: int = 50) -> Array:
    """The best power of ten for each key's process variance, over `runs` noisy copies of public counts."""
    measured = _noisy(counts, scale, runs, rng)
    noise = 2.0 * scale**2
    best = np.full(counts.shape[1], np.inf)
    chosen = np.ones(counts.shape[1])
    for process in POWERS:
        mean, variance = measured[0], noise
        path = [mean]
        for z in measured[1:]:
            variance += process
            gain = variance / (variance + noise)
            mean = mean + gain * (z - mean)
            variance = gain * noise
            path.append(mean)
        error = _errors(np.array(path), counts)
        better = error < best
        best[better], chosen[better] = error[better], process
    return chosen


def tune_mkf(
    counts: NDArray[np.int64],
    model: NavigationModel,
    scale: float,
    rng: np.random.Generator,
    *,
    runs: int = 50,
    population: int = 50,
    generations: int = 20,
) -> Array:
    """The fittest diagonal of Q that a genetic algorithm finds (Fan et al. 2014; after Yan et al. 2008).

    The paper gives population, generations and fitness. Choices of ours: tournaments of three, uniform crossover,
    one mutation a child on average to a neighbouring power, the best two survive.
    """
    size = counts.shape[1]
    measured = _noisy(counts, scale, runs, rng)
    matrix, arrivals = model.matrix.toarray(), model.arrivals[:, None]

    def fitness(genes: NDArray[np.int64]) -> float:
        gains = _gains(matrix, POWERS[genes], 2.0 * scale**2, len(counts))
        mean = measured[0]
        path = [mean]
        for gain, z in zip(gains, measured[1:], strict=True):
            before = matrix @ mean + arrivals
            mean = before + gain @ (z - before)
            path.append(mean)
        return float(_errors(np.array(path), counts).mean())

    people = rng.integers(len(POWERS), size=(population, size))
    scores = np.array([fitness(genes) for genes in people])
    for _ in range(generations):
        order = np.argsort(scores)
        children = [people[order[0]], people[order[1]]]
        while len(children) < population:
            mother, father = (people[min(rng.integers(population, size=3), key=lambda i: scores[i])] for _ in range(2))
            child = np.where(rng.random(size) < 0.5, mother, father)
            mutated = rng.random(size) < 1.0 / size
            child = np.where(mutated, np.clip(child + rng.choice([-1, 1], size), 0, len(POWERS) - 1), child)
            children.append(child)
        people = np.array(children)
        scores = np.array([*np.sort(scores)[:2], *(fitness(genes) for genes in people[2:])])
    best: Array = POWERS[people[int(np.argmin(scores))]]
    return best


def _gains(matrix: Array, process: Array, noise: float, ticks: int) -> list[Array]:
    """K for ticks 1, 2, … (Fan et al. 2014, Alg. 4), until they no longer change."""
    size = len(matrix)
    covariance, gains = noise * np.eye(size), list[Array]()
    for _ in range(1, ticks):
        before = matrix @ covariance @ matrix.T
        before.flat[:: size + 1] += process
        spread = before.copy()
        spread.flat[:: size + 1] += noise
        gain: Array = np.asarray(np.linalg.solve(spread, before).T, dtype=np.float64)
        covariance = before - gain @ before
        gains.append(gain)
        if len(gains) > 1 and np.abs(gain - gains[-2]).max() < 1e-6:
            break
    return gains + [gains[-1]] * (ticks - 1 - len(gains))
