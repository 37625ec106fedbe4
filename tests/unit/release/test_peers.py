"""FAST, sample-and-hold, BD, BA and DFT: prices, schedules, refusals, state."""

from fractions import Fraction

import numpy as np
import pytest

from hubbub.confidential import Counts
from hubbub.errors import InvalidParameter, TickOutOfOrder, UnknownKey
from hubbub.noise import simulation
from hubbub.privacy import Event, Guarantee, Session, User, Window
from hubbub.release import TABLE_3_1, Ba, Bd, Dft, Fast, PidSettings, Sample
from hubbub.release.pid import PidSampler
from hubbub.released import Cost, Keys, Snapshot, Tick

KEYS = Keys(["a", "b"])
USER = Guarantee.pure(User(horizon=100), 1)
WINDOW = Guarantee.pure(Window(10), 1)


def counts(tick, values=(1000, 50), keys=KEYS):
    return Counts.of(keys, Tick(tick), list(values))


def feed(releaser, ticks, values=(1000, 50)):
    return [releaser.release(counts(t, values, releaser.keys)) for t in ticks]


# ── FAST ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("filter", ["kalman", "particle"])
@pytest.mark.parametrize("sampling", ["fixed", "pid"])
def test_fast_spends_at_most_its_samples(filter, sampling):
    with simulation(1) as source:
        fast = Fast(KEYS, USER, filter=filter, sampling=sampling, source=source, particles=50)
        releases = feed(fast, range(100))
    taken = [r for r in releases if not r.is_predicted]
    assert 1 <= len(taken) <= fast.samples == (15 if filter == "kalman" else 25)
    assert fast.spent <= 1
    assert {r.cost.epsilon for r in taken} == {Fraction(1, fast.samples)}
    assert releases[0].values.tolist() == np.maximum(releases[0].measurements, 0).tolist()


def test_fast_at_a_fixed_rate_samples_at_equal_gaps():
    fast = Fast(KEYS, USER, sampling="fixed", samples=20)
    assert [r.tick.index for r in feed(fast, range(100)) if not r.is_predicted] == list(range(0, 100, 5))
    assert fast.spent == 1


def test_the_variance_grows_over_ticks_without_a_sample():
    fast = Fast(KEYS, USER, sampling="fixed", samples=4, process_variance=7.0)
    errors = [r.standard_errors[0] ** 2 for r in feed(fast, range(5))]
    assert np.diff(errors) == pytest.approx([7.0] * 4)


def test_fast_with_the_papers_table():
    fast = Fast(KEYS, USER, **TABLE_3_1)
    assert feed(fast, range(10))[0].cost == Cost(epsilon=Fraction(1, 15))


def test_fast_with_gaussian_noise_and_particles():
    fast = Fast(KEYS, Guarantee.zcdp(User(horizon=20), 1), filter="particle", particles=50)
    assert feed(fast, range(20))[0].cost.rho == Fraction(1, 5)


@pytest.mark.parametrize(
    ("guarantee", "settings", "match"),
    [
        (Guarantee.pure(Session(max_ticks=3), 1), {"samples": 3}, "horizon"),
        (USER, {"filter": "magic"}, "kalman, particle"),
        (USER, {"sampling": "magic"}, "fixed, pid"),
        (USER, {"samples": 101}, "at most the horizon"),
        (USER, {"samples": 0}, "samples"),
        (USER, {"process_variance": 0.0}, "process_variance"),
        (USER, {"noise_variance": float("inf")}, "noise_variance"),
        (USER, {"particles": 0}, "particles"),
    ],
)
def test_fast_refuses(guarantee, settings, match):
    with pytest.raises(InvalidParameter, match=match):
        Fast(KEYS, guarantee, **settings)


@pytest.mark.parametrize(
    "wrong",
    [{"proportional": 0.5}, {"integral": -0.1, "proportional": 1.1}, {"window": 0}, {"first_gap": 0}, {"magnitude": 0}],
)
def test_control_gains_are_checked(wrong):
    with pytest.raises(InvalidParameter):
        PidSettings(**wrong)


def test_the_interval_shrinks_when_the_error_is_large():
    """Erratum to Eq. 3.32: as printed it would grow."""
    sampler = PidSampler(PidSettings())
    for tick in range(5):
        gap = sampler.after(tick, 0.05)
    assert gap > 1
    assert sampler.after(20, 0.4) < gap
    assert sampler.after(21, 1e9) == 1


# ── sample and hold ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_sample_holds_between_its_looks():
    sample = Sample(KEYS, USER, samples=4)
    releases = feed(sample, range(100))
    assert [r.tick.index for r in releases if not r.is_predicted] == [0, 25, 50, 75]
    assert (releases[24].values == releases[0].values).all()
    assert np.isinf(releases[24].upper).all()
    assert sample.spent == 1


def test_sample_over_a_window_runs_for_ever():
    sample = Sample(KEYS, WINDOW, samples=2)
    feed(sample, range(95))
    assert sample.spent == 1


def test_sample_with_a_bound_pays_an_even_share_at_most():
    sample = Sample(KEYS, Guarantee.pure(User(max_ticks=2, horizon=100), 1))
    assert sample.samples == 10
    assert sample.cost(Tick(0)) == Cost(epsilon=Fraction(1, 2))
    assert Sample(KEYS, Guarantee.zcdp(User(horizon=100), 1)).cost(Tick(0)) == Cost(rho=Fraction(1, 10))


def test_after_a_gap_samples_keep_their_distance():
    sample = Sample(KEYS, WINDOW, samples=2)
    assert [r.is_predicted for r in feed(sample, [7, 8, 11, 12])] == [False, True, True, False]


@pytest.mark.parametrize(("guarantee", "samples"), [(Guarantee.pure(Event(), 1), 1), (USER, 101), (USER, 0)])
def test_sample_refuses(guarantee, samples):
    with pytest.raises(InvalidParameter):
        Sample(KEYS, guarantee, samples=samples)


@pytest.mark.parametrize("method", [Fast, Sample])
def test_sessions_are_sampled_at_every_tick(method):
    releaser = method(KEYS, Guarantee.pure(Session(max_ticks=4), 1))
    assert {r.cost.epsilon for r in feed(releaser, range(30))} == {Fraction(1, 4)}


# ── BD and BA ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("method", [Bd, Ba])
def test_a_release_costs_at_most_what_was_said_and_windows_stay_within_the_budget(method):
    with simulation(3) as source:
        releaser = method(KEYS, WINDOW, source=source)
        costs = []
        for tick in range(120):
            said = releaser.cost(Tick(tick))
            level = 1000 if tick // 15 % 2 else 100_000
            release = releaser.release(counts(tick, (level, 50)))
            assert Fraction(1, 20) <= release.cost.epsilon <= said.epsilon
            assert (release.cost == said) or release.is_predicted
            costs.append(release.cost.epsilon)
    assert max(sum(costs[i : i + 10]) for i in range(111)) == releaser.spent <= 1
    assert 3 < sum(c > Fraction(1, 20) for c in costs) < 100, "a mechanism that always or never publishes is neither"


@pytest.mark.parametrize("method", [Bd, Ba])
def test_nothing_far_off_is_repeated(method):
    with simulation(3) as source:
        releaser = method(KEYS, Guarantee.pure(Window(10), 10, allow_weak=True), source=source)
        releases = feed(releaser, range(40), (10_000, 10_000))
    assert not releases[0].is_predicted
    assert sum(r.is_predicted for r in releases) > 20
    assert (releases[-1].values > 9_000).all()


@pytest.mark.parametrize("method", [Bd, Ba])
def test_a_lost_publication_keeps_the_window_within_the_budget(method):
    releaser = method(KEYS, WINDOW)
    releaser.predict(Tick(0), releaser.cost(Tick(0)))
    releaser.predict(Tick(1), Cost(epsilon=Fraction(1, 20)))
    feed(releaser, range(2, 40), (10**6, 10**6))
    assert releaser.spent <= 1


@pytest.mark.parametrize("method", [Bd, Ba])
def test_a_failure_while_drawing_counts_as_spent(method, monkeypatch):
    releaser = method(KEYS, WINDOW)
    most = releaser.cost(Tick(0)).epsilon
    monkeypatch.setattr(releaser._dissimilarity, "sample_one", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        releaser.release(counts(0))
    assert releaser.spent == most
    assert releaser.next_tick == 1


@pytest.mark.parametrize("method", [Bd, Ba])
@pytest.mark.parametrize("guarantee", [USER, Guarantee.zcdp(Session(max_ticks=5), "1/2")])
def test_units_that_are_no_windows_cannot_save(method, guarantee):
    releaser = method(KEYS, guarantee)
    share = guarantee.budget / guarantee.unit.max_ticks
    for tick in range(20):
        cost = releaser.cost(Tick(tick))
        assert (cost.epsilon or cost.rho) <= share
        releaser.release(counts(tick, (10**6 * (tick % 2), 50)))
    assert releaser.spent <= guarantee.budget


def test_ba_is_silent_after_it_absorbed():
    releaser = Ba(KEYS, WINDOW)
    releaser._paid(4, Fraction(5, 20))  # took ticks 0 to 4
    assert [releaser._price(t) for t in (5, 8, 9, 10, 30)] == [0, 0, Fraction(1, 20), Fraction(1, 10), Fraction(1, 2)]


# ── DFT ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_dft_keeps_a_smooth_series():
    t = np.arange(200)
    truth = np.rint(50_000 + 20_000 * np.sin(2 * np.pi * 3 * t / 200)).astype(int)
    with simulation(1) as source:
        dft = Dft(Keys(["a"]), Guarantee.pure(User(horizon=200), 1), source=source)
        releases = dft.release_series([Counts.of(dft.keys, Tick(i), [v]) for i, v in enumerate(truth)])
    values = np.array([r.values[0] for r in releases])
    inside = [r.lower[0] <= v <= r.upper[0] for r, v in zip(releases, truth, strict=True)]
    assert np.mean(np.abs(values - truth) / truth) < 0.01
    assert np.mean(inside) > 0.8
    assert [r.cost.epsilon for r in releases[:2]] == [1, 0]


def test_dft_refuses():
    keys = Keys(["a"])
    with pytest.raises(InvalidParameter, match="horizon"):
        Dft(keys, Guarantee.pure(Event(), 1))
    with pytest.raises(InvalidParameter, match="at most 10"):
        Dft(keys, Guarantee.pure(User(horizon=20), 1))
    dft = Dft(keys, Guarantee.pure(User(horizon=5), 1), coefficients=2)
    series = [Counts.of(keys, Tick(i), [3]) for i in range(5)]
    with pytest.raises(TickOutOfOrder, match="all 5 ticks"):
        dft.release_series(series[:4])
    other = Counts.of(Keys(["b"]), Tick(4), [3])
    with pytest.raises(UnknownKey):
        dft.release_series([*series[:4], other])


def test_the_bound_of_dft_holds_for_every_set_of_ticks():
    """All 2^9 ways to be present in 9 ticks, and all of at most 3."""
    for most in (9, 3):
        dft = Dft(Keys(["a"]), Guarantee.pure(User(max_ticks=most, horizon=9), 1), coefficients=4)
        ways = (np.arange(2**9)[:, None] >> np.arange(9)) & 1
        ways = ways[ways.sum(axis=1) <= most]
        changes = np.abs(ways @ dft._basis.T).sum(axis=1)
        assert changes.max() <= dft.sensitivity
        assert changes.max() > 0.7 * dft.sensitivity, "a bound that is far too large would not be of use"


def test_dft_with_more_keys_has_a_larger_bound():
    one, two = (Dft(Keys(names), USER) for names in (["a"], ["a", "b"]))
    assert two.sensitivity == pytest.approx(np.sqrt(39 * 2 * 100))
    assert one.sensitivity == pytest.approx(10 * (1 + np.sqrt(39)) / 2)


# ── state ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("method", "guarantee", "settings"),
    [
        (Fast, USER, {}),
        (Fast, USER, {"filter": "particle", "particles": 40}),
        (Sample, USER, {}),
        (Bd, WINDOW, {}),
        (Ba, WINDOW, {}),
    ],
)
@pytest.mark.parametrize("at", [0, 3, 20])
def test_a_restored_stream_has_the_same_future(method, guarantee, settings, at):
    with simulation(5) as source:
        first = method(KEYS, guarantee, source=source, **settings)
        feed(first, range(at))
        taken = first.snapshot().to_bytes()
    futures = []
    for _ in range(2):
        with simulation(6) as source:
            again = method(KEYS, guarantee, source=source, **settings)
            again.restore(Snapshot.from_bytes(taken))
            futures.append([(r.values.tolist(), r.cost) for r in feed(again, range(at, 60))])
            assert again.snapshot().facts["next"] == 60
    assert futures[0] == futures[1]
    assert again.spent <= 1
