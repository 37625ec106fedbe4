"""An audit that knows the mechanism: the likelihood ratio of everything a range stream publishes, put to the test.

`hubbub audit` learns its scores from samples and finds about half of a tree's epsilon. Here the score is the logarithm
of P[published | unit present] / P[published | absent] itself, from the mechanism as it is documented; by Neyman and
Pearson no other score is better. Keys are independent copies, so one stream of 100,000 keys is as many runs.

Error rate: each audit has a confidence of 1 - 1e-8, so an honest mechanism is refused with a chance of at most 1e-8;
fewer than forty stay below 1e-6. That the likelihood is right is checked as well: the mean of the ratio under "absent"
is 1, and its standard error at most sqrt((e^epsilon - 1)/N); six of them are a chance of 1e-8 (the ratio is bounded by
e^epsilon, so the mean is as good as normal). Controls: noise at 70 %, noise for one level less than there are, and
noise used for two trees must be found out.
"""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from hubbub.confidential import Confidential, Counts
from hubbub.noise import simulation
from hubbub.privacy import Event, Guarantee, Session
from hubbub.privacy.audit.bounds import at_least, at_most, epsilon_between, rho_between
from hubbub.privacy.audit.events import choose
from hubbub.privacy.audit.features import Table
from hubbub.privacy.audit.scores import Score
from hubbub.ranges import Fenwick, RangeStream, Toeplitz, Tree
from hubbub.released import Keys, Tick

ERROR = 1e-8 / 2
COPIES = 100_000
KEYS = Keys([f"copy {i}" for i in range(COPIES)])
BASE = 5
FARTHEST = 512


# ── running ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def errors(strategy, guarantee, placed, ticks, rounds, tamper=None):
    """Published prefixes less the true ones without the unit: a column a run; without the unit, and with it."""
    both = []
    with simulation(20260106) as source:
        for change in (0, 1):
            parts = []
            for number in range(rounds):
                stream = RangeStream(
                    KEYS, guarantee, window=max(ticks, strategy.size), strategy=strategy, source=source
                )
                if tamper:
                    tamper(stream)
                counts = np.full((ticks, COPIES), BASE)
                counts[list(placed)] += change
                if number % 2:  # as a batch, or tick by tick as they come
                    released = stream.release_many(Confidential(counts))
                else:
                    each = (Counts.of(KEYS, Tick(t), row) for t, row in enumerate(counts))
                    released = np.array([stream.release(one).measurements for one in each])
                parts.append(np.cumsum(released - BASE, axis=0))
            both.append(np.hstack(parts))
    return both


def bound(columns_without, columns_with, divergence):
    """Half of the runs choose a score and an event, the other half measure it."""
    one, two = (np.stack(columns, axis=1) for columns in (columns_with, columns_without))
    names = tuple(map(str, range(one.shape[1])))
    runs = len(one) // 2
    tables = [Table(names, columns, np.ones(len(names), dtype=bool)) for columns in (one, two)]
    scores = [Score(name, partial(lambda j, rows: rows[:, j], j)) for j, name in enumerate(names)]
    event = choose(scores, *tables, slice(0, runs), runs, ERROR, divergence)
    if event is None:
        return 0.0
    hits, others = (event.hits(table.rows(slice(runs, 2 * runs))) for table in tables)
    if not event.likelier_on_first:
        hits, others = others, hits
    return float(divergence(at_least(hits, runs, ERROR), at_most(others, runs, ERROR)))


pure = partial(epsilon_between, delta=0.0)


# ── likelihoods ──────────────────────────────────────────────────────────────────────────────────────────────────────


def laplace(scale):
    values = np.exp(-np.abs(np.arange(-FARTHEST, FARTHEST + 1)) / float(scale))
    return (values / values.sum()).astype(np.float32)


def at(table, values):
    return table.take(values + FARTHEST, mode="clip")


def together(table, steps, shifts):
    """The product of the chances of `steps` less `shifts`."""
    chance = at(table, steps[0] - shifts[0])
    for step, shift in zip(steps[1:], shifts[1:], strict=True):
        chance = chance * at(table, step - shift)
    return chance


def of_fenwick(strategy, scales, prefixes, unit):
    """Every noisy node can be read off the prefixes, so the ratio is that of its nodes."""
    path = np.vstack([np.zeros((1, prefixes.shape[1]), dtype=np.int64), prefixes])
    total = 0.0
    for end in range(1, len(path)):
        level = min((end & -end).bit_length() - 1, strategy.height - 1)
        start = end - (1 << level)
        change = sum(start <= t < end for t in unit)
        if change:
            node = path[end] - path[start]
            total = total + (np.abs(node) - np.abs(node - change)) / float(scales[level])
    return total


def of_tree(strategy, scales, prefixes, unit):
    """Least squares, trust 1, one or two levels below the top: what is hidden is summed over.

    With own noises z and G = E - sum of z the prefix after i children is z(1) + ... + z(i) + i G/k, rounded; z is whole
    and each G gives every z. Below, the same again for the child that holds the unit; of G only its rest by k matters.
    """
    total = 0.0
    for start in range(0, len(prefixes), strategy.size):
        mine = [t - start for t in unit if start <= t < start + strategy.size]
        if mine:
            path = prefixes[start : start + strategy.size] - (prefixes[start - 1] if start else 0)
            shift = np.cumsum(np.isin(np.arange(strategy.size), mine))[:, None]
            total = total + np.log(_tree(strategy, scales, path - shift, mine[0]))
            total = total - np.log(_tree(strategy, scales, path, mine[0]))
    return total


def _tree(strategy, scales, path, tick):
    k, span = strategy.arity[0], strategy.size // strategy.arity[0]
    spread = [2 * float(scale) ** 2 for scale in scales]
    ends = np.vstack([np.zeros((1, path.shape[1]), dtype=np.int64), path[span - 1 :: span]])
    steps = np.diff(ends, axis=0)
    inner = [1.0] * k
    if len(strategy.arity) == 2:
        m, child = strategy.arity[1], tick // span
        below = np.diff(np.vstack([ends[child][None], path[child * span : (child + 1) * span]]), axis=0)
        reach = int(6 * np.sqrt(spread[0] / k + spread[1] + m * spread[2]))
        table = laplace(scales[2])
        for g in range(k):  # where the child begins, in fractions: child g/k; its gap is a whole number and g/k
            points = ([_near(child * g * m + i * (gap * k + g), k * m) for i in range(m + 1)]
                      for gap in range(-reach, reach + 1))  # fmt: skip
            inner[g] = sum(together(table, below, np.diff(row)) for row in points)
    reach = int(6 * np.sqrt(spread[0] + k * spread[1]))
    table = laplace(scales[1])
    found = 0.0
    for gap in range(-reach, reach + 1):
        shifts = np.diff([_near(i * gap, k) for i in range(k + 1)])
        found = found + together(table, steps, shifts) * inner[gap % k]
    return found * at(laplace(scales[0]), path[-1])


def _near(above, below):
    """The whole number nearest to a fraction, halves up: as prefixes are rounded."""
    return (2 * above + below) // (2 * below)


def of_halves(strategy, scales, prefixes, unit):
    """Subtraction, k children: the first k // 2 and the last ones are read off; the middle one is summed over."""
    total = 0.0
    k = strategy.size
    for start in range(0, len(prefixes), k):
        mine = [t - start for t in unit if start <= t < start + k]
        if mine:
            path = prefixes[start : start + k] - (prefixes[start - 1] if start else 0)
            assert k // 2 not in mine
            change = len(mine)
            total = total + (np.abs(path[-1]) - np.abs(path[-1] - change)) / float(scales[0])
            steps = np.diff(path, axis=0, prepend=0)
            for t in mine:
                total = total + (np.abs(steps[t]) - np.abs(steps[t] - 1)) / float(scales[1])
    return total


CASES = [
    # strategy, the unit's ticks (where it lies under a node of each level), likelihood, rounds, least share of epsilon
    (Fenwick(1), (0,), of_fenwick, 2, 0.9),
    (Fenwick(3), (0,), of_fenwick, 2, 0.85),
    (Tree((8,)), (3,), of_tree, 3, 0.85),
    (Tree((4, 4)), (5,), of_tree, 8, 0.8),
    (Tree((5,), subtracts=True), (0,), of_halves, 2, 0.85),
    (Fenwick(1), (0, 1), of_fenwick, 2, 0.85),
    (Fenwick(2), (0, 2), of_fenwick, 3, 0.8),
    (Tree((8,)), (0, 1), of_tree, 5, 0.8),
    (Tree((5,), subtracts=True), (0, 1), of_halves, 2, 0.85),
]


def names(value):
    return value.title if hasattr(value, "title") else getattr(value, "__name__", str(value))


def prepared(strategy, guarantee, ticks):
    stream = RangeStream(Keys(["one"]), guarantee, window=max(ticks, strategy.size), strategy=strategy)
    return stream._calibration.parameters(strategy)


def unit_of(placed):
    return Event() if len(placed) == 1 else Session(max_ticks=len(placed))


@pytest.mark.parametrize(("strategy", "placed", "likelihood", "rounds", "least"), CASES, ids=names)
def test_the_bound_comes_near_epsilon_and_not_above(strategy, placed, likelihood, rounds, least):
    guarantee = Guarantee.pure(unit_of(placed), 1)
    ticks = (max(placed) // strategy.size + 1) * strategy.size
    without, present = errors(strategy, guarantee, placed, ticks, rounds)
    scales = prepared(strategy, guarantee, ticks)
    ratio_without, ratio_with = (likelihood(strategy, scales, paths, placed) for paths in (without, present))
    assert np.abs(ratio_with).max() <= 1 + 1e-4  # epsilon itself, to the digits of these sums
    assert np.exp(ratio_without).mean() == pytest.approx(1, abs=6 * np.sqrt((np.e - 1) / without.shape[1]))
    assert least <= bound([ratio_without], [ratio_with], pure) <= 1


# ── controls ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def scaled(by):
    def tamper(stream):
        honest = stream._calibration.parameters
        stream._calibration.parameters = lambda strategy: [p * by for p in honest(strategy)]
        stream._calibration._prepared.clear()

    return tamper


def one_level_less(stream):
    levels = len(stream._chooser.choose(stream.history).shares)
    scaled(Fraction(levels - 1, levels))(stream)


def reused(stream):
    """Every draw of a size gives the same noises again: the second tree has those of the first."""
    strategy = stream._chooser.choose(stream.history)
    found = stream._calibration.prepare(strategy)

    class Again:
        def __init__(self, noise):
            self.noise, self.drawn = noise, {}

        def sample(self, n):
            if n not in self.drawn:
                self.drawn[n] = self.noise.sample(n)
            return self.drawn[n].copy()

    object.__setattr__(found, "noises", tuple(Again(noise) for noise in found.noises))


@pytest.mark.parametrize("tamper", [scaled(Fraction(7, 10)), one_level_less], ids=["70 percent", "one level less"])
@pytest.mark.parametrize(
    ("strategy", "placed", "likelihood"),
    [(Fenwick(3), (0,), of_fenwick), (Tree((8,)), (3,), of_tree), (Tree((8,)), (0, 1), of_tree)],
    ids=names,
)
def test_control_too_little_noise_is_found_out(strategy, placed, likelihood, tamper):
    guarantee = Guarantee.pure(unit_of(placed), 1)
    without, present = errors(strategy, guarantee, placed, strategy.size, 2, tamper)
    scales = prepared(strategy, guarantee, strategy.size)
    assert bound(*([likelihood(strategy, scales, paths, placed)] for paths in (without, present)), pure) > 1


@pytest.mark.parametrize("strategy", [Fenwick(3), Tree((8,)), Tree((5,), subtracts=True)], ids=names)
def test_control_noise_used_for_two_trees_is_found_out(strategy):
    size = strategy.size
    if isinstance(strategy, Fenwick):
        size = 64  # noise is made for so many ticks at once

    def scores(paths):
        steps = np.diff(paths, axis=0, prepend=0)
        return [(steps[t] - steps[t + size]).astype(np.float64) for t in range(size)][:3]

    honest, cheating = (
        bound(*map(scores, errors(strategy, Guarantee.pure(Event(), 1), (1,), 2 * size, 1, tamper)), pure)
        for tamper in (None, reused)
    )
    assert honest <= 1 < cheating


# ── zCDP ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def weighing(strategy, guarantee, placed, ticks):
    """The best linear score A d' (L D L^t)^-1, and the rho that what is published has for real-valued noise."""
    stream = RangeStream(Keys(["one"]), guarantee, window=max(ticks, strategy.size), strategy=strategy)
    levels = stream._calibration.prepare(strategy).variances
    # The covariance of two prefixes from the variances of ranges: 2 cov = V(a) + V(b) - V(b - a).
    table = np.array(
        [[strategy.variance(min(a, b), max(a, b), levels) for b in range(ticks + 1)] for a in range(ticks + 1)]
    )
    covariance = (table[0, 1:, None] + table[0, None, 1:] - table[1:, 1:]) / 2
    change = np.cumsum(np.isin(np.arange(ticks), placed)).astype(np.float64)
    weights = np.linalg.solve(covariance, change)
    return weights, float(change @ weights) / 2


@pytest.mark.parametrize(
    ("strategy", "placed"),
    [(Fenwick(3), (0,)), (Tree((8,)), (3,)), (Tree((4, 4)), (5,)), (Toeplitz(16), (0,)), (Tree((8,)), (0, 1))],
    ids=names,
)
def test_under_zcdp_the_bound_comes_near_what_is_published(strategy, placed):
    """One event of a Gaussian shows about two thirds of its rho, whatever the score: the divergence of a yes or no.

    A tree with least squares publishes fewer numbers than it has noises, so it gives away less than it is charged for.
    """
    guarantee = Guarantee.zcdp(unit_of(placed), "1/2")
    ticks = strategy.size
    weights, exact = weighing(strategy, guarantee, placed, ticks)
    assert exact <= 0.5
    without, present = errors(strategy, guarantee, placed, ticks, 2)
    assert 0.55 * exact <= bound([weights @ without], [weights @ present], rho_between) <= 0.5


@pytest.mark.parametrize("strategy", [Fenwick(3), Toeplitz(16)], ids=names)
def test_control_gaussian_noise_at_70_percent_is_found_out(strategy):
    guarantee = Guarantee.zcdp(Event(), "1/2")
    weights, _ = weighing(strategy, guarantee, (0,), strategy.size)
    by = Fraction(1, 2)  # the parameter is the variance: 70 % of the scale
    tamper = scaled(by)
    without, present = errors(strategy, guarantee, (0,), strategy.size, 2, tamper)
    assert bound([weights @ without], [weights @ present], rho_between) > 0.5
