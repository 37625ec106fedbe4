"""Stopping and going on changes nothing; memory does not grow."""

from __future__ import annotations

import gc
import tracemalloc

from hubbub.checks.failure import expect
from hubbub.checks.subject import Subject, Tape, counts, same
from hubbub.errors import HubbubError
from hubbub.mechanism import OnlineMechanism
from hubbub.noise import simulation
from hubbub.privacy import Guarantee, Session
from hubbub.released import Keys, Snapshot, Tick

_WARM, _LONG = 150, 450
_GROWTH = 50_000
"""Bytes that 300 further ticks may add: far less than 300 vectors with their bookkeeping."""


def restore_gives_the_same_future(subject: Subject) -> None:
    """A releaser restored from a snapshot's bytes goes on exactly as the one it was taken from."""
    with simulation(1) as past, simulation(2) as future, simulation(2) as again:
        tape = Tape(past)
        first = subject.make(source=tape)
        for tick in (0, 1, 2, 5, 6):  # with a gap
            first.release(subject.counts(tick))
        first.predict(Tick(7))
        data = first.snapshot().to_bytes()
        tape.source = future
        second = subject.make(source=Tape(again))
        second.restore(Snapshot.from_bytes(data))
        expect(second.next_tick == first.next_tick, "The restored releaser stands at another tick.")
        expect(second.spent == first.spent, "The restored releaser has spent another amount.")
        expect(second.snapshot().to_bytes() == data, "A snapshot of the restored releaser differs from the original.")
        taken = first.snapshot()
        for tick in (8, 9, 11, 12, 20):
            one, two = first.release(subject.counts(tick)), second.release(subject.counts(tick))
            expect(same(one, two), f"After a restore, tick {tick} is released differently.")
        expect(first.spent == second.spent, "After a restore, another amount is charged.")
        expect(taken.to_bytes() == data, "A snapshot changed while its releaser went on.")
        _refuses_strange_states(subject, taken)


def _refuses_strange_states(subject: Subject, taken: Snapshot) -> None:
    others = {
        "another method": (subject.make(), Snapshot("another method", 1)),
        "other keys": (subject.make(keys=Keys(subject.keys.names[::-1])), taken),
        "another guarantee": (subject.make(Guarantee.pure(Session(max_ticks=20), "1/2")), taken),
    }
    for what, (releaser, snapshot) in others.items():
        try:
            releaser.restore(snapshot)
        except HubbubError:
            expect(releaser.spent == 0, f"The snapshot of {what} was refused and left a trace.")
        else:
            expect(False, f"The snapshot of {what} was accepted.")


def memory_is_bounded(subject: Subject) -> None:
    """A long stream leaves no trace in memory, nor in the snapshot."""
    with simulation(5) as source:
        _run_long(subject.make(Guarantee.pure(Session(max_ticks=20), 1), Tape(source)))


def _run_long(releaser: OnlineMechanism) -> None:
    def run(start: int, end: int) -> int:
        for tick in range(start, end):
            releaser.release(counts(tick, keys=releaser.keys))
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    started_here = not tracemalloc.is_tracing()
    if started_here:
        tracemalloc.start()
    try:
        before, early = run(0, _WARM), len(releaser.snapshot().to_bytes())
        after, late = run(_WARM, _LONG), len(releaser.snapshot().to_bytes())
    finally:
        if started_here:
            tracemalloc.stop()
    expect(after - before < _GROWTH, f"{_LONG - _WARM} ticks left {after - before:,} bytes in memory.")
    # Numbers may gain digits; a list that gains an entry per tick gains far more.
    expect(late - early < 100, f"The snapshot grew from {early:,} to {late:,} bytes.")
