"""Every strategy against its own matrices: L is read off the walk noise by noise, R from the definition."""

from fractions import Fraction

import numpy as np
import pytest

from hubbub.errors import InvalidParameter, SchemaMismatch
from hubbub.ranges import Fenwick, Toeplitz, Tree
from hubbub.ranges.fenwick_walk import FenwickWalk
from hubbub.ranges.segment import strategy_from_dict
from hubbub.ranges.strategy import best_shares
from hubbub.ranges.toeplitz_column import SMALL, ToeplitzColumn
from hubbub.ranges.toeplitz_filter import FEW, ToeplitzFilter
from hubbub.ranges.tree_walk import TreeWalk


class Impulse:
    """Noise that is zero but for one draw."""

    def __init__(self, at=None, size=1):
        self.at, self.size, self.drawn = at, size, 0

    def sample(self, n):
        out = np.zeros(n, dtype=np.int64)
        if self.at is not None and self.drawn <= self.at < self.drawn + n:
            out[self.at - self.drawn] = self.size
        self.drawn += n
        return out


TREES = [
    Fenwick(1),
    Fenwick(3),
    Fenwick(5),
    Tree((4,)),
    Tree((5,), trust=Fraction(3, 4)),
    Tree((2, 3)),
    Tree((3, 2), trust=Fraction(1, 2)),
    Tree((2, 2, 3)),
    Tree((5,), subtracts=True),
    Tree((3, 4), subtracts=True),
    Tree((2, 3, 2), subtracts=True),
]


def node_ranges(strategy, ticks):
    """For each level the half-open spans of its nodes in the order of time."""
    levels = []
    for j, span in enumerate(strategy.spans):
        top = j == (len(strategy.spans) - 1 if isinstance(strategy, Fenwick) else 0)
        starts = range(0, ticks + span, span)
        if isinstance(strategy, Fenwick) and not top:
            starts = range(0, ticks + span, 2 * span)  # left children only
        levels.append([(s, s + span) for s in starts])
    return levels


def walk_of(strategy, noises, keys=1):
    return (FenwickWalk if isinstance(strategy, Fenwick) else TreeWalk)(strategy, noises, keys)


def matrices(strategy, ticks, many=False):
    """L (prefix by node) and R (node by tick), with the level of each node."""
    left, right, level = [], [], []
    d = strategy.denominator
    zeros = np.zeros((ticks, 1), dtype=np.int64)
    for j, spans in enumerate(node_ranges(strategy, ticks)):
        for i, (start, end) in enumerate(spans):
            noises = [Impulse(i if level_ == j else None, d) for level_ in range(len(strategy.spans))]
            walk = walk_of(strategy, noises)
            steps = walk.measure_many(zeros)[:, 0] if many else np.array([walk.measure(z)[0] for z in zeros])
            left.append(np.concatenate([[0], np.cumsum(steps)]) / d)
            right.append([start <= t < end for t in range(ticks)])
            level.append(j)
    return np.array(left).T, np.array(right, dtype=float), np.array(level)


@pytest.mark.parametrize("many", [False, True], ids=["ticks", "batch"])
@pytest.mark.parametrize("strategy", TREES, ids=str)
def test_published_prefixes_are_unbiased_and_a_tick_lies_under_one_node_a_level(strategy, many):
    ticks = 3 * strategy.size  # whole trees, so that every node that weighs in is complete
    left, right, level = matrices(strategy, ticks, many)
    prefixes = np.tril(np.ones((ticks + 1, ticks)), -1)
    assert np.allclose(left @ right, prefixes), "L R = A"
    for j in range(len(strategy.spans)):
        assert right[level == j].sum(axis=0).max() <= 1, "so that the L1 sensitivity is the sum of shares"


@pytest.mark.parametrize("strategy", TREES, ids=str)
def test_the_stated_variance_of_every_range_is_the_squared_weights_of_its_noises(strategy):
    ticks = 3 * strategy.size
    left, _, level = matrices(strategy, ticks)
    for a in range(ticks + 1):
        for b in range(a, ticks + 1):
            squares = (left[b] - left[a]) ** 2
            wanted = [squares[level == j].sum() for j in range(len(strategy.spans))]
            assert strategy.uses(a, b) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("strategy", TREES, ids=str)
def test_means_over_places_and_single_steps_agree_with_single_ranges(strategy):
    n = strategy.size
    lengths = np.array([1, 2, 3, n, n + 1, 2 * n + 1])
    wanted = [np.mean([strategy.uses(a, a + length) for a in range(n)], axis=0) for length in lengths.tolist()]
    assert strategy.mean_uses(lengths) == pytest.approx(np.array(wanted))
    steps = [strategy.uses(p, p + 1) for p in range(2, 2 * n + 2)]
    assert strategy.step_uses(2, 2 * n) == pytest.approx(np.array(steps))


def test_a_large_trees_mean_is_taken_over_a_sample_of_places():
    tree = Tree((32, 32))
    lengths = np.array([1, 10, 100, 1000, 3000])
    exact = [np.mean([tree.uses(a, a + length) for a in range(1024)], axis=0) for length in lengths.tolist()]
    assert tree.mean_uses(lengths).sum(axis=1) == pytest.approx(np.sum(exact, axis=1), rel=0.01)


@pytest.mark.parametrize("strategy", TREES, ids=str)
@pytest.mark.parametrize("most", [1, 2, 4])
def test_square_weights_bound_every_placement_of_a_units_ticks(strategy, most):
    from itertools import combinations

    ticks = min(2 * strategy.size, 14)
    weights = strategy.square_weights(most)
    for j, spans in enumerate(node_ranges(strategy, ticks)):
        for k in range(1, most + 1):
            for placed in combinations(range(ticks), k):
                square = sum(sum(s <= t < e for t in placed) ** 2 for s, e in spans)
                assert square <= k * weights[j] + 1e-9


def test_the_state_stays_small():
    for strategy, most in ((Fenwick(16), 64 + 16), (Tree((32, 32, 32)), 3 * 64 + 1), (Tree((13,) * 4, True), 4 * 64)):
        walk = walk_of(strategy, [Impulse() for _ in strategy.spans])
        sizes = set()
        for _ in range(5000):
            walk.measure(np.zeros(1, dtype=np.int64))
            sizes.add(walk.memory())
        assert max(sizes) <= most


# ── Toeplitz ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def dense(strategy):
    n = strategy.size
    r = strategy.coefficients
    lag = np.subtract.outer(np.arange(n), np.arange(n))
    right = np.where(lag >= 0, r[np.maximum(lag, 0)], 0.0)
    left = np.linalg.solve(right.T, np.tril(np.ones((n, n))).T).T
    return left, right


@pytest.mark.parametrize("size", [16, 100, 512])
def test_toeplitz_variances_are_those_of_its_matrices(size):
    strategy = Toeplitz(size)
    left, right = dense(strategy)
    assert np.allclose(left @ right, np.tril(np.ones((size, size))))
    left = np.vstack([np.zeros(size), left])
    for a, b in [(0, 1), (0, size), (1, 2), (size // 2, size), (3, size - 1), (7, 8), (5, 5)]:
        assert strategy.uses(a, b) == pytest.approx([((left[b] - left[a]) ** 2).sum()], rel=1e-7, abs=1e-12)
    crossing = ((left[size] - left[3]) ** 2).sum() + (left[size] ** 2).sum() + (left[4] ** 2).sum()
    assert strategy.uses(3, 2 * size + 4) == pytest.approx([crossing], rel=1e-7)
    assert strategy.step_uses(2, 3)[:, 0] == pytest.approx([strategy.uses(p, p + 1)[0] for p in (2, 3, 4)])


@pytest.mark.parametrize("keys", [2, FEW + 1], ids=["in plain numbers", "as arrays"])
@pytest.mark.parametrize("count", [7, SMALL + 1], ids=["small", "large"])
def test_toeplitz_filter_publishes_its_matrix_times_the_noise(keys, count):
    strategy = Toeplitz(64)
    left, _ = dense(strategy)
    unit = 1 << strategy.fraction_bits
    for at in (0, 5, 63):
        # Impulse counts draws of all keys: this one is key 0 of tick `at`.
        walk = ToeplitzFilter(strategy, [Impulse(keys * at, 1000 * unit)], keys)
        counts = np.full((64, keys), count, dtype=np.int64)
        steps = np.vstack([walk.measure(counts[0]), walk.measure_many(counts[1:7]), walk.measure_many(counts[7:])])
        errors = np.cumsum(steps - counts, axis=0)
        assert errors[:, 0] == pytest.approx(1000 * left[:, at], abs=0.51)
        assert errors[:, 1:] == pytest.approx(0, abs=0.51)
        assert walk.memory() < 100
    assert walk.measure_many(counts[:0]).shape == (0, keys)


def test_plain_numbers_and_arrays_weigh_alike_to_the_unit():
    """Counts small at first, so that floats are used, then large, so that they no longer are."""
    rng = np.random.default_rng(8)
    strategy = Toeplitz(2**14)
    counts = np.concatenate([rng.integers(0, SMALL + 1, 3000), rng.integers(0, 2**24, 3000), np.full(50, 3)])
    column, arrays = ToeplitzColumn(strategy), ToeplitzFilter(strategy, [Impulse()], FEW + 1)
    for count in counts.tolist():
        row = arrays._weigh(np.full(FEW + 1, count))
        # Terms are added up in another order: a last digit of a float, which may be a unit or a few after rounding.
        assert abs(column.weigh(count) - int(row[0])) <= 2.0**-50 * int(row[0])
        assert list(map(int, column._sums)) == arrays._sums[1:, 0].tolist()


def test_every_noise_is_used_once_in_its_turn():
    class Counter:
        def __init__(self):
            self.drawn = 0

        def sample(self, n):
            self.drawn += n
            return np.arange(self.drawn - n, self.drawn) * 2**20

    zeros = np.zeros((200, 1), dtype=np.int64)
    one, other = (ToeplitzFilter(Toeplitz(256), [Counter()], 1) for _ in range(2))
    steps = np.vstack(
        [other.measure_many(zeros[:5]), [other.measure(z) for z in zeros[:70]], other.measure_many(zeros[75:])]
    )
    assert one.measure_many(zeros).tolist() == steps.tolist()


@pytest.mark.parametrize(("size", "best"), [(1024, 10.7), (16384, 17.3)])
def test_toeplitz_is_near_the_constants_of_the_square_root(size, best):
    strategy = Toeplitz(size)
    assert strategy.square_weights(1)[0] * strategy.uses(0, size)[0] <= 1.1 * best


@pytest.mark.parametrize("most", [1, 3, 20])
def test_toeplitz_sensitivity_holds_for_counts_as_they_are_rounded(most):
    rng = np.random.default_rng(5)
    strategy = Toeplitz(256)
    bound = strategy.square_weights(most)[0]
    worst = 0.0
    for trial in range(20):
        counts = rng.integers(0, 2**24 - 1, size=(256, 1))
        placed = np.arange(most) if trial == 0 else rng.choice(256, most, replace=False)
        other = counts.copy()
        other[placed] += 1
        one, two = (ToeplitzFilter(strategy, [Impulse()], 1) for _ in range(2))
        change = [(one._weigh(x) - two._weigh(y))[0] for x, y in zip(counts, other, strict=True)]
        plain, like = ToeplitzColumn(strategy), ToeplitzColumn(strategy)
        moved = [
            plain.weigh(x) - like.weigh(y) for x, y in zip(counts[:, 0].tolist(), other[:, 0].tolist(), strict=True)
        ]
        assert float(np.sum((np.array(moved) / 2.0**strategy.fraction_bits) ** 2)) / most <= bound
        worst = max(worst, float(np.sum((np.array(change) / 2.0**strategy.fraction_bits) ** 2)) / most)
    assert 0.9 * bound < worst <= bound


# ── shares, and what is refused ──────────────────────────────────────────────────────────────────────────────────────


def test_best_shares_are_best():
    weights = np.array([8.0, 1.0, 0.001])
    for pure, power in ((True, 2), (False, 1)):
        shares = np.array([float(s) for s in best_shares(weights, pure=pure)])
        assert shares.sum() == 1
        best = (weights / shares**power).sum()
        rng = np.random.default_rng(1)
        for other in rng.dirichlet([1, 1, 1], 2000):
            assert (weights / other**power).sum() >= 0.97 * best
    assert sum(best_shares(np.zeros(3), pure=True)) == 1
    assert sum(best_shares(np.ones(100), pure=True)) == 1


@pytest.mark.parametrize(
    "strategy", [*TREES, Toeplitz(64), Tree((4,), shares=(Fraction(1, 4), Fraction(3, 4)))], ids=str
)
def test_a_strategy_survives_its_plain_form(strategy):
    assert strategy_from_dict(strategy.to_dict()) == strategy
    assert str(strategy) == strategy.title


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Fenwick(0),
        lambda: Fenwick(41),
        lambda: Fenwick(2, (Fraction(1, 2), Fraction(2, 3))),
        lambda: Fenwick(2, (Fraction(1),)),
        lambda: Fenwick(2, (Fraction(1), Fraction(0))),
        lambda: Tree(()),
        lambda: Tree((1,)),
        lambda: Tree((65,)),
        lambda: Tree((64,) * 6),
        lambda: Tree((4,), trust=Fraction(0)),
        lambda: Tree((4,), trust=Fraction(1, 2), subtracts=True),
        lambda: Tree((4,), trust=Fraction(1, 1000)),
        lambda: Toeplitz(4),
        lambda: Toeplitz(2**21),
        lambda: Toeplitz(64, (Fraction(1, 2),)),
    ],
)
def test_strategies_that_cannot_be_are_refused(wrong):
    with pytest.raises(InvalidParameter):
        wrong()


def test_an_unknown_strategy_is_refused():
    with pytest.raises(SchemaMismatch, match="magic"):
        strategy_from_dict({"kind": "magic"})
