"""The tables and plots of `hubbub reproduce zealous`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hubbub.lab.experiment_result import ExperimentResult, Table
from hubbub.lab.item_tables import METHODS
from hubbub.lab.separation_table import POSSIBLE, separation_plot, separation_rows, separation_table
from hubbub.lab.zealous_experiment import (
    EPSILON,
    HIDDEN,
    ORIGINAL,
    PAPER,
    Findings,
    Logs,
    Size,
    made_logs,
    run_zealous,
    steps,
)
from hubbub.lab.zealous_plots import binned, zealous_plots
from hubbub.lab.zealous_statements import statements
from hubbub.lab.zealous_tables import TABLE_63, TABLE_64, table_61, table_62

SEPARATED = ("keywords", "query pairs", "kosarak_head")
"""What the separation result is shown on; in a quick run the first."""

SAID = ("the paper", "here", "found")
WORDS = (
    "Means of {runs} lists, delta 0.001; [in brackets] what the paper prints, of half a million users. The paper's "
    "log is not to be had: tables 6.3 and 6.4 and the figures are about ours, and only their shape can be compared. "
    "With one item a user `adaptive` is `zealous`."
)


def zealous_result(quick: bool, seed: int, total: Callable[[int], Any], done: Callable[[], Any]) -> ExperimentResult:
    """Tables 6.1 to 6.4, figures 6.2 to 6.8, the separation result, and the paper's statements beside what is found."""
    size = Size.quick() if quick else Size()
    apart = SEPARATED if size.public else SEPARATED[:1]
    total(steps(size) + len(POSSIBLE) * len(apart))
    logs = made_logs(size, seed, done)
    found = run_zealous(size, logs, seed, done)
    separated = [row for name in apart for row in separation_rows(name, logs.domains[name].log, seed, done)]
    stated = statements(found, logs, size)
    tables = [
        table_61(),
        table_62(),
        *_published(found, logs, size),
        _per_user(logs),
        *_precision(found, logs, size),
        _shapes(found, logs),
        *_differences(found, logs, size),
        *_hits(found, size),
        *_substitutions(found, size),
        separation_table(separated),
        Table("What the paper says, and what is found", SAID, stated),
    ]
    plots = [*zealous_plots(found, logs, size), separation_plot(separated)]
    told = [dict(zip(SAID, one, strict=True)) for one in stated]
    more = {"separation": separated, "statements": told}
    return ExperimentResult(found.rows, tables, WORDS.format(runs=size.runs), plots, more)


Cell = dict[str, Any]
Named = Sequence[tuple[str, Cell]]


def _grid(
    found: Findings, title: str, head: str, rows: Named, columns: Named, form: str = "{:.3g}", each: float = 1
) -> Table:
    """A table of single numbers: what a row and a column say together is the cell."""
    cells = [
        [name, *(form.format(found.value(**{**row, **column}) / each).replace("nan", "-") for _, column in columns)]
        for name, row in rows
    ]
    return Table(title, [head, *(name for name, _ in columns)], cells)


def _many(size: Size) -> Named:
    return [(f"m = {m}", {"max_items": m, "epsilon": EPSILON}) for m in size.max_items]


def _strong(size: Size, m: int) -> Named:
    return [(f"epsilon {epsilon}", {"max_items": m, "epsilon": epsilon}) for epsilon in size.epsilons]


def _weak(size: Size) -> Named:
    return [(f"k = {k}", {"k": k}) for k in size.hidden]


def _published(found: Findings, logs: Logs, size: Size) -> list[Table]:
    """Table 6.3, the paper's numbers on a line of their own."""
    tables = []
    for part, measure, each in (("A", "published", 1), ("B", "total", 1000)):
        words = "items" if part == "A" else "counts in all, thousands"
        rows = [
            (f"{name}, {method}", {"log": name, "method": method, "measure": measure})
            for name in logs.domains
            for method in METHODS
        ]
        table = _grid(
            found, f"Table 6.3 ({part}): {words}, epsilon {EPSILON}", "log", rows, _many(size), "{:,.0f}", each
        )
        cells = []
        for row in table.rows:
            name, _, method = str(row[0]).partition(", ")
            if method == PAPER and name in TABLE_63[part]:
                printed = TABLE_63[part][name]
                cells.append(
                    [f"{name} [the paper]", *(f"[{printed[m]:,}]" if m in printed else "" for m in size.max_items)]
                )
            cells.append(list(row))
        tables.append(Table(table.title, table.columns, cells))
    return tables


def _per_user(logs: Logs) -> Table:
    rows = [
        [name, f"{domain.per_user:.1f}" + (f" [{TABLE_64[name]}]" if name in TABLE_64 else ""), f"{domain.users:,}",
         f"{len(domain.true):,}"]
        for name, domain in logs.domains.items()
    ]  # fmt: skip
    return Table("Table 6.4: items of a user on average", ["log", "items a user", "users", "different items"], rows)


def _precision(found: Findings, logs: Logs, size: Size) -> list[Table]:
    """Figures 6.2 and 6.3 are one set of numbers: by m and by j."""
    tables = []
    for measure, words in {
        "missing": "share not published",
        "KL": "KL divergence",
        "L1": "average L1 distance",
    }.items():
        rows = [
            (f"{name}, top {j}, {method}", {"log": name, "method": method, "measure": f"{measure}, top {j}"})
            for name, domain in logs.domains.items()
            for j in domain.tops
            for method in (PAPER, "adaptive")
        ]
        tables.append(_grid(found, f"Figures 6.2, 6.3: {words}, epsilon {EPSILON}", "log", rows, _many(size)))
    return tables


def _shapes(found: Findings, logs: Logs) -> Table:
    """Figure 6.4: how many items have a count in 1, 2 to 3, 4 to 7, and so on."""
    methods = list(dict.fromkeys(method for _, method in found.shapes))
    kept = [ORIGINAL, *(method for method in methods if method in ("k = 10", *METHODS))]
    rows = [
        [f"{name}, {method}", *(f"{n:,}" for n in binned(found.shapes[name, method]))]
        for name in logs.domains
        for method in kept
        if (name, method) in found.shapes
    ]
    width = max(len(row) for row in rows)
    columns = ["log", *(f"from {2**place:,}" for place in range(width - 1))]
    title = f"Figure 6.4: items by their count, m = 1, epsilon {EPSILON}"
    return Table(title, columns, [[*row, *[""] * (width - len(row))] for row in rows])


def _differences(found: Findings, logs: Logs, size: Size) -> list[Table]:
    title = "Figure 6.5: average difference of counts, scaled to the same total, "
    rows = [
        (f"{name}, {method}", {"log": name, "method": method, "measure": "difference"})
        for name in logs.domains
        for method in METHODS
    ]
    hidden = [
        (name, {"log": name, "method": HIDDEN, "measure": "difference"}) for name in logs.domains if name != "clicks"
    ]
    return [
        _grid(found, f"{title}m = 1", "log", rows, _strong(size, 1), "{:.4g}"),
        _grid(found, f"{title}m = 6", "log", rows, _strong(size, 6), "{:.4g}"),
        _grid(found, f"{title}k-query anonymity", "log", hidden, _weak(size), "{:.4g}"),
    ]


def _hits(found: Findings, size: Size) -> list[Table]:
    about = {"log": "keywords", "measure": "hits"}
    rows = [(method, {**about, "method": method}) for method in METHODS]
    best = found.value("keywords", ORIGINAL, "hits")
    title = f"hit probability of the index in memory; {best:.3f} by the original log"
    return [
        _grid(found, f"Figure 6.6 (a): {title}; m = 6", "method", rows, _strong(size, 6), "{:.3f}"),
        _grid(
            found, f"Figure 6.6 (a): {title}", "method", [(HIDDEN, {**about, "method": HIDDEN})], _weak(size), "{:.3f}"
        ),
        _grid(found, f"Figure 6.6 (b): {title}; epsilon {EPSILON}", "method", rows, _many(size), "{:.3f}"),
    ]


def _substitutions(found: Findings, size: Size) -> list[Table]:
    tables = []
    for j in (2, 5):
        names = [f"{name}, top {j}" for name in ("NDCG", "MAP", "precision", "recall", "coverage")]
        for method, m in ((PAPER, 1), ("zealous", 1), ("weighted", 6), ("adaptive", 6)):
            rows = [(name, {"log": "query pairs", "method": method, "measure": name}) for name in names]
            title = f"Figure 6.7: substitutions, top {j}, {method}, m = {m}"
            tables.append(_grid(found, title, "measure", rows, _strong(size, m), "{:.3f}"))
        rows = [(name, {"log": "query pairs", "method": HIDDEN, "measure": name}) for name in names]
        tables.append(
            _grid(found, f"Figure 6.7: substitutions, top {j}, {HIDDEN}", "measure", rows, _weak(size), "{:.3f}")
        )
    coverages: Named = [
        (f"{method}, m = {m}, top {j}",
         {"log": "query pairs", "method": method, "measure": f"coverage, top {j}", "max_items": m})
        for method in METHODS for j in (2, 5) for m in (1, 6)
    ]  # fmt: skip
    columns = [(f"epsilon {epsilon}", {"epsilon": epsilon}) for epsilon in size.epsilons]
    return [*tables, _grid(found, "Figure 6.8: coverage of substitutions", "method", coverages, columns, "{:.3f}")]
