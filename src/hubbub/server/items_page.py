"""What the Items page shows: one published list, a page of it at a time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hubbub.errors import StoreError
from hubbub.released.patterns import patterns_of
from hubbub.server.errors import NotFound
from hubbub.server.lists import ROWS, STATES, ItemList, Overview, State
from hubbub.store import Stream

if TYPE_CHECKING:
    from hubbub.server.desk import Desk


def page_of(shown: ItemList, query: str, page: int) -> dict[str, Any]:
    """One page of what was found: the rows for people, and where it lies."""
    found = shown.find(query)
    pages = max(1, math.ceil(len(found) / ROWS))
    if page > pages:
        raise NotFound("There is no such page of the list.", f"What was found has {pages:,} of them.")
    first = (page - 1) * ROWS
    rows = [shown.row(place, words=True) for place in found[first : first + ROWS]]
    return {
        "items": len(shown),
        "found": len(found),
        "counted": shown.counted,
        "page": page,
        "pages": pages,
        "edge": shown.edge,
        "said": found_words(len(shown), len(found), page, pages, searched=bool(query)),
        "rows": rows,
    }


def found_words(items: int, found: int, page: int, pages: int, *, searched: bool) -> str:
    """How much there is, for people.

    >>> found_words(1200, 1200, 2, 12, searched=False), found_words(1200, 0, 1, 1, searched=True)
    ('1,200 items, 101 to 200', 'none of the 1,200 items')
    """
    noun = "item" if items == 1 else "items"
    if searched and not found:
        return f"none of the {items:,} {noun}"
    said = f"{found:,} of {items:,} {noun}" if searched else f"{items:,} {noun}"
    return said if pages == 1 else f"{said}, {(page - 1) * ROWS + 1:,} to {min(page * ROWS, found):,}"


def facts(desk: Desk, stream: Stream, number: int | None, query: str, page: int) -> dict[str, Any]:
    """Everything on the page. Reads the store: called in a worker thread."""
    about = None if desk.items is None else desk.items.about(stream)
    told: dict[str, Any] = {"shown": None, "number": None, "q": query, "state": None, "card": (), "about": about}
    told["patterns"] = ()
    try:
        overview = desk.lists.overview(stream)
    except StoreError:
        return told | {"overview": None, "picker": []}
    wanted = overview.newest if number is None else number
    told |= {"overview": overview, "number": wanted, "picker": picker(overview)}
    if wanted is None:
        return told
    state = overview.state(wanted)
    told["state"] = state
    if state in ("lost", "open", "passed"):
        return told
    try:
        shown = desk.lists.read(stream, wanted)
    except StoreError:
        return told | {"state": "away"}
    card = () if about is None else (about.card if shown.counted else about.card_without_counts)
    drawn = page_of(shown, query, page)
    if stream.keys_of is not None:
        told["patterns"] = patterns_of(shown.names)
    bars = [_bar(row, shown.edge) if shown.counted else None for row in drawn["rows"]]
    return told | {"shown": drawn, "rows": list(zip(drawn["rows"], bars, strict=True)), "card": card}


def picker(overview: Overview) -> list[tuple[int, str]]:
    """The lists to choose from, the newest first, and what became of those that cannot be shown."""
    return [(number, _said(overview, number, state)) for number, state in reversed(overview.states)]


def _said(overview: Overview, number: int, state: State) -> str:
    began = overview.begins.get(number)
    words = f"list {number:,}" if began is None else f"list {number:,}, from {began:%Y-%m-%d %H:%M} UTC"
    return words if state == "published" else f"{words} ({STATES[state]})"


def _bar(row: dict[str, Any], edge: float) -> dict[str, str]:
    """Where number and interval lie on the scale of the whole list, in per mille of the width."""
    value, lower, upper = (1000 * row[name] / edge for name in ("value", "lower", "upper"))
    return {"value": f"{value:.1f}", "lower": f"{lower:.1f}", "width": f"{max(upper - lower, 4):.1f}"}
