"""What Fan 2014, section 3.3 states about its figures, beside what we find."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Rows = Sequence[dict[str, Any]]
REAL = ("unemployment", "influenza", "bicycles")
MISFITS = ("logistic", "sinusoid")


def claims(points: Rows, rows: Rows) -> list[list[str]]:
    """One line per statement: figure, what the paper states, what was found here; none where there are no data."""
    statements = [*_filtering(points), *_sampling(points), *_privacy(points), *_measures(rows)]
    return [[figure, stated, ours] for figure, stated, ours in statements if ours]


def _line(points: Rows, figure: str, line: str) -> dict[Any, float]:
    return {p["value"]: p["relative_error"] for p in points if p["figure"] == figure and p["line"] == line}


def _best(points: Rows, figure: str, line: str) -> str:
    errors = {x: e for x, e in _line(points, figure, line).items() if x != 0}
    return f"{min(errors, key=lambda x: errors[x]):g}" if errors else ""


def _filtering(points: Rows) -> list[tuple[str, str, str]]:
    tenth, whole = _best(points, "3.4a", "first tenth"), _best(points, "3.4a", "whole")
    weak, strong = _best(points, "3.4b", "epsilon 0.1"), _best(points, "3.4b", "epsilon 1")
    many = _line(points, "3.5", "particle")
    times = {p["value"]: p["seconds_per_1000_ticks"] for p in points if p["figure"] == "3.5"}
    cost = (
        f"{many[10]:.3f} at 10, {many[1000]:.3f} at 1000, {many[3000]:.3f} at 3000; "
        f"{times[10]:.2f}, {times[1000]:.2f} and {times[3000]:.2f} s for 1000 ticks"
        if many
        else ""
    )
    kalman, particle = _line(points, "3.6", "kalman"), _line(points, "3.6", "particle")
    both = ", ".join(f"{name} {kalman[name]:.3f} and {particle[name]:.3f}" for name in kalman)
    return [
        ("3.4a", "best R 10^4 for a tenth of the series, 10^6 for all", f"{tenth} and {whole}" if whole else ""),
        ("3.4b", "best R 10^8 at epsilon 0.1, 10^6 at 1", f"{weak} and {strong}" if weak else ""),
        ("3.5", "no gain beyond 1000 particles; time grows with their number", cost),
        ("3.6", "Kalman and particles alike; both bad on logistic and sinusoidal data", both),
    ]


def _sampling(points: Rows) -> list[tuple[str, str, str]]:
    theta = [_best(points, "3.7a", one) for one in ("kalman", "particle")]
    first = _line(points, "3.7a", "kalman")
    share = [_best(points, "3.7b", one) for one in ("kalman", "particle")]
    gap = [_best(points, "3.8", one) for one in ("kalman", "particle")]
    pid = []
    for one in ("kalman", "particle"):
        errors = _line(points, "3.8", one)
        if errors:
            pid.append(f"{errors[0]:.3f} against {min(e for x, e in errors.items() if x):.3f}")
    worse = f"; error {first[1]:.3f} at theta 1, {min(first.values()):.3f} at best" if first else ""
    return [
        (
            "3.7a",
            "best theta 5 (Kalman), 10 (particles); prohibitive at 1",
            " and ".join(theta) + worse if first else "",
        ),
        ("3.7b", "best M/T 0.15 (Kalman), 0.25 (particles)", " and ".join(share) if share[0] else ""),
        ("3.8", "best fixed interval 3 to 5", " and ".join(gap) if gap[0] else ""),
        ("3.8", "PID comparable with the best fixed interval", " (Kalman), ".join(pid) + " (particles)" if pid else ""),
    ]


def _privacy(points: Rows) -> list[tuple[str, str, str]]:
    lines = {line: _line(points, "3.9", line) for line in ("uniform", "dft", "fast")}
    if not lines["fast"]:
        return []
    dft = ", ".join(f"{e:.3g} at {x:g}" for x, e in lines["dft"].items())
    fast = ", ".join(f"{e:.3g} at {x:g}" for x, e in lines["fast"].items())
    beaten = [x for x in lines["fast"] if lines["fast"][x] < lines["uniform"][x]]
    return [
        ("3.9", "FAST below LPA at every epsilon", f"at {len(beaten)} of {len(lines['fast'])} epsilons"),
        ("3.9", "DFT lowest up to 0.1, FAST below DFT from 0.1 to 1", f"FAST {fast}; DFT {dft}"),
    ]


def _measures(rows: Rows) -> list[tuple[str, str, str]]:
    at_one = {(r["series"], r["method"]): r for r in rows if r.get("epsilon") == 1.0 and "f1" in r}
    names = list(dict.fromkeys(name for name, _ in at_one))
    small = {(r["series"], r["method"]): r["relative_error"] for r in rows if r.get("epsilon") == 0.1 and "f1" in r}
    if not names:
        return []

    def beside(measure: str, which: Sequence[str], *methods: str) -> str:
        cells = [
            f"{name} {' / '.join(f'{at_one[name, m][measure]:.2f}' for m in methods)}"
            for name in names
            if name in which
        ]
        return "; ".join(cells)

    ratios = [f"{name} {small[name, 'fast'] / small[name, 'uniform']:.2f}" for name in names if name in REAL]
    return [
        ("3.10", "FAST far below LPA on real series at epsilon 0.1", "FAST's error over LPA's: " + ", ".join(ratios)),
        ("3.11", "F1: FAST above LPA, like DFT", "FAST / LPA / DFT: " + beside("f1", REAL, "fast", "uniform", "dft")),
        (
            "3.12",
            "rank correlation: DFT fails on logistic and sinusoidal data, FAST does not",
            "FAST / LPA / DFT: " + beside("spearman", MISFITS, "fast", "uniform", "dft")
            if any(name in MISFITS for name in names)
            else "",
        ),
    ]
