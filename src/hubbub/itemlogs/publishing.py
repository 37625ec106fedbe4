"""A log's frequent items, published in one call."""

from __future__ import annotations

from typing import Any

from hubbub.errors import InvalidParameter
from hubbub.exact import Exact
from hubbub.itemlogs.adaptive import Adaptive
from hubbub.itemlogs.log import ItemLog
from hubbub.itemlogs.method import ItemMethod, Progress
from hubbub.itemlogs.published import Published
from hubbub.itemlogs.reading import MAX_LENGTH, read_items
from hubbub.itemlogs.rounds import COUNT_SHARE
from hubbub.itemlogs.weighted import Weighted
from hubbub.itemlogs.zealous import Zealous

METHODS = ("adaptive", "weighted", "zealous")
MAX_ITEMS = 10


def publish_items(
    data: Any,
    *,
    user: str = "user",
    item: str = "item",
    epsilon: Exact,
    delta: Exact,
    max_items: int = MAX_ITEMS,
    method: str = "adaptive",
    users: int | None = None,
    count_share: Exact | None = None,
    max_length: int = MAX_LENGTH,
    allow_weak: bool = False,
    progress: Progress | None = None,
) -> Published:
    """The items that enough users share, from a log that nobody else may see: a file's path, a table, an `ItemLog`.

    `max_items` is for how many different items one user counts. With `users`, a public bound on the number of users,
    and `method="zealous"` the guarantee is the probabilistic one. `count_share` is the part of the budget for counts (a
    fifth; 0 for none), except by `zealous`, whose counts are what it publishes by. All that can be refused is refused
    before anything is drawn.

    Guarantee
        Protects: one user with all rows; neighbouring logs have a user more or less.
        Enforced here: the bound on items. By the caller: that `user` names people, one name for each.
        Formula: that of the method.
        Not covered: a second call with the same log adds up; one person under several names; how long it takes.
        Reference: that of the method.
        Proof: docs/proofs/itemlogs.md (proved).

    >>> log = {"who": [f"u{i}" for i in range(900)], "what": ["weather", "news", "flu"] * 300}
    >>> published = publish_items(log, user="who", item="what", epsilon=1, delta="1e-6", max_items=2)
    >>> published, sorted(published)
    (<Published: 3 items, by adaptive, epsilon = 1, delta = 1e-6 for each user>, ['flu', 'news', 'weather'])
    """
    chosen = method_for(method, epsilon, delta, max_items, users=users, count_share=count_share, allow_weak=allow_weak)
    if isinstance(data, ItemLog):
        log = data
    else:
        log = read_items(data, user=user, item=item, max_length=max_length, progress=progress)
    return chosen.publish(log, progress)


def method_for(
    method: str,
    epsilon: Exact,
    delta: Exact,
    max_items: int,
    *,
    users: int | None = None,
    count_share: Exact | None = None,
    allow_weak: bool = False,
) -> ItemMethod:
    """The method of that name. With one item a user weights are counts, and ZEALOUS needs fewer people: `adaptive` is
    then that."""
    if method not in METHODS:
        raise InvalidParameter(f"There is no method {method!r}.", f"Known methods: {', '.join(METHODS)}.")
    if method == "zealous" or (method == "adaptive" and max_items == 1 and users is None and not count_share):
        if count_share:
            raise InvalidParameter(
                "ZEALOUS publishes by its counts: they have no share of their own.", "Leave `count_share` out."
            )
        return Zealous(epsilon, delta, max_items, users=users, allow_weak=allow_weak)
    if users is not None:
        raise InvalidParameter(
            f"`users` belongs to the probabilistic guarantee, which {method!r} does not give.", "Use method='zealous'."
        )
    kind = Adaptive if method == "adaptive" else Weighted
    share = COUNT_SHARE if count_share is None else count_share
    return kind(epsilon, delta, max_items, count_share=share, allow_weak=allow_weak)
