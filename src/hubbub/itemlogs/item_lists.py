"""Lists of frequent items as a stream: one list a tick, each with the keys that it found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Gathered
from hubbub.errors import InvalidParameter
from hubbub.itemlogs.adaptive import Adaptive
from hubbub.itemlogs.claim import MOST_ITEMS
from hubbub.itemlogs.log import ItemLog
from hubbub.itemlogs.published import Published
from hubbub.itemlogs.rounds import COUNT_SHARE, WeightedRounds
from hubbub.itemlogs.weighted import Weighted
from hubbub.mechanism import Estimate, Measurement, OnlineMechanism, Option, Traits
from hubbub.mechanism.kinds import Share, Whole, Word
from hubbub.noise import ByteSource
from hubbub.privacy import Guarantee
from hubbub.released import Cost, Discovered, Domain, Tick

_METHODS: dict[str, type[WeightedRounds]] = {"adaptive": Adaptive, "weighted": Weighted}


@dataclass(frozen=True, slots=True, eq=False)
class TickLog(Gathered):
    """Who has which item in one tick: a month's searches, an hour's pages.

    >>> TickLog(Tick(0), ItemLog.of([("ann", "flu")]))
    <the items of tick 0, confidential>
    """

    tick: Tick
    log: ItemLog

    def __post_init__(self) -> None:
        if not isinstance(self.log, ItemLog):
            raise InvalidParameter(f"A log is an ItemLog; got {type(self.log).__name__}.", "Make it with `read_items`.")

    def __repr__(self) -> str:
        return f"<the items of tick {self.tick}, confidential>"


class ItemLists(OnlineMechanism[TickLog]):
    """A list of frequent items each tick, in a stream of the store: charged in rho, and in delta for what may slip.

    A release has the items that were found as its keys, the most frequent first, and `other` last, of which nothing is
    known. A tick that nobody measured has the last list again, of whose counts it says that they may be anything.

    Guarantee
        Protects: one `unit`; neighbouring logs have one more or less, in each of its ticks.
        Enforced here: at most `max_items` items of a unit in a list. By the caller: the unit's `max_ticks`, and that
        what a log calls a user is the unit.
        Formula: that of `Adaptive` (`Weighted`), with rho = budget/max_ticks and delta = slips/max_ticks for each list.
        Not covered: how long it takes; one person under several names; what an item says.
        Reference: that of `WeightedRounds`; Bun & Steinke 2016, Lemma 8.2.
        Proof: docs/proofs/itemlogs.md, sections 4 to 7 (proved).

    >>> from hubbub.privacy import User
    >>> lists = ItemLists(Discovered(), Guarantee.approximate(User(horizon=12), 1, "1e-6", aside="5e-7"))
    >>> log = ItemLog.of([(f"user {i}", "weather") for i in range(2000)] + [("ann", "rare")])
    >>> release = lists.release(TickLog(Tick(0), log))
    >>> release.keys.names, release.cost.delta
    (('weather', 'other'), Fraction(1, 24000000))
    """

    name: ClassVar[str] = "items"
    traits: ClassVar[Traits] = Traits(
        guarantees=("zcdp", "approximate"), plain=False, slips=True, exact_intervals=True, finds_keys=True
    )

    method: Option[str] = Option(Word(*_METHODS), "adaptive", "How items are found.")
    max_items: Option[int] = Option(Whole(1, MOST_ITEMS), 10, "For how many items of a list one unit counts at most.")
    count_share: Option[Fraction] = Option(
        Share(), COUNT_SHARE, "The part of the budget for counts; 0 for a list without any."
    )

    def __init__(self, keys: Domain, guarantee: Guarantee, *, source: ByteSource | None = None, **options: Any) -> None:
        super().__init__(keys, guarantee, source=source, **options)
        self._cost = replace(self._account.even_cost, delta=self._account.even_slip)
        self._lists = _METHODS[self.method].within(
            self._account.amount(self._cost), self._cost.delta, self.max_items,
            count_share=self.count_share, source=source,
        )  # fmt: skip
        self._last = np.zeros(len(keys))

    @property
    def people_needed(self) -> float:
        """How many units with `max_items` items each bring an item into a list, without noise."""
        return self._lists.people_needed

    def cost(self, tick: Tick) -> Cost:  # noqa: ARG002
        return self._cost

    def _check_input(self, counts: TickLog) -> None:
        if not isinstance(counts, TickLog):
            raise InvalidParameter(
                f"`{self.name}` makes lists from logs; got {type(counts).__name__}.",
                "Give TickLog(tick, log), with a log that `read_items` made.",
            )

    def _measure(self, counts: TickLog, cost: Cost) -> Measurement:
        published = self._lists.publish(counts.log)
        found, size = _domain(published, counts.tick), len(published)
        values, variance = np.zeros(size + 1, dtype=np.int64), np.full(size + 1, np.inf)
        if published.counts is not None and published.standard_error is not None:
            values[:size], variance[:size] = published.counts, published.standard_error**2
        return Measurement(counts.tick, found, values, variance, cost, "gaussian")

    def _estimate(self, tick: Tick, measurement: Measurement | None) -> Estimate:  # noqa: ARG002
        if measurement is None:
            endless = np.full(len(self._last), np.inf)
            return Estimate(self._last.copy(), endless, np.zeros(len(self._last)), endless.copy())
        assert measurement.values is not None
        raw = measurement.values.astype(np.float64)
        errors = np.sqrt(np.asarray(measurement.variance))
        reach = np.full(len(raw), np.inf)
        known = np.isfinite(errors)
        if known.any():
            reach[known] = self._lists.reach
        self._last = np.maximum(raw, 0.0)
        return Estimate(self._last.copy(), errors, np.maximum(raw - reach, 0.0), np.maximum(raw + reach, 0.0))

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {}, {"last": self._last}

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:  # noqa: ARG002
        self._last = arrays["last"]


def _domain(published: Published, tick: Tick) -> Discovered:
    """The items of a list as keys. An item may be called `other`: then that which is not in the list is not."""
    other = "other"
    while other in published:
        other = f"({other})"
    return Discovered(published.items, decision=f"tick {tick.index}", other=other)
