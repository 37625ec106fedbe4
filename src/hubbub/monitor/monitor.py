"""The first four lines of a new user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from hubbub.confidential import Counts
from hubbub.exact import Exact
from hubbub.noise import require_secure
from hubbub.privacy import Guarantee, Unit
from hubbub.release import Releaser, make_releaser, usual_method
from hubbub.released import Keys, Release, Tick

if TYPE_CHECKING:
    from hubbub.store import Curator, Store


class Monitor:
    """Publishes one vector of counts a tick, with a guarantee about each `unit`.

    Guarantee
        Protects: one `unit`; neighbouring streams differ in the presence of one.
        Enforced by the caller: the unit's bound, before counting (`hubbub.collect` does it for events).
        Formula: that of `method`; the sum over all ticks that one unit meets is at most `epsilon`.
        Not covered: when releases appear; two monitors over the same people add up.
        Reference: that of `method`.
        Proof: docs/proofs/perturbation.md and docs/proofs/ledger.md (proved).

    Without a `method` the promise decides (`usual_method`). With a `store` (a path, or a PostgreSQL address) every tick
    is debited on disk before its noise is drawn, and a monitor that is opened again goes on where the last one stopped,
    however that ended.

    >>> import hubbub as hb
    >>> monitor = hb.Monitor(keys=["front", "news", "sports"], unit=hb.Session(max_ticks=20), epsilon=1.0)
    >>> release = monitor.release({"front": 812, "news": 240, "sports": 97})
    >>> release.tick.index, monitor.spent
    (0, Fraction(1, 20))
    >>> print(monitor.guarantee)
    Each browsing session's presence changes any output's probability by at most a factor e^1 = 2.72, ...
    """

    def __init__(
        self,
        keys: Iterable[str],
        unit: Unit,
        epsilon: Exact,
        *,
        delta: Exact = 0,
        method: str | None = None,
        store: str | Path | Store | None = None,
        name: str = "monitor",
        allow_weak: bool = False,
        **settings: Any,
    ) -> None:
        require_secure(settings.get("source"))
        self.name = name
        guarantee = (
            Guarantee.approximate(unit, epsilon, delta, allow_weak=allow_weak)
            if delta
            else Guarantee.pure(unit, epsilon, allow_weak=allow_weak)
        )
        counted = Keys(keys)
        chosen = method or usual_method(guarantee, len(counted), modelled="model" in settings)
        self._releaser: Releaser = make_releaser(chosen, counted, guarantee, **settings)
        self._store: Store | None = None
        self._curator: Curator | None = None
        if store is not None:
            from hubbub.store import Store  # a database is loaded by those who use one

            opened = store if isinstance(store, Store) else Store.open(store)
            self._store = None if opened is store else opened  # whoever opened it closes it
            self._curator = opened.curate(name, self._releaser)

    @property
    def guarantee(self) -> Guarantee:
        return self._releaser.guarantee

    @property
    def keys(self) -> Keys:
        return self._releaser.keys

    @property
    def next_tick(self) -> int:
        return (self._curator or self._releaser).next_tick

    @property
    def spent(self) -> Fraction:
        """The most that any one unit has been charged so far."""
        return self._releaser.spent

    def release(self, values: Mapping[str, int] | Counts, tick: Tick | int | None = None) -> Release:
        """Publish this tick's counts. `tick` is the next one unless you say otherwise; skipped ticks are predicted."""
        counts = values if isinstance(values, Counts) else Counts.of(self.keys, self._tick(tick), values)
        return (self._curator or self._releaser).release(counts)

    def predict(self, tick: Tick | int | None = None) -> Release:
        """Publish a tick for which there are no counts. It costs nothing."""
        return (self._curator or self._releaser).predict(self._tick(tick))

    def _tick(self, tick: Tick | int | None) -> Tick:
        if tick is None:
            return Tick(self.next_tick)
        return tick if isinstance(tick, Tick) else Tick(tick)

    def close(self) -> None:
        """Hand back what was reserved, close the store."""
        if self._curator is not None:
            self._curator.close()
        if self._store is not None:
            self._store.close()

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
