"""Mechanisms that release tick by tick."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Generic, final

from numpy.typing import NDArray
from typing_extensions import TypeVar

from hubbub.confidential import Counts, Gathered
from hubbub.errors import GuaranteeChanged, InvalidParameter, SchemaMismatch, TickOutOfOrder
from hubbub.mechanism.estimate import Estimate
from hubbub.mechanism.measurement import Measurement
from hubbub.mechanism.mechanism import Mechanism
from hubbub.noise import ByteSource
from hubbub.privacy import Guarantee
from hubbub.released import Cost, Domain, Release, Snapshot, Tick
from hubbub.released.cost import NO_SLIP

MOST_MISSING = 1_000_000
"""A longer gap is a wrong clock rather than a pause."""

_FREE = Cost.nothing()

In = TypeVar("In", bound=Gathered, default=Counts)
"""What a mechanism measures: counts, unless it says otherwise."""


class OnlineMechanism(Mechanism, Generic[In]):
    """Turns what was gathered in one tick, counts as a rule, into one released vector.

    A tick goes one way: check, hold its cost, *measure* (`_measure` sees the counts and draws), settle what it cost,
    *estimate* (`_estimate` sees the measurement), publish. A subclass says how to measure, how to estimate, and what
    it remembers (`_state`, `_restore`); the order, gaps and charges are here, once, and cannot be overridden.
    """

    state_version: ClassVar[int] = 1

    def __init__(self, keys: Domain, guarantee: Guarantee, *, source: ByteSource | None = None, **options: Any) -> None:
        super().__init__(keys, guarantee, source=source, **options)
        self._even_cost = self._account.even_cost

    # ── what a stream does ───────────────────────────────────────────────────────────────────────────────────────

    def cost(self, tick: Tick) -> Cost:  # noqa: ARG002 - mechanisms whose cost is not even look at it
        """What releasing `tick` will cost at most; decided from released values only. Free means: it is predicted."""
        return self._even_cost

    def check(self, counts: In) -> Cost:
        """Raise what `release(counts)` would refuse, and change nothing; otherwise what it will cost at most.

        A store calls this before it debits: what is refused must not be written down as spent.
        """
        cost = self._checked_cost(counts)
        self._account.check(counts.tick.index, cost)
        return cost

    @final
    def release(self, counts: In) -> Release:
        """Spend `cost(counts.tick)`, measure, estimate. Ticks that were skipped are predicted over."""
        tick, account = counts.tick, self._account
        index = tick.index
        cost = self._checked_cost(counts)
        if cost is not self._even_cost and cost.is_free:
            return self.predict(tick)
        if self._next < index:
            account.check(index, cost)  # what is refused changes nothing, skips nothing
            self._skip_to(tick)
        # Whatever goes wrong once drawing has begun: the whole cost counts as spent, and the tick is over.
        account.hold(index, cost)
        self._next = index + 1
        measurement = self._measure(counts, cost)
        account.settle(measurement.cost)
        if self.traits.finds_keys:  # what it found is part of what it measured
            self.keys = measurement.keys
        return self._publish(tick, self._estimate(tick, measurement), measurement, measurement.cost)

    @final
    def release_series(self, series: Iterable[In]) -> list[Release]:
        """Every tick of a series, one after the other."""
        return [self.release(counts) for counts in series]

    @final
    def accept(self, measurement: Measurement) -> Release:
        """Estimate from a measurement that was drawn elsewhere: by the shares of clients, or by a cluster.

        It is charged what it says it cost, and nothing is drawn here. Whoever drew vouches for its noise.
        """
        if not self.traits.plain:
            raise InvalidParameter(
                f"`{self.name}` takes no measurement from elsewhere: it measures more than counts plus noise.",
                "Use lpa, or a filter such as navigation or adaptive.",
            )
        tick, cost = measurement.tick, measurement.cost
        self._check_keys(measurement.keys)
        self._check_order(tick)
        measurement.checked()
        self._account.check(tick.index, cost)
        self._skip_to(tick)
        self._account.charge(tick.index, cost)
        self._next = tick.index + 1
        return self._publish(tick, self._estimate(tick, measurement), measurement, cost)

    @final
    def predict(self, tick: Tick, lost: Cost | None = None) -> Release:
        """The release of a tick nobody measured. `lost` is what a crash had already charged for it."""
        self._check_order(tick)
        cost = lost or _FREE
        self._account.check(tick.index, cost)
        self._skip_to(tick)
        self._account.charge(tick.index, cost)
        self._next = tick.index + 1
        estimate = self._estimate(tick, None)
        if lost is not None:
            self._lose(tick, lost)
        return self._publish(tick, estimate, None, cost)

    @final
    def change_domain(self, keys: Domain) -> None:
        """Count by `keys` from the next tick on: the account and the ticks go on, and what is known of keys that stay.

        The keys must follow from released values alone. A store sees to that: `Curator.change_domain`.
        """
        if not self.traits.changes_domain:
            raise InvalidParameter(
                f"`{self.name}` cannot go on with other keys: what it draws or pays rests on what it did before.",
                "Use a method whose ticks are independent and cost the same, such as lpa, ukf or navigation.",
            )
        guarantee, source, options = self.guarantee, self.source, self._options
        account, at, before, known = self._account, self._next, self.keys, self._state()
        type(self)(keys, guarantee, source=source, **options)  # what cannot be is refused before anything changes
        vars(self).clear()
        self.__init__(keys, guarantee, source=source, **options)  # type: ignore[misc]
        self._account, self._next = account, at
        self._inherit(before, *known)

    def snapshot(self) -> Snapshot:
        """All that is needed to go on: public, since estimators see released values only."""
        facts, arrays = self._state()
        facts = {**facts, **self._identity(), "next": self._next, "account": self._account.state()}
        return Snapshot(self.name, self.state_version, facts, arrays)

    def restore(self, snapshot: Snapshot) -> None:
        """Go on where `snapshot` was taken; the same measurements then give the same releases."""
        self._expect(snapshot)
        identity = self._identity()
        if snapshot.facts["keys"] != identity["keys"]:
            raise SchemaMismatch(
                "The stored state belongs to a stream with other keys.", "Make the mechanism for the keys of the state."
            )
        if snapshot.facts["guarantee"] != identity["guarantee"]:
            raise GuaranteeChanged(
                "The stored state belongs to a stream with another guarantee: what was spent would be counted wrongly.",
                "Go on with the guarantee it was made with, or start a new stream.",
            )
        self._restore(dict(snapshot.facts), dict(snapshot.arrays))
        self._next = snapshot.facts["next"]
        self._account.restore(snapshot.facts["account"])

    # ── what a mechanism says ────────────────────────────────────────────────────────────────────────────────────

    @abstractmethod
    def _measure(self, counts: In, cost: Cost) -> Measurement:
        """The measuring half: looks at the counts and draws. `cost` is held; the measurement says what it took."""

    @abstractmethod
    def _estimate(self, tick: Tick, measurement: Measurement | None) -> Estimate:
        """The estimating half: one step in time, with what was measured, or without. Sees noisy values only."""

    @abstractmethod
    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Plain facts and arrays that `_restore` takes back."""

    @abstractmethod
    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None: ...

    def _inherit(self, before: Domain, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """The domain changed: go on with what was known of the keys `before`. Here: with nothing, from the start."""

    def _skip(self, tick: Tick, missing: int) -> None:
        """Go over `missing` ticks that nobody measured, up to `tick`, whose length is theirs."""
        for _ in range(missing):
            self._estimate(tick, None)

    def _lose(self, tick: Tick, cost: Cost) -> None:
        """`cost` was charged for `tick` and lost in a crash."""

    def _expect(self, snapshot: Snapshot) -> None:
        """Refuse a state that this version cannot go on with."""
        snapshot.expect(self.name, self.state_version)

    def _check_input(self, counts: In) -> None:
        """Refuse what the mechanism cannot measure."""
        if not isinstance(counts, Counts):
            raise InvalidParameter(
                f"`{self.name}` releases counts; got {type(counts).__name__}.", "Make them with `Counts.of`."
            )
        if counts.keys is not self.keys:
            self._check_keys(counts.keys)

    # ── in here ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _checked_cost(self, counts: In) -> Cost:
        """What counts that can be measured now will cost at most; others are refused."""
        tick = counts.tick
        self._check_input(counts)
        if not 0 <= tick.index - self._next <= MOST_MISSING:
            self._check_order(tick)  # which says why
        cost = self.cost(tick)
        if cost.delta is not NO_SLIP:
            self.traits.expect_declared(self.name, cost)
        return cost

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
        if self._next < tick.index:
            self._skip(tick, tick.index - self._next)
            self._next = tick.index

    def _publish(self, tick: Tick, estimate: Estimate, measurement: Measurement | None, cost: Cost) -> Release:
        m, (values, errors, lower, upper, joint) = measurement, estimate
        if m is None or m.values is None:
            return Release(tick, self.keys, values, errors, lower, upper, None, None, cost, False, joint)
        noisy = m.values, m.variance
        return Release(tick, self.keys, values, errors, lower, upper, *noisy, cost, m.correlated, joint)
