"""Counts in space: public maps, roads and what moves on them, and mechanisms that know where cells lie."""

from hubbub.released import total, total_over
from hubbub.released.maps import Map
from hubbub.spatial.area_errors import AreaErrors
from hubbub.spatial.area_tree import AreaTree
from hubbub.spatial.areas import area, in_polygon, in_rectangle
from hubbub.spatial.by_area import Areas
from hubbub.spatial.hexagons import Hexagons
from hubbub.spatial.made_up_city import made_up
from hubbub.spatial.maps import expect_axes
from hubbub.spatial.quadtree import Quadtree
from hubbub.spatial.road_belief import RoadBelief
from hubbub.spatial.road_errors import RoadErrors
from hubbub.spatial.road_files import read_lines, read_tables
from hubbub.spatial.road_map import RoadCells, RoadGrid
from hubbub.spatial.road_network import RoadNetwork
from hubbub.spatial.roads import Roads
from hubbub.spatial.temporal import Temporal
from hubbub.spatial.zones import Zones

__all__ = [
    "AreaErrors",
    "AreaTree",
    "Areas",
    "Hexagons",
    "Map",
    "Quadtree",
    "RoadBelief",
    "RoadCells",
    "RoadErrors",
    "RoadGrid",
    "RoadNetwork",
    "Roads",
    "Temporal",
    "Zones",
    "area",
    "expect_axes",
    "in_polygon",
    "in_rectangle",
    "made_up",
    "read_lines",
    "read_tables",
    "total",
    "total_over",
]
