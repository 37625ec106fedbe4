"""`hubbub reproduce`: a paper's experiment, its figures beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hubbub.cli.output import Json, Output
from hubbub.cli.series import events, fast, outbreaks
from hubbub.cli.wu19 import wu19
from hubbub.errors import InvalidInput

app = typer.Typer(help="Run a paper's experiment and print its figures beside ours.", no_args_is_help=True)


@app.callback()
def reproduce() -> None:
    """Run a paper's experiment and print its figures beside ours."""


for _name, _function in (("events", events), ("fast", fast), ("outbreaks", outbreaks), ("wu19", wu19)):
    app.command(_name)(_function)


@app.command("www14")
def www14(
    quick: Annotated[bool, typer.Option("--quick", help="Fewer repetitions: an answer within a minute.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="A folder for tables (CSV) and plots (HTML).", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the simulated visitors and their noise.")] = 2014,
    as_json: Json = False,
) -> None:
    """Monitoring web browsing behaviour (Fan et al. 2014): LPA, U-KF, M-KF and navigation on msnbc."""
    from hubbub.lab.experiment import MEASURES, METHODS, Size, run_www14, steps
    from hubbub.lab.msnbc import msnbc

    output = Output(as_json)
    size = Size.quick() if quick else Size.full()
    pool = msnbc()
    with output.progress("www14", steps(size)) as bar:
        rows = run_www14(pool, size, seed=seed, done=lambda: bar.advance(bar.task_ids[0]))
    epsilons = sorted({row["epsilon"] for row in rows})
    found = {(row["epsilon"], row["method"]): row for row in rows}
    for number, (name, words) in enumerate(MEASURES.items(), 4):
        figure = f"{words} (the paper's figure {number})" if number < 7 else words
        table = [[f"{epsilon:g}", *(_cell(found[epsilon, method], name) for method in METHODS)] for epsilon in epsilons]
        output.table(figure, ["epsilon", *METHODS], table)
        output.text("")
    output.text(
        f"Mean ± standard error over {rows[0]['tests']} test sets ({size.trainings} training set"
        f"{'s' if size.trainings > 1 else ''}); [in brackets] what the paper states. The paper's 18th page, inactive "
        "sessions, is left out: its noise would not have protected anyone."
    )
    written = [] if out is None else _write(out, rows)
    for path in written:
        output.text(f"wrote {path}")
    output.document(
        {
            "experiment": "www14",
            "seed": seed,
            "quick": quick,
            "trainings": size.trainings,
            "rows": rows,
            "written": [str(path) for path in written],
        }
    )


def _cell(row: dict[str, Any], name: str) -> str:
    paper = row[f"{name}_paper"]
    return f"{row[name]:.4f} ± {row[f'{name}_error']:.4f}" + (f" [{paper}]" if paper else "")


def _write(folder: Path, rows: list[dict[str, Any]]) -> list[Path]:
    import csv

    from hubbub.lab.experiment import MEASURES, METHODS
    from hubbub.lab.plots import lines

    try:
        folder.mkdir(parents=True, exist_ok=True)
        table = folder / "www14.csv"
        with table.open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        paths = [table]
        for name, words in MEASURES.items():
            path = folder / f"www14_{name}.html"
            series = {
                method: [(r["epsilon"], r[name], r[f"{name}_error"]) for r in rows if r["method"] == method]
                for method in METHODS
            }
            steep = name in ("relative_error", "divergence")
            lines(path, words, "epsilon", words, series, log_x=True, log_y=steep)
            paths.append(path)
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be written: {error.strerror}.", "Choose another folder.") from None
    return paths
