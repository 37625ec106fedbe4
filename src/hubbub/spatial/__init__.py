"""Counts in space: public maps, roads and what moves on them, and mechanisms that know where cells lie."""

from hubbub.spatial.hexagons import Hexagons
from hubbub.spatial.maps import Map, expect_axes
from hubbub.spatial.zones import Zones

__all__ = ["Hexagons", "Map", "Zones", "expect_axes"]
