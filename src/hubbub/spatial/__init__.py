"""Counts in space: public maps, roads and what moves on them, and mechanisms that know where cells lie."""

from hubbub.spatial.areas import in_polygon, in_rectangle, total
from hubbub.spatial.hexagons import Hexagons
from hubbub.spatial.made_up_city import made_up
from hubbub.spatial.maps import Map, expect_axes
from hubbub.spatial.quadtree import Quadtree
from hubbub.spatial.road_belief import RoadBelief
from hubbub.spatial.road_files import read_lines, read_tables
from hubbub.spatial.road_map import RoadCells, RoadGrid
from hubbub.spatial.road_network import RoadNetwork
from hubbub.spatial.roads import Roads
from hubbub.spatial.temporal import Temporal
from hubbub.spatial.zones import Zones

__all__ = [
    "Hexagons",
    "Map",
    "Quadtree",
    "RoadBelief",
    "RoadCells",
    "RoadGrid",
    "RoadNetwork",
    "Roads",
    "Temporal",
    "Zones",
    "expect_axes",
    "in_polygon",
    "in_rectangle",
    "made_up",
    "read_lines",
    "read_tables",
    "total",
]
