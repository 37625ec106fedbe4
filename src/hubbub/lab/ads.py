"""The experiments of Goetz 2012, 4.4: how often what is shown is what people wanted, for k, CTR floor and cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hubbub.errors import InvalidInput
from hubbub.lab.experiment_result import ExperimentResult, Lines, Row, Table, points_of
from hubbub.lab.local_search import LEVELS, Search, hierarchy, searches
from hubbub.lab.open_bandit import bandit_rows
from hubbub.personal import ClickRates, ContextHierarchy, LearnedTable, Node, Selector

KS = (1, 2, 3, 5, 10, 20, 50)
SERVER_ONLY = "server-only"
FLOORS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)
K, FLOOR, LEVEL, SUPPORT = 10, 0.3, "(4,2,2)", 2
CLIENT_ONLY = ("query", "query", "query")
WORDS = (
    "{train:,} searches teach, {test:,} contexts of the last tenth are tried. Precision: of what is shown, the part "
    "that is what was picked. Coverage: the part of contexts for which anything is shown. Unless said otherwise "
    "k = 10, a CTR of at least 0.3, support 2, and (4,2,2) is told. Server-only: one result is sent, and shown "
    "whatever the true context is. The paper (searches in Bing for mobile): precision 0.48 at coverage 0.47; "
    "server-only 0.12, and 35 % more with k = 5; more with k, less and less; (1,1,1) close to (0,0,0). Here "
    "k = 5 has {free:.2f} times the precision of server-only without a floor, and {ratio:.2f} times with one."
)


@dataclass
class Score:
    """What was tried, shown, and wanted."""

    tried: int = 0
    shown: int = 0
    wanted: int = 0

    def row(self) -> Row:
        precision = self.wanted / self.shown if self.shown else float("nan")
        error = float(np.sqrt(precision * (1 - precision) / self.shown)) if self.shown else float("nan")
        return {"precision": precision, "precision_error": error, "coverage": self.shown / max(1, self.tried)}


Key = tuple[str, float, int]
"""Which level is told, the floor, and k."""


def scores(
    table: LearnedTable, tree: ContextHierarchy, tested: Sequence[Search], level: tuple[str, int], asked: Iterable[Key]
) -> dict[Key, Score]:
    """For one level, what each floor and k show: contexts that say the same are answered together."""
    wanted = [key for key in asked if key[0] == level[0]]
    groups: dict[str, tuple[Node, list[tuple[int, str]]]] = {}
    for search in tested:
        path = tree.path(search.context)
        node = path[min(level[1], len(path) - 1)]
        groups.setdefault(node.name, (node, []))[1].append((path[-1].first - node.first, search.picked))
    found = {key: Score(tried=len(tested)) for key in wanted}
    for node, people in groups.values():
        columns = table.under(node)
        ends = np.cumsum([length for length, _ in columns.runs])
        at = [columns.runs[int(np.searchsorted(ends, place, side="right"))][1] for place, _ in people]
        alive = np.flatnonzero(columns.rates.any(axis=1))
        if not alive.size:
            continue
        names = [table.results[place] for place in alive]
        for floor in sorted({key[1] for key in wanted}):
            selector = Selector(names, columns.rates[alive], chances=columns.chances, floor=floor)
            for key in wanted:
                if key[1] == floor:
                    _tell(found[key], selector, key[2], at, people)
            if level[0] == LEVEL:
                alone = found.setdefault((SERVER_ONLY, floor, 1), Score(tried=len(tested)))
                only = selector.choose(1).results
                alone.shown += len(people) * len(only)
                alone.wanted += sum(picked in only for _, picked in people)
    return found


def _tell(score: Score, selector: Selector, k: int, at: Sequence[int], people: Sequence[tuple[int, str]]) -> None:
    choice = selector.choose(k)
    for column, (_, picked) in zip(at, people, strict=True):
        place = int(choice.best[column])
        if place >= 0:
            score.shown += 1
            score.wanted += choice.results[place] == picked


def ads_result(quick: bool, seed: int, total: Callable[[int], Any], done: Callable[[], Any]) -> ExperimentResult:
    """Figures 4.3 to 4.6, on made-up searches; and the rates of a shop's impressions, where that data set is there."""
    log = searches(seed, *((800, 8) if quick else (3000, 10)))
    cut = len(log) * 9 // 10
    rng = np.random.default_rng(seed)
    tested = [log[cut + int(i)] for i in rng.permutation(len(log) - cut)[:1000]]
    asked: list[Key] = [(LEVEL, floor, k) for floor in (0.0, FLOOR) for k in KS]
    asked += [(LEVEL, floor, K) for floor in FLOORS]
    asked += [(name, floor, k) for name in LEVELS for floor in (0.0, FLOOR, 0.5, 0.7) for k in (1, 3, K, 50)]
    asked = list(dict.fromkeys(asked))
    total(len(LEVELS) + 3)
    tree = hierarchy()
    taught = [(search.context, search.picked) for search in log[:cut]]
    table = LearnedTable(ClickRates.fit_picks(tree, taught, min_support=SUPPORT))
    done()
    found: dict[Key, Score] = {}
    for level in LEVELS.items():
        found |= scores(table, tree, tested, level, asked)
        done()
    found |= _client_only(taught, tested)
    done()
    rows = [{"level": level, "floor": floor, "k": k, **score.row()} for (level, floor, k), score in found.items()]
    frequency = _frequencies(log)
    bandit = _bandit()
    done()
    ratio, free = (_times(rows, floor) for floor in (FLOOR, 0.0))
    words = WORDS.format(train=cut, test=len(tested), ratio=ratio, free=free)
    tables = [*_tables(rows, frequency), *([_bandit_table(bandit)] if bandit else [])]
    if not bandit:
        words += " The data set open_bandit_small is not there: set HUBBUB_DATA."
    return ExperimentResult(rows, tables, words, _plots(rows), {"queries": frequency, "bandit": bandit})


def _client_only(taught: Sequence[tuple[Any, str]], tested: Sequence[Search]) -> dict[Key, Score]:
    """The client says its query and nothing else (4.4.3)."""
    tree = hierarchy(CLIENT_ONLY)
    table = LearnedTable(ClickRates.fit_picks(tree, taught, min_support=SUPPORT))
    asked = [("query only", floor, K) for floor in FLOORS]
    return scores(table, tree, tested, ("query only", 3), asked)


def _times(rows: Sequence[Row], floor: float) -> float:
    """How many times as precise k = 5 is as server-only."""
    at = {(row["level"], row["k"]): row["precision"] for row in rows if row["floor"] == floor}
    return float(at[LEVEL, 5] / at[SERVER_ONLY, 1]) if at[SERVER_ONLY, 1] else float("nan")


def _frequencies(log: Sequence[Search]) -> list[Row]:
    """Figure 4.3: how many queries there are, and how many occur once, as they are generalised."""
    rows: list[Row] = []
    tree = hierarchy().attributes["query"]
    for name, depth in (("exact", 3), ("category", 2), ("general category", 1)):
        counts = Counter(tree.path(search.context["query"])[depth].name for search in log)
        once = sum(number == 1 for number in counts.values())
        rows.append({"query": name, "different": len(counts), "once": once, "searches": len(log)})
    return rows


def _bandit() -> list[Row]:
    try:
        return bandit_rows(KS)
    except InvalidInput:
        return []


def _tables(rows: Sequence[Row], frequency: Sequence[Row]) -> list[Table]:
    def part(level: str, floor: float | None = None, k: int | None = None) -> list[Row]:
        return [
            row for row in rows if row["level"] == level and floor in (None, row["floor"]) and k in (None, row["k"])
        ]

    both = ["precision", "coverage"]

    def cells(row: Row) -> list[str]:
        return [f"{row['precision']:.3f} ± {row['precision_error']:.3f}", f"{row['coverage']:.3f}"]

    by_k = [
        [name, *cells(part(level, FLOOR, k)[0]), *cells(part(level, 0.0, k)[0])]
        for name, level, k in [(SERVER_ONLY, SERVER_ONLY, 1), *((str(k), LEVEL, k) for k in KS)]
    ]
    by_level = []
    for level in [*LEVELS, "query only"]:
        for k in (1, 3, K, 50):
            for row in part(level, FLOOR, k):
                by_level.append([f"{level}, k = {k}", *cells(row)])
    return [
        Table(
            "Figure 4.3: queries",
            ["query", "different", "once"],
            [[row["query"], f"{row['different']:,}", f"{row['once']:,}"] for row in frequency],
        ),
        Table(
            "Figure 4.4: the smallest CTR (k = 10)",
            ["CTR", *both],
            [[f"{row['floor']:g}", *cells(row)] for row in sorted(part(LEVEL, k=K), key=lambda row: row["floor"])],
        ),
        Table("Figure 4.5: k, at a CTR of 0.3 and at any", ["k", *both, *(f"{name}, any" for name in both)], by_k),
        Table("Figure 4.6: what is told (CTR 0.3)", ["told", *both], by_level),
    ]


def _bandit_table(rows: Sequence[Row]) -> Table:
    columns = ["k", "expected clicks of 1,000", "of the bound", "replayed", "clicks", "clicks of 1,000 (replay)"]
    cells = [
        [
            str(row["k"]),
            f"{1000 * row['expected']:.2f}",
            f"{row['quality']:.0%}",
            str(row["replayed"]),
            str(row["clicks"]),
            f"{1000 * row['lower']:.1f} to {1000 * row['upper']:.1f}",
        ]
        for row in rows
    ]
    return Table("open_bandit_small: nothing is told, k items are sent", columns, cells)


def _plots(rows: Sequence[Row]) -> list[Lines]:
    by_k = [row for row in rows if row["level"] == LEVEL and row["floor"] in (0.0, FLOOR) and row["k"] in KS]
    lines = [{**row, "line": f"CTR >= {row['floor']:g}"} for row in by_k]
    curves = [{**row, "line": f"{row['level']}, k = {row['k']}"} for row in rows if row["k"] in (K, 50)]
    return [
        Lines("k", "Figure 4.5: results that are sent", "k", "precision",
              points_of(lines, "line", "k", "precision", "precision_error")),
        Lines("told", "Figure 4.6: what is told", "coverage", "precision",
              points_of(curves, "line", "coverage", "precision", "precision_error")),
    ]  # fmt: skip
