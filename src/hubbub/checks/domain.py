"""What is counted may change by what was released: nothing is charged for it, and nothing else changes."""

from __future__ import annotations

import numpy as np

from hubbub.checks.failure import expect
from hubbub.checks.replay.releaser import replay_releaser
from hubbub.checks.replay.script import draw_pair
from hubbub.checks.subject import Subject, Tape, counts, same
from hubbub.errors import HubbubError
from hubbub.mechanism import OnlineMechanism
from hubbub.noise import simulation
from hubbub.privacy import Guarantee, Session
from hubbub.released import Discovered, Domain, Grid, Release, Snapshot

_OTHERS = Grid(2, 2)
_TICKS, _PAIRS = 12, 3


def other_keys_cost_nothing(subject: Subject) -> None:
    """A releaser goes on with other keys, its account and its ticks as they were; or it refuses, and nothing changed.

    Neighbours that see the same noisy values count by the same keys, and cannot be told apart after a change either.
    """
    with simulation(8) as past, simulation(9) as future, simulation(9) as again:
        tape = Tape(past)
        releaser = subject.make(source=tape)
        for tick in range(3):
            releaser.release(subject.counts(tick))
        if not _changed(releaser):
            return
        tape.source = future
        restored = subject.make(source=Tape(again), keys=_OTHERS)
        restored.restore(Snapshot.from_bytes(releaser.snapshot().to_bytes()))
        _go_on(releaser, restored, subject.counts(3).keys)
    _neighbours(subject)


def _changed(releaser: OnlineMechanism) -> bool:
    """Whether it counts by other keys now; a refusal leaves no trace."""
    before, spent, at = releaser.snapshot().to_bytes(), releaser.spent, releaser.next_tick
    try:
        releaser.change_domain(_OTHERS)
    except HubbubError as refused:
        expect(bool(refused.message), "The refusal of other keys says nothing.")
        expect(releaser.snapshot().to_bytes() == before, "Other keys were refused and left a trace.")
        return False
    expect(releaser.traits.changes_domain, "Other keys were accepted, although the traits say that they are not.")
    expect(releaser.keys == _OTHERS, "Other keys were accepted, and the earlier ones are still counted by.")
    expect(releaser.spent == spent, "Other keys were charged for.")
    expect(releaser.next_tick == at, f"With other keys the releaser stands at tick {releaser.next_tick}, not {at}.")
    return True


def _go_on(releaser: OnlineMechanism, restored: OnlineMechanism, earlier: Domain) -> None:
    try:
        releaser.release(counts(3, keys=earlier))
    except HubbubError:
        pass
    else:
        expect(False, "Counts by the earlier keys were accepted.")
    for tick in (3, 5):
        one, two = (each.release(counts(tick, keys=_OTHERS)) for each in (releaser, restored))
        expect(one.keys == _OTHERS, "A release has other keys than its counts.")
        expect(same(one, two), f"After other keys and a restore, tick {tick} is released differently.")
    expect(releaser.spent == restored.spent, "After other keys and a restore, another amount is charged.")


def _neighbours(subject: Subject) -> None:
    for unit in (Session(max_ticks=3), Session(max_ticks=4, max_items=2)):
        for guarantee in (Guarantee.pure(unit, 1), Guarantee.zcdp(unit, "1/2")):
            for seed in range(_PAIRS):
                pair = draw_pair(np.random.default_rng([5, seed]), unit, subject.keys, _TICKS)  # not for privacy
                replay_releaser(lambda source, g=guarantee: subject.make(g, source), pair, seed, _busiest)  # type: ignore[misc]


def _busiest(release: Release) -> Domain:
    """A key alone if its released number is the largest, and all others together; the same rule for every neighbour."""
    first = release.keys.names[int(np.argmax(release.values))]
    return release.keys if first == "other" else Discovered([first], decision="the latest release")
