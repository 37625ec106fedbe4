"""Totals over any range of a stream, in a few lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from fractions import Fraction
from typing import Any

from hubbub.confidential import Counts
from hubbub.exact import Exact
from hubbub.noise import require_secure
from hubbub.privacy import Guarantee, Unit
from hubbub.ranges.answer import RangeAnswer
from hubbub.ranges.stream import RangeStream
from hubbub.released import Domain, Keys, Release, Tick


class Ranges:
    """Publishes one vector of counts a tick, and answers totals over any of the last `window` ticks for free.

    `unit` is an object or a name with its numbers, the budget an `epsilon`, an `epsilon` with a `delta`, or a `rho`, as
    for `hb.Monitor`. `method` is that of `RangeStream`: `auto` takes what suits recent questions. What was spent lives
    as long as this object: for a stream that survives a crash, switch ranges on in a monitor's settings.

    Guarantee
        Protects: one `unit`; neighbouring streams differ in the presence of one.
        Enforced by the caller: the unit's bounds, before counting.
        Formula: that of `RangeStream`; the sum over all ticks that one unit meets is at most the budget.
        Not covered: when releases appear; other streams about the same people, which add up.
        Reference: that of `RangeStream`.
        Proof: docs/proofs/ranges.md (proved).

    >>> ranges = Ranges(["visits"], unit="event", epsilon=1, window=1024)
    >>> for tick in range(100):
    ...     release = ranges.release({"visits": 50})
    >>> total = ranges.total(10, 89)
    >>> total.first, total.last, total.standard_error < 15
    (10, 89, True)
    >>> ranges
    <Ranges: Keys(visits: 1), window of 1,024 ticks, epsilon = 1 for each event, next tick 100>
    """

    def __init__(
        self,
        keys: Iterable[str] | Domain,
        unit: Unit | str,
        epsilon: Exact | None = None,
        *,
        window: int,
        delta: Exact | None = None,
        rho: Exact | None = None,
        max_ticks: int | None = None,
        max_items: int = 1,
        horizon: int | None = None,
        timeout: timedelta | None = None,
        method: str = "auto",
        allow_weak: bool = False,
        **options: Any,
    ) -> None:
        protected = Unit.parse(unit, max_ticks=max_ticks, max_items=max_items, horizon=horizon, timeout=timeout)
        guarantee = Guarantee.parse(protected, epsilon=epsilon, delta=delta, rho=rho, allow_weak=allow_weak)
        require_secure(options.get("source"))
        self._stream = RangeStream(
            keys if isinstance(keys, Domain) else Keys(keys), guarantee, window=window, method=method, **options
        )

    @property
    def guarantee(self) -> Guarantee:
        return self._stream.guarantee

    @property
    def keys(self) -> Domain:
        return self._stream.keys

    @property
    def next_tick(self) -> int:
        return self._stream.next_tick

    @property
    def spent(self) -> Fraction:
        """The most that any one unit has been charged so far."""
        return self._stream.spent

    def release(self, values: Mapping[str, int], tick: Tick | int | None = None) -> Release:
        """Publish this tick's counts. `tick` is the next one unless you say otherwise; skipped ticks are missing."""
        at = self.next_tick if tick is None else tick
        return self._stream.release(Counts.of(self.keys, at if isinstance(at, Tick) else Tick(at), values))

    def total(self, first: int, last: int, key: str | None = None) -> RangeAnswer:
        """How many from tick `first` to tick `last`, both included, with its interval. The key, if there is but one,
        need not be named."""
        return self._stream.total(first, last, key)

    def __repr__(self) -> str:
        window = f"window of {self._stream.window.window:,} ticks"
        return f"<Ranges: {self.keys!r}, {window}, {self.guarantee.short}, next tick {self.next_tick:,}>"
