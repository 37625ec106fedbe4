"""What of a monitor's settings is part of its promise: fixed with the stream, shown to its readers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from hubbub.collect import Filters, KeyDomain, Live, Replay
from hubbub.collect.calendar import microseconds
from hubbub.errors import InvalidInput
from hubbub.monitor.settings import MonitorSettings
from hubbub.monitor.source_settings import CountsSource, LogSource
from hubbub.privacy import Event
from hubbub.released import Domain


def counting(
    settings: MonitorSettings,
    domain: KeyDomain | Domain,
    filters: Filters,
    time: Live | Replay | None,
    begins: datetime,
    stay: bool | timedelta,
) -> dict[str, Any]:
    """Everything that decides who counts where. Spans are whole microseconds.

    With another tick, another rule for staying or another lateness, the same requests would count in other ticks: a
    session that was counted under the old rule could be counted again under the new one.
    """
    facts: dict[str, Any] = {
        "tick": microseconds(settings.stream.tick),
        "begins": begins.isoformat(),
        "source": _source(settings),
    }
    if isinstance(domain, KeyDomain):  # a map says itself, in the stream's definition, what counts where
        facts |= {"routes": dict(domain.routes), "other": domain.other}
    if settings.found_keys is not None and settings.found_keys.discover is not None:
        facts["discover"] = microseconds(settings.found_keys.discover)
    if time is None:
        return facts
    facts |= {
        "lateness": None if time.lateness is None else microseconds(time.lateness),
        "stay": microseconds(stay) if isinstance(stay, timedelta) else stay,
        "identify": sorted(settings.collect.identify),
        "filters": {name: list(map(_plain, value)) for name, value in asdict(filters).items()},
    }
    if isinstance(time, Live):
        return facts | {"max_ahead": microseconds(time.max_ahead)}
    return facts | {"ends": time.end.isoformat()}


def attested(settings: MonitorSettings) -> dict[str, str]:
    """What somebody other than the code vouches for, a sentence each."""
    sentences = {"identity": _identity(settings)}
    sentences["keys"] = (
        "The map is public: the owner gave it, and it does not come from anybody's position."
        if settings.grid is not None
        else "The keys are public: the owner listed them in the settings, and they do not come from the data."
        if settings.found_keys is None
        else "The keys change, and follow from published lists. Patterns among them are chosen by the owner out of "
        "those that published names offer."
    )
    if isinstance(settings.source, CountsSource):
        bound = settings.privacy.unit().pinned_bound
        sentences["counts"] = f"Whoever sends the counts vouches that the bound was enforced before: {bound}."
    if settings.method.model is not None:
        digest = hash_of(settings.method.model)
        sentences["model"] = f"The model of how visitors move was learned from public data (sha256 {digest})."
    return sentences


def hash_of(path: Path) -> str:
    """The file's SHA-256: another model under the same name is another model."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InvalidInput(
            f"The model {path} cannot be read: {error.strerror}.", "Check `model` in [method]."
        ) from None


def _source(settings: MonitorSettings) -> Mapping[str, Any]:
    """Of which kind the source is and how it is read; where it lies may change."""
    names = {"kind", "format", "time", "person"} | ({"key"} if settings.grid is None else {"x", "y"})
    told = settings.source.model_dump(mode="json")
    if told.get("format") == "lines":  # stored streams of keys do not have it: there was nothing else
        del told["format"]
    return {name: value for name, value in told.items() if name in names}


def _identity(settings: MonitorSettings) -> str:
    if isinstance(settings.privacy.unit(), Event):
        return "Each event stands for itself: nobody is told apart, and nobody is recognised."
    if isinstance(settings.source, CountsSource):
        return "Who is who was decided by whoever counted."
    if settings.grid is not None:
        return (
            "A vehicle is told by the identity that came with each position; the owner vouches that one vehicle has "
            "one identity, and that no two share one."
        )
    if isinstance(settings.source, LogSource) and settings.source.format != "json":
        with_agent = " together with the name of the browser" if "agent" in settings.collect.identify else ""
        return (
            f"A visitor is told by the address in the log{with_agent}. People who share it are taken for one visitor, "
            "and one person with two of them for two."
        )
    with_agent = " and the name of the browser" if "agent" in settings.collect.identify else ""
    return (
        f"A visitor is told by the identity that came with each event{with_agent}; the owner vouches that one visitor "
        "has one identity, and that no two share one."
    )


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
