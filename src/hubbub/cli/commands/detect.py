"""`hubbub detect`: days in a released series that are far above what came before."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hubbub.cli.output import Json, Output
from hubbub.errors import InvalidParameter

_DETECTORS = ("pooled", "C1", "C2", "C3")
_SHOWN = 40


def command(
    released: Annotated[
        Path, typer.Argument(help="A released series, as hubbub release --out wrote it (.csv, .parquet).")
    ],
    detector: Annotated[
        str,
        typer.Option("--detector", help="pooled (several days together), or EARS C1, C2 or C3 (one day, or three)."),
    ] = "pooled",
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", help="Alarm above it; left out 3, for C3 2."),
    ] = None,
    weekdays: Annotated[
        bool | None,
        typer.Option("--weekdays/--no-weekdays", help="Take weekdays out; left out, only where ticks are days."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Tell which ticks of a released series alarm, and why. It reads released values only and costs no budget."""
    from datetime import timedelta

    from hubbub.detect import EarsDetector, EarsSettings, PooledDetector, PooledSettings
    from hubbub.lab.released_reading import read_releases

    output = Output(as_json)
    if detector not in _DETECTORS:
        raise InvalidParameter(f"There is no detector {detector!r}.", f"Known: {', '.join(_DETECTORS)}.")
    releases = read_releases(released)
    keys, daily = releases[0].keys, releases[0].tick.length == timedelta(days=1)
    knows = daily if weekdays is None else weekdays
    seer: EarsDetector | PooledDetector
    if detector == "pooled":
        limit = PooledSettings().threshold if threshold is None else threshold
        seer, first = PooledDetector(keys, PooledSettings(threshold=limit, knows_weekdays=knows)), 30
    else:
        settings = EarsSettings(detector, knows_weekdays=knows, threshold=threshold)
        seer, first = EarsDetector(keys, settings), {"C1": 7, "C2": 9, "C3": 11}[detector]
    alerts: list[Any] = []
    with output.progress("looking", len(releases)) as bar:
        for release in releases:
            alerts += seer.see(release)
            bar.advance(bar.task_ids[0])
    rows = [[_when(a.tick), a.key, a.reason] for a in alerts]
    if rows:
        output.table(f"{len(rows):,} alarms of {detector}", ["tick", "key", "why"], rows[-_SHOWN:])
        if len(rows) > _SHOWN:
            output.text(f"These are the last {_SHOWN}; --json prints all.")
    else:
        output.text(f"No alarm in {len(releases):,} ticks.")
    if len(releases) <= first:
        output.note(f"{detector} needs {first} ticks of baseline before it says anything; there are {len(releases):,}.")
    output.document(
        {
            "detector": detector,
            "weekdays": knows,
            "ticks": len(releases),
            "alerts": [
                {
                    "tick": a.tick.index,
                    "when": _when(a.tick),
                    "key": a.key,
                    "statistic": a.statistic,
                    "reason": a.reason,
                }
                for a in alerts
            ],
        }
    )


def _when(tick: Any) -> str:
    return str(tick.index) if tick.start is None else f"{tick.start:%Y-%m-%d %H:%M}".removesuffix(" 00:00")
