"""What `max_items`, epsilon and delta will do to a list: tried beforehand, on data that may be looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.exact import Exact, whole
from hubbub.itemlogs.item_plan import ItemExpectation, ItemPlan
from hubbub.itemlogs.log import ItemLog
from hubbub.itemlogs.made_up import made_up_log
from hubbub.itemlogs.method import ItemMethod
from hubbub.itemlogs.published import Published
from hubbub.itemlogs.published_files import read_published
from hubbub.itemlogs.publishing import method_for
from hubbub.itemlogs.quality import coverage, relative_error
from hubbub.itemlogs.reading import read_items
from hubbub.privacy.rounding import at_most

MAX_ITEMS = (1, 2, 5, 10, 20, 50)
METHODS = ("adaptive",)
TOP, RUNS = 100, 3
UNKNOWN = (
    "The list tells neither what it left out nor who had which items together: rare items are missing here, and users "
    "are made up. Take this for the frequent items only."
)


def plan_items(
    public: Any = None,
    *,
    published: Published | str | Path | None = None,
    users: int | None = None,
    user: str = "user",
    item: str = "item",
    epsilon: Sequence[Exact] = (1,),
    delta: Sequence[Exact] = ("1e-6",),
    max_items: Sequence[int] = MAX_ITEMS,
    methods: Sequence[str] = METHODS,
    top: int = TOP,
    runs: int = RUNS,
    progress: Callable[[int, int], None] | None = None,
) -> ItemPlan:
    """Try every choice on a PUBLIC log (a path or table with columns `user` and `item`), or on an earlier `published`
    list and the public number of `users` that the next log will have.

    Nothing here is protected. A plan from the confidential log itself would tell of it, and a choice made by looking at
    it is part of what is published: no epsilon counts that. So an `ItemLog`, which is confidential, is refused.

    >>> log = {"user": [f"u{i}" for i in range(900)], "item": ["weather", "news", "flu"] * 300}
    >>> plan = plan_items(log, max_items=[1, 2], runs=1)
    >>> plan, plan.best.coverage
    (<ItemPlan: 2 choices on the public log>, 1.0)
    """
    whole(runs, "runs", "3 give a first idea.")
    whole(top, "top", "100 are the hundred most frequent items.")
    choices = [(m, e, d, name) for name in methods for e in epsilon for d in delta for m in max_items]
    if not choices:
        raise InvalidParameter("There is nothing to try.", "Give at least one method, epsilon, delta and max_items.")
    tried = [(method_for(name, e, d, m), m, name) for m, e, d, name in choices]  # refused before anything is read
    log, source, note = _tried_on(public, published, users, user, item)
    labels = log.labels.reveal()
    places = {label: place for place, label in enumerate(labels)}
    true = np.bincount(log.items.reveal(), minlength=len(labels))
    found = []
    for number, (method, m, name) in enumerate(tried, 1):
        lists = [_histogram(method, log, places) for _ in range(runs)]
        found.append(_expected(method, name, m, true, lists, top))
        if progress is not None:
            progress(number, len(tried))
    return ItemPlan(tuple(found), source, top, runs, note)


def _tried_on(
    public: Any, published: Published | str | Path | None, users: int | None, user: str, item: str
) -> tuple[ItemLog, str, str]:
    if (public is None) == (published is None):
        raise InvalidParameter(
            "A plan is made from a public log or from an earlier published list; got "
            f"{'neither' if public is None else 'both'}.",
            "Give one of them. The confidential log is neither: a choice made by looking at it tells of it.",
        )
    if published is not None:
        if users is None:
            raise InvalidParameter(
                "A list does not tell how many users there are.", "Give `users` (--users), a public number."
            )
        earlier = published if isinstance(published, Published) else read_published(published)
        return made_up_log(earlier, users), f"an earlier list of {len(earlier):,} items", UNKNOWN
    if users is not None:
        raise InvalidParameter(
            "`users` (--users) goes with a published list.", "A public log has its own: leave it out."
        )
    if isinstance(public, ItemLog):
        raise InvalidParameter(
            "An ItemLog is confidential: a plan made from it would tell of it.",
            "Give public data, or an earlier list as `published`.",
        )
    called = f"the public log {Path(public).name}" if isinstance(public, (str, Path)) else "the public log"
    return read_items(public, user=user, item=item), called, ""


def _histogram(method: ItemMethod, log: ItemLog, places: dict[str, int]) -> NDArray[np.int64]:
    told = method.publish(log)
    found = np.zeros(len(places), dtype=np.int64)
    found[[places[name] for name in told]] = 1 if told.counts is None else np.maximum(told.counts, 1)
    return found


def _expected(
    method: ItemMethod, name: str, m: int, true: NDArray[np.int64], lists: Sequence[NDArray[np.int64]], top: int
) -> ItemExpectation:
    errors = [error for one in lists if not np.isnan(error := relative_error(true, one, top))]
    return ItemExpectation(
        name,
        m,
        at_most(method.claim.epsilon),
        at_most(method.claim.delta),
        float(np.mean([np.count_nonzero(one) for one in lists])),
        float(np.mean([coverage(true, one, top) for one in lists])),
        float(np.mean([true[one > 0].sum() / max(true.sum(), 1) for one in lists])),
        float(np.mean(errors)) if errors else None,
    )
