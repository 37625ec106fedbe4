"""The right source for a file of events."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hubbub.collect.layout import PATHS, Layout
from hubbub.collect.source import Source
from hubbub.collect.sources.csv_lines import CsvLines
from hubbub.collect.sources.json_lines import JsonLines
from hubbub.collect.sources.line_file import LineFile, open_plain
from hubbub.collect.sources.parquet_file import ParquetFile
from hubbub.errors import InvalidParameter


def event_file(
    path: str | Path, names: Mapping[str, str] | None = None, zone: str = "UTC", layout: Layout = PATHS
) -> Source:
    """CSV, JSON lines or Parquet, told by the ending (`.gz` may follow). `names` says which column holds what."""
    kinds = [suffix.lower() for suffix in Path(path).suffixes if suffix.lower() != ".gz"]
    kind = kinds[-1] if kinds else ""
    if kind == ".csv":
        with open_plain(Path(path)) as file:
            header = file.readline(65_536)
        return LineFile(path, CsvLines(header, names, zone, layout), skip_header=True)
    if kind in {".jsonl", ".ndjson", ".json"}:
        return LineFile(path, JsonLines(names, zone, layout))
    if kind in {".parquet", ".pq"}:
        return ParquetFile(path, names, zone, layout)
    raise InvalidParameter(
        f"The ending {kind!r} tells no known kind of file.",
        "Known: .csv, .jsonl, .ndjson, .json, .parquet; .csv.gz and so on.",
    )
