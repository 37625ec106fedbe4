"""Hierarchies, logs and bids out of files and words."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Any

from hubbub.errors import InvalidInput, InvalidParameter, UnknownKey
from hubbub.exact import exact
from hubbub.files import write_file
from hubbub.personal.categories import Categories
from hubbub.personal.combined import Combined
from hubbub.personal.decimals import Decimals
from hubbub.personal.hierarchy import ContextHierarchy, hierarchy_from

FORMAT = "hubbub-context-hierarchy"
VERSION = 1


def described(text: str) -> ContextHierarchy:
    """A hierarchy in words: `grid:8x8`, `decimals:61,-150,62,-149,5`, `categories:tree.csv`.

    >>> described("grid:4x4")
    Categories(16 contexts, 21 nodes)
    """
    kind, _, rest = text.partition(":")
    try:
        if kind == "grid":
            columns, rows = (int(number) for number in rest.split("x"))
            return Categories.of_grid(columns, rows)
        if kind == "decimals":
            return Decimals(*(int(number) for number in rest.split(",")))
        if kind == "categories":
            return Categories(_tree(Path(rest)))
    except (TypeError, ValueError) as error:
        if isinstance(error, (InvalidInput, InvalidParameter)):
            raise
    raise InvalidParameter(
        f"A hierarchy cannot be read: {text!r}.",
        "Write grid:8x8, decimals:south,west,north,east,digits or categories:FILE.csv (columns name, parent).",
    )


def combined(parts: Sequence[str], order: Sequence[str] = ()) -> ContextHierarchy:
    """One hierarchy in words, or several with names: `place=grid:8x8`, `query=categories:tree.csv`."""
    named = [part.partition("=") for part in parts]
    if len(parts) == 1 and not order and (not named[0][1] or ":" in named[0][0]):
        return described(parts[0])
    if not all(equals and ":" not in name for name, equals, _ in named) or len({n for n, *_ in named}) != len(named):
        raise InvalidParameter(
            "Several attributes need a name each.", "Write place=grid:8x8 query=categories:queries.csv."
        )
    return Combined({name: described(rest) for name, _, rest in named}, order)


def save_hierarchy(hierarchy: ContextHierarchy, path: Path) -> None:
    document = {"format": FORMAT, "version": VERSION, **hierarchy.to_dict()}
    write_file(path, (json.dumps(document, ensure_ascii=False) + "\n").encode())


def load_hierarchy(path: Path) -> ContextHierarchy:
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        if facts.pop("format") != FORMAT or facts.pop("version") != VERSION:
            raise KeyError
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.", "Give the file of a hierarchy.") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InvalidInput(
            f"{path} is not a hierarchy of version {VERSION}.", "Write it with `hubbub select hierarchy`."
        ) from None
    return hierarchy_from(facts)


def read_log(path: Path, hierarchy: ContextHierarchy) -> Iterator[tuple[Any, str, int, int]]:
    """Rows of context, result, shown, clicked; of several attributes one column each instead of `context`."""
    for number, row in _rows(path, [*_attributes(hierarchy), "result", "shown", "clicked"]):
        context = _context(hierarchy, row)
        try:
            hierarchy.leaf(context)
            shown, clicked = int(row["shown"]), int(row["clicked"])
        except UnknownKey:
            raise _unknown(path, number) from None
        except ValueError:
            raise InvalidInput(
                f"{path}: line {number} has no whole numbers for shown and clicked.", "Write how often."
            ) from None
        if not 0 <= clicked <= shown:
            raise InvalidInput(
                f"{path}: line {number} has more clicks than the result was shown, or a negative number.",
                "Mend the line, or leave it out.",
            )
        if not row["result"]:
            raise InvalidInput(f"{path}: line {number} has no name of a result.", "Name it, or leave out the line.")
        yield context, row["result"], shown, clicked


def read_weights(path: Path, hierarchy: ContextHierarchy) -> Iterator[tuple[Any, str]]:
    """Rows of context (or attributes) and weight; of a log, which has no weight, how often something was shown."""
    names = _attributes(hierarchy)
    weight = "weight" if "weight" in _header(path) else "shown"
    for number, row in _rows(path, [*names, weight]):
        context = _context(hierarchy, row)
        try:
            hierarchy.leaf(context)
            if exact(row[weight], "weight") < 0:
                raise InvalidParameter("negative")
        except UnknownKey:
            raise _unknown(path, number) from None
        except InvalidParameter:
            raise InvalidInput(
                f"{path}: line {number} has no number of at least 0 for {weight}.", "Write how often, or how likely."
            ) from None
        yield context, row[weight]


def read_bids(path: Path, hierarchy: ContextHierarchy) -> dict[str, dict[str, float]]:
    """Rows of result, bid; with a column `node`, for the contexts below that node alone."""
    found: dict[str, dict[str, float]] = {}
    for number, row in _rows(path, ["result", "bid"]):
        try:
            bid = float(row["bid"])
        except ValueError:
            raise InvalidInput(f"{path}: line {number} has no number for the bid.", "Write one.") from None
        if not (isfinite(bid) and bid >= 0):
            raise InvalidInput(f"{path}: line {number} has a bid below 0, or without an end.", "0 shows it to nobody.")
        try:
            node = hierarchy.named(row.get("node") or hierarchy.root.name).name
        except UnknownKey:
            raise InvalidInput(
                f"{path}: line {number} names a node that the hierarchy does not have.",
                "Name a context, or a node above it; nothing where the bid is for all.",
            ) from None
        found.setdefault(row["result"], {})[node] = bid
    return found


def _attributes(hierarchy: ContextHierarchy) -> list[str]:
    return list(hierarchy.attributes) if isinstance(hierarchy, Combined) else ["context"]


def _context(hierarchy: ContextHierarchy, row: dict[str, str]) -> Any:
    return {name: row[name] for name in hierarchy.attributes} if isinstance(hierarchy, Combined) else row["context"]


def _unknown(path: Path, number: int) -> InvalidInput:
    return InvalidInput(
        f"{path}: line {number} names a context that the hierarchy does not have.",
        "Add it to the hierarchy, or leave out the line.",
    )


def _tree(path: Path) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for number, row in _rows(path, ["name", "parent"]):
        if row["name"] in found:
            raise InvalidInput(f"{path}: line {number} names a node a second time.", "Give each node one parent.")
        found[row["name"]] = row["parent"] or None
    return found


def _rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    with _opened(path) as reader:
        if not set(columns) <= set(reader.fieldnames or ()):
            raise InvalidInput(f"{path} lacks a column.", f"It needs {', '.join(columns)}.")
        for row in reader:
            if any(row[name] is None for name in columns):
                raise InvalidInput(f"{path}: line {reader.line_num} is too short.", "Mend the line.")
            yield reader.line_num, row


def _header(path: Path) -> list[str]:
    with _opened(path) as reader:
        return list(reader.fieldnames or ())


@contextmanager
def _opened(path: Path) -> Iterator[csv.DictReader[str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield csv.DictReader(file)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.", "Give a CSV file.") from None
    except (UnicodeDecodeError, csv.Error):
        raise InvalidInput(f"{path} is not a CSV file in UTF-8.", "Give a CSV file.") from None
