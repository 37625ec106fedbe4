"""Impressions of a fashion shop, with clicks and four features of the user (Open Bandit Dataset, small)."""

from __future__ import annotations

import csv
import io
import lzma
from collections.abc import Sequence
from typing import Any

from hubbub.lab.data import find
from hubbub.lab.experiment_result import Row
from hubbub.personal import Categories, ClickRates, Combined, LearnedTable, Selector, Tally

FILES = ("open_bandit_small/random/all/all.csv.xz", "open_bandit_small/bts/all/all.csv.xz")
FEATURES = 4
SUPPORT = 20
FOLDS = 5

Impression = tuple[dict[str, str], str, int]


def impressions() -> list[Impression]:
    """Context, item and click of each impression."""
    rows = []
    for name in FILES:
        with lzma.open(find(name), "rt", encoding="utf-8") as file:
            for line in csv.DictReader(io.StringIO(file.read())):
                context = {f"feature {i}": line[f"user_feature_{i}"] for i in range(FEATURES)}
                rows.append((context, f"item {line['item_id']}", int(line["click"])))
    return rows


def features(rows: Sequence[Impression]) -> Combined:
    """Each feature is one word of a few, and may be left out."""
    parts: dict[str, Any] = {}
    for i in range(FEATURES):
        name = f"feature {i}"
        words = dict.fromkeys(context[name] for context, _, _ in rows)
        parts[name] = Categories({f"any {name}": None, **dict.fromkeys(words, f"any {name}")})
    return Combined(parts)


def bandit_rows(ks: Sequence[int]) -> list[Row]:
    """What sending k items is expected to bring when nothing is told, by the learned rates; and by replay.

    Replay: in the held-out fifth, impressions whose item is the one that a client would have shown, and their clicks.
    There are few: clicks are 4 of 1,000, and a shown item is the logged one of 80.
    """
    rows = impressions()
    tree = features(rows)
    leaves = {tuple(context.values()): tree.leaf(context) for context, _, _ in rows}
    sums: dict[int, dict[str, float]] = {k: {"expected": 0.0, "quality": 0.0, "replayed": 0, "clicks": 0} for k in ks}
    for fold in range(FOLDS):
        table = LearnedTable(ClickRates.fit(tree, _summed(rows, fold), min_support=SUPPORT))
        columns = table.under(tree.root)
        selector = Selector(table.results, columns.rates, chances=columns.chances)
        column_of = _columns(columns.runs)
        for k, found in sums.items():
            choice = selector.choose(k)
            found["expected"] += choice.value / FOLDS
            found["quality"] += choice.quality / FOLDS
            for context, item, click in rows[fold::FOLDS]:
                place = int(choice.best[column_of[leaves[tuple(context.values())]]])
                if place >= 0 and choice.results[place] == item:
                    found["replayed"] += 1
                    found["clicks"] += click
    told = []
    for k, found in sums.items():
        replayed = max(1, int(found["replayed"]))
        value = Tally(replayed, int(found["clicks"])).rate()
        told.append({"k": k, **found, "lower": value.lower, "upper": value.upper})
    return told


def _summed(rows: Sequence[Impression], held_out: int) -> list[tuple[dict[str, str], str, int, int]]:
    """All impressions but those of one fold, by context and item: paths of contexts are walked once each."""
    found: dict[tuple[tuple[str, ...], str], tuple[dict[str, str], str, list[int]]] = {}
    for number, (context, item, click) in enumerate(rows):
        if number % FOLDS != held_out:
            counts = found.setdefault((tuple(context.values()), item), (context, item, [0, 0]))[2]
            counts[0] += 1
            counts[1] += click
    return [(context, item, shown, clicked) for context, item, (shown, clicked) in found.values()]


def _columns(runs: Sequence[tuple[int, int]]) -> list[int]:
    return [column for length, column in runs for _ in range(length)]
