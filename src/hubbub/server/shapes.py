"""What a map looks like, in few bytes: sent once, since a map never changes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.released import Domain, Map
from hubbub.server.packing import sealed, varints
from hubbub.spatial.outlines import Box, borders, frame_of, in_degrees, raster_of, roads_of

MARK = b"HBM1"
STEPS = 65_535
"""Roads and borders are drawn to so many parts of the map's width: finer than a screen, in two bytes."""

MOST_NAMED = 20_000
"""Places whose names are sent along; of more, the server tells the name of one that is clicked."""


def shape_of(place: Map) -> bytes:
    """The map as `docs/formats.md` describes it. Positions are rounded for drawing; questions are answered exactly."""
    assert isinstance(place, Domain)
    frame, raster = frame_of(place), raster_of(place)
    head: dict[str, Any] = {
        "kind": "borders" if raster is None else "raster",
        "digest": place.digest,
        "bounds": list(frame),
        "degrees": in_degrees(place),
        "cells": len(place),
        "noun": place.noun,
    }
    parts: dict[str, bytes] = {}
    if raster is not None:
        head |= {"columns": raster.grid.columns, "rows": raster.grid.rows, "all": raster.codes is None}
        if raster.codes is not None:
            parts["codes"] = varints(np.diff(raster.codes, prepend=0))
    else:
        parts |= _borders(place, frame)
        if len(place) <= MOST_NAMED:
            head["names"] = list(place.names)
    roads = roads_of(place)
    if roads is not None:
        order = np.lexsort((roads.start, -roads.kind))  # wide roads come last, and lie on top
        ends = [(roads.x[at[order]], roads.y[at[order]]) for at in (roads.start, roads.end)]
        (x, y), (x_end, y_end) = (_on_paper(frame, *end) for end in ends)
        # Most roads are short, so an end is told from its start, and a start from the one before.
        columns = (np.diff(x, prepend=0), np.diff(y, prepend=0), x_end - x, y_end - y, roads.kind[order])
        parts["roads"] = varints(np.concatenate([column.astype(np.int64) for column in columns]))
        head["roads"] = len(order)
    head["parts"] = {name: len(content) for name, content in parts.items()}
    return sealed(MARK, head, b"".join(parts.values()))


def _borders(place: Map, frame: Box) -> dict[str, bytes]:
    """How many rings each place has, how many corners each ring, and all corners, each told from the one before."""
    rings = list(borders(place))
    corners = [ring for one in rings for ring in one]
    x, y = _on_paper(frame, *np.concatenate(corners).T)
    return {
        "rings": varints(np.array([len(one) for one in rings], dtype=np.int64)),
        "corners": varints(np.array([len(ring) for ring in corners], dtype=np.int64)),
        "points": varints(np.concatenate([np.diff(x, prepend=0), np.diff(y, prepend=0)])),
    }


def _on_paper(
    frame: Box, x: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions in parts of the frame, from the south-west; what lies outside is at its edge."""
    west, south, east, north = frame
    across = np.rint((x - west) / (east - west) * STEPS)
    upward = np.rint((y - south) / (north - south) * STEPS)
    return tuple(np.clip(one, 0, STEPS).astype(np.int64) for one in (across, upward))  # type: ignore[return-value]
