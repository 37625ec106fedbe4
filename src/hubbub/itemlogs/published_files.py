"""Published lists as files: CSV with a card beside it, JSON, Parquet; and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hubbub.errors import InvalidInput, InvalidParameter
from hubbub.files import check_output, whole_file, write_file
from hubbub.itemlogs.claim import Claim
from hubbub.itemlogs.published import Published

KINDS = (".csv", ".json", ".parquet")
COLUMNS = ("value", "standard_error", "lower", "upper")
_KEY = "hubbub"


def check_kind(path: Path) -> None:
    """Refuse a file's name before anything is spent on what would be written to it."""
    if path.suffix.lower() not in KINDS:
        raise InvalidParameter(f"{path.name} is none of {', '.join(KINDS)}.", "Choose one of these endings.")


def check_place(path: Path, *inputs: str | Path) -> None:
    """Refuse a place, before anything is spent, where what lies there would be lost: the log itself, or a store."""
    check_kind(path)
    for place in [path, card_of(path)] if path.suffix.lower() == ".csv" else [path]:
        check_output(place, inputs)


def write(published: Published, path: Path) -> None:
    check_kind(path)
    kind = path.suffix.lower()
    facts = published.to_dict()
    if kind == ".json":
        write_file(path, _json(facts).encode())
        return
    about = {name: value for name, value in facts.items() if name != "items"}
    frame = _frame(published)
    if kind == ".parquet":
        with whole_file(path) as file:
            frame.write_parquet(file, metadata={_KEY: _json(about)})
        return
    with whole_file(path) as file:
        frame.write_csv(file)
    write_file(card_of(path), _json(about).encode())


def card_of(path: Path) -> Path:
    """Where the guarantee and the card of a CSV file lie: beside it."""
    return path.with_suffix(".card.json")


def read_published(path: str | Path) -> Published:
    """A list that was written by `Published.write`."""
    import polars as pl

    place = Path(path)
    kind = place.suffix.lower()
    if kind not in KINDS:
        raise InvalidInput(f"{place.name} is none of {', '.join(KINDS)}.", "Lists are written as one of these.")
    try:
        if kind == ".json":
            about = json.loads(place.read_text(encoding="utf-8"))
            rows = about["items"]
            kinds = {"item": pl.String, **dict.fromkeys(COLUMNS, pl.Float64)}
            frame = pl.DataFrame(rows, schema={name: kinds[name] for name in (rows[0] if rows else ["item"])})
        elif kind == ".parquet":
            about = json.loads(pl.read_parquet_metadata(place)[_KEY])
            frame = pl.read_parquet(place)
        else:
            about = json.loads(card_of(place).read_text(encoding="utf-8"))
            frame = pl.read_csv(place, schema_overrides={"item": pl.String})
    except (OSError, KeyError, ValueError, TypeError, pl.exceptions.PolarsError):
        raise InvalidInput(
            f"{place.name} cannot be read as a published list.", "A CSV file needs the .card.json written beside it."
        ) from None
    return _published(about, frame, place.name)


def _frame(published: Published) -> Any:
    import polars as pl

    columns: dict[str, Any] = {"item": pl.Series(list(published.items), dtype=pl.String)}
    if published.has_counts:
        values = (published.counts, published.standard_error, published.lower, published.upper)
        columns |= {name: np.asarray(column, dtype=np.float64) for name, column in zip(COLUMNS, values, strict=True)}
    return pl.DataFrame(columns)


def _published(about: Mapping[str, Any], frame: Any, name: str) -> Published:
    if not isinstance(about, Mapping) or about.get("kind") != "hubbub items" or about.get("version") != 1:
        raise InvalidInput(f"{name} is no list of items that this version reads.", "Was it written by Hubbub?")
    if "item" not in frame.columns:
        raise InvalidInput(f"{name} has no column of items.", "Was it written by Hubbub?")
    counted = all(column in frame.columns for column in COLUMNS)
    numbers = [frame[column].cast(float).to_numpy() if counted else None for column in COLUMNS]
    return Published.of(
        frame["item"].to_list(),
        None if numbers[0] is None else numbers[0].astype(np.int64),
        *numbers[1:],
        method=str(about.get("method")),
        claim=Claim.from_dict(about.get("guarantee") or {}),
        facts=about.get("facts") or {},
    )


def _json(facts: Mapping[str, Any]) -> str:
    return json.dumps(facts, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
