"""Lists of frequent items that a store keeps and counts: as many as were promised, and not one more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from hubbub.errors import InvalidParameter, UnknownKey
from hubbub.exact import Exact, exact, whole
from hubbub.itemlogs import Claim, ItemLists, ItemLog, Published, TickLog, read_items
from hubbub.itemlogs.method import Progress
from hubbub.itemlogs.reading import MAX_LENGTH
from hubbub.privacy import Grant, Guarantee, Part, Session, User
from hubbub.released import Discovered, Release, Tick

if TYPE_CHECKING:
    from hubbub.store import Store


class Lists:
    """Publishes lists of frequent items about the same people, each charged before it is drawn, and keeps them.

    Of all `lists` together the promise is (epsilon, delta): a list of each month, say. When they are used up the next
    one is refused. A `grant` in place of the promise: a part of it with slips, `visitors.part("1/2", slips=1)`.

    A list that was drawn is kept before it is handed out: whoever lost the file reads it again from the store, for
    nothing. A list that a crash interrupted is lost, and counts.

    Guarantee
        Protects: one user with all rows of all logs; neighbours have a user more or less.
        Enforced here: at most `max_items` items of a user in a list, and the number of lists; nobody is kept out of
        any of them, so a grant must be about people who count in all of its ticks.
        Enforced by the caller: that `user` names people, one name for each.
        Formula: that of `ItemLists`: rho/lists and delta/(2 lists) for each list.
        Not covered: one person under several names; what an item says; how long it takes.
        Reference: that of `Adaptive`.
        Proof: docs/proofs/itemlogs.md, section 7 (proved).

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> may = {"who": [f"u{i}" for i in range(2000)], "what": ["weather"] * 2000}
    >>> with Lists(f"{folder.name}/lists.db", "searches", epsilon=1, delta="1e-6", lists=2) as lists:
    ...     published = lists.publish(may, user="who", item="what")
    ...     print(list(published), lists.left, list(lists[0]))
    ['weather'] 1 ['weather']
    >>> folder.cleanup()
    """

    def __init__(
        self,
        store: str | Path | Store,
        name: str,
        *,
        epsilon: Exact | None = None,
        delta: Exact | None = None,
        lists: int = 1,
        grant: Grant | Part | None = None,
        max_items: int = 10,
        method: str = "adaptive",
        count_share: Exact | None = None,
        allow_weak: bool = False,
    ) -> None:
        from hubbub.store import Store  # a database is loaded by those who use one

        part = _part(name, epsilon, delta, lists, grant, max_items, allow_weak=allow_weak)
        options: dict[str, Any] = {"max_items": max_items, "method": method}
        if count_share is not None:
            options["count_share"] = exact(count_share, "count_share")
        self.name = name
        self._mechanism = ItemLists(Discovered(), part.guarantee, **options)
        opened = store if isinstance(store, Store) else Store.open(store)
        self._opened = None if opened is store else opened  # whoever opened it closes it
        self._store = opened
        try:
            self._curator = opened.curate(name, self._mechanism, {"attested": dict(_ATTESTED)}, part=part)
        except BaseException:
            self.close()
            raise

    @property
    def guarantee(self) -> Guarantee:
        return self._mechanism.guarantee

    @property
    def claim(self) -> Claim:
        """What is promised of all lists together."""
        return claim_of(self.guarantee, self._mechanism.max_items)

    @property
    def left(self) -> int:
        """How many lists are left."""
        horizon = self.guarantee.unit.horizon
        assert horizon is not None
        return max(horizon - self._curator.next_tick, 0)

    def publish(
        self,
        data: Any,
        *,
        user: str = "user",
        item: str = "item",
        max_length: int = MAX_LENGTH,
        progress: Progress | None = None,
    ) -> Published:
        """The next list, from a file's path, a table or an `ItemLog`. Whatever cannot be read is refused for free."""
        if not self.left:
            raise InvalidParameter(
                f"All {self.guarantee.unit.horizon:,} lists of {self.name!r} are published or lost: nothing is left of "
                "the promise.",
                "What was published stands in the store, and can be read again: `hubbub published`. More lists about "
                "the same people, under another name, add to what these reveal.",
            )
        log = data if isinstance(data, ItemLog) else read_items(
            data, user=user, item=item, max_length=max_length, progress=progress
        )  # fmt: skip
        release = self._curator.release(TickLog(Tick(self._curator.next_tick), log))
        return published_from(release, self._mechanism.method, self.claim)

    def __len__(self) -> int:
        """How many lists there are, lost ones included."""
        return self._curator.next_tick

    def __iter__(self) -> Iterator[Published]:
        """Every list that was published, the oldest first."""
        return (
            published_from(release, self._mechanism.method, self.claim)
            for release in self._store.releases(self.name)
            if not release.is_predicted
        )

    def __getitem__(self, number: int) -> Published:
        """A list again, from 0 on; -1 is the newest."""
        place = range(len(self))[number]
        release = next(iter(self._store.releases(self.name, first=place, last=place)))
        return published_from(release, self._mechanism.method, self.claim)

    def close(self) -> None:
        curator = self.__dict__.get("_curator")
        if curator is not None:
            curator.close()
        if self._opened is not None:
            self._opened.close()

    def __enter__(self) -> Lists:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Lists {self.name!r}: {len(self):,} published, {self.left:,} left, {self.claim.short}>"


_ATTESTED = {
    "identity": "What the log calls a user is one person, under one name: the owner of the log says so.",
}


def claim_of(guarantee: Guarantee, max_items: int) -> Claim:
    """What a stream of lists promises, all of them together."""
    lists, rho, slips = guarantee.unit.max_ticks, guarantee.budget, guarantee.slips
    if guarantee.epsilon is not None:
        claim = Claim(guarantee.epsilon, guarantee.delta, max_items, rho=rho, rho_delta=slips, lists=lists)
    else:
        claim = Claim.following(rho, slips, max_items, lists)
    return replace(claim, who="session") if isinstance(guarantee.unit, Session) else claim


def read_lists(store: Store, name: str) -> list[Published]:
    """Every list that a store holds under this name, the oldest first; it costs nothing."""
    stream = store.stream(name)
    if stream.method != ItemLists.name:
        raise InvalidParameter(
            f"The stream {name!r} holds no lists: its method is {stream.method}.",
            "`hubbub ledger show STORE` tells what there is.",
        )
    options = stream.mechanism
    claim = claim_of(stream.guarantee, options["max_items"])
    return [
        published_from(release, options["method"], claim)
        for release in store.releases(stream)
        if not release.is_predicted
    ]


def published_from(release: Release, method: str, claim: Claim) -> Published:
    """A stored release as the list that it is."""
    if release.is_predicted and release.cost.is_free:
        raise UnknownKey(
            f"There is no list {release.tick.index}: nothing was measured for it, or charged.", "Read another one."
        )
    if release.is_predicted or release.measurements is None:
        raise UnknownKey(
            f"List {release.tick.index} was never published: it was lost when a step failed after it was charged.",
            "Read another one.",
        )
    size, known = len(release.keys) - 1, release.standard_errors[:-1] < float("inf")
    counted = bool(known.all()) if size else True
    numbers = (release.measurements, release.standard_errors, release.lower, release.upper)
    columns = [column[:size] if counted else None for column in numbers]
    facts = {"list": release.tick.index, "rho": str(release.cost.rho), "delta": str(release.cost.delta)}
    return Published.of(release.keys.names[:size], *columns, method=method, claim=claim, facts=facts)  # type: ignore[arg-type]


def _part(
    name: str,
    epsilon: Exact | None,
    delta: Exact | None,
    lists: int,
    grant: Grant | Part | None,
    max_items: int,
    *,
    allow_weak: bool,
) -> Part:
    if grant is not None:
        if epsilon is not None or delta is not None or lists != 1:
            raise InvalidParameter(
                "`grant` stands in place of `epsilon`, `delta` and `lists`.", "Leave out what the grant says already."
            )
        part = grant if isinstance(grant, Part) else grant.part()
        if part.guarantee.unit.horizon is None:
            raise InvalidParameter(
                "Lists are about people over a number of ticks, and the grant's unit has no horizon.",
                "Use a grant about User(horizon=…): as many ticks as there will be lists.",
            )
        if part.guarantee.unit.max_ticks != part.guarantee.unit.horizon:
            raise InvalidParameter(
                f"Nothing keeps a person out of lists: with {part.guarantee.unit.horizon:,} lists everybody may be in "
                f"all of them, and the grant is about people who count in {part.guarantee.unit.max_ticks:,}.",
                f"Use a grant about User(horizon={part.guarantee.unit.horizon}), without `max_ticks`.",
            )
        return part
    if epsilon is None or delta is None:
        raise InvalidParameter(
            "A list needs an `epsilon` and a `delta`.", "1 and 1e-9, say: delta far below one in the number of users."
        )
    unit = User(horizon=whole(lists, "lists", "It is how many lists there will be at most."), max_items=max_items)
    slips = exact(delta, "delta") / 2
    return Grant(name, Guarantee.approximate(unit, epsilon, delta, aside=slips, allow_weak=allow_weak)).part()
