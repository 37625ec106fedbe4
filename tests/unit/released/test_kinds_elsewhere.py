"""A program that never thought of maps reads a store that has one."""

import json
import subprocess
import sys

import numpy as np
import pytest

from hubbub.errors import SchemaMismatch
from hubbub.released import Domain, JointErrors, domain_from
from hubbub.released.domain import _ELSEWHERE, _KINDS
from hubbub.spatial import AreaErrors, Hexagons, RoadCells, RoadErrors, RoadGrid, Zones, made_up

SQUARE = {"type": "Polygon", "coordinates": [[[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]]]}
GRID = RoadGrid.over(made_up(30), 16, 16)
MAPS = [GRID, RoadCells(GRID), Zones({"a": SQUARE}), Hexagons.covering((8.1, 53.1, 8.2, 53.2), 7)]

READ = """
import json, sys
from hubbub.released import domain_from
assert not [name for name in sys.modules if name.startswith("hubbub.spatial")], "nothing was loaded before"
print(domain_from(json.load(sys.stdin)).digest)
"""


@pytest.mark.parametrize("place", MAPS, ids=lambda place: place.kind)
def test_a_fresh_process_reads_it(place: Domain) -> None:
    said = json.dumps(place.to_dict())
    done = subprocess.run([sys.executable, "-c", READ], input=said, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == place.digest


def test_every_kind_of_a_room_above_is_listed() -> None:
    above = {kind for kind, one in _KINDS.items() if one.__module__.startswith("hubbub.spatial")}
    assert above == set(_ELSEWHERE)
    for kind, module in _ELSEWHERE.items():
        assert _KINDS[kind].__module__ == module


def test_an_unknown_kind_stays_unknown() -> None:
    with pytest.raises(SchemaMismatch, match="'moon'"):
        domain_from({"kind": "moon"})


ERRORS = """
import sys
from hubbub.released import JointErrors
assert not [name for name in sys.modules if name.startswith("hubbub.spatial")], "nothing was loaded before"
print(JointErrors.from_bytes(sys.stdin.buffer.read()).kind)
"""


@pytest.mark.parametrize("made", [AreaErrors, RoadErrors])
def test_a_fresh_process_reads_how_errors_go_together(made: type[JointErrors]) -> None:
    told = made({"total": np.ones(1)}).to_bytes()
    done = subprocess.run([sys.executable, "-c", ERRORS], input=told, capture_output=True, check=True)
    assert done.stdout.decode().strip() == made.kind
