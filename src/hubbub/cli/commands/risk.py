"""`hubbub risk`: how often does one person contribute, and what does a bound cost?"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from hubbub.cli.output import Json, Output
from hubbub.errors import InvalidInput, InvalidParameter


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
        float | None, typer.Option(help="About how many are counted a tick: then bias and noise are shown in counts.")
    ] = None,
    epsilon: Annotated[
        float, typer.Option(help="The budget of a person, for the noise that --level is shown with.")
    ] = 1.0,
    json: Json = False,
) -> None:
    """Find the smallest bound on contributions that nearly everybody keeps anyway.

    From public rates (--rate, --periods) or a public sample of people (--sample). Both must be public: what this
    command prints is not protected.
    """
    from hubbub.privacy.risk import risk_of_rate, risk_of_sample, share

    output = Output(json)
    for name, number in (("level", level), ("epsilon", epsilon)):
        if number is not None and not 0 < number < math.inf:
            raise InvalidParameter(f"`--{name}` must be above 0 and finite; got {number}.", "hubbub risk --help")
    if sample is not None and rate is None and periods is None:
        risk = risk_of_sample(_read(sample), confidence, certainty=certainty, ticks=ticks)
    elif sample is None and rate is not None and periods is not None:
        risk = risk_of_rate(rate, periods, confidence, ticks=ticks)
    else:
        raise InvalidParameter("Give `--rate` with `--periods`, or `--sample`, not both.", "hubbub risk --help")
    sampled = risk.people is not None
    rows = []
    for b in risk.candidates:
        kept = [share(b.kept), share(b.kept_at_least)] if sampled else [share(b.kept)]
        name = f"{b.bound}{' (chosen)' if b == risk.chosen else ''}"
        rows.append([name, *kept, share(b.dropped), share(b.laplace_noise), share(b.gaussian_noise)])
    kept_columns = ["people kept", "at least"] if sampled else ["people kept"]
    columns = ["bound", *kept_columns, "dropped", "Laplace noise", "Gaussian noise"]
    output.table(f"people and contributions kept; noise against a bound of {risk.ticks:,}", columns, rows)
    output.text(risk.sentence)
    facts = risk.to_dict()
    if level is not None:
        chosen, scale = risk.chosen, math.sqrt(2) / epsilon
        bias, noise, unbounded = -chosen.dropped * level, chosen.bound * scale, risk.ticks * scale
        output.text(
            f"At about {level:,.6g} a tick and epsilon = {epsilon:g}: enforcing the bound lowers a count by "
            f"{-bias:,.3g} on average (bias), and Laplace noise is ±{noise:,.3g} instead of ±{unbounded:,.6g}."
        )
        facts |= {"bias": bias, "noise": noise, "noise_without_bound": unbounded}
    output.document(facts)


def _read(path: Path) -> list[int]:
    """One whole number a line; the column `contributions` of a table, or the only column there is."""
    import csv

    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidInput(f"Cannot read {path}: {type(error).__name__}.", "Give a CSV file in UTF-8.") from None
    if not rows:
        raise InvalidInput(f"{path} is empty.", "One line a person: how often he or she contributed.")
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
