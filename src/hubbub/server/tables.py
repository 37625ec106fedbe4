"""One tick of very many places as a file, written piece by piece: no answer is ever whole in memory as text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from hubbub.released import Release
from hubbub.released.table import csv_of, table_of
from hubbub.server.maps import described
from hubbub.spatial.maps import map_of
from hubbub.spatial.outlines import geometries

PIECE = 20_000
"""Rows of a piece: some 3 MB of text."""


def csv_pieces(release: Release) -> Iterator[bytes]:
    """The table of `docs/formats.md`, the line of names once."""
    table = table_of([release])
    for first in range(0, max(len(table), 1), PIECE):
        text = csv_of(table.slice(first, PIECE))
        yield (text if first == 0 else text.partition("\n")[2]).encode()


def json_pieces(stream: str, release: Release, after: str | None) -> Iterator[bytes]:
    """What the answer for few keys is, letter by letter: a list with one release in it."""
    yield f'{{"stream":{json.dumps(stream)},"releases":[{_text(release.head_dict())[:-1]},"keys":['.encode()
    yield from _joined(release, release.row_dict)
    yield f']}}],"next":{json.dumps(after)}}}'.encode()


def geojson_pieces(stream: str, release: Release) -> Iterator[bytes]:
    """A FeatureCollection: every place with its border, its number and how wrong it may be."""
    place = map_of(release.keys)
    assert place is not None
    tick = release.tick
    head: dict[str, Any] = {
        "type": "FeatureCollection",
        "stream": stream,
        "tick": tick.index,
        "start": None if tick.start is None else tick.start.isoformat(),
        "length_seconds": None if tick.length is None else tick.length.total_seconds(),
        "predicted": release.is_predicted,
    }
    shapes = geometries(place)

    def feature(at: int, name: str) -> dict[str, Any]:
        told = release.row_dict(at, name)
        del told["measurement"]  # for programs that compare ticks; a map shows what people read
        return {
            "type": "Feature",
            "id": name,
            "geometry": next(shapes),
            "properties": told | {"state": described(release.at(at))["state"]},
        }

    yield f'{_text(head)[:-1]},"features":['.encode()
    yield from _joined(release, feature)
    yield b"]}"


def _joined(release: Release, made: Callable[[int, str], dict[str, Any]]) -> Iterator[bytes]:
    for first in range(0, len(release.keys), PIECE):
        names = release.keys.names[first : first + PIECE]
        rows = [made(first + at, name) for at, name in enumerate(names)]
        text = _text(rows)[1:-1]
        yield (text if first == 0 else f",{text}").encode()


def _text(facts: Any) -> str:
    return json.dumps(facts, separators=(",", ":"), allow_nan=False)
