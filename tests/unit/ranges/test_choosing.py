"""Forecasts, and what is chosen from them."""

import numpy as np
import pytest

from hubbub.errors import InvalidParameter
from hubbub.privacy import Event, Guarantee, Session
from hubbub.ranges import Fenwick, QueryHistory, Toeplitz
from hubbub.ranges.calibration import Calibration
from hubbub.ranges.chooser import make_chooser

W = 32_768
PURE = Calibration(Guarantee.pure(Event(), 1))
RHO = Calibration(Guarantee.zcdp(Event(), "1/2"))


def asked(*lengths, size=256, window=W):
    history = QueryHistory(window, size)
    for length in lengths:
        history.record(length)
    return history


def error(strategy, length, calibration=PURE):
    return calibration.error(strategy, strategy.mean_uses(np.array([length]))[0])


def test_moving_averages_are_those_of_the_definition():
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 1000, 500).tolist()
    history = QueryHistory(W, size=40, decay=0.9)
    for i, length in enumerate(lengths):
        history.record(length)
        recent = np.array(lengths[max(0, i - 39) : i + 1][::-1])
        weights = 0.9 ** np.arange(len(recent))
        assert history.mean == pytest.approx(recent.mean())
        assert history.weighted == pytest.approx((recent * weights).sum() / weights.sum())
        assert history.shares.sum() == pytest.approx(1)
        assert history.shares @ history.grid == pytest.approx(recent.mean())


def test_before_the_first_query_everything_is_expected():
    history = QueryHistory(W)
    assert history.mean == history.weighted == W
    assert len(set(history.shares)) == 1


@pytest.mark.parametrize("wrong", [0, -1, W + 1, 1.5, True, "3"])
def test_lengths_that_cannot_be(wrong):
    with pytest.raises(InvalidParameter):
        QueryHistory(W).record(wrong)
    with pytest.raises(InvalidParameter):
        QueryHistory(W, decay=1.0)


def test_the_exact_number_of_nodes_replaces_equation_16():
    chosen = make_chooser("hq-rtp", W, PURE).choose(asked(1024))
    assert chosen == Fenwick(8)
    assert chosen.mean_uses(np.array([1024]))[0] @ PURE.unit_variance(chosen) == 1920
    # Eq. 16 as printed, at the same length: it prefers height 1 whatever the length.
    for length in (16, 1024, 8192):
        printed = [
            sum((-1) ** j * 2.0**-j * (length - 2**j + 1) for j in range(k)) * k * k / 2
            for k in range(1, length.bit_length() + 1)
        ]
        assert int(np.argmin(printed)) == 0


@pytest.mark.parametrize("length", [2**i for i in range(16)])
def test_adaptive_heights_are_never_worse_than_the_full_height(length):
    rtp = make_chooser("rtp", W, PURE).choose(asked(length))
    hq = make_chooser("hq-rtp", W, PURE).choose(asked(length))
    mm = make_chooser("hq-rtp-mm", W, PURE).choose(asked(length))
    weighted = make_chooser("hq-rtp", W, PURE, "weighted").choose(asked(length))
    assert error(hq, length) <= error(rtp, length)
    assert error(mm, length) <= 1.02 * error(hq, length)  # it reckons with real-valued noise, as the paper does
    assert weighted == hq
    if length == 1024:
        assert error(rtp, length) / error(hq, length) >= 3


@pytest.mark.parametrize("length", sorted({*(2**i for i in range(16)), *(3 * 2**i for i in range(14)), 5, 7, 11, 21}))
def test_auto_against_adaptive_heights(length):
    hq = make_chooser("hq-rtp", W, PURE).choose(asked(length))
    auto = make_chooser("auto", W, PURE).choose(asked(length))
    least = {256: 2, 512: 3, 1024: 4, 2048: 4, 4096: 4, 8192: 4}.get(length, 1)
    assert error(hq, length) >= least * error(auto, length)


def test_auto_looks_at_the_whole_histogram():
    """Many short queries and a few long ones: their mean is a length that nobody asks for."""
    lengths = [2] * 240 + [16_000] * 16
    hq = make_chooser("hq-rtp", W, PURE).choose(asked(*lengths))
    auto = make_chooser("auto", W, PURE).choose(asked(*lengths))
    assert np.mean([error(auto, n) for n in lengths]) < 0.3 * np.mean([error(hq, n) for n in lengths])


@pytest.mark.parametrize("size", [1024, 16_384])
def test_auto_under_zcdp_reaches_the_toeplitz_constants(size):
    """Prefixes of a segment: the constants (10.7 at 1,024, 17.3 at 16,384) are their largest variance times 2 rho."""
    best = {1024: 10.7, 16_384: 17.3}[size]
    strategy = make_chooser("toeplitz", size, RHO).choose(asked(1, window=size))
    assert strategy == Toeplitz(size)
    assert strategy.variance(0, size, RHO.unit_variance(strategy)) <= 1.1 * best + 1 / 12
    chosen = make_chooser("auto", size, RHO).choose(asked(size // 4, window=size))
    assert error(chosen, size // 4, RHO) <= error(strategy, size // 4, RHO)


@pytest.mark.parametrize("unit", [Event(), Session(max_ticks=20), Session(max_ticks=20, max_items=3)])
def test_auto_chooses_by_the_units_own_noise(unit):
    calibration = Calibration(Guarantee.zcdp(unit, 1))
    for length in (1, 64, 4096):
        history = asked(length)
        auto = make_chooser("auto", W, calibration).choose(history)
        for method in ("none", "rtp", "rtp-mm", "hq-rtp-mm", "two-level", "multi-level", "k-ary", "toeplitz"):
            other = make_chooser(method, W, calibration).choose(history)
            assert error(auto, length, calibration) <= 1.02 * error(other, length, calibration)


def test_toeplitz_segments_are_no_longer_than_64_bits_allow():
    longest = make_chooser("toeplitz", 2**20, RHO).choose(QueryHistory(2**20))
    assert longest.size == 2**17
    assert make_chooser("toeplitz", W, RHO).choose(QueryHistory(W)).size == W
    several = longest.variance(0, 2**20, RHO.unit_variance(longest))
    assert several < Toeplitz(2**20).variance(0, 2**20, RHO.unit_variance(Toeplitz(2**20))) / 4


def test_the_top_is_not_believed_alone():
    """Against trees that do believe it alone, of the same and other shapes: 2 to 3 % at every length."""
    for length, alone in ((64, 69.7), (512, 193.9), (1024, 247.5), (8192, 497.9)):
        auto = make_chooser("auto", W, PURE).choose(asked(length))
        assert error(auto, length) < 0.98 * alone


def test_optimised_shares_help_the_full_height():
    lengths = QueryHistory(W).grid.tolist()
    rtp, mm = (make_chooser(name, W, PURE).choose(asked(1)) for name in ("rtp", "rtp-mm"))
    assert np.mean([error(mm, n) for n in lengths]) < 0.95 * np.mean([error(rtp, n) for n in lengths])


@pytest.mark.parametrize("epsilon", ["1/100", 1, 10])
def test_auto_is_never_above_adaptive_heights_at_any_epsilon(epsilon):
    calibration = Calibration(Guarantee.pure(Event(), epsilon))
    for length in (1, 2, 5, 12, 16, 20, 40, 100, 1000, 30_000):
        hq, auto = (make_chooser(name, W, calibration).choose(asked(length)) for name in ("hq-rtp", "auto"))
        assert error(auto, length, calibration) <= error(hq, length, calibration) * (1 + 1e-9)


def test_auto_recovers_from_a_shift_within_two_segments():
    """One query a tick. The pattern jumps in mid-segment; the second segment begun after that is at its best again."""
    from hubbub.confidential import Confidential
    from hubbub.ranges import RangeStream
    from hubbub.released import Keys

    stream = RangeStream(Keys(["visits"]), Guarantee.pure(Event(), 1), window=W, method="auto")
    rng = np.random.default_rng(3)
    short, long = (lambda: int(rng.integers(1, 65))), (lambda: int(rng.integers(4096, 8193)))

    def go(ticks, lengths):
        for _ in range(0, ticks, 8):
            for _ in range(8):
                stream.history.record(lengths())
            stream.release_many(Confidential(np.zeros((8, 1), dtype=np.int64)))

    go(3000, short)
    shifted = stream.next_tick
    go(6000, long)
    begun = [s.strategy for s in stream.window._segments if s.start >= shifted][:2]
    best = make_chooser("auto", W, PURE).choose(asked(*[long() for _ in range(256)]))
    lengths = [4500, 6000, 8000]
    assert np.mean([error(begun[1], n) for n in lengths]) <= 1.05 * np.mean([error(best, n) for n in lengths])
    before = [s.strategy for s in stream.window._segments if s.start < shifted][-1]
    assert np.mean([error(before, n) for n in lengths]) > 3 * np.mean([error(best, n) for n in lengths])
