"""Every check passes on every registered releaser, and catches the releaser that was broken for it."""

# ruff: noqa: ARG002, ARG005 - controls override methods and look away
from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from tests.support.methods import ONLINE, STATISTICAL, factory

from hubbub.checks import CHECKS, CheckFailed, Subject, check_releaser
from hubbub.confidential import Counts
from hubbub.errors import InvalidParameter
from hubbub.mechanism import Estimate, OnlineMechanism, Traits
from hubbub.privacy import Guarantee
from hubbub.release import Lpa
from hubbub.released import Cost, Domain, Grid, Release, Snapshot, Tick


@pytest.mark.parametrize("check", [name for name in CHECKS if name not in STATISTICAL])
@pytest.mark.parametrize("method", [name for name in ONLINE if name != "ranges"])
def test_every_method_keeps_every_promise(method: str, check: str) -> None:
    """Those of range streams, of which one differs, are in tests/unit/ranges/test_checks.py; those that draw many times
    are in tests/statistical/checks."""
    assert check_releaser(factory(method), only=[check]) == [check]


@pytest.mark.parametrize("method", ONLINE)
def test_every_method_states_its_guarantee(method: str) -> None:
    check_releaser(factory(method), only=["guarantee_is_stated", "guarantee_is_kept_as_given"])


def test_what_joins_the_halves_cannot_be_overridden() -> None:
    for name in ("release", "release_series", "accept", "predict"):
        with pytest.raises(TypeError, match=f"must not override `{name}`"):
            type("Sneaky", (Lpa,), {name: lambda self, *given: None})


def test_an_unknown_check() -> None:
    with pytest.raises(InvalidParameter, match="no check 'magic'"):
        check_releaser(Lpa, only=["magic"])


# ── controls: each breaks one promise ────────────────────────────────────────────────────────────────────────────────


class Broken(Lpa):
    """A subclass cannot override what joins the two halves: controls put theirs on the instance."""

    def __init__(self, keys, guarantee, *, source=None):
        super().__init__(keys, guarantee, source=source)
        for name in ("release", "predict", "change_domain"):
            if hasattr(self, f"broken_{name}"):
                setattr(self, name, getattr(self, f"broken_{name}"))

    def altered(self, e: Estimate) -> Estimate:
        return e

    def _estimate(self, tick, measurement):
        estimate = super()._estimate(tick, measurement)
        return estimate if measurement is None else self.altered(estimate)


class Unstated(Lpa):
    pass


class WithoutBlock(Lpa):
    """Noise, and nothing else."""


class LacksFormula(Lpa):
    """Noise.

    Guarantee
        Protects: one unit.
    """


def documented(old: str, new: str) -> type[Lpa]:
    """Lpa with another docstring; made in a function so that nobody takes it for a doctest."""
    assert old in (Lpa.__doc__ or "")
    return type("Documented", (Lpa,), {"__doc__": (Lpa.__doc__ or "").replace(old, new), "__module__": __name__})


class PromisesLess(Broken):
    def __init__(self, keys, guarantee, *, source=None):
        super().__init__(keys, Guarantee.pure(guarantee.unit, guarantee.budget / 2), source=source)


class LittleNoise(Broken):
    def _measure(self, counts, cost):
        return super()._measure(counts, Cost(epsilon=cost.epsilon * 3, rho=cost.rho * 9))._replace(cost=cost)


class Overcharges(Broken):
    """Costs twice what it may, and an account that looks away."""

    def cost(self, tick: Tick) -> Cost:
        even = self._account.even_cost
        return Cost(even.epsilon * 2, even.rho * 2)

    def __init__(self, keys, guarantee, *, source=None):
        super().__init__(keys, guarantee, source=source)
        self._account.hold = lambda tick, cost: None  # type: ignore[method-assign]
        self._account.settle = lambda cost: None  # type: ignore[method-assign]
        self._account.check = lambda tick, cost: Fraction(0)  # type: ignore[method-assign]


class CostsMoreThanAnnounced(Broken):
    def cost(self, tick: Tick) -> Cost:
        even = self._account.even_cost
        return Cost(even.epsilon / 2, even.rho / 2)

    def _publish(self, tick, estimate, measurement, cost):
        return super()._publish(tick, estimate, measurement, self._account.even_cost)


class MeasuresForFree(Broken):
    def _publish(self, tick, estimate, measurement, cost):
        return super()._publish(tick, estimate, measurement, Cost.nothing())


class NeverMeasures(Broken):
    def cost(self, tick: Tick) -> Cost:
        return Cost.nothing()


class ForgetsToCharge(Broken):
    @property
    def spent(self) -> Fraction:
        return Fraction(0)


class NoHorizon(Broken):
    """Goes on after the horizon, for free."""

    def broken_release(self, counts: Counts) -> Release:
        horizon = self.guarantee.unit.horizon
        if horizon is not None and counts.tick.index >= horizon:
            return self._publish(counts.tick, self._estimate(counts.tick, None), None, Cost.nothing())
        return Lpa.release(self, counts)


class PaysAtTheHorizon(Broken):
    _fine = Fraction(0)

    def broken_release(self, counts: Counts) -> Release:
        horizon = self.guarantee.unit.horizon
        if horizon is not None and counts.tick.index >= horizon:
            self._fine = Fraction(1)
        return Lpa.release(self, counts)

    @property
    def spent(self) -> Fraction:
        return super().spent + self._fine


class ForgetsItsState(Broken):
    """Smooths, and does not store what it smooths with."""

    _memory = 0.0

    def altered(self, e):
        self._memory = 0.5 * self._memory + 0.5 * e.values
        return Estimate(self._memory, e.standard_errors, e.lower, e.upper)


class SnapshotMoves(Broken):
    def _estimate(self, tick, measurement):
        if measurement is None:
            self._last += 1
        else:
            self._last[:] = measurement.values
        return super()._estimate(tick, measurement)

    def _restore(self, facts, arrays):
        self._last = arrays["last"].copy()


class RestoresAnything(Broken):
    def restore(self, snapshot: Snapshot) -> None:
        if snapshot.kind == self.name:
            super().restore(snapshot)


class RestoresOtherKeys(Broken):
    def _identity(self):
        return {**super()._identity(), "keys": ""}


class RestoresOtherGuarantees(Broken):
    def _identity(self):
        return {**super()._identity(), "guarantee": {}}


class RestoresThenRefuses(Broken):
    def restore(self, snapshot: Snapshot) -> None:
        try:
            super().restore(snapshot)
        except Exception:
            self._account.charge(0, self._account.even_cost)
            raise


class RestoresElsewhere(Broken):
    def restore(self, snapshot: Snapshot) -> None:
        super().restore(snapshot)
        self._next += 1


class RestoresBroke(Broken):
    def restore(self, snapshot: Snapshot) -> None:
        super().restore(snapshot)
        self._account.restore({"last": -1, "composition": {"largest": []}})


class Remembers(Broken):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._all = []

    def broken_release(self, counts: Counts) -> Release:
        self._all.append(Lpa.release(self, counts))
        return self._all[-1]


class SnapshotGrows(Broken):
    _ticks = 0

    def _state(self):
        return {"past": "x" * self._next}, {"last": self._last}


class ChargesForPredictions(Broken):
    def broken_predict(self, tick: Tick, lost: Cost | None = None) -> Release:
        return Lpa.predict(self, tick, lost or self._account.even_cost)


class HidesTheCharge(ChargesForPredictions):
    def broken_predict(self, tick: Tick, lost: Cost | None = None) -> Release:
        r = super().broken_predict(tick, lost)
        return Release(r.tick, r.keys, r.values, r.standard_errors, r.lower, r.upper)


class MeasuresPredictions(Broken):
    def broken_predict(self, tick: Tick, lost: Cost | None = None) -> Release:
        Lpa.predict(self, tick, lost)
        estimate = self._estimate(tick, None)
        return Release(tick, self.keys, *estimate[:4], np.zeros(len(self.keys), dtype=np.int64), 1.0)


class PredictsNonsense(Broken):
    def _estimate(self, tick, measurement):
        nothing = np.full(len(self.keys), np.nan)
        return Estimate(nothing, nothing.copy(), nothing.copy(), nothing.copy())


class GapsDiffer(Broken):
    """Decays over explicit predictions only."""

    def broken_predict(self, tick: Tick, lost: Cost | None = None) -> Release:
        self._scale = getattr(self, "_scale", 1.0) * 0.5
        return Lpa.predict(self, tick, lost)

    def altered(self, e):
        return Estimate(e.values * getattr(self, "_scale", 1.0), e.standard_errors, e.lower, e.upper)


class ForgivesLosses(Broken):
    def broken_predict(self, tick: Tick, lost: Cost | None = None) -> Release:
        return Lpa.predict(self, tick, None)


class HalfIntervals(Broken):
    def altered(self, e):
        return Estimate(e.values, e.standard_errors, (e.values + e.lower) / 2, (e.values + e.upper) / 2)


class WideIntervals(Broken):
    def altered(self, e):
        return Estimate(e.values, e.standard_errors, e.lower - 1e6, e.upper + 1e6)


class BackwardIntervals(Broken):
    def altered(self, e):
        return Estimate(e.values, e.standard_errors, e.upper, e.lower)


class NegativeErrors(Broken):
    def altered(self, e):
        return Estimate(e.values, -e.standard_errors, e.lower, e.upper)


class Talks(Broken):
    """Lets the counts out by the way that `by` names."""

    by = "log"
    _seen = ""

    def broken_release(self, counts: Counts) -> Release:
        secret = counts.values.reveal()
        self._seen = str(secret.tolist())
        if self.by == "log":
            logging.getLogger("talks").debug("counts %s", self._seen)
        elif self.by == "print":
            print(self._seen)
        elif self.by == "warning":
            warnings.warn(self._seen, stacklevel=1)
        elif self.by == "error" and counts.tick.index < self.next_tick:
            raise InvalidParameter(f"not again: {self._seen}")
        elif self.by == "array":
            self._kept = secret.astype(np.float64)
        if self.by in ("repr", "pickle"):
            return Lpa.release(self, counts)
        self_seen, self._seen = self._seen, ""
        try:
            return Lpa.release(self, counts)
        finally:
            if self.by == "facts":
                self._seen = self_seen

    def __repr__(self) -> str:
        return f"<{self._seen}>" if self.by == "repr" else "<lpa>"

    def __reduce__(self):
        return (str, (self._seen if self.by == "pickle" else "",))

    def _state(self):
        facts, arrays = super()._state()
        if self.by == "array" and hasattr(self, "_kept"):
            arrays = {**arrays, "kept": self._kept}
        return ({**facts, "seen": self._seen} if self.by == "facts" else facts), arrays


class Untyped(Broken):
    def broken_release(self, counts: Counts) -> Release:
        if counts.keys != self.keys:
            raise KeyError("keys")
        return Lpa.release(self, counts)


class SaysNothing(Broken):
    def broken_release(self, counts: Counts) -> Release:
        try:
            return Lpa.release(self, counts)
        except Exception as refused:
            refused.message = ""  # type: ignore[attr-defined]
            raise


class AcceptsTwice(Broken):
    def broken_release(self, counts: Counts) -> Release:
        tick = max(counts.tick.index, self.next_tick)
        return Lpa.release(self, Counts(counts.keys, Tick(tick), counts.values))


class PaysForRefusals(Broken):
    _fine = Fraction(0)

    def broken_release(self, counts: Counts) -> Release:
        try:
            return Lpa.release(self, counts)
        except Exception:
            self._fine += Fraction(1, 100)
            raise

    @property
    def spent(self) -> Fraction:
        return super().spent + self._fine


class RemembersRefusals(PaysForRefusals):
    @property
    def spent(self) -> Fraction:
        return self._account.spent

    def _state(self):
        return {"refused": str(self._fine)}, {"last": self._last}


class ChargesForKeys(Broken):
    def broken_change_domain(self, keys: Domain) -> None:
        Lpa.change_domain(self, keys)
        self._account.charge(self.next_tick, self._even_cost)


class LosesItsPlace(Broken):
    def broken_change_domain(self, keys: Domain) -> None:
        Lpa.change_domain(self, keys)
        self._next = 0


class KeepsItsKeys(Broken):
    def broken_change_domain(self, keys: Domain) -> None: ...


class SaysItCannot(Broken):
    traits = Traits(even_cost=False)

    def broken_change_domain(self, keys: Domain) -> None:
        self.keys = keys


class RefusesKeysAndRemembers(Broken):
    def broken_change_domain(self, keys: Domain) -> None:
        self._last = self._last + 1
        raise InvalidParameter("No.")


class RefusesKeysWithoutAWord(Broken):
    def broken_change_domain(self, keys: Domain) -> None:
        raise InvalidParameter("")


class TakesEarlierKeys(Broken):
    def broken_release(self, counts: Counts) -> Release:
        return Lpa.release(self, Counts.of(self.keys, counts.tick, [5] * len(self.keys)))


class ForgetsWithOtherKeys(Broken):
    """After a change it goes on with what it has not written down."""

    def broken_change_domain(self, keys: Domain) -> None:
        Lpa.change_domain(self, keys)
        self._moved = 7.0

    def _estimate(self, tick, measurement):
        told = super()._estimate(tick, measurement)
        return told._replace(values=told.values + getattr(self, "_moved", 0.0))


class ChoosesNoiseByKeys(Broken):
    """Little noise for those who count in two columns: what is right with three keys is wrong after a change."""

    def _measure(self, counts, cost):
        more = 3 if len(self.keys) == 2 else 1
        return super()._measure(counts, Cost(cost.epsilon * more, cost.rho * more))._replace(cost=cost)


CONTROLS: list[tuple[str, Callable[..., OnlineMechanism], str]] = [
    ("guarantee_is_stated", Unstated, "docstring of its own"),
    ("guarantee_is_stated", WithoutBlock, "no Guarantee block"),
    ("guarantee_is_stated", LacksFormula, "lacks"),
    ("guarantee_is_stated", documented("print(lpa.guarantee)", "lpa.guarantee"), "prints its guarantee"),
    ("guarantee_is_stated", documented("docs/proofs/perturbation.md (proved)", "obvious"), "does not say"),
    ("guarantee_is_stated", documented("perturbation.md", "nowhere.md"), "does not exist"),
    ("guarantee_is_kept_as_given", PromisesLess, "promises something else"),
    ("guarantee_survives_an_audit", LittleNoise, "BROKEN"),
    ("neighbours_look_the_same", LittleNoise, "was charged"),
    ("never_charges_more_than_stated", Overcharges, "was charged"),
    ("never_charges_more_than_stated", CostsMoreThanAnnounced, "announced"),
    ("never_charges_more_than_stated", MeasuresForFree, "cost nothing"),
    ("never_charges_more_than_stated", NeverMeasures, "Not one tick"),
    ("never_charges_more_than_stated", ForgetsToCharge, "account says"),
    ("never_charges_more_than_stated", NoHorizon, "beyond the horizon"),
    ("never_charges_more_than_stated", PaysAtTheHorizon, "charged for"),
    ("restore_gives_the_same_future", ForgetsItsState, "released differently"),
    ("restore_gives_the_same_future", SnapshotMoves, "changed while"),
    ("restore_gives_the_same_future", RestoresAnything, "another method"),
    ("restore_gives_the_same_future", RestoresOtherKeys, "other keys was accepted"),
    ("restore_gives_the_same_future", RestoresOtherGuarantees, "another guarantee was accepted"),
    ("restore_gives_the_same_future", RestoresThenRefuses, "left a trace"),
    ("restore_gives_the_same_future", RestoresElsewhere, "another tick"),
    ("restore_gives_the_same_future", RestoresBroke, "another amount"),
    ("memory_is_bounded", Remembers, "left .* bytes in memory"),
    ("memory_is_bounded", SnapshotGrows, "snapshot grew"),
    ("missing_ticks_are_predicted", ChargesForPredictions, "prediction cost"),
    ("missing_ticks_are_predicted", HidesTheCharge, "was charged for"),
    ("missing_ticks_are_predicted", MeasuresPredictions, "carries measurements"),
    ("missing_ticks_are_predicted", GapsDiffer, "gap differs"),
    ("predictions_come_before_any_release", PredictsNonsense, "NaN"),
    ("lost_ticks_stay_charged", ForgivesLosses, "lost tick"),
    ("lost_ticks_stay_charged", NeverMeasures, "announced to cost nothing"),
    ("intervals_cover", HalfIntervals, "said to cover"),
    ("intervals_cover", WideIntervals, "too wide"),
    ("intervals_cover", BackwardIntervals, "ends before it begins"),
    ("intervals_cover", NegativeErrors, "negative"),
    ("other_keys_cost_nothing", ChargesForKeys, "charged for"),
    ("other_keys_cost_nothing", LosesItsPlace, "stands at tick 0, not 3"),
    ("other_keys_cost_nothing", KeepsItsKeys, "earlier ones are still counted by"),
    ("other_keys_cost_nothing", SaysItCannot, "although the traits say"),
    ("other_keys_cost_nothing", RefusesKeysAndRemembers, "left a trace"),
    ("other_keys_cost_nothing", RefusesKeysWithoutAWord, "says nothing"),
    ("other_keys_cost_nothing", TakesEarlierKeys, "earlier keys were accepted"),
    ("other_keys_cost_nothing", ForgetsWithOtherKeys, "tick 3 is released differently"),
    ("other_keys_cost_nothing", ChoosesNoiseByKeys, "was charged"),
    ("bad_input_spends_nothing", Untyped, "KeyError instead of UnknownKey"),
    ("bad_input_spends_nothing", SaysNothing, "says nothing"),
    ("bad_input_spends_nothing", AcceptsTwice, "was accepted"),
    ("bad_input_spends_nothing", PaysForRefusals, "charged for"),
    ("bad_input_spends_nothing", RemembersRefusals, "left a trace"),
]


@pytest.mark.parametrize(("check", "broken", "words"), CONTROLS, ids=lambda x: getattr(x, "__name__", str(x)))
def test_a_broken_releaser_is_caught(check: str, broken: Callable[..., OnlineMechanism], words: str) -> None:
    with pytest.raises(CheckFailed, match=words):
        check_releaser(broken, only=[check])


@pytest.mark.parametrize(
    ("by", "place"),
    [
        ("log", "the log"),
        ("print", "standard output"),
        ("warning", "warnings"),
        ("error", "the error for a tick twice"),
        ("repr", "repr of the releaser"),
        ("pickle", "the pickled releaser"),
        ("facts", "the snapshot's facts"),
        ("array", "the snapshot's bytes"),
    ],
)
def test_every_way_out_is_watched(by: str, place: str) -> None:
    leaky = type("Leaky", (Talks,), {"by": by})
    with pytest.raises(CheckFailed, match=place):
        check_releaser(leaky, only=["confidential_values_stay_inside"])


@pytest.mark.parametrize("check", CHECKS)
def test_a_grid_keeps_every_promise(check: str) -> None:
    subject = Subject(factory("lpa"), keys=Grid(3, 1))
    assert check_releaser(subject, only=[check]) == [check]


def test_the_checks_feed_three_keys() -> None:
    with pytest.raises(InvalidParameter, match=r"a domain of 3 keys; got Grid\(2 x 2\)"):
        Subject(Lpa, keys=Grid(2, 2))


def test_every_check_has_a_control() -> None:
    assert {*CHECKS} == {check for check, _, _ in CONTROLS} | {"confidential_values_stay_inside"}


def test_endless_intervals_count_neither_way() -> None:
    class Endless(Broken):
        def altered(self, e):
            return Estimate(e.values, e.standard_errors, e.lower * 0, np.full(len(self.keys), np.inf))

    check_releaser(Subject(Endless, coverage_runs=50), only=["intervals_cover"])
