"""A tick that nobody measured is predicted."""

from __future__ import annotations

import numpy as np

from hubbub.checks.failure import expect
from hubbub.checks.subject import Subject, same
from hubbub.noise import simulation
from hubbub.released import Release, Tick


def missing_ticks_are_predicted(subject: Subject) -> None:
    """Predictions are free, look at no data, and a gap is the same as predicting each of its ticks."""
    with simulation(4) as one, simulation(4) as two:
        by_hand, by_gap = subject.make(source=one), subject.make(source=two)
        for tick in range(3):
            by_hand.release(subject.counts(tick))
            by_gap.release(subject.counts(tick))
        for tick in (3, 4, 5):
            spent = by_hand.spent
            prediction = by_hand.predict(Tick(tick))
            _is_a_prediction(prediction)
            expect(prediction.cost.is_free, f"A prediction cost {prediction.cost}.")
            expect(by_hand.spent == spent, "A prediction was charged for.")
        expect(
            same(by_hand.release(subject.counts(6)), by_gap.release(subject.counts(6))),
            "A gap differs from its predictions.",
        )
        expect(by_gap.next_tick == 7, f"After tick 6 the releaser stands at {by_gap.next_tick}.")


def predictions_come_before_any_release(subject: Subject) -> None:
    """A stream may begin with a gap."""
    releaser = subject.make()
    _is_a_prediction(releaser.predict(Tick(0)))
    releaser.release(subject.counts(3))


def lost_ticks_stay_charged(subject: Subject) -> None:
    """What a crash had charged for a tick is charged when the tick is predicted instead."""
    releaser = subject.make()
    for tick in range(30):
        cost = releaser.cost(Tick(tick))
        if not cost.is_free:
            break
        releaser.release(subject.counts(tick))
    else:
        expect(False, "Thirty ticks in a row were announced to cost nothing.")
    spent = releaser.spent
    lost = releaser.predict(Tick(tick), lost=cost)
    _is_a_prediction(lost)
    expect(lost.cost == cost, f"The lost tick had cost {cost} and says {lost.cost}.")
    expect(releaser.spent > spent, "A lost tick was not charged for.")


def _is_a_prediction(release: Release) -> None:
    expect(release.is_predicted, "A tick that nobody measured carries measurements.")
    for name in ("values", "standard_errors", "lower", "upper"):
        expect(not np.isnan(getattr(release, name)).any(), f"A prediction's {name} hold NaN.")
    inside = (release.lower <= release.values) & (release.values <= release.upper)
    expect(bool(inside.all()), "A predicted value lies outside its own interval.")
