"""Logs from files and tables: CSV, JSON lines, Parquet, Polars, pandas; read in parts, so that rows need no memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidInput
from hubbub.exact import whole
from hubbub.itemlogs.bounding import at_random, distinct, joined
from hubbub.itemlogs.log import ItemLog
from hubbub.noise import ByteSource, Lottery

MAX_LENGTH = 200
"""Longer items, in characters, are dropped: what people share in such numbers is short, and secrets may be long."""

HELD = 1000
"""Different items that are held of one user at most, drawn by lot; a method counts far fewer."""

ROWS = 2_000_000
"""Rows that are read at a time."""

GATHERED = 32_000_000
"""Pairs that are gathered before those that were read twice, or are too many of one user, are thrown out."""

UNREADABLE = r"[\p{Cc}\u{202A}-\u{202E}\u{2066}-\u{2069}\u{FFFD}]"
"""Control characters, those that turn the direction of writing, and what stands for bytes that are no text."""

KINDS = (".csv", ".jsonl", ".ndjson", ".parquet")
_SHAPE = (
    "Expected .csv, .jsonl or .parquet with one row for each use of an item, and columns for the user and the item."
)

Progress = Callable[[str], None]
"""Told now and then what is going on."""


def read_items(
    source: Any,
    *,
    user: str = "user",
    item: str = "item",
    max_length: int = MAX_LENGTH,
    held: int = HELD,
    source_of_bytes: ByteSource | None = None,
    progress: Progress | None = None,
) -> ItemLog:
    """The pairs of user and item in a file's or a table's columns `user` and `item`.

    A row counts for its user alone, or not at all: it is left out if it has no user, or a user whose name is no text;
    if it has no item, one of more than `max_length` characters, or one with control characters or broken text. Spaces
    around an item do not matter, nor does the order of rows. Of one user `held` items are held at most.

    >>> read_items({"user": ["ann", "bob", None], "item": ["flu", " flu", "gout"]})
    <an item log, confidential>
    """
    whole(max_length, "max_length")
    frame = _frame(source, (user, item))
    codes, owners, items = _codes(frame, user, item, max_length)
    lottery = Lottery(source_of_bytes)
    gathered = np.empty(0, dtype=np.uint64)
    waiting: list[NDArray[np.uint64]] = []
    limit, rows = GATHERED, 0
    for words in _batches(codes):
        rows += len(words)
        waiting.append(words)
        if sum(map(len, waiting)) > limit:
            gathered = _merged([gathered, *waiting], held, lottery)
            waiting, limit = [], max(GATHERED, len(gathered))
        if progress is not None:
            progress(f"reading: {rows:,} rows so far")
    gathered = _merged([gathered, *waiting], held, lottery)
    of_user, of_item = _parts(gathered)
    labels = _names(of_item, items)
    broken = labels.str.contains(UNREADABLE).to_numpy()
    # Broken text of any kind is read as one of these two, so different names could become one.
    unnamed = _names(of_user, owners).str.contains("[\\x00\\x{FFFD}]").to_numpy()
    if broken.any() or unnamed.any():
        good = ~(broken[of_item] | unnamed[of_user])
        of_user, of_item = of_user[good], of_item[good]
    return ItemLog.from_codes(of_user, of_item, labels)


def _names(codes: NDArray[np.uint32], kind: Any) -> Any:
    """The texts behind all codes up to the largest."""
    import polars as pl

    count = int(codes.max()) + 1 if len(codes) else 0
    return pl.Series(np.arange(count, dtype=np.uint32)).cat.to(kind).cast(pl.String)


def _frame(source: Any, columns: tuple[str, str]) -> Any:
    """A lazy table; what cannot be one is refused without a word of what is in it."""
    import polars as pl

    if isinstance(source, pl.LazyFrame):
        return source
    if isinstance(source, (str, Path)):
        return _scan(Path(source), columns)
    try:
        if isinstance(source, pl.DataFrame):
            return source.lazy()
        if isinstance(source, Mapping):
            return pl.DataFrame({name: _column(cells) for name, cells in source.items() if name in columns}).lazy()
        if hasattr(source, "columns") and hasattr(source, "iloc"):  # pandas, which need not be installed
            wanted = [column for column in source.columns if column in columns]
            texts = {column: source[column].astype(object).where(source[column].notna(), None) for column in wanted}
            return pl.DataFrame(
                {name: [None if cell is None else str(cell) for cell in cells] for name, cells in texts.items()},
                schema=dict.fromkeys(wanted, pl.String),
            ).lazy()
    except (pl.exceptions.PolarsError, TypeError, ValueError, AttributeError):
        raise InvalidInput("The table cannot be read: its columns differ in length or kind.", _SHAPE) from None
    raise InvalidInput(f"A log is a file's path or a table; got {type(source).__name__}.", _SHAPE)


_NOT_PLAIN = (list, tuple, dict, set, bytes)


def _column(cells: Any) -> Any:
    """A list of cells as texts, each cell by itself: a fraction among whole numbers must not change how those read."""
    import polars as pl

    if not isinstance(cells, (list, tuple)) or any(isinstance(cell, _NOT_PLAIN) for cell in cells):
        return cells  # refused with its kind, if it has one that is no text
    return pl.Series([None if cell is None or cell != cell else str(cell) for cell in cells], dtype=pl.String)


def _scan(path: Path, columns: tuple[str, str]) -> Any:
    import polars as pl

    kind = path.suffix.lower()
    if kind not in KINDS:
        raise InvalidInput(f"{path.name} is none of {', '.join(KINDS)}.", _SHAPE)
    if not path.is_file():
        raise InvalidInput(f"There is no file {path.name!r}.", "Check the path.")
    if not path.stat().st_size:
        raise InvalidInput(f"{path.name} is empty.", _SHAPE)
    if kind == ".csv":
        return pl.scan_csv(path, infer_schema=False, encoding="utf8-lossy", separator=_separator(path))
    if kind == ".parquet":
        return pl.scan_parquet(path)
    try:
        kinds = dict(pl.scan_ndjson(path, infer_schema_length=1000).collect_schema())
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError):
        raise InvalidInput(f"{path.name} cannot be read.", _SHAPE) from None
    # What the first lines hold as numbers later ones may hold as text.
    texts = {column: pl.String for column in columns if column in kinds and not kinds[column].is_nested()}
    return pl.scan_ndjson(path, infer_schema_length=1000, schema_overrides=texts)


def _separator(path: Path) -> str:
    """Comma, or what the first line has more of."""
    with path.open("rb") as file:
        head = file.readline(65_536)
    return max(",;\t", key=lambda mark: head.count(mark.encode()))


def _codes(frame: Any, user: str, item: str, max_length: int) -> tuple[Any, Any, Any]:
    """A lazy column of pairs as words, and a dictionary of names for each half, which fills as rows are read."""
    import polars as pl

    kinds = _kinds(frame, user, item)
    owners, labels = pl.Categorical(pl.Categories.random()), pl.Categorical(pl.Categories.random())
    who, what = pl.col(user), pl.col(item)
    who = who if kinds[user] == pl.String else who.cast(pl.String)
    what = (what if kinds[item] == pl.String else what.cast(pl.String)).str.strip_chars()
    rows = frame.select(who=who, what=what).filter(
        (pl.col("who").str.len_bytes() > 0) & pl.col("what").str.len_chars().is_between(1, max_length)
    )
    halves = [
        pl.col(name).cast(kind).to_physical().cast(pl.UInt64) for name, kind in (("who", owners), ("what", labels))
    ]
    pairs = rows.select(pair=halves[0] * 2**32 + halves[1])
    return pairs, owners, labels


def _kinds(frame: Any, user: str, item: str) -> dict[str, Any]:
    import polars as pl

    try:
        kinds = dict(frame.collect_schema())
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError):
        raise InvalidInput("The log cannot be read.", _SHAPE) from None
    for role, column in (("user", user), ("item", item)):
        if column not in kinds:
            raise InvalidInput(
                f"The log has no column {column!r} for the {role}.", f"Name it: `{role}` (--{role}) is a column's name."
            )
        if kinds[column].is_nested() or kinds[column] in (pl.Binary, pl.Object):
            raise InvalidInput(
                f"The column {column!r} holds no plain values.", "Give text or numbers: one item in each row."
            )
        if kinds[column].is_temporal() and kinds[column] != pl.Date:
            raise InvalidInput(
                f"The column {column!r} holds times, of which different ones may read alike.",
                "Give text, numbers or dates.",
            )
    if user == item:
        raise InvalidInput("`user` and `item` name the same column.", "An item is what many users may share.")
    return kinds


def _batches(codes: Any) -> Iterator[NDArray[np.uint64]]:
    """What Polars says when it stumbles may quote a cell, so it is not passed on."""
    import polars as pl

    try:
        for batch in codes.collect_batches(chunk_size=ROWS, maintain_order=False, engine="streaming"):
            yield batch["pair"].to_numpy()
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError):
        raise InvalidInput(
            "The log cannot be read: some row does not fit the others.",
            "Look for rows with too many fields, open quotes or broken JSON.",
        ) from None


def _merged(parts: list[NDArray[np.uint64]], held: int, lottery: Lottery) -> NDArray[np.uint64]:
    """Every pair once, sorted by user, and of one user `held` at most: the same ones whatever the parts were."""
    return joined(*at_random(_parts(distinct(parts)), held, lottery))


def _parts(words: NDArray[np.uint64]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    return (words >> np.uint64(32)).astype(np.uint32), words.astype(np.uint32)
