"""The first four lines of a new user."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from hubbub.confidential import Counts, named
from hubbub.errors import InvalidCounts, InvalidParameter, UnknownKey
from hubbub.exact import Exact
from hubbub.methods import make_mechanism, usual_method
from hubbub.noise import require_secure
from hubbub.privacy import Grant, Guarantee, Part, Unit
from hubbub.released import Domain, Keys, Release, Tick

if TYPE_CHECKING:
    from hubbub.store import Curator, Store
    from hubbub.store.decisions import Counted


_NO_NUMBERS = {"max_ticks": None, "max_items": 1, "horizon": None, "timeout": None}
_NO_BUDGET = {"epsilon": None, "delta": None, "rho": None}


class Monitor:
    """Publishes one vector of counts a tick, with a guarantee about each `unit`.

    Guarantee
        Protects: one `unit`; neighbouring streams differ in the presence of one.
        Enforced by the caller: the unit's bound, before counting (`hubbub.collect` does it for events).
        Formula: that of `method`; the sum over all ticks that one unit meets is at most `epsilon`.
        Not covered: when releases appear; monitors over the same people add up, unless they draw of one `grant`.
        Reference: that of `method`.
        Proof: docs/proofs/perturbation.md and docs/proofs/ledger.md (proved).

    Without a `method` the promise decides (`usual_method`). With a `store` (a path, or a PostgreSQL address) every tick
    is debited on disk before its noise is drawn, and a monitor that is opened again goes on where the last one stopped,
    however that ended.

    `keys` are names, or a domain of another kind: `Grid(1024, 1024)`, `Hierarchy(…)`. Counts are given by name, or in
    the order of the keys.

    The `unit` is an object, or a name with its numbers beside it: `unit="session", max_ticks=20`. The budget is an
    `epsilon`, an `epsilon` with a `delta`, or a `rho`.

    Several monitors on one store that count the same people draw parts of one `grant`, in place of `unit` and
    `epsilon`: `hb.Monitor(keys, grant=visitors.part("1/2"), store="site.db", name="pages")`. What is not left of it is
    refused.

    >>> import hubbub as hb
    >>> monitor = hb.Monitor(keys=["front", "news", "sports"], unit="session", max_ticks=20, epsilon=1.0)
    >>> release = monitor.release({"front": 812, "news": 240, "sports": 97})
    >>> release.tick.index, monitor.spent
    (0, Fraction(1, 20))
    >>> print(monitor.guarantee)
    Each browsing session's presence changes any output's probability by at most a factor e^1 = 2.72, ...
    """

    def __init__(
        self,
        keys: Iterable[str] | Domain,
        unit: Unit | str | None = None,
        epsilon: Exact | None = None,
        *,
        delta: Exact | None = None,
        rho: Exact | None = None,
        max_ticks: int | None = None,
        max_items: int = 1,
        horizon: int | None = None,
        timeout: timedelta | None = None,
        grant: Grant | Part | None = None,
        method: str | None = None,
        store: str | Path | Store | None = None,
        name: str = "monitor",
        allow_weak: bool = False,
        **settings: Any,
    ) -> None:
        require_secure(settings.get("source"))
        self.name = name
        numbers = {"max_ticks": max_ticks, "max_items": max_items, "horizon": horizon, "timeout": timeout}
        budget = {"epsilon": epsilon, "delta": delta, "rho": rho}
        if grant is None:
            part = Grant(name, _guarantee(unit, numbers, budget, allow_weak)).part()
        elif unit is not None or budget != _NO_BUDGET or numbers != _NO_NUMBERS or store is None:
            raise InvalidParameter(
                "`grant` stands in place of `unit` and its numbers, `epsilon`, `delta` and `rho`, and is kept in a "
                "`store`.",
                "Give the store, and leave out what the grant says already.",
            )
        else:
            part = grant if isinstance(grant, Part) else grant.part()
        guarantee = part.guarantee
        counted = keys if isinstance(keys, Domain) else Keys(keys)
        chosen = method or usual_method(guarantee, len(counted), modelled="model" in settings)
        self._releaser = make_mechanism(chosen, counted, guarantee, **settings)
        self._known = counted  # what the program means by the places of a list
        self._store: Store | None = None
        self._curator: Curator | None = None
        if store is not None:
            from hubbub.store import Store  # a database is loaded by those who use one

            opened = store if isinstance(store, Store) else Store.open(store)
            self._store = None if opened is store else opened  # whoever opened it closes it
            known = opened.find(name)
            # A stream that was made before this was recorded goes on without it: its definition is fixed.
            facts = (
                {} if known is not None and not known.attested else {"attested": _attested(guarantee.unit, settings)}
            )
            try:
                self._curator = opened.curate(name, self._releaser, facts, part=part)
            except BaseException:
                if self._store is not None:
                    self._store.close()
                raise

    @property
    def guarantee(self) -> Guarantee:
        return self._releaser.guarantee

    @property
    def keys(self) -> Domain:
        return self._releaser.keys

    @property
    def next_tick(self) -> int:
        return (self._curator or self._releaser).next_tick

    @property
    def spent(self) -> Fraction:
        """The most that any one unit has been charged so far."""
        return self._releaser.spent

    def release(
        self, values: Mapping[str, int] | Sequence[int] | NDArray[Any] | Counts, tick: Tick | int | None = None
    ) -> Release:
        """Publish this tick's counts. `tick` is the next one unless you say otherwise; skipped ticks are predicted.

        Counts without names belong to the keys that the monitor was opened with, in their order. Where the stream has
        come to count by others, they are refused.
        """
        stream = self._curator or self._releaser
        if isinstance(values, Counts):
            return stream.release(values)
        by_name = named(values)
        if by_name is not None:
            return stream.release(Counts.of(self.keys, self._tick(tick), by_name))
        try:
            return stream.release(Counts.of(self._known, self._tick(tick), values))
        except (InvalidCounts, UnknownKey):
            if self.keys == self._known:
                raise
            raise UnknownKey(
                f"The stream {self.name!r} counts by other keys than it was opened with here: by its place alone a "
                "count could land under a wrong key.",
                "Give counts by name; or open the monitor again, with the keys of now (`monitor.keys`).",
            ) from None

    def predict(self, tick: Tick | int | None = None) -> Release:
        """Publish a tick for which there are no counts. It costs nothing."""
        return (self._curator or self._releaser).predict(self._tick(tick))

    def change_domain(self, new: Counted | Callable[[Release], Counted], *, released: tuple[str, int]) -> Domain:
        """Count by other keys from the next tick on, because of a release that is in the store; it costs nothing.

        `released` is the stream and the tick of that release; `new` the domain, or a rule that is handed the release.
        """
        if self._curator is None:
            raise InvalidParameter(
                "What is counted changes by a released decision, and a monitor without a store keeps none.",
                "Give the monitor a `store`.",
            )
        self._known = self._curator.change_domain(new, released=released)
        return self._known

    def _tick(self, tick: Tick | int | None) -> Tick:
        if tick is None:
            return Tick(self.next_tick)
        return tick if isinstance(tick, Tick) else Tick(tick)

    def __repr__(self) -> str:
        store = "" if self._curator is None else ", with a store"
        return (
            f"<Monitor {self.name!r}: {self.keys!r}, {self._releaser.name}, {self.guarantee.short}, "
            f"next tick {self.next_tick:,}{store}>"
        )

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


def _guarantee(
    unit: Unit | str | None, numbers: dict[str, Any], budget: dict[str, Exact | None], allow_weak: bool
) -> Guarantee:
    if unit is None or (budget["epsilon"] is None and budget["rho"] is None):
        raise InvalidParameter(
            "A monitor needs a `unit` and a budget (`epsilon`, or `rho`), or a `grant` that has both.",
            "For example unit='session', max_ticks=20, epsilon=1.",
        )
    return Guarantee.parse(Unit.parse(unit, **numbers), **budget, allow_weak=allow_weak)


def _attested(unit: Unit, settings: Mapping[str, Any]) -> dict[str, str]:
    """What the program that calls us vouches for: nothing of it can be seen from in here."""
    sentences = {
        "keys": "The keys are public: the program that publishes listed them, and they do not come from the data.",
        "counts": f"The program that counts vouches that the bound was enforced before: {unit.pinned_bound}.",
        "identity": "Who is who was decided by whoever counted.",
    }
    if "model" in settings:
        sentences["model"] = "The model was learned from public data, as the program that publishes says."
    return sentences
