"""Ticks that are measured elsewhere: debited before anybody is asked, settled when the noisy numbers arrive."""

from __future__ import annotations

from typing import Any

from hubbub.errors import InvalidParameter
from hubbub.mechanism import Measurement, OnlineMechanism
from hubbub.released import Release, Tick
from hubbub.released.few_bits import in_few_bits
from hubbub.store.curator import Curator
from hubbub.store.debit import Debit
from hubbub.store.faults import fault_point
from hubbub.store.ledger import Ledger, Moved, taken
from hubbub.store.owner import AWAITS


class AwaitingCurator(Curator):
    """A curator whose noise is drawn elsewhere, between two calls that may lie hours and restarts apart.

    `debit` a tick before the first share of it is asked for; `accept` its measurement, or `give_up`. Several ticks may
    wait; they get their outcomes in order. A tick that waits when the process ends still waits when it is started
    again: whoever measures draws once and keeps what was drawn, so taking the numbers later draws nothing anew.

    Guarantee
        Protects: what the releaser's guarantee protects, as `Curator` does.
        Enforced by the caller: that a tick's measurement is drawn once, after `debit` returned, with the noise that it
        says, and that its bounds hold.
        Formula: as `Curator`: every debit that was made counts, whether or not a measurement came.
        Not covered: as `Curator`.
        Reference: none; the argument is our own.
        Proof: docs/proofs/ledger.md (proved, section "Ticks that are measured elsewhere").
    """

    def __init__(self, ledger: Ledger, releaser: OnlineMechanism[Any]) -> None:
        super().__init__(ledger, releaser, owner=f"{AWAITS}:{ledger.stream.genesis.hex()[:16]}")

    def debit(self, tick: Tick) -> None:
        """Debit a tick durably, and mark it; done once, however often it is asked for. Refuses what is not left."""
        with self._lock, self._alive():
            while True:
                self._catch_up()
                held = [debit for debit in self._position.pending if debit.tick == tick.index]
                if not held:
                    if tick.index <= self._position.last_tick:
                        raise taken(tick.index, "it has its outcome already")
                    try:
                        wanted = [(tick, self._releaser.cost(tick))]
                        self._position = self._ledger.reserve(
                            self._position, self._account, wanted, self._owner, "gather"
                        )
                    except Moved:
                        self._stale = True
                        continue
                self._ledger.keep_mark(self._position.pending[-1], self._account)
                return

    @property
    def awaited(self) -> tuple[int, ...]:
        """Ticks that were debited and have no outcome, the first one first."""
        with self._lock, self._alive():
            self._catch_up()
            return tuple(debit.tick for debit in self._position.pending)

    def accept(self, measurement: Measurement) -> Release:
        """The release of the first tick that waits, from what was measured."""
        with self._lock, self._alive():
            self._catch_up()
            debit = self._first(measurement.tick)
            if debit.at != measurement.tick:
                raise InvalidParameter(f"Tick {measurement.tick} is not the one that was debited, {debit.at}.")
            release = in_few_bits(self._releaser.accept(measurement))
            fault_point("draw:done")
            self._settle(release)
            fault_point("publish")
            return release

    def give_up(self, tick: Tick) -> None:
        """Nothing will come of the first tick that waits: it is predicted, and what it was debited stays charged."""
        with self._lock, self._alive():
            self._catch_up()
            debit = self._first(tick)
            self._position = self._ledger.lose(
                self._position, self._account, lambda: self._predicted(debit.at, debit.limit)
            )

    def _first(self, tick: Tick) -> Debit:
        pending = self._position.pending
        if not pending or pending[0].tick != tick.index:
            raise InvalidParameter(
                f"Tick {tick.index} is not the first that waits for its measurement.",
                "Debit a tick before it is measured, and give ticks their outcomes in order.",
            )
        return pending[0]
