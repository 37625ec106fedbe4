"""What every online mechanism for vectors of counts has in common."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.errors import GuaranteeChanged, SchemaMismatch, TickOutOfOrder, UnknownKey
from hubbub.noise import ByteSource
from hubbub.privacy import Account, Guarantee
from hubbub.release.perturbation import Perturbation
from hubbub.released import Cost, Keys, Release, Snapshot, Tick

MOST_MISSING = 1_000_000
"""A longer gap is a wrong clock rather than a pause."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an estimator believes after a tick, one entry a key."""

    values: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


class Releaser(ABC):
    """Turns one confidential vector a tick into one released vector.

    A subclass says how to estimate: `_correct` after a measurement, `_predict` where there is none, and `_state` /
    `_restore` for what it remembers. It is handed noisy values only. Charging, the order of ticks, gaps and noise
    are done here, once: charge first, then draw.
    """

    name: ClassVar[str]
    state_version: ClassVar[int] = 1

    def __init__(self, keys: Keys, guarantee: Guarantee, *, source: ByteSource | None = None) -> None:
        self.keys = keys
        self.guarantee = guarantee
        self._account = Account(guarantee)
        self._perturbation = Perturbation(guarantee, source)
        self._next = 0

    # ── what a stream does ───────────────────────────────────────────────────────────────────────────────────────

    def cost(self, tick: Tick) -> Cost:  # noqa: ARG002 - adaptive mechanisms look at it
        """What releasing `tick` will cost at most; decided from released values only. Free means: it is predicted."""
        return self._account.even_cost

    def check(self, counts: Counts) -> Cost:
        """Raise what `release(counts)` would refuse, and change nothing; otherwise what it will cost at most.

        A store calls this before it debits: what is refused must not be written down as spent.
        """
        if counts.keys != self.keys:
            raise UnknownKey(
                f"The counts have other keys than the stream: {counts.keys!r} instead of {self.keys!r}.",
                "Keys are fixed when a stream is made; start a new stream for other keys.",
            )
        self._check_order(counts.tick)
        cost = self.cost(counts.tick)
        self._account.check(counts.tick.index, cost)
        return cost

    def release(self, counts: Counts) -> Release:
        """Spend `cost(counts.tick)`, measure, estimate. Ticks that were skipped are predicted over."""
        cost = self.check(counts)
        if cost.is_free:
            return self.predict(counts.tick)
        self._skip_to(counts.tick)
        self._account.charge(counts.tick.index, cost)
        measurements = self._perturbation.measure(counts, cost)
        self._next = counts.tick.index + 1
        variance = self._perturbation.noise(cost).variance
        return self._publish(counts.tick, self._correct(measurements, cost), measurements, variance, cost)

    def predict(self, tick: Tick, lost: Cost | None = None) -> Release:
        """The release of a tick nobody measured. `lost` is what a crash had already charged for it."""
        self._check_order(tick)
        cost = lost or Cost.nothing()
        self._account.check(tick.index, cost)
        self._skip_to(tick)
        self._account.charge(tick.index, cost)
        self._next = tick.index + 1
        return self._publish(tick, self._predict(), None, None, cost)

    def snapshot(self) -> Snapshot:
        """All that is needed to go on: public, since estimators see released values only."""
        facts, arrays = self._state()
        facts = {**facts, **self._identity(), "next": self._next, "account": self._account.state()}
        return Snapshot(self.name, self.state_version, facts, arrays)

    def restore(self, snapshot: Snapshot) -> None:
        """Go on where `snapshot` was taken; the same measurements then give the same releases."""
        snapshot.expect(self.name, self.state_version)
        identity = self._identity()
        if snapshot.facts["keys"] != identity["keys"]:
            raise SchemaMismatch(
                "The stored state belongs to a stream with other keys.", "Keys are fixed when a stream is made."
            )
        if snapshot.facts["guarantee"] != identity["guarantee"]:
            raise GuaranteeChanged(
                "The stored state belongs to a stream with another guarantee: what was spent would be counted wrongly.",
                "Go on with the guarantee it was made with, or start a new stream.",
            )
        self._next = snapshot.facts["next"]
        self._account.restore(snapshot.facts["account"])
        self._restore(dict(snapshot.facts), dict(snapshot.arrays))

    @property
    def next_tick(self) -> int:
        return self._next

    @property
    def spent(self) -> Fraction:
        """The most that any one unit has been charged so far."""
        return self._account.spent

    # ── what a mechanism says ────────────────────────────────────────────────────────────────────────────────────

    @abstractmethod
    def _correct(self, measurements: NDArray[np.int64], cost: Cost) -> Estimate:
        """One step in time, then the estimate given this tick's noisy counts."""

    @abstractmethod
    def _predict(self) -> Estimate:
        """One step in time without a measurement."""

    @abstractmethod
    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Plain facts and arrays that `_restore` takes back."""

    @abstractmethod
    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None: ...

    # ── in here ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _identity(self) -> dict[str, Any]:
        """What a snapshot must agree on: the keys (as a digest, there may be millions) and the guarantee."""
        return {"keys": self._digest, "guarantee": self.guarantee.to_dict()}

    @cached_property
    def _digest(self) -> str:
        return hashlib.sha256(json.dumps(self.keys.names).encode()).hexdigest()

    def _check_order(self, tick: Tick) -> None:
        if tick.index < self._next:
            raise TickOutOfOrder(
                f"Tick {tick.index} was released already; the stream is at tick {self._next}.",
                "A tick is released once: a second draw would cost twice and let the noise be averaged out.",
            )
        if tick.index - self._next > MOST_MISSING:
            raise TickOutOfOrder(
                f"Tick {tick.index} lies {tick.index - self._next:,} ticks ahead of the stream.",
                "Check the clock of the source; after so long a pause start a new stream.",
            )

    def _skip_to(self, tick: Tick) -> None:
        while self._next < tick.index:
            self._predict()
            self._next += 1

    def _publish(
        self,
        tick: Tick,
        estimate: Estimate,
        measurements: NDArray[np.int64] | None,
        variance: float | None,
        cost: Cost,
    ) -> Release:
        e = estimate
        return Release(tick, self.keys, e.values, e.standard_errors, e.lower, e.upper, measurements, variance, cost)
