"""The options by which commands are told how a file of counts is meant."""

from __future__ import annotations

from typing import Annotated

import typer

Gaps = Annotated[
    str,
    typer.Option("--gaps", help="What a missing row or an empty cell means: refuse, zero, or predict (not counted)."),
]
Dates = Annotated[
    str | None,
    typer.Option("--dates", help="How 02/01/2026 is meant, where no date tells: day-first, month-first."),
]
