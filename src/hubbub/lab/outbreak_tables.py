"""The tables and plots of `hubbub reproduce outbreaks`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hubbub.lab import outbreak_release, outbreaks
from hubbub.lab.experiment_result import Bands, ExperimentResult, Lines, Plot, Table, points_of
from hubbub.lab.outbreaks import (
    BOUND,
    CHECKED,
    EPSILONS,
    KINDS,
    OTHERS,
    OWN_LIMIT,
    POOLED,
    SIGNALS,
    SPECIFICITY,
    TUNED,
    VARIANTS,
    Results,
)

SOURCES = ("raw", *reversed(EPSILONS))
SIMULATIONS = 100
STEPS = 3 * (len(SIGNALS) + len(OTHERS)) + len(outbreak_release.LINES) * len(outbreak_release.PRIVACY) + len(SIGNALS)


def outbreak_tables(quick: bool, seed: int, total: Callable[[int], Any], done: Callable[[], Any]) -> ExperimentResult:
    """Accuracy of the released counts, then detection: the figures, ours beside them, and what was hoped for."""
    runs, simulations = (1, SIMULATIONS) if quick else (5, SIMULATIONS)
    total(STEPS)
    accuracy = outbreak_release.accuracy(min(10, simulations), seed, done)
    followed, drawn = outbreak_release.followed(seed)
    own = outbreak_release.at_own_thresholds(SIGNALS, simulations, seed, done)
    results = outbreaks.run_outbreaks(runs, simulations=simulations, seed=seed, done=done)
    others = outbreaks.run_outbreaks(
        runs, simulations=simulations, signals=OTHERS, variants=("plain", POOLED), seed=seed, done=done
    )
    tables = [
        _accuracy(accuracy),
        Table(
            "Figure 4.3: one simulation of signal 2 at epsilon 1 (drawn with --out)",
            ["release", "mean error", "rank correlation", "inside the interval"],
            [
                [r["line"], f"{r['absolute_error']:.2f}", f"{r['spearman']:.2f}", f"{100 * r['coverage']:.0f} %"]
                for r in followed
            ],
        ),
        _own(own),
        *_equal(results),
        _pooled("Pooled days beside the best of plain C1 to C3, signals to choose by", results | others, TUNED),
        _pooled("The same, signals to check by", results | others, CHECKED),
        _limits("Pooled days at their own limits, signals to choose by", results | others, TUNED),
        _limits("The same, signals to check by", results | others, CHECKED),
        _hoped(results),
    ]
    words = (
        f"Counts are raw, or private at the epsilon given with a person counting at most {BOUND} times; {runs} "
        f"draw{'s' if runs > 1 else ''} of noise on {simulations} simulations of each signal, 340 days. ± is a "
        "standard error over simulations. The paper's data are not public any more: its signals are others. It states "
        "one number: C3 finds 35.48 % of outbreak days in the original s01 and 35.25 % in the private one."
    )
    rows = accuracy + followed + own + outbreaks.as_rows(results) + outbreaks.as_rows(others)
    return ExperimentResult(rows, tables, words, _plots(accuracy, drawn))


def _accuracy(rows: Sequence[dict[str, Any]]) -> Table:
    lines = outbreak_release.LINES
    by = {(r["line"], r["epsilon"]): r for r in rows}
    cells = [
        [epsilon, *(f"{by[line, float(epsilon)]['relative_error']:.3g}" for line in lines)]
        for epsilon in outbreak_release.PRIVACY
    ]
    return Table("Figure 4.2: average relative error of released counts, signal 2", ["epsilon", *lines], cells)


def _own(rows: Sequence[dict[str, Any]]) -> Table:
    by = {(r["signal"], r["statistic"], r["counts"]): r for r in rows}
    sources = ("raw", "measured", "filtered")
    cells = []
    for signal in SIGNALS:
        for kind in (*KINDS, "pooled"):
            picked = [by.get((signal, kind, source)) for source in sources]
            own = [f"{100 * row['day']:.1f} % / {100 * row['specificity']:.1f} %" if row else "–" for row in picked]
            equal = [f"{100 * row['day_at_equal_specificity']:.1f} %" if row else "–" for row in picked]
            cells.append([f"{signal}, {kind}", *own, *equal])
    title = (
        "Figures 4.4 and 4.5: sensitivity / specificity at the usual thresholds, epsilon 1; then sensitivity at "
        f"specificity {SPECIFICITY:g}"
    )
    return Table(title, ["signal, statistic", *sources, *(f"{source}, equal" for source in sources)], cells)


def _equal(results: Results) -> list[Table]:
    columns = ["signal, statistic", *(f"{s} · {v}" for s in SOURCES for v in VARIANTS)]
    tables = []
    for name, words in (("day", "outbreak days that alarm"), ("outbreak", "outbreaks with an alarm")):
        cells = [
            [
                f"{signal}, {kind}",
                *(f"{100 * getattr(results[signal, s, kind, v], name):.1f} %" for s in SOURCES for v in VARIANTS),
            ]
            for signal in SIGNALS
            for kind in KINDS
        ]
        tables.append(Table(f"Share of {words}, at specificity {SPECIFICITY:g} for all", columns, cells))
    return tables


def _pooled(title: str, results: Results, signals: Sequence[int]) -> Table:
    """Days (and outbreaks) that alarm: the best plain statistic of each column, and pooled."""
    cells = []
    for signal in signals:
        row = [str(signal)]
        for source in SOURCES:
            plain = max((results[signal, source, kind, "plain"] for kind in KINDS), key=lambda j: j.day)
            pooled = results[signal, source, "pooled", POOLED]
            gain, error = pooled.above(plain)
            row += [
                f"{100 * plain.day:.1f} % ({100 * plain.outbreak:.0f} %)",
                f"{100 * pooled.day:.1f} % ({100 * pooled.outbreak:.0f} %)",
                f"{100 * gain:+.1f} ± {100 * error:.1f}",
            ]
        cells.append(row)
    columns = ["signal", *(f"{s} · {what}" for s in SOURCES for what in ("plain", "pooled", "gain"))]
    return Table(f"{title}: days (outbreaks), specificity {SPECIFICITY:g}", columns, cells)


def _limits(title: str, results: Results, signals: Sequence[int]) -> Table:
    """Specificity and sensitivity where nobody chooses a threshold: of days, and (in brackets) of outbreaks."""
    cells = []
    for signal in signals:
        judged = [results[signal, source, OWN_LIMIT, POOLED] for source in SOURCES]
        shares = [[f"{100 * j.specificity:.1f} %", f"{100 * j.day:.1f} % ({100 * j.outbreak:.0f} %)"] for j in judged]
        cells.append([str(signal), *(cell for pair in shares for cell in pair)])
    columns = ["signal", *(f"{s} · {what}" for s in SOURCES for what in ("specificity", "sensitivity"))]
    return Table(title, columns, cells)


def _hoped(results: Results) -> Table:
    """What was hoped for, with standard errors of the paired differences."""
    cells = []
    for signal, most in ((1, 1.0), (3, 1.0), (4, 3.0)):
        for kind in (*KINDS, "pooled"):
            for variant in VARIANTS if kind != "pooled" else (POOLED,):
                gain, error = results[signal, "1", kind, variant].above(results[signal, "raw", kind, variant])
                what = f"signal {signal}, {kind}, {variant}: epsilon 1 against raw"
                cells.append(
                    [what, f"{100 * gain:+.1f} ± {100 * error:.1f}", f"at least -{most:g}", _met(100 * gain >= -most)]
                )
    for signal in (2, 4):
        for kind in (*KINDS, "pooled"):
            plain = results[signal, "0.1", kind if kind != "pooled" else "C3", "plain"]
            gain, error = results[signal, "0.1", kind, POOLED].above(plain)
            what = f"signal {signal}, {kind}, {POOLED}: epsilon 0.1 against plain {kind if kind != 'pooled' else 'C3'}"
            cells.append([what, f"{100 * gain:+.1f} ± {100 * error:.1f}", "above 0", _met(gain > 0)])
    return Table("What was hoped for, in points of sensitivity a day", ["difference", "found", "goal", ""], cells)


def _met(yes: bool) -> str:
    return "met" if yes else "missed"


def _plots(accuracy: list[dict[str, Any]], drawn: Mapping[str, Any]) -> list[Plot]:
    """Figures 4.2 and 4.3."""
    title = "Figure 4.2: average relative error, signal 2"
    points = points_of(accuracy, "line", "epsilon", "relative_error", "relative_error_error")
    days = list(range(len(next(iter(drawn.values()))[0])))
    series = {name: tuple(part.tolist() for part in parts) for name, parts in drawn.items()}
    followed = "Figure 4.3: original and released counts, signal 2, epsilon 1"
    return [
        Lines("4.2", title, "epsilon", "error", points, log_x=True, log_y=True),
        Bands("4.3", followed, days, series),
    ]
