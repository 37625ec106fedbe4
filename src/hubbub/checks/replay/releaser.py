"""A mechanism on two neighbouring streams of counts, the second time with the noisy values of the first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.checks.failure import expect
from hubbub.checks.replay.loss import Loss, amount, worst
from hubbub.checks.replay.replayed import Replayed, within
from hubbub.checks.replay.script import CountPair
from hubbub.checks.replay.tape import Tape
from hubbub.checks.replay.transcript import Transcript
from hubbub.mechanism import OnlineMechanism
from hubbub.noise import ByteSource, simulation
from hubbub.released import Cost, Domain, Release, Snapshot, Tick

Maker: TypeAlias = Callable[[ByteSource], OnlineMechanism]
"""A fresh mechanism that draws from this source."""

Decide: TypeAlias = Callable[[Release], Domain]
"""What is counted from the next tick on: the pair's keys, or some of their names and one for all others."""


@dataclass
class Run:
    """One way through the script."""

    tape: Tape
    transcript: Transcript
    costs: dict[int, Cost]


def replay_releaser(make: Maker, pair: CountPair, seed: int = 0, decide: Decide | None = None) -> Replayed:
    """Play `pair` through the mechanism that `make` makes; the first thing that tells the neighbours apart is raised.

    Not told apart means: with the same noisy values every release, cost, refusal, snapshot and sum spent is the same,
    byte by byte, and in each tick the draws were given no more that differs than the tick says it cost. With `decide`
    what is counted next follows from each release, and that must be the same too.
    """
    with simulation(seed) as source:
        first = _play(make, pair, pair.one, Tape(source), decide)
        second = _play(make, pair, pair.two, first.tape.again(), decide)
        guarantee = make(first.tape.again()).guarantee
    first.transcript.expect_same(second.transcript, pair.name)
    second.tape.finish()
    loss = Loss.between(first.tape.rows, second.tape.rows, guarantee)
    for step in loss.steps:
        charged = amount(first.costs.get(step, Cost.nothing()), guarantee)
        expect(
            loss.over([step]) <= charged,
            f"In {pair.name(step)} what the noise was given differs by {loss.over([step])} between neighbours, and "
            f"{charged} was charged.",
        )
    cost = worst(loss, {step: tick for step, (_, tick) in enumerate(pair.steps)}, guarantee)
    return within(cost, guarantee, first.tape, restarts=sum(what == "restart" for what, _ in pair.steps))


def _play(make: Maker, pair: CountPair, table: NDArray[np.int64], tape: Tape, decide: Decide | None) -> Run:
    run = Run(tape, Transcript(), {})
    releaser, seen, keys = make(tape), run.transcript, pair.keys
    for number, (what, index) in enumerate(pair.steps):
        tape.step, tick = number, Tick(index)
        with seen.refusals(number):
            if what == "restart":
                stored = releaser.snapshot().to_bytes()
                releaser = make(tape)
                if keys != releaser.keys:
                    releaser.change_domain(keys)
                releaser.restore(Snapshot.from_bytes(stored))
            elif what == "predict":
                seen.release(number, releaser.predict(tick))
            else:
                counts = pair.counts(table, tick, keys)
                seen.note(number, "the cost that is announced", repr(releaser.check(counts)))
                run.costs[number] = releaser.cost(tick)
                if what == "lose":
                    seen.release(number, releaser.predict(tick, lost=run.costs[number]))
                else:
                    release = releaser.release(counts)
                    run.costs[number] = release.cost
                    seen.release(number, release)
                    wanted = keys if decide is None else decide(release)
                    seen.note(number, "what is counted next", wanted.digest)
                    if wanted != keys:
                        releaser.change_domain(wanted)
                        keys = wanted
        seen.note(number, "the snapshot", releaser.snapshot().to_bytes())
        seen.note(number, "what is spent", (releaser.spent, releaser.slipped))
        seen.note(number, "the next tick", releaser.next_tick)
    return run
