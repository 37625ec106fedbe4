"""A replay passes what is honest and catches whatever was broken for it. Nothing here fails by chance."""

# ruff: noqa: ARG002 - controls override methods and look away
from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hubbub.checks import CheckFailed, Subject, check_releaser
from hubbub.checks.replay import Tape, draw_pair, draw_ranges, replay_ranges, replay_releaser, replay_series
from hubbub.checks.replay.script import CountPair
from hubbub.confidential import Counts
from hubbub.errors import InsecureRandomness, InvalidCounts
from hubbub.noise import DiscreteGaussian, DiscreteLaplace, bernoulli_exp, require_secure, simulation
from hubbub.noise.distribution import IntegerNoise
from hubbub.privacy import Event, Guarantee, Session, User, Window
from hubbub.ranges import Fenwick, RangeStream, Toeplitz, Tree
from hubbub.ranges.calibration import Calibration
from hubbub.ranges.fenwick_walk import FenwickWalk
from hubbub.release import Bd, Dft, Lpa, Pegasus, Ukf
from hubbub.released import Cost, Discovered, Domain, Grid, Keys, Release, Tick
from hubbub.store import Store

KEYS = Keys(["a", "b", "c"])


def check(make) -> None:
    check_releaser(Subject(make), only=["neighbours_look_the_same"])


# ── mechanisms that were broken ──────────────────────────────────────────────────────────────────────────────────────


class LittleNoise(Lpa):
    """Noise at 70 % of its scale, or half its variance."""

    def _measure(self, counts, cost):
        return super()._measure(counts, Cost(cost.epsilon * 10 / 7, cost.rho * 2))._replace(cost=cost)


class ForgetsItems(Lpa):
    """Noise for units with one key a tick."""

    def __init__(self, keys, guarantee, *, source=None):
        super().__init__(keys, guarantee, source=source)
        self._perturbation._items = 1


class _Narrow:
    def __init__(self, honest: IntegerNoise) -> None:
        self.honest, self.variance, self.quantile = honest, honest.variance, honest.quantile

    def sample(self, n: int):
        return self.honest.sample(1)


class OneDrawForAllKeys(Lpa):
    def _measure(self, counts, cost):
        narrow = _Narrow(self._perturbation.noise(cost))
        return super()._measure(counts, cost)._replace(values=narrow.sample(3) + counts.values.reveal())


class OneDrawForAllTicks(Lpa):
    kept = None

    def _measure(self, counts, cost):
        if self.kept is None:
            self.kept = self._perturbation.noise(cost).sample(len(self.keys))
        return super()._measure(counts, cost)._replace(values=self.kept + counts.values.reveal())


class LooksBeforeItMeasures(Lpa):
    """A tick in which nothing changed is not measured."""

    before = None

    def __init__(self, keys, guarantee, *, source=None):
        super().__init__(keys, guarantee, source=source)
        self.release = self.looks  # a subclass cannot override it

    def looks(self, counts: Counts) -> Release:
        values = counts.values.reveal()
        same = self.before is not None and np.abs(values - self.before).max() < 2
        self.before = values
        return self.predict(counts.tick) if same else Lpa.release(self, counts)


class DearIfMany(Lpa):
    """Odd sums are measured better."""

    odd = False

    def check(self, counts: Counts) -> Cost:
        self.odd = bool(counts.values.reveal().sum() % 2)
        return super().check(counts)

    def cost(self, tick: Tick) -> Cost:
        even = self._account.even_cost
        return even if self.odd else Cost(even.epsilon / 2, even.rho / 2)


class TellsACount(Lpa):
    def check(self, counts: Counts) -> Cost:
        if counts.tick.index < self.next_tick:
            raise InvalidCounts(f"Tick {counts.tick.index} with {counts.values.reveal().max()} people is over.")
        return super().check(counts)


class RefusesTheFull(Lpa):
    """The refusal itself tells, whatever its words."""

    def check(self, counts: Counts) -> Cost:
        if counts.values.reveal().sum() % 3 == 0:
            raise InvalidCounts("Too many.")
        return super().check(counts)


class Breaks(Lpa):
    def check(self, counts: Counts) -> Cost:
        raise ZeroDivisionError(str(counts.values.reveal()))


class Peeks(Ukf):
    """An estimator that leans on the true counts."""

    def _measure(self, counts, cost):
        self._truth = counts.values.reveal()
        return super()._measure(counts, cost)

    def _estimate(self, tick, measurement):
        e = super()._estimate(tick, measurement)
        return e if measurement is None else e._replace(values=e.values + 1e-9 * self._truth)


class Remembers(Lpa):
    """A snapshot that holds a count."""

    last_seen = 0

    def _measure(self, counts, cost):
        self.last_seen = int(counts.values.reveal().sum())
        return super()._measure(counts, cost)

    def _state(self):
        facts, arrays = super()._state()
        return {**facts, "seen": self.last_seen}, arrays


class AsksForNothing(Bd):
    """The question is drawn and not charged for."""

    def _measure(self, counts, cost):
        measured = super()._measure(counts, cost)
        return measured._replace(cost=self._as_cost(self._account.amount(measured.cost) - self._question))


class GroupsWithoutNoise(Pegasus):
    """Which ticks belong together is decided by the true counts."""

    def _measure(self, counts, cost):
        so_far = np.rint(self._smoothed())
        self._group[:, np.abs(counts.values.reveal() - so_far) >= self._limit] = np.nan
        return super()._measure(counts, cost)


class Fractions(Lpa):
    """Which fractions come out tells what the noise was added to."""

    def _measure(self, counts, cost):
        values = self._perturbation.noise(cost).sample(3) + counts.values.reveal() * 0.1
        return super()._measure(counts, cost)._replace(values=np.rint(values).astype(np.int64))


class Multiplies(Lpa):
    def _measure(self, counts, cost):
        values = np.array([2]) * self._perturbation.noise(cost).sample(3) + counts.values.reveal()
        return super()._measure(counts, cost)._replace(values=values)


class AddsNoiseToNoise(Lpa):
    def _measure(self, counts, cost):
        noise = self._perturbation.noise(cost)
        return super()._measure(counts, cost)._replace(values=noise.sample(3) + noise.sample(3))


class PlainArrays(Lpa):
    def _measure(self, counts, cost):
        return super()._measure(counts, cost)._replace(values=np.sort(self._perturbation.noise(cost).sample(3)))


class OtherBytes(Lpa):
    def _measure(self, counts, cost):
        bernoulli_exp(Fraction(1), self.source)
        return super()._measure(counts, cost)


class Gaussian(Lpa):
    """Gaussian noise under any promise, also a pure one."""

    def _measure(self, counts, cost):
        values = DiscreteGaussian(400, source=self.source).sample(3) + counts.values.reveal()
        return super()._measure(counts, cost)._replace(values=values)


class DrawsMoreForMany(Lpa):
    """What is drawn beside the measurement depends on the counts."""

    def _measure(self, counts, cost):
        if counts.values.reveal().sum() % 2:
            self._perturbation.noise(cost).sample(1)
        return super()._measure(counts, cost)


class NeverMeasures(Lpa):
    def cost(self, tick: Tick) -> Cost:
        return Cost.nothing()


BROKEN = [
    (LittleNoise, "was charged"),
    (ForgetsItems, "was charged"),
    (OneDrawForAllKeys, "added to several numbers"),
    (OneDrawForAllTicks, "added once more"),
    (LooksBeforeItMeasures, "differs between neighbours|depends on what is confidential|was not"),
    (DearIfMany, "differs between neighbours|depends on what is confidential"),
    (TellsACount, "a refusal differs between neighbours"),
    (RefusesTheFull, "a refusal on one side|on one side and|depends on what|was not"),
    (Breaks, "ended in ZeroDivisionError"),
    (Peeks, "the values of a release differs"),
    (Remembers, "the snapshot differs"),
    (AsksForNothing, "was charged"),
    (GroupsWithoutNoise, "differs"),
    (Fractions, "not whole"),
    (Multiplies, "handed to `multiply`"),
    (AddsNoiseToNoise, "added to other noise"),
    (PlainArrays, "turned into a plain array"),
    (OtherBytes, "random bytes were taken"),
    (Gaussian, "under a pure guarantee"),
    (DrawsMoreForMany, "depends on what is confidential|was not|drawn for one"),
    (NeverMeasures, "Nothing was ever measured"),
]


@pytest.mark.parametrize(("broken", "why"), BROKEN, ids=lambda b: getattr(b, "__name__", ""))
def test_what_was_broken_is_caught(broken, why):
    with pytest.raises(CheckFailed, match=why):
        check(broken)


def test_a_unit_beyond_its_bound_is_caught():
    """As a collector without bounds would count it: one tick more, one key more, twice in a key."""
    guarantee = Guarantee.pure(Session(max_ticks=2), 1)
    quiet = np.full((5, 3), 7)
    for change in ([[1, 0, 0]] * 3, [[1, 1, 0]], [[2, 0, 0]]):
        busy = quiet.copy()
        busy[: len(change)] += change
        pair = CountPair(KEYS, [("release", tick) for tick in range(5)], busy, quiet)
        with pytest.raises(CheckFailed, match=r"was promised|was charged"):
            replay_releaser(lambda source: Lpa(KEYS, guarantee, source=source), pair)


def test_a_window_is_weighed_where_it_is_fullest():
    guarantee, quiet = Guarantee.pure(Window(2), 1), np.full((6, 3), 7)
    busy = quiet.copy()
    busy[:, 0] += 1  # somebody who is there all the time: two ticks of them at most
    pair = CountPair(KEYS, [("release", tick) for tick in range(6)], busy, quiet)
    found = replay_releaser(lambda source: Lpa(KEYS, guarantee, source=source), pair)
    assert found.cost == 1


def test_the_whole_charge_is_reached_and_weighed_exactly():
    """An audit that found much less than what is charged would see little."""
    for guarantee in (Guarantee.pure(Session(max_ticks=3, max_items=2), "1/7"), Guarantee.zcdp(Session(3), "1/7")):
        quiet, items = np.zeros((4, 3), np.int64), guarantee.unit.max_items
        busy = quiet.copy()
        busy[1:, :items] += 1
        pair = CountPair(KEYS, [("release", tick) for tick in range(4)], busy, quiet)
        found = replay_releaser(lambda source, g=guarantee: Lpa(KEYS, g, source=source), pair)
        assert found.cost == found.budget == Fraction(1, 7)
        assert found.share == 1
        assert found.draws == 12


# ── the tape itself ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_tape_is_not_let_into_production(tmp_path):
    with simulation(1) as source:
        tape = Tape(source)
        guarantee = Guarantee.pure(Event(), 1)
        with Store.open(tmp_path / "s.db", marks=tmp_path / "marks") as store, pytest.raises(InsecureRandomness):
            store.curate("s", Lpa(KEYS, guarantee, source=tape))
        tape.secure = True  # type: ignore[misc]
        with pytest.raises(InsecureRandomness):
            require_secure(tape)


def test_noise_on_a_tape_is_that_of_its_source():
    with simulation(3) as one, simulation(3) as two:
        noise = DiscreteLaplace(20, source=Tape(one))
        assert (noise.sample(100) + np.zeros(100, np.int64)).tolist() == DiscreteLaplace(20, two).sample(100).tolist()
        assert isinstance(noise.sample_one() + 5, int)


def test_noise_of_an_unknown_kind_has_no_price():
    class Uniform(DiscreteLaplace):
        pass

    with simulation(1) as source:
        tape = Tape(source)
        assert Uniform(3, source=tape).sample(2).shape == (2,)
        with pytest.raises(CheckFailed, match="no price"):
            tape.draw(object(), 1)  # type: ignore[arg-type]


def test_what_only_one_neighbour_uses_is_found():
    with simulation(1) as source:
        first = Tape(source)
        drawn = DiscreteLaplace(3, source=first).sample(2)
        drawn[:1] + np.array([4])
        second = first.again()
        again = DiscreteLaplace(3, source=second).sample(2)
        with pytest.raises(CheckFailed, match="left unused"):
            again[1:] + np.array([4])
        third = first.again()
        DiscreteLaplace(3, source=third).sample(2)
        with pytest.raises(CheckFailed, match="for one neighbour alone"):
            third.finish()
        with pytest.raises(CheckFailed, match="1 times noise was drawn for one neighbour, and 0"):
            first.again().finish()
        with pytest.raises(CheckFailed, match="depends on what is confidential"):
            DiscreteLaplace(4, source=first.again()).sample(2)
        fourth = first.again()
        DiscreteLaplace(3, source=fourth).sample(2)
        with pytest.raises(CheckFailed, match="for the neighbour it was not"):
            DiscreteLaplace(3, source=fourth).sample(2)


# ── range streams ────────────────────────────────────────────────────────────────────────────────────────────────────

STRATEGIES = [Fenwick(1), Fenwick(4), Tree((8,), trust=Fraction(3, 4)), Tree((4, 4)), Tree((3, 2, 3), subtracts=True)]
STRATEGIES += [Toeplitz(16), Toeplitz(32, reach=16)]
UNITS = [Event(), Window(7), Session(max_ticks=3), Session(max_ticks=20, max_items=3), User(40, horizon=400)]
MANY = Keys([f"key {i}" for i in range(6)])


def guarantees(unit):
    return Guarantee.pure(unit, 1), Guarantee.zcdp(unit, "1/2"), Guarantee.approximate(unit, 1, "1e-6")


def ranges(unit, guarantee, seed, keys=KEYS, *, batches=True, tamper=None, **options):
    pair = draw_ranges(np.random.default_rng(seed), unit, keys, batches=batches)

    def make(keys, source):
        stream = RangeStream(keys, guarantee, window=40, source=source, **options)
        if tamper is not None:
            tamper(stream)
        return stream

    return replay_ranges(make, pair, guarantee, seed)


@pytest.mark.parametrize("number", range(len(STRATEGIES)), ids=lambda number: str(STRATEGIES[number]))
def test_every_strategy_of_ranges(number):
    """One unit each; `tests/property/ranges/test_ranges_replay.py` takes all units and methods."""
    strategy, unit = STRATEGIES[number], UNITS[number % len(UNITS)]
    for guarantee in guarantees(unit)[not strategy.for_pure : 2]:
        keys = MANY if number % 2 else KEYS  # few keys take another way through the program
        assert 0 < ranges(unit, guarantee, number, keys, batches=strategy.for_pure, strategy=strategy).share <= 1


def test_range_streams_that_were_broken_are_caught(monkeypatch):
    session, pure, zcdp = Session(max_ticks=3), Guarantee.pure(Session(3), 1), Guarantee.zcdp(Session(3), "1/2")

    def peeks(stream):
        usual = stream.release

        def release(counts):
            released = usual(counts)
            released.values.setflags(write=True)
            released.values[:] += 1e-3 * counts.values.reveal()
            return released

        stream.release = release

    with pytest.raises(CheckFailed, match="the values of a release differs"):
        ranges(session, pure, 1, batches=False, strategy=Fenwick(3), tamper=peeks)

    def remembers(stream):
        usual, told, seen = stream.release, stream._identity, []
        stream.release = lambda counts: (seen.append(int(counts.values.reveal().sum())), usual(counts))[1]
        stream._identity = lambda: {**told(), "seen": seen[-1:]}

    with pytest.raises(CheckFailed, match="the snapshot differs"):
        ranges(session, pure, 1, batches=False, strategy=Fenwick(3), tamper=remembers)

    honest = Calibration.parameters
    with monkeypatch.context() as patch:
        patch.setattr(Calibration, "parameters", lambda s, strategy: [p * 7 / 10 for p in honest(s, strategy)])
        with pytest.raises(CheckFailed, match="was promised"):
            ranges(Event(), Guarantee.pure(Event(), 1), 2, strategy=Tree((4, 4)))
        with pytest.raises(CheckFailed, match="was promised"):
            ranges(Event(), Guarantee.zcdp(Event(), "1/2"), 2, strategy=Tree((4, 4)))
    with monkeypatch.context() as patch:  # a carry forgets what lies under it: the paper's Alg. 1, step 3
        patch.setattr(FenwickWalk, "_rows", _forgetful)
        with pytest.raises(CheckFailed):
            ranges(session, zcdp, 2, strategy=Fenwick(6))


def _forgetful(self, count):
    fresh = self._draw(0, count)
    return np.diff(np.concatenate([np.zeros((1, self._keys), np.int64), np.repeat(fresh[:1], count, axis=0)]), axis=0)


# ── whole series ─────────────────────────────────────────────────────────────────────────────────────────────────────


def fourier_pair(seed: int, unit, keys: Keys):
    return draw_pair(np.random.default_rng(seed), unit, keys, 30)


@pytest.mark.parametrize("keys", [Keys(["a"]), KEYS], ids=len)
def test_dft(keys):
    shares = []
    for seed in range(20):
        unit = User(None if seed % 2 else 4, 30)
        guarantee = Guarantee.pure(unit, 1)
        make = lambda source, g=guarantee: Dft(keys, g, coefficients=5, source=source)  # noqa: E731
        shares.append(replay_series(make, fourier_pair(seed, unit, keys), seed).share)
    assert 0.2 < max(shares) <= 1


def test_a_dft_with_too_little_noise_is_caught():
    unit, keys = User(None, 30), Keys(["a"])

    def make(source):
        dft = Dft(keys, Guarantee.pure(unit, 1), coefficients=5, source=source)
        dft._noise = DiscreteLaplace(dft._noise.scale / 20, source=source)
        return dft

    def try_many():
        for seed in range(20):
            replay_series(make, fourier_pair(seed, unit, keys), seed)

    with pytest.raises(CheckFailed, match="was promised"):
        try_many()


# ── what is counted ──────────────────────────────────────────────────────────────────────────────────────────────────


def named(i: int) -> Discovered:
    return Discovered([KEYS.names[i]], decision="the latest release")


class Peeks(Lpa):
    """Remembers what it saw, for whoever decides."""

    seen: list[Counts] = []  # noqa: RUF012

    def _measure(self, counts, cost):
        self.seen.append(counts)
        return super()._measure(counts, cost)


def by_release(release: Release) -> Domain:
    return named(int(release.values[:3].sum()) % 3)


def by_counts(release: Release) -> Domain:
    """The seeded bug: the keys are chosen by looking at the counts."""
    return named(int(Peeks.seen[-1].values.reveal().sum()) % 3)


def replay_choice(decide, make=Peeks) -> int:
    drawn = 0
    for number, unit in enumerate((Event(), Session(max_ticks=3), Session(max_ticks=4, max_items=2))):
        for guarantee in (Guarantee.pure(unit, 1), Guarantee.zcdp(unit, "1/2")):
            for seed in range(3):
                pair = draw_pair(np.random.default_rng([number, seed]), unit, KEYS, 14)
                drawn += replay_releaser(lambda s, g=guarantee: make(KEYS, g, source=s), pair, seed, decide).draws
    return drawn


@pytest.mark.parametrize("method", [Peeks, Ukf, Pegasus])
def test_keys_that_follow_from_releases_tell_nothing(method):
    assert replay_choice(by_release, method) > 0


def test_keys_that_follow_from_counts_are_caught():
    with pytest.raises(CheckFailed, match="what is counted next differs between neighbours"):
        replay_choice(by_counts)


def test_whoever_counts_twice_among_the_others_counts_once():
    """Two keys that are put together: a unit with both moves their sum by one, and by no more."""
    two = np.array([[5, 6, 7]])
    pair = CountPair(KEYS, [("release", 0)], two + np.array([[1, 1, 0]]), two)
    both = [pair.counts(table, Tick(0), named(2)).values.reveal().tolist() for table in (pair.one, pair.two)]
    assert both == [[7, 12], [7, 11]]


def test_a_grid_is_replayed():
    grid = Grid(2, 2)
    unit = Session(max_ticks=4, max_items=2)
    pair = draw_pair(np.random.default_rng(3), unit, grid, 14)
    assert replay_releaser(lambda s: Lpa(grid, Guarantee.pure(unit, 1), source=s), pair).draws > 0
    with pytest.raises(CheckFailed, match="was charged"):
        replay_releaser(lambda s: LittleNoise(grid, Guarantee.pure(unit, 1), source=s), pair)
