"""Roads as nodes and edges: public before the first position is seen, and never changed by one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.errors import InvalidInput, InvalidParameter
from hubbub.extras import missing

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

KINDS = 16
"""Classes of roads are small whole numbers, 0 the widest."""


class RoadNetwork:
    """Junctions at `x`, `y`, and roads straight from `start` to `end` (positions in the list of junctions).

    `kind` is the class of each road, 0 the widest, as in the files of Brinkhoff's generator. A network may have
    several parts; roads without length and those that are there twice are left out. Read one with
    `hubbub.spatial.road_files`, or make one up with `made_up`.

    >>> triangle = RoadNetwork([0, 3, 0], [0, 0, 4], start=[0, 1, 2], end=[1, 2, 0], kind=[0, 1, 1])
    >>> triangle, triangle.lengths.tolist()
    (RoadNetwork(3 junctions, 3 roads), [3.0, 5.0, 4.0])
    """

    def __init__(
        self, x: ArrayLike, y: ArrayLike, *, start: ArrayLike, end: ArrayLike, kind: ArrayLike | None = None
    ) -> None:
        self.x: Array = np.array(x, dtype=np.float64)
        self.y: Array = np.array(y, dtype=np.float64)
        begin, finish = np.array(start, dtype=np.int64), np.array(end, dtype=np.int64)
        kinds = np.zeros(len(begin), dtype=np.int64) if kind is None else np.array(kind, dtype=np.int64)
        self._refuse(begin, finish, kinds)
        keep = _once(self.x, self.y, begin, finish, kinds)
        if not keep.size:
            raise InvalidParameter("A road network needs at least one road that leads somewhere.", "Check its files.")
        self.start: Whole = begin[keep]
        self.end: Whole = finish[keep]
        self.kind: Whole = kinds[keep]
        for array in (self.x, self.y, self.start, self.end, self.kind):
            array.setflags(write=False)

    @cached_property
    def lengths(self) -> Array:
        return np.hypot(self.x[self.end] - self.x[self.start], self.y[self.end] - self.y[self.start])

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """West, south, east, north of all junctions that a road leads to; never flat, so that a grid can have them."""
        used = np.concatenate([self.start, self.end])
        west, east = float(self.x[used].min()), float(self.x[used].max())
        south, north = float(self.y[used].min()), float(self.y[used].max())
        least = max(east - west, north - south) / 1000
        return west, south, max(east, west + least), max(north, south + least)

    @cached_property
    def parts(self) -> Whole:
        """For each junction which part of the network it lies in; part 0 is the largest."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        size = len(self.x)
        graph = coo_array((np.ones(len(self.start)), (self.start, self.end)), shape=(size, size))
        _, labels = connected_components(graph, directed=False)
        order = np.argsort(-np.bincount(labels), kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        found: Whole = rank[labels].astype(np.int64)
        return found

    @cached_property
    def centrality(self) -> Array:
        """For each road, the share of shortest ways (in roads, not in metres) between junctions that lead over it."""
        try:
            import rustworkx
        except ModuleNotFoundError as error:
            raise missing(error) or error from None
        graph = rustworkx.PyGraph(multigraph=False)
        graph.add_nodes_from(range(len(self.x)))
        graph.add_edges_from(list(zip(self.start.tolist(), self.end.tolist(), range(len(self.start)), strict=True)))
        found = rustworkx.graph_edge_betweenness_centrality(graph)
        shares = np.zeros(len(self.start))
        for index, (_, _, road) in graph.edge_index_map().items():
            shares[road] = found[index]
        return shares

    @cached_property
    def digest(self) -> str:
        """The same for networks of the same roads."""
        sums = hashlib.sha256()
        for array in (self.x, self.y, self.start, self.end, self.kind):
            sums.update(array.tobytes())
        return sums.hexdigest()

    def to_dict(self) -> dict[str, Any]:
        names = ("x", "y", "start", "end", "kind")
        return {name: getattr(self, name).tolist() for name in names}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> RoadNetwork:
        return cls(facts["x"], facts["y"], start=facts["start"], end=facts["end"], kind=facts["kind"])

    def __repr__(self) -> str:
        return f"RoadNetwork({len(self.x):,} junctions, {len(self.start):,} roads)"

    def _refuse(self, start: Whole, end: Whole, kind: Whole) -> None:
        if self.x.ndim != 1 or self.x.shape != self.y.shape or not len(start) == len(end) == len(kind):
            raise InvalidParameter("A road network needs as many x as y, and as many starts as ends and kinds.")
        if not (np.isfinite(self.x).all() and np.isfinite(self.y).all()):
            raise InvalidInput("A junction has a coordinate that is no finite number.", "Mend or leave out its roads.")
        if len(start) and not (min(start.min(), end.min()) >= 0 and max(start.max(), end.max()) < len(self.x)):
            raise InvalidInput("A road leads to a junction that is not listed.", "List every junction with its place.")
        if len(kind) and not (kind.min() >= 0 and kind.max() < KINDS):
            raise InvalidInput(
                f"A road's class must be a whole number from 0 (the widest) to {KINDS - 1}.", "Join rare classes."
            )


def _once(x: Array, y: Array, start: Whole, end: Whole, kind: Whole) -> Whole:
    """The roads to keep: each pair of junctions once, with the widest of its roads; none that leads nowhere."""
    leads = (x[start] != x[end]) | (y[start] != y[end])
    pair = np.minimum(start, end) * len(x) + np.maximum(start, end)
    order = np.lexsort((kind, pair))
    order = order[leads[order]]
    first = np.ones(len(order), dtype=bool)
    first[1:] = pair[order[1:]] != pair[order[:-1]]
    return np.sort(order[first])
