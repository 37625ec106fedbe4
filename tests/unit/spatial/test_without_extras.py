"""Without the extra, whoever needs a part of it is told which."""

import sys

import pytest

from hubbub.errors import MissingExtra
from hubbub.spatial import Hexagons, RoadNetwork, Zones

BOX = (8.1, 53.0, 8.3, 53.2)


@pytest.mark.parametrize(
    ("package", "use"),
    [
        ("h3", lambda: Hexagons.covering(BOX, 5)),
        ("shapely", lambda: Zones({"a": {}})),
        ("rustworkx", lambda: RoadNetwork([0, 1], [0, 1], start=[0], end=[1]).centrality),
    ],
)
def test_the_missing_package_is_named(monkeypatch, package, use):
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"hubbub\[spatial\]"):
        use()
