"""A road network that nobody drives on: for demonstrations and tests, without any data."""

from __future__ import annotations

import numpy as np

from hubbub.errors import InvalidParameter
from hubbub.exact import whole
from hubbub.spatial.road_network import RoadNetwork

_BLOCK = 220.0
"""The side of a block, in metres."""


def made_up(junctions: int = 3000, *, seed: int = 0) -> RoadNetwork:
    """A city of about that many junctions: crooked blocks, avenues, and a ring; denser in the middle than outside.

    It is in one part. The same seed makes the same city.

    >>> made_up(400, seed=1)
    RoadNetwork(399 junctions, 681 roads)
    """
    side = int(np.ceil(np.sqrt(whole(junctions, "junctions"))))
    if side < 2:
        raise InvalidParameter("A city needs at least 2 junctions.")
    draw = np.random.default_rng(seed)  # not for privacy
    column, row = np.meshgrid(np.arange(side), np.arange(side))
    # Streets lie closer together in the middle: the distance from it grows faster than the number of blocks.
    apart = [(at - (side - 1) / 2) * (1 + np.abs(at - (side - 1) / 2) / side) for at in (column, row)]
    x, y = (_BLOCK * (at + draw.uniform(-0.3, 0.3, at.shape)).ravel() for at in apart)
    at = np.arange(side * side).reshape(side, side)
    avenue = max(side // 7, 2)
    roads = []
    for one, two, line in (
        (at[:, :-1], at[:, 1:], np.broadcast_to(np.arange(side)[:, None], (side, side - 1))),
        (at[:-1], at[1:], np.broadcast_to(np.arange(side)[None, :], (side - 1, side))),
    ):
        ring = (line == side // 5) | (line == side - 1 - side // 5)
        kind = np.where(ring, 0, np.where(line % avenue == avenue // 2, 1, draw.integers(3, 6, line.shape)))
        stays = (kind < 2) | (draw.random(line.shape) < 0.75)
        roads.append(np.stack([one[stays], two[stays], kind[stays]]))
    start, end, kind = np.concatenate(roads, axis=1)
    whole_city = RoadNetwork(x, y, start=start, end=end, kind=kind)
    return _largest(whole_city)


def _largest(network: RoadNetwork) -> RoadNetwork:
    inside = network.parts == 0
    place = np.cumsum(inside) - 1
    stays = inside[network.start]
    return RoadNetwork(
        network.x[inside],
        network.y[inside],
        start=place[network.start[stays]],
        end=place[network.end[stays]],
        kind=network.kind[stays],
    )
