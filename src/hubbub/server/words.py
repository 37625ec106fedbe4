"""The sentences on the pages that depend on the stream."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from hubbub.released import Value
from hubbub.released.value import PREDICTED
from hubbub.server import clock
from hubbub.server.ports import Fact
from hubbub.store import Stream

_LABELS = {
    "lag_seconds": ("Lag", "seconds behind the clock"),
    "delay_seconds": ("Delay", "how long a tick waits for late events"),
    "trouble": ("Trouble", "what the pipeline waits for"),
    "ticks_lost": ("Ticks lost to crashes", "charged, never drawn, predicted over"),
    "dropped_share": ("Dropped by the bound", "share of contributions above the unit's bound"),
    "late_share": ("Late", "share of events that came after their tick was closed"),
    "unknown_share": ("Unknown keys", "share of events whose key is not in the stream's list"),
    "malformed_share": ("Malformed", "share of events that could not be read"),
    "memory_bytes": ("Memory", "held by the pipeline"),
    "rate": ("Rate", "events per second, roughly"),
}


NOISE_ALONE = frozenset({"lpa", "ranges", "items"})
"""Methods whose intervals follow from the noise alone (`Traits.exact_intervals`, which the server may not look at)."""


def interval_words(method: str) -> str:
    """How far the intervals of a stream can be relied on, for every reader.

    >>> interval_words("lpa")
    'That follows from the added noise alone, whose size is known: it holds whatever the crowd does.'
    """
    if method in NOISE_ALONE:
        return "That follows from the added noise alone, whose size is known: it holds whatever the crowd does."
    return (
        f"That is worked out by a method ({method}) that also learns from earlier ticks, and holds as far as the crowd "
        "moves as the method expects: after a sudden change the true count lies outside more often."
    )


_VOUCHED = {
    "keys": "The list of keys",
    "model": "The model",
    "counts": "The counts",
    "identity": "Who is who",
}


def attested_of(stream: Stream) -> dict[str, str]:
    """What the owner vouches for, as it was recorded with the stream: short names and sentences."""
    recorded = getattr(stream, "attested", None) or stream.options.get("attested")
    if not isinstance(recorded, Mapping):
        return {}
    # Streams hold a sentence that ends in two dots; it is part of their promise, so it is mended where it is shown.
    return {name: re.sub(r"\.\.$", ".", said) for name, said in recorded.items() if isinstance(said, str)}


def vouched(attested: Mapping[str, str]) -> list[tuple[str, str]]:
    """The same for people: what it is about, and the sentence.

    >>> vouched({"identity": "A visitor is told by the column `person`.", "source": "One log."})
    [('Who is who', 'A visitor is told by the column `person`.'), ('Source', 'One log.')]
    """
    known = [name for name in _VOUCHED if name in attested]
    others = sorted(name for name in attested if name not in _VOUCHED)
    return [(_VOUCHED.get(name, name.replace("_", " ").capitalize()), attested[name]) for name in [*known, *others]]


_PASSED = frozenset({"lag_seconds", "delay_seconds", "trouble", "memory_bytes", "rate", "ticks_lost", "healthy"})

_SHARES = {
    "dropped_share": ("beyond_bound",),
    "late_share": ("late", "ahead", "outside"),
    "unknown_share": ("unknown",),
    "malformed_share": ("malformed", "oversized"),
}


def fit_for_curator(status: Mapping[str, Fact]) -> dict[str, Fact]:
    """What of a pipeline's facts may be shown, even to the curator: no raw count.

    Looked at twice, an exact number of events tells what came in between. So counts become shares of all events, to
    two digits, and whatever is not known to be harmless is left out.

    >>> fit_for_curator({"lag_seconds": 0.4, "events": 10_000, "beyond_bound": 123, "open": 777})
    {'lag_seconds': 0.4, 'dropped_share': 0.012}
    """
    kept = {name: value for name, value in status.items() if name in _PASSED}
    events = status.get("events")
    for share, parts in _SHARES.items():
        given = status.get(share)
        if isinstance(given, int | float):
            kept[share] = float(f"{given:.2g}")
        elif isinstance(events, int) and events > 0:
            numbers = [value for name in parts if isinstance(value := status.get(name), int)]
            if numbers:
                kept[share] = float(f"{sum(numbers) / events:.2g}")
    return kept


def range_words(begins: datetime | None, ends: datetime | None, first: int, last: int) -> str:
    """When a range was, for people.

    >>> noon = datetime(2026, 1, 31, 12, tzinfo=UTC)
    >>> range_words(noon, noon.replace(minute=30), 0, 179)
    'from 12:00:00 to 12:30:00 UTC on 2026-01-31 (30 minutes)'
    >>> range_words(None, None, 3, 7)
    'from tick 3 to tick 7 (5 ticks)'
    """
    if begins is None or ends is None:
        return f"from tick {first:,} to tick {last:,} ({clock.ticks(last - first + 1, None)})"
    start, end = begins.astimezone(UTC), ends.astimezone(UTC)
    length = clock.span(ends - begins)
    if start.date() == end.date():
        return f"from {start:%H:%M:%S} to {end:%H:%M:%S} UTC on {start:%Y-%m-%d} ({length})"
    return f"from {start:%Y-%m-%d %H:%M:%S} to {end:%Y-%m-%d %H:%M:%S} UTC ({length})"


def error_words(total: Value, missing: int, predicted: int) -> str:
    """How wrong the total of a range may be, and what it lacks.

    >>> error_words(Value(48213, 310, 47556, 48871), 1, 0)
    'usually within ± 310; 95 of 100 times between 47,560 and 48,870. 1 tick was not measured and is not in the total.'
    """
    if not total.has_number:
        return f"{total.words}."
    usual = total.text.split(" ± ")[1]
    said = f"usually within ± {usual}; {total.interval}."
    if missing:
        were, are = ("tick was", "is") if missing == 1 else ("ticks were", "are")
        said += f" {missing:,} {were} not measured and {are} not in the total."
    if predicted:
        said += f" {predicted:,} tick{' was' if predicted == 1 else 's were'} {PREDICTED}."
    return said


def curator_facts(status: Mapping[str, Fact]) -> list[tuple[str, str, str]]:
    """Label, value and explanation of each fact the pipeline tells.

    >>> curator_facts({"lag_seconds": 0.41, "dropped_share": 0.0123})[1]
    ('Dropped by the bound', '1.2 %', "share of contributions above the unit's bound")
    """
    facts = []
    for name, value in status.items():
        label, words = _LABELS.get(name, (name.replace("_", " ").capitalize(), ""))
        facts.append((label, _shown(name, value), words))
    return facts


def _shown(name: str, value: Fact) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if name.endswith("_share"):
        return f"{100 * value:.2g} %"
    if name.endswith("_bytes"):
        return f"{value / 2**20:,.1f} MiB"
    if name.endswith("_seconds"):
        return f"{value:.3g} s"
    return f"{value:,.3g}" if isinstance(value, float) and abs(value) < 100 else f"{value:,.0f}"
