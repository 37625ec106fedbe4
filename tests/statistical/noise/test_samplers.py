"""Do the draws have the distribution they claim?

Error rate: every check rejects a right sampler with a nominal probability of ALPHA = 1e-10. Chi-squared and z-tests are
approximations so far out; with at least 500 expected draws a bin the true probability is below ten times as much. The
files of this folder make fewer than 600 such checks, so all together fail by chance with a probability below 6e-7.

Sample sizes come from the controls. Shifting log(scale) by d moves a chi-squared statistic by about n d^2 (Laplace) or
2 n d^2 (Gaussian). With d = 0.05 and n = 10^6 that is at least 2500, where 150 is enough to reject with up to 50 bins:
a control passes by chance with a probability below 1e-9 too. At a scale of 1/8 the information is smaller, and n is
larger; see `SIZES`.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from tests.support.slow_samplers import bernoulli_exp_series, slow_gaussian, slow_laplace

from hubbub.noise import DiscreteGaussian, DiscreteLaplace, SystemSource, bernoulli_exp
from hubbub.noise.staircase import CHUNK
from hubbub.noise.system import DEFAULT

ALPHA = 1e-10
CRITICAL = stats.norm.isf(ALPHA / 2)

SCALES = [Fraction(1, 8), Fraction(1, 3), Fraction(1), Fraction(20), Fraction(127, 2), Fraction(65), Fraction(2000),
          Fraction(10**6), Fraction(2**40)]  # fmt: skip
SIZES = {Fraction(1, 8): 6_000_000, Fraction(1, 3): 3_000_000}
KINDS = ["laplace", "gaussian"]


def make(kind, scale, source=None):
    return DiscreteLaplace(scale, source) if kind == "laplace" else DiscreteGaussian(scale**2, source)


def draw(kind, scale, n=None):
    return make(kind, scale).sample(n or SIZES.get(scale, 1_000_000))


def cases():
    # At sigma = 1/8 a Gaussian draw is 0 but for one in 10^13: no sample could tell anything.
    return [(kind, scale) for kind in KINDS for scale in SCALES if (kind, scale) != ("gaussian", Fraction(1, 8))]


each_case = pytest.mark.parametrize(("kind", "scale"), cases())


# ── the checks: each returns whether the sample passes ───────────────────────────────────────────────────────────────


def fits(draws, noise):
    """Chi-squared against exact probabilities, in some 50 bins of which each expects at least 500 draws."""
    shares = np.linspace(0, 1, 51)[1:-1]
    edges = sorted({noise.quantile(share) for share in shares} | {noise.quantile(s) for s in (0.001, 0.999)})
    below = np.array([0.0, *(noise.cdf(edge) for edge in edges), 1.0])
    counts = np.bincount(np.searchsorted(edges, draws), minlength=len(edges) + 1)
    return chi_squared_passes(counts, np.diff(below) * len(draws))


def chi_squared_passes(counts, expected):
    keep = expected >= 500
    if not np.all(keep):
        counts = np.append(counts[keep], counts[~keep].sum())
        expected = np.append(expected[keep], expected[~keep].sum())
        if expected[-1] < 500 and len(expected) > 1:
            counts = np.append(counts[:-2], counts[-2:].sum())
            expected = np.append(expected[:-2], expected[-2:].sum())
    if len(counts) < 2:
        return True
    statistic = np.sum((counts - expected) ** 2 / expected)
    return stats.chi2.sf(statistic, len(counts) - 1) > ALPHA


def share_passes(hits, n, share):
    return stats.binomtest(int(hits), int(n), share).pvalue > ALPHA


def is_symmetric(draws):
    moved = draws[draws != 0]
    return share_passes(np.sum(moved > 0), len(moved), 0.5)


def has_the_tails(draws, noise):
    """How many draws lie at or beyond far quantiles, on each side."""
    n = len(draws)
    for share in (1e-2, 1e-3, 1e-4):
        k = noise.quantile(share)
        if k == 0:
            k = -1
        for side in (draws, -draws):
            if not share_passes(np.sum(side <= k), n, noise.cdf(k)):
                return False
    return True


def has_log_shape(draws, width, log_density):
    """Log counts less the log of the stated density are flat: neither |k| nor k^2 explains anything of what is left.

    Bins are `width` wide, counted from 0 upward and from -1 downward; `log_density` takes a bin's middle.
    """
    for side, offset in ((draws[draws >= 0], 0), (-1 - draws[draws < 0], 1)):
        counts = np.bincount(np.minimum(side // width, 10_000))
        counts = counts[: np.argmax(counts < 1000)] if np.any(counts < 1000) else counts
        k = np.arange(len(counts), dtype=float)
        left = np.log(counts) + 0.5 / counts - log_density(k * width + (width - 1) / 2 + offset)
        for power in (1, 2):
            rows = np.stack([np.ones_like(k), k**power], axis=1)
            covariance = np.linalg.inv(rows.T @ (counts[:, None] * rows))
            slope = (covariance @ (rows.T @ (counts * left)))[1]
            if abs(slope) > CRITICAL * math.sqrt(covariance[1, 1]):
                return False
    return True


def is_independent(draws, noise, lag=1):
    """Chi-squared of pairs (x_i, x_(i+lag)) that do not overlap, in a grid of quantiles."""
    edges = sorted({noise.quantile(share) for share in np.linspace(0, 1, 9)[1:-1]})
    shares = np.diff([0.0, *(noise.cdf(edge) for edge in edges), 1.0])
    bins = np.searchsorted(edges, draws)
    blocks = bins[: len(bins) // (2 * lag) * 2 * lag].reshape(-1, 2, lag)
    pairs = (blocks[:, 0] * len(shares) + blocks[:, 1]).ravel()
    counts = np.bincount(pairs, minlength=len(shares) ** 2)
    return chi_squared_passes(counts, np.outer(shares, shares).ravel() * len(pairs))


def low_bits_are_fair(draws, scale):
    """Digits far below the scale are 0 or 1 equally often, up to 2^i / scale^2, and so are neighbours' sums."""
    for bit in range(int(math.log2(scale)) - 2):
        digits = (draws >> bit) & 1
        if not share_passes(np.sum(digits), len(draws), 0.5):
            return False
        if not share_passes(np.sum(digits[0::2] ^ digits[1::2]), len(draws) // 2, 0.5):
            return False
    return True


def never_repeats(draws):
    """No two neighbours occur together again; meant for scales so large that this has no chance."""
    pairs = np.stack([draws[:-1], draws[1:]], axis=1)
    return len(np.unique(pairs, axis=0)) == len(pairs)


# ── the samplers pass them, the controls do not ──────────────────────────────────────────────────────────────────────


@each_case
def test_goodness_of_fit_symmetry_and_tails(kind, scale):
    noise, draws = make(kind, scale), draw(kind, scale)
    assert fits(draws, noise)
    assert is_symmetric(draws)
    assert has_the_tails(draws, noise)


@each_case
@pytest.mark.parametrize("factor", [Fraction(95, 100), Fraction(105, 100)])
def test_control_a_scale_off_by_five_percent_is_found(kind, scale, factor):
    noise = make(kind, scale)
    if scale * factor > 2**40:
        scale, noise = scale / 2, make(kind, scale / 2)
    wrong = make(kind, scale * factor).sample(SIZES.get(scale, 1_000_000))
    assert not fits(wrong, noise) or not has_the_tails(wrong, noise)


@each_case
def test_control_a_one_sided_sampler_is_found(kind, scale):
    draws = draw(kind, scale)
    assert not is_symmetric(np.where(np.arange(len(draws)) % 4 == 0, np.abs(draws), draws))


@pytest.mark.parametrize("kind", KINDS)
def test_at_the_smallest_scale_nothing_moves(kind):
    # 2 exp(-1000) a draw. No control at 5 % is possible here: no sample of any size could tell.
    assert not np.any(draw(kind, Fraction(1, 1000)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [3, 20, 2000, 10**6])
def test_laplace_has_a_straight_log_ratio_and_gaussian_a_parabola(kind, scale):
    # A Gaussian cell of width w has a curvature off by (w / sigma)^2 / 12 of itself. That is 1/30000 here, far below
    # the standard error, which is above 1/2000. A Laplace cell is exact: a geometric variable stays one in cells.
    width = max(1, scale // 50)

    def log_density(middle):
        return -middle / scale if kind == "laplace" else -(middle**2) / (2 * scale**2)

    def passes(kind, scale):
        return has_log_shape(draw(kind, Fraction(scale), 4_000_000), width, log_density)

    assert passes(kind, scale)
    assert not passes(kind, scale * Fraction(95, 100))
    assert not passes(kind, scale * Fraction(105, 100))
    assert not passes("gaussian" if kind == "laplace" else "laplace", scale)


@each_case
def test_consecutive_draws_are_independent(kind, scale):
    noise, draws = make(kind, scale), draw(kind, scale)
    assert is_independent(draws, noise)
    assert is_independent(draws, noise, lag=2)
    assert is_independent(draws, noise, lag=CHUNK)
    assert not is_independent(np.repeat(draws[: len(draws) // 2], 2), noise)
    chunks = draws[: len(draws) // CHUNK * CHUNK].reshape(-1, CHUNK)
    assert not is_independent(np.repeat(chunks, 2, axis=0).ravel(), noise, lag=CHUNK)


@pytest.mark.parametrize("kind", KINDS)
def test_single_and_few_draws_are_independent_and_fit(kind):
    for scale in (Fraction(20), Fraction(10**6)):
        noise = make(kind, scale)
        ones = np.array([noise.sample_one() for _ in range(300_000)])
        few = np.concatenate([noise.sample(20) for _ in range(15_000)])
        for draws in (ones, few):
            assert fits(draws, noise)
            assert is_independent(draws, noise)
            assert not fits(draws, make(kind, scale * Fraction(95, 100)))
            assert not is_independent(np.repeat(draws, 2), noise)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [2000, 10**6, 2**40])
def test_low_bits_are_fair_and_a_stuck_one_is_found(kind, scale):
    draws = draw(kind, Fraction(scale), 200_000)
    assert low_bits_are_fair(draws, scale)
    for bit in range(0, int(math.log2(scale)) - 2, 3):
        assert not low_bits_are_fair(draws | (1 << bit), scale)
        assert not low_bits_are_fair(draws & ~(1 << bit), scale)
    assert not low_bits_are_fair(np.repeat(draws, 2), scale)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [1, 20, 64])
def test_control_a_stuck_bit_of_a_draw_is_found_at_small_scales(kind, scale):
    noise, draws = make(kind, Fraction(scale)), draw(kind, Fraction(scale))
    for bit in range(3):
        assert not fits(draws | (1 << bit), noise)
        assert not fits(draws & ~(1 << bit), noise)


class Stuck:
    """A byte source with one digit of every 16 stuck."""

    def __init__(self, bit: int) -> None:
        self._mask = np.uint16(1 << bit)

    def take(self, count: int) -> bytes:
        return (np.frombuffer(DEFAULT.take(count + count % 2), dtype="<u2") | self._mask).tobytes()[:count]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bit", [8, 11, 13, 15])
def test_control_a_stuck_bit_of_the_source_is_found(kind, bit):
    for scale in (Fraction(1), Fraction(20), Fraction(10**6)):
        draws = make(kind, scale, Stuck(bit)).sample(1_000_000)
        assert not (fits(draws, make(kind, scale)) and is_symmetric(draws))


@pytest.mark.parametrize("kind", KINDS)
def test_no_stretch_of_noise_comes_twice(kind):
    # Two neighbours at scale 2^40 have some 80 bits: 200,000 of them meet by chance with a probability below 1e-12.
    noise = make(kind, Fraction(2**40))
    parts = [noise.sample(60), [noise.sample_one() for _ in range(10_000)], noise.sample(190_000)]
    draws = np.concatenate(parts)
    assert never_repeats(draws)
    assert not never_repeats(np.concatenate([draws, draws[500:502]]))


# ── the fast way against the slow way ────────────────────────────────────────────────────────────────────────────────


def same_distribution(first, second, noise, power):
    """Two samples: a chi-squared test of equal shares, and a z-test of the mean of |x|^power, which sees the scale."""
    edges = sorted({noise.quantile(share) for share in np.linspace(0, 1, 21)[1:-1]})
    counts = np.stack([np.bincount(np.searchsorted(edges, x), minlength=len(edges) + 1) for x in (first, second)])
    counts = counts[:, counts.sum(axis=0) > 0]
    if counts.shape[1] > 1 and stats.chi2_contingency(counts).pvalue <= ALPHA:
        return False
    sizes = [np.abs(x.astype(float)) ** power for x in (first, second)]
    error = math.sqrt(sum(np.var(size) / len(size) for size in sizes))
    return abs(sizes[0].mean() - sizes[1].mean()) <= CRITICAL * error


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(5, 2), Fraction(20), Fraction(10**6)])
def test_fast_and_slow_way_agree(kind, scale):
    # 5 % of the scale is 0.05 sqrt(70,000) = 13 standard errors at n = 70,000 (Laplace; more for Gaussian), of which
    # 6.5 are needed: a control passes by chance with a probability below 1e-9.
    if kind == "laplace":
        slow = np.array([slow_laplace(scale, DEFAULT) for _ in range(70_000)])
    else:
        slow = np.array([slow_gaussian(scale**2, DEFAULT) for _ in range(50_000)])
    noise, power = make(kind, scale), 1 if kind == "laplace" else 2
    assert same_distribution(draw(kind, scale, 2_000_000), slow, noise, power)
    for factor in (Fraction(95, 100), Fraction(105, 100)):
        assert not same_distribution(draw(kind, scale * factor, 2_000_000), slow, noise, power)


@pytest.mark.parametrize("x", [Fraction(1, 10), Fraction(1), Fraction(7, 3)])
def test_both_coins_show_heads_as_often_as_they_say(x):
    n = 60_000
    heads = sum(bernoulli_exp(x) for _ in range(n))
    slow = sum(bernoulli_exp_series(x, DEFAULT) for _ in range(n))
    for count in (heads, slow):
        assert share_passes(count, n, math.exp(-x))
        assert not share_passes(count, n, math.exp(-x) * 0.8)


def test_bytes_are_uniform_across_keys():
    source = SystemSource(reseed_after=4096)
    counts = np.bincount(np.frombuffer(source.take(2**22), dtype=np.uint8), minlength=256)
    assert chi_squared_passes(counts, np.full(256, 2**22 / 256))
    counts[:2] += np.array([3000, -3000])
    assert not chi_squared_passes(counts, np.full(256, 2**22 / 256))
