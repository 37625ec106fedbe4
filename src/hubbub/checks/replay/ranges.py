"""A range stream on two neighbouring streams, with noise moved so that the same numbers are published."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.checks.failure import expect
from hubbub.checks.replay.drawn import Drawn
from hubbub.checks.replay.loss import Loss
from hubbub.checks.replay.replayed import Replayed, within
from hubbub.checks.replay.script import CROWDS, presence
from hubbub.checks.replay.tape import Law, Row, Tape
from hubbub.checks.replay.transcript import Transcript
from hubbub.checks.response import Response, Step, read_ranges
from hubbub.checks.sensitivity import shifts_of
from hubbub.confidential import Confidential, Counts
from hubbub.noise import ByteSource, IntegerNoise, simulation
from hubbub.privacy import Guarantee, Unit
from hubbub.ranges import RangeStream, Toeplitz
from hubbub.released import Domain, Snapshot, Tick

Maker: TypeAlias = Callable[[Domain, ByteSource | None], RangeStream]
"""A fresh stream for these keys that draws from this source."""

Table: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class RangePair:
    """Counts of the measured ticks of `script` with one unit and without it, a row each."""

    keys: Domain
    script: Sequence[Step]
    one: Table
    two: Table

    def name(self, step: int) -> str:
        what, number = self.script[step]
        return f"step {step} ({what} {number})"


def draw_ranges(
    generator: np.random.Generator,  # not for privacy
    unit: Unit,
    keys: Domain,
    *,
    batches: bool,
    length: int = 90,
) -> RangePair:
    """Random others and a random unit; ticks one by one or, with `batches`, many at once; questions and restarts."""
    script: list[Step] = []
    indices: list[int] = []
    tick, end = 0, unit.horizon or 2**40
    while len(indices) < length and tick < end:
        part = min(int(generator.integers(1, 40)), length - len(indices), end - tick)
        script.append(("batch" if batches and generator.random() < 0.5 else "ticks", part))
        indices += range(tick, tick + part)
        tick += part
        chance = generator.random()
        if chance < 0.3 and tick + 5 < end:
            tick += (gap := int(generator.integers(1, 5)))
            script.append(("skip", gap))
        elif chance < 0.6:
            script.append(("restart", 0))
        elif chance < 0.8:
            script.append(("ask", int(generator.integers(1, 33))))
    two = generator.poisson(generator.choice(CROWDS), (len(indices), len(keys)))
    one = two.copy()
    rows = {index: row for row, index in enumerate(indices)}
    for index in presence(generator, unit, indices):
        one[rows[index], generator.choice(len(keys), min(unit.max_items, len(keys)), replace=False)] += 1
    return RangePair(keys, script, *((one, two) if generator.random() < 0.5 else (two, one)))


class RangeTape(Tape):
    """Noise of a tree is put together before a count comes, so it cannot wait for one.

    Instead it is moved: where the unit has d more in the ticks of a node, that node's noise is d less. `moves` says by
    how much, one row a draw; then the same numbers come out, if nothing else depends on the counts. Toeplitz noise is
    added to sums of counts, and waits for them as on every tape.
    """

    def __init__(
        self, source: ByteSource, response: Response, moves: Table, recorded: Sequence[Row] | None = None
    ) -> None:
        super().__init__(source, recorded)
        self._response, self._moves, self._drawn = response, moves, 0

    def again(self) -> RangeTape:
        recorded = self._recorded if self._recorded is not None else self.rows
        return RangeTape(self._source, self._response, self._moves, recorded)

    def draw(self, noise: IntegerNoise, n: int) -> Drawn | Table:  # type: ignore[override]
        keys = self._moves.shape[1]
        first, self._drawn = self._drawn, self._drawn + n // keys
        draws = self._response.draws
        expect(self._drawn <= len(draws), "More noise was drawn than when the stream was read with impulses.")
        expect(
            all(Law.of(draw.noise) == Law.of(noise) for draw in draws[first : self._drawn]),
            "Other noise was drawn than when the stream was read with impulses.",
        )
        row = self._row(Law.of(noise), n)
        self.rows.append(row)
        if isinstance(self._response.strategies[draws[first].segment], Toeplitz):
            return Drawn(row, np.arange(n))
        row.used[:] = True
        if self._recorded is not None:
            row.given[:] = self._moves[first : self._drawn].reshape(-1)
        return row.noise - row.given


def replay_ranges(make: Maker, pair: RangePair, guarantee: Guarantee, seed: int = 0) -> Replayed:
    """Play `pair` through the range stream that `make` makes; what tells the neighbours apart is raised.

    The stream is first read with impulses (`read_ranges`): that tells which ticks each noisy number sums. The same
    noise, less what the unit has in those ticks, must then publish the same for the neighbour, rounding and all; and
    what the noise was moved by must cost no more than is promised.
    """
    response = read_ranges(lambda keys: make(keys, None), pair.script)
    moves = _moves(response, pair)
    with simulation(seed) as source:
        first = RangeTape(source, response, moves)
        seen = _play(make, pair, pair.one, first)
        second = first.again()
        seen_again = _play(make, pair, pair.two, second)
    seen.expect_same(seen_again, pair.name)
    second.finish()
    # A node lasts for many ticks, so that no tick has a price of its own: the whole unit is weighed.
    cost = Loss.between(first.rows, second.rows, guarantee).total
    return within(cost, guarantee, first, restarts=sum(what == "restart" for what, _ in pair.script))


def _moves(response: Response, pair: RangePair) -> Table:
    """What the second neighbour has more than the first in the sum that each draw hides, a column per key."""
    weights = shifts_of(response)
    owners = [response.strategies[draw.segment] for draw in response.draws]
    for n, strategy in enumerate(owners):
        if isinstance(strategy, Toeplitz):
            weights[n] = 0.0  # these wait for what they are added to
    whole = np.rint(weights)
    expect(
        float(np.abs(weights - whole).max(initial=0.0)) < 0.01,
        "A noisy number of a tree is no plain sum of counts.",
    )
    moves: Table = whole.astype(np.int64) @ (pair.two - pair.one)
    return moves


def _play(make: Maker, pair: RangePair, table: Table, tape: Tape) -> Transcript:
    seen, stream, tick, row = Transcript(), make(pair.keys, tape), 0, 0
    for number, (what, many) in enumerate(pair.script):
        tape.step = number
        with seen.refusals(number):
            if what == "ticks":
                for _ in range(many):
                    seen.release(number, stream.release(Counts.of(pair.keys, Tick(tick), table[row])))
                    seen.note(number, "the snapshot", stream.snapshot().to_bytes())
                    tick, row = tick + 1, row + 1
            elif what == "batch":
                rows = stream.release_many(Confidential(table[row : row + many]))
                seen.note(number, "the increments of a batch", rows.tobytes())
                tick, row = tick + many, row + many
            elif what == "skip":
                tick += many
                seen.release(number, stream.predict(Tick(tick - 1)))
            elif what == "ask":
                stream.history.restore([many] * stream.history.size)
            else:
                stored = stream.snapshot().to_bytes()
                stream = make(pair.keys, tape)
                stream.restore(Snapshot.from_bytes(stored))
        seen.note(number, "the snapshot", stream.snapshot().to_bytes())
        seen.note(number, "what is spent", stream.spent)
        seen.note(number, "whether a segment begins", stream.begins_segment)
    return seen
