"""`hubbub risk`: how often does one person contribute, and what does a bound cost?"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.output import Json, Output
from hubbub.cli.promise import Delta, Rho
from hubbub.errors import InvalidInput, InvalidParameter

if TYPE_CHECKING:
    from hubbub.privacy import Guarantee
    from hubbub.privacy.risk import Risk


def command(
    rate: Annotated[
        float | None, typer.Option(help="Public chance that a person contributes in a period, e.g. 0.0137.")
    ] = None,
    periods: Annotated[int | None, typer.Option(help="Number of periods a person is watched, e.g. 10 years.")] = None,
    sample: Annotated[
        Path | None,
        typer.Option(help="Public CSV file with the contributions of one person a line (column `contributions`)."),
    ] = None,
    confidence: Annotated[float, typer.Option(help="Share of people who must stay within the bound.")] = 0.999,
    certainty: Annotated[
        float, typer.Option(help="How sure to be of that, when a sample of people is all there is.")
    ] = 0.95,
    ticks: Annotated[
        int | None,
        typer.Option(help="Ticks of the stream: the bound without any; default `--periods` or the sample's largest."),
    ] = None,
    level: Annotated[
        float | None, typer.Option(help="About how many are counted per tick: then bias and noise are shown in counts.")
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option(help="The budget of a person, for the noise that --level is shown with; 1 unless a rho is given."),
    ] = None,
    delta: Delta = None,
    rho: Rho = None,
    json: Json = False,
) -> None:
    """Find the smallest bound on contributions that nearly everybody keeps anyway.

    From public rates (--rate, --periods) or a public sample of people (--sample). Both must be public: what this
    command prints is not protected.
    """
    from hubbub.privacy import Event, Guarantee
    from hubbub.privacy.risk import risk, share

    output = Output(json)
    if level is not None and not 0 < level < math.inf:
        raise InvalidParameter(f"`--level` must be above 0 and finite; got {level}.", "hubbub risk --help")
    usual = "1" if epsilon is None and rho is None else epsilon
    guarantee = Guarantee.parse(Event(), epsilon=usual, delta=delta, rho=rho)
    people = None if sample is None else _read(sample)
    assessed = risk(rate, periods, sample=people, confidence=confidence, certainty=certainty, ticks=ticks)
    sampled = assessed.people is not None
    rows = []
    for b in assessed.candidates:
        kept = [share(b.kept), share(b.kept_at_least)] if sampled else [share(b.kept)]
        name = f"{b.bound}{' (chosen)' if b == assessed.chosen else ''}"
        rows.append([name, *kept, share(b.dropped), share(b.laplace_noise), share(b.gaussian_noise)])
    kept_columns = ["people kept", "at least"] if sampled else ["people kept"]
    columns = ["bound", *kept_columns, "dropped", "Laplace noise", "Gaussian noise"]
    output.table(f"people and contributions kept; noise against a bound of {assessed.ticks:,}", columns, rows)
    output.text(assessed.sentence)
    facts = assessed.to_dict()
    if level is not None:
        amounts = {"epsilon": usual, "delta": delta, "rho": rho}
        stated = ", ".join(f"{name} = {amount}" for name, amount in amounts.items() if amount is not None)
        facts |= _at_level(output, assessed, level, guarantee, stated)
    output.document(facts)


def _at_level(output: Output, assessed: Risk, level: float, guarantee: Guarantee, stated: str) -> dict[str, float]:
    """Bias and noise in counts, where about `level` are counted per tick."""
    bias = -assessed.chosen.dropped * level
    noise, unbounded = (_noise(guarantee, bound) for bound in (assessed.chosen.bound, assessed.ticks))
    kind = "Laplace" if guarantee.kind == "pure" else "Gaussian"
    output.text(
        f"At about {level:,.6g} per tick and {stated}: enforcing the bound lowers a count by "
        f"{-bias:,.3g} on average (bias), and {kind} noise is ±{noise:,.3g} instead of ±{unbounded:,.6g}."
    )
    return {"bias": bias, "noise": noise, "noise_without_bound": unbounded}


def _noise(guarantee: Guarantee, bound: int) -> float:
    """The standard deviation of noise that hides `bound` contributions, each to another tick."""
    budget = float(guarantee.budget)
    return math.sqrt(2) * bound / budget if guarantee.kind == "pure" else math.sqrt(bound / (2 * budget))


def _read(path: Path) -> list[int]:
    """One whole number per line; the column `contributions` of a table, or the only column there is."""
    import csv

    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidInput(f"Cannot read {path}: {type(error).__name__}.", "Give a CSV file in UTF-8.") from None
    if not rows:
        raise InvalidInput(f"{path} is empty.", "One line per person: how often he or she contributed.")
    names = [cell.strip().lower() for cell in rows[0]]
    column = names.index("contributions") if "contributions" in names else 0
    if column == 0 and "contributions" not in names and len(names) > 1:
        raise InvalidInput(f"{path} has {len(names)} columns.", "Call the one to use `contributions`.")
    has_header = not names[column].lstrip("+-").isdigit()
    numbers = []
    for line, row in enumerate(rows[has_header:], start=1 + has_header):
        try:
            numbers.append(int(row[column]))
        except (ValueError, IndexError):
            raise InvalidInput(
                f"Row {line} of {path} does not hold a whole number of contributions.", "Give 0, 1, 2, …"
            ) from None
    return numbers
