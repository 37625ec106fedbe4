"""The sentences on the pages that depend on the stream."""

from __future__ import annotations

from collections.abc import Mapping

from hubbub.privacy import Event, Session, Unit, Window
from hubbub.server.ports import Fact

_LABELS = {
    "lag_seconds": ("Lag", "seconds behind the clock"),
    "ticks_lost": ("Ticks lost to crashes", "charged, never drawn, predicted over"),
    "dropped_share": ("Dropped by the bound", "share of contributions above the unit's bound"),
    "late_share": ("Late", "share of events that came after their tick was closed"),
    "unknown_share": ("Unknown keys", "share of events whose key is not in the stream's list"),
    "malformed_share": ("Malformed", "share of events that could not be read"),
    "memory_bytes": ("Memory", "held by the pipeline"),
    "rate": ("Rate", "events a second, roughly"),
}


def protection(unit: Unit) -> dict[str, str]:
    """What is protected, in the words of someone who has never heard of epsilon.

    >>> protection(Session(max_ticks=20))["blur"]
    'nobody can tell whether any one visit took place'
    """
    if isinstance(unit, Session):
        thing, blur = "each visit", "nobody can tell whether any one visit took place"
    elif isinstance(unit, Event):
        thing, blur = "each single event", "nobody can tell whether any one event took place"
    elif isinstance(unit, Window):
        thing = f"whatever one person does within any {unit.max_ticks} ticks"
        blur = f"nobody can tell what any one person did within {unit.max_ticks} ticks"
    else:
        thing, blur = "each person", "nobody can tell whether any one person was counted"
    return {"thing": thing, "blur": blur, "bound": unit.bound}


def curator_facts(status: Mapping[str, Fact]) -> list[tuple[str, str, str]]:
    """Label, value and explanation of each fact the pipeline tells.

    >>> curator_facts({"lag_seconds": 0.41, "dropped_share": 0.0123})[1]
    ('Dropped by the bound', '1.2 %', "share of contributions above the unit's bound")
    """
    found = []
    for name, value in status.items():
        label, words = _LABELS.get(name, (name.replace("_", " ").capitalize(), ""))
        found.append((label, _shown(name, value), words))
    return found


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
