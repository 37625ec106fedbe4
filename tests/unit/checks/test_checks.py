"""Every check passes on every registered releaser, and catches the releaser that was broken for it."""

# ruff: noqa: ARG002, ARG005 - controls override methods and look away
from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from hubbub.checks import CHECKS, CheckFailed, Subject, check_releaser
from hubbub.confidential import Counts
from hubbub.errors import InvalidParameter
from hubbub.privacy import Guarantee
from hubbub.release import METHODS, Lpa, Releaser
from hubbub.release.releaser import Estimate
from hubbub.released import Cost, Release, Snapshot, Tick


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_keeps_every_promise(method: str, check: str) -> None:
    assert check_releaser(METHODS[method], only=[check]) == [check]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_states_its_guarantee(method: str) -> None:
    check_releaser(METHODS[method], only=["guarantee_is_stated", "guarantee_is_kept_as_given"])


def test_an_unknown_check() -> None:
    with pytest.raises(InvalidParameter, match="no check 'magic'"):
        check_releaser(Lpa, only=["magic"])


# ── controls: each breaks one promise ────────────────────────────────────────────────────────────────────────────────


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


class PromisesLess(Lpa):
    def __init__(self, keys, guarantee, *, source=None):
        super().__init__(keys, Guarantee.pure(guarantee.unit, guarantee.budget / 2), source=source)


class LittleNoise(Lpa):
    def release(self, counts: Counts) -> Release:
        cost = self.check(counts)
        measured = self._perturbation.measure(counts, Cost(epsilon=cost.epsilon * 3, rho=cost.rho * 9))
        self._account.charge(counts.tick.index, cost)
        self._next = counts.tick.index + 1
        return self._publish(counts.tick, self._correct(measured, cost), measured, 1.0, cost)


class Overcharges(Lpa):
    """Costs twice what it may, and an account that looks away."""

    def cost(self, tick: Tick) -> Cost:
        even = self._account.even_cost
        return Cost(even.epsilon * 2, even.rho * 2)

    def __init__(self, keys, guarantee, *, source=None):
        super().__init__(keys, guarantee, source=source)
        self._account.check = lambda tick, cost: None  # type: ignore[method-assign]


class CostsMoreThanAnnounced(Lpa):
    def cost(self, tick: Tick) -> Cost:
        even = self._account.even_cost
        return Cost(even.epsilon / 2, even.rho / 2)

    def _publish(self, tick, estimate, measurements, variance, cost):
        return super()._publish(tick, estimate, measurements, variance, self._account.even_cost)


class MeasuresForFree(Lpa):
    def _publish(self, tick, estimate, measurements, variance, cost):
        return super()._publish(tick, estimate, measurements, variance, Cost.nothing())


class NeverMeasures(Lpa):
    def cost(self, tick: Tick) -> Cost:
        return Cost.nothing()


class ForgetsToCharge(Lpa):
    @property
    def spent(self) -> Fraction:
        return Fraction(0)


class NoHorizon(Lpa):
    """Goes on after the horizon, for free."""

    def release(self, counts: Counts) -> Release:
        horizon = self.guarantee.unit.horizon
        if horizon is not None and counts.tick.index >= horizon:
            return self._publish(counts.tick, self._predict(), None, None, Cost.nothing())
        return super().release(counts)


class PaysAtTheHorizon(Lpa):
    _fine = Fraction(0)

    def release(self, counts: Counts) -> Release:
        horizon = self.guarantee.unit.horizon
        if horizon is not None and counts.tick.index >= horizon:
            self._fine = Fraction(1)
        return super().release(counts)

    @property
    def spent(self) -> Fraction:
        return super().spent + self._fine


class ForgetsItsState(Lpa):
    """Smooths, and does not store what it smooths with."""

    _memory = 0.0

    def _correct(self, measurements, cost):
        estimate = super()._correct(measurements, cost)
        self._memory = 0.5 * self._memory + 0.5 * estimate.values
        return Estimate(self._memory, estimate.standard_errors, estimate.lower, estimate.upper)


class SnapshotMoves(Lpa):
    def _correct(self, measurements, cost):
        self._last[:] = measurements
        return super()._correct(measurements, cost)

    def _restore(self, facts, arrays):
        self._last = arrays["last"].copy()

    def _predict(self):
        self._last += 1
        return super()._predict()


class RestoresAnything(Lpa):
    def restore(self, snapshot: Snapshot) -> None:
        if snapshot.kind == self.name:
            super().restore(snapshot)


class RestoresOtherKeys(Lpa):
    def _identity(self):
        return {**super()._identity(), "keys": ""}


class RestoresOtherGuarantees(Lpa):
    def _identity(self):
        return {**super()._identity(), "guarantee": {}}


class RestoresThenRefuses(Lpa):
    def restore(self, snapshot: Snapshot) -> None:
        try:
            super().restore(snapshot)
        except Exception:
            self._account.charge(0, self._account.even_cost)
            raise


class RestoresElsewhere(Lpa):
    def restore(self, snapshot: Snapshot) -> None:
        super().restore(snapshot)
        self._next += 1


class RestoresBroke(Lpa):
    def restore(self, snapshot: Snapshot) -> None:
        super().restore(snapshot)
        self._account.restore({"last": -1, "composition": {"largest": []}})


class Remembers(Lpa):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._all = []

    def release(self, counts: Counts) -> Release:
        self._all.append(super().release(counts))
        return self._all[-1]


class SnapshotGrows(Lpa):
    _ticks = 0

    def _state(self):
        return {"past": "x" * self._next}, {"last": self._last}


class ChargesForPredictions(Lpa):
    def predict(self, tick: Tick, lost: Cost | None = None) -> Release:
        return super().predict(tick, lost or self._account.even_cost)


class HidesTheCharge(ChargesForPredictions):
    def predict(self, tick: Tick, lost: Cost | None = None) -> Release:
        r = super().predict(tick, lost)
        return Release(r.tick, r.keys, r.values, r.standard_errors, r.lower, r.upper)


class MeasuresPredictions(Lpa):
    def predict(self, tick: Tick, lost: Cost | None = None) -> Release:
        super().predict(tick, lost)
        return self._publish(tick, self._predict(), np.zeros(len(self.keys), dtype=np.int64), 1.0, Cost.nothing())


class PredictsNonsense(Lpa):
    def _predict(self):
        nothing = np.full(len(self.keys), np.nan)
        return Estimate(nothing, nothing.copy(), nothing.copy(), nothing.copy())


class GapsDiffer(Lpa):
    """Decays over explicit predictions only."""

    def predict(self, tick: Tick, lost: Cost | None = None) -> Release:
        self._scale = getattr(self, "_scale", 1.0) * 0.5
        return super().predict(tick, lost)

    def _correct(self, measurements, cost):
        e = super()._correct(measurements, cost)
        return Estimate(e.values * getattr(self, "_scale", 1.0), e.standard_errors, e.lower, e.upper)


class ForgivesLosses(Lpa):
    def predict(self, tick: Tick, lost: Cost | None = None) -> Release:
        return super().predict(tick, None)


class HalfIntervals(Lpa):
    def _correct(self, measurements, cost):
        e = super()._correct(measurements, cost)
        return Estimate(e.values, e.standard_errors, (e.values + e.lower) / 2, (e.values + e.upper) / 2)


class WideIntervals(Lpa):
    def _correct(self, measurements, cost):
        e = super()._correct(measurements, cost)
        return Estimate(e.values, e.standard_errors, e.lower - 1e6, e.upper + 1e6)


class BackwardIntervals(Lpa):
    def _correct(self, measurements, cost):
        e = super()._correct(measurements, cost)
        return Estimate(e.values, e.standard_errors, e.upper, e.lower)


class NegativeErrors(Lpa):
    def _correct(self, measurements, cost):
        e = super()._correct(measurements, cost)
        return Estimate(e.values, -e.standard_errors, e.lower, e.upper)


class Talks(Lpa):
    """Lets the counts out by the way that `by` names."""

    by = "log"
    _seen = ""

    def release(self, counts: Counts) -> Release:
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
            return super().release(counts)
        self_seen, self._seen = self._seen, ""
        try:
            return super().release(counts)
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


class Untyped(Lpa):
    def release(self, counts: Counts) -> Release:
        if counts.keys != self.keys:
            raise KeyError("keys")
        return super().release(counts)


class SaysNothing(Lpa):
    def release(self, counts: Counts) -> Release:
        try:
            return super().release(counts)
        except Exception as refused:
            refused.message = ""  # type: ignore[attr-defined]
            raise


class AcceptsTwice(Lpa):
    def release(self, counts: Counts) -> Release:
        tick = max(counts.tick.index, self.next_tick)
        return super().release(Counts(counts.keys, Tick(tick), counts.values))


class PaysForRefusals(Lpa):
    _fine = Fraction(0)

    def release(self, counts: Counts) -> Release:
        try:
            return super().release(counts)
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


CONTROLS: list[tuple[str, Callable[..., Releaser], str]] = [
    ("guarantee_is_stated", Unstated, "docstring of its own"),
    ("guarantee_is_stated", WithoutBlock, "no Guarantee block"),
    ("guarantee_is_stated", LacksFormula, "lacks"),
    ("guarantee_is_stated", documented("print(lpa.guarantee)", "lpa.guarantee"), "prints its guarantee"),
    ("guarantee_is_stated", documented("docs/proofs/perturbation.md (proved)", "obvious"), "does not say"),
    ("guarantee_is_stated", documented("perturbation.md", "nowhere.md"), "does not exist"),
    ("guarantee_is_kept_as_given", PromisesLess, "promises something else"),
    ("guarantee_survives_an_audit", LittleNoise, "BROKEN"),
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
    ("bad_input_spends_nothing", Untyped, "KeyError instead of UnknownKey"),
    ("bad_input_spends_nothing", SaysNothing, "says nothing"),
    ("bad_input_spends_nothing", AcceptsTwice, "was accepted"),
    ("bad_input_spends_nothing", PaysForRefusals, "charged for"),
    ("bad_input_spends_nothing", RemembersRefusals, "left a trace"),
]


@pytest.mark.parametrize(("check", "broken", "words"), CONTROLS, ids=lambda x: getattr(x, "__name__", str(x)))
def test_a_broken_releaser_is_caught(check: str, broken: Callable[..., Releaser], words: str) -> None:
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


def test_every_check_has_a_control() -> None:
    assert {*CHECKS} == {check for check, _, _ in CONTROLS} | {"confidential_values_stay_inside"}


def test_endless_intervals_count_neither_way() -> None:
    class Endless(Lpa):
        def _correct(self, measurements, cost):
            e = super()._correct(measurements, cost)
            return Estimate(e.values, e.standard_errors, e.lower * 0, np.full(len(self.keys), np.inf))

    check_releaser(Subject(Endless, coverage_runs=50), only=["intervals_cover"])
