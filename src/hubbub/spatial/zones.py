"""Named polygons: districts, parking zones, catchments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.errors import InvalidInput, InvalidParameter
from hubbub.extras import missing
from hubbub.released import Domain
from hubbub.released.keys import listed
from hubbub.released.positions import positions

SLIVER = 1e-6
"""Neighbours drawn by hand overlap by a hair. Of the smaller one's area, this much is still a hair."""


class Zones(Domain):
    """Polygons with names, none over another; what lies on a common border counts in the zone that is listed first.

    `shapes` are geometries of GeoJSON (Polygon or MultiPolygon) by name.

    >>> square = {"type": "Polygon", "coordinates": [[[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]]]}
    >>> beside = {"type": "Polygon", "coordinates": [[[2, 0], [4, 0], [4, 2], [2, 2], [2, 0]]]}
    >>> town = Zones({"harbour": square, "market": beside})
    >>> town, town.cells([1, 2, 3, 5], [1, 1, 1, 1]).tolist()
    (Zones(harbour, market: 2), [0, 0, 1, -1])
    """

    kind: ClassVar[str] = "zones"

    def __init__(self, shapes: Mapping[str, Mapping[str, Any]]) -> None:
        shapely = _shapely()
        self._names, self._positions = listed(shapes)
        self._shapes = [_polygon(shapely, name, shape) for name, shape in shapes.items()]
        self._tree = shapely.STRtree(self._shapes)
        self._refuse_overlaps(shapely)
        for shape in self._shapes:
            shapely.prepare(shape)

    @classmethod
    def read(cls, path: str | Path, name: str = "name") -> Zones:
        """From a GeoJSON file with a FeatureCollection; `name` is the property that names each."""
        try:
            facts = json.loads(Path(path).read_text(encoding="utf-8"))
            features = [one for one in facts["features"] if one["geometry"] is not None]  # RFC 7946, 3.2
            names = [feature["properties"][name] for feature in features]
        except OSError as error:
            raise InvalidInput(f"{str(path)!r} cannot be read: {error.strerror}.", "Check the path.") from None
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidInput(
                f"{str(path)!r} cannot be read as zones: {type(error).__name__}.",
                f"Give a GeoJSON FeatureCollection whose features have polygons and a property {name!r}.",
            ) from None
        if len(set(map(str, names))) < len(names):
            raise InvalidInput(
                f"Two zones of {str(path)!r} have the same {name!r}.", "Join them to one MultiPolygon, or rename one."
            )
        return cls({str(one): feature["geometry"] for one, feature in zip(names, features, strict=True)})

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    def position(self, name: str) -> int:
        try:
            return self._positions[name]
        except (KeyError, TypeError):
            raise self.unknown(name) from None

    @property
    def noun(self) -> str:
        return "zone"

    def cells(self, x: ArrayLike, y: ArrayLike) -> NDArray[np.int64]:
        """See `Map.cells`."""
        across, upward = positions(x, y)
        codes = np.full(across.size, len(self), dtype=np.int64)
        on = np.flatnonzero(np.isfinite(across.ravel()) & np.isfinite(upward.ravel()))
        points = _shapely().points(across.ravel()[on], upward.ravel()[on])
        point, zone = self._tree.query(points, predicate="intersects")
        np.minimum.at(codes, on[point], zone)
        codes[codes == len(self)] = -1
        return codes.reshape(across.shape)

    def centres(self, at: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A point that lies inside, which the centre of gravity of a crescent does not."""
        shapely, asked = _shapely(), np.asarray(at, dtype=np.int64)
        inside = shapely.point_on_surface(np.array(self._shapes, dtype=object)[asked])
        return np.asarray(shapely.get_x(inside)), np.asarray(shapely.get_y(inside))

    def outline(self, at: int) -> NDArray[np.float64]:
        """The outer border of its largest part; a zone may have others, and holes."""
        shapely = _shapely()
        parts = shapely.get_parts(self._shapes[at])
        largest = parts[int(np.argmax(shapely.area(parts)))]
        corners: NDArray[np.float64] = shapely.get_coordinates(shapely.get_exterior_ring(largest))[:-1]
        return corners

    def to_dict(self) -> dict[str, Any]:
        shapely = _shapely()
        shapes = {name: json.loads(shapely.to_geojson(self._shapes[i])) for i, name in enumerate(self._names)}
        return {"kind": self.kind, "order": list(self._names), "shapes": shapes}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Zones:
        return cls({name: facts["shapes"][name] for name in facts["order"]})

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"Zones({', '.join(self._names[:3])}{', …' if len(self) > 3 else ''}: {len(self):,})"

    def _refuse_overlaps(self, shapely: Any) -> None:
        one, two = self._tree.query(self._shapes, predicate="intersects")
        for i, j in zip(one[one < two], two[one < two], strict=True):
            a, b = self._shapes[i], self._shapes[j]
            names = f"{self._names[i]!r} and {self._names[j]!r}"
            if shapely.area(shapely.intersection(a, b)) > SLIVER * min(shapely.area(a), shapely.area(b)):
                raise InvalidParameter(
                    f"The zones {names} overlap: what lies in both would count twice.",
                    "Cut one of them, or count by two streams of one grant.",
                )


def _polygon(shapely: Any, name: str, facts: Mapping[str, Any]) -> Any:
    try:
        shape = shapely.from_geojson(json.dumps(facts))
        polygonal = shapely.get_type_id(shape) in (3, 6)  # Polygon, MultiPolygon
    except (shapely.errors.ShapelyError, TypeError, ValueError):
        shape, polygonal = None, False
    if not polygonal or shapely.is_empty(shape) or not np.isfinite(shapely.get_coordinates(shape)).all():
        raise InvalidParameter(
            f"The shape of zone {name!r} is no polygon.", "Give a Polygon or MultiPolygon of GeoJSON with its corners."
        )
    if not shapely.is_valid(shape):
        raise InvalidParameter(
            f"The border of zone {name!r} is not a simple one ({shapely.is_valid_reason(shape)}): "
            "nobody could say what lies inside.",
            "Mend it where it was drawn: a border must not cross itself.",
        )
    return shape


def _shapely() -> Any:
    try:
        import shapely
    except ModuleNotFoundError as error:
        raise missing(error) or error from None
    return shapely
