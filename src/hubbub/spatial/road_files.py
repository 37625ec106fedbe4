"""Road networks from files: junctions and roads as CSV, or lines of GeoJSON."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hubbub.errors import InvalidInput
from hubbub.spatial.road_network import RoadNetwork


def read_tables(nodes: str | Path, edges: str | Path) -> RoadNetwork:
    """Two CSV files, gzipped or not: `node_id,x,y` and `edge_id,from_node,to_node` with or without `edge_class`.

    These are the columns of the Oldenburg network as it is passed around.
    """
    numbers: dict[str, int] = {}
    x: list[float] = []
    y: list[float] = []
    for row in _rows(nodes, ("node_id", "x", "y")):
        if row["node_id"] in numbers:
            raise InvalidInput(f"The junction {row['node_id']!r} stands twice in {str(nodes)!r}.", "List it once.")
        numbers[row["node_id"]] = len(x)
        x.append(_number(row["x"], nodes))
        y.append(_number(row["y"], nodes))
    start: list[int] = []
    end: list[int] = []
    kind = []
    for row in _rows(edges, ("from_node", "to_node")):
        for name, ends in (("from_node", start), ("to_node", end)):
            if row[name] not in numbers:
                raise InvalidInput(
                    f"A road of {str(edges)!r} leads to the junction {row[name]!r}, which is not listed.",
                    f"{str(nodes)!r} must be of the same network.",
                )
            ends.append(numbers[row[name]])
        kind.append(int(_number(row.get("edge_class") or "0", edges)))
    return RoadNetwork(x, y, start=start, end=end, kind=kind)


def read_lines(path: str | Path, kind: str = "class") -> RoadNetwork:
    """A GeoJSON file of LineStrings; lines meet where they have the very same corner.

    `kind` is the property with a road's class, a whole number, 0 the widest; 0 where there is none.
    """
    junctions: dict[tuple[float, float], int] = {}
    start, end, kinds = [], [], []
    for corners, properties in _lines(path):
        at = [junctions.setdefault(corner, len(junctions)) for corner in corners]
        start += at[:-1]
        end += at[1:]
        kinds += [int(_number(str(properties.get(kind, 0)), path))] * (len(at) - 1)
    places = np.array(list(junctions), dtype=np.float64).reshape(-1, 2)
    return RoadNetwork(places[:, 0], places[:, 1], start=start, end=end, kind=kinds)


def _rows(path: str | Path, needed: tuple[str, ...]) -> Iterator[dict[str, str]]:
    opened = gzip.open if str(path).endswith(".gz") else open
    try:
        with opened(path, "rt", encoding="utf-8", newline="") as text:
            table = csv.DictReader(text)
            lacking = [name for name in needed if name not in (table.fieldnames or ())]
            if lacking:
                raise InvalidInput(
                    f"{str(path)!r} has no column {lacking[0]!r}.", f"It needs a header with {', '.join(needed)}."
                )
            for row in table:
                if any(row[name] is None for name in needed):
                    raise InvalidInput(f"Line {table.line_num} of {str(path)!r} is too short.", "Is the file whole?")
                yield row
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidInput(
            f"{str(path)!r} cannot be read: {type(error).__name__}.", "Is it there, whole, and a CSV?"
        ) from None


def _lines(path: str | Path) -> Iterator[tuple[list[tuple[float, float]], Mapping[str, Any]]]:
    try:
        features = json.loads(Path(path).read_text(encoding="utf-8"))["features"]
        for feature in features:
            shape = feature["geometry"]
            if shape is None:  # a feature without a place is allowed (RFC 7946, 3.2)
                continue
            if shape["type"] in ("LineString", "MultiLineString"):
                lines = [shape["coordinates"]] if shape["type"] == "LineString" else shape["coordinates"]
                for line in lines:
                    yield [(float(x), float(y)) for x, y, *_ in line], feature.get("properties") or {}
    except OSError as error:
        raise InvalidInput(f"{str(path)!r} cannot be read: {error.strerror}.", "Check the path.") from None
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(
            f"{str(path)!r} cannot be read as roads: {type(error).__name__}.",
            "Give a GeoJSON FeatureCollection of LineStrings.",
        ) from None


def _number(text: str, path: str | Path) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidInput(f"{text!r} in {str(path)!r} is no number.", "Mend the file.") from None
