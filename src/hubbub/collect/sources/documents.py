"""Documents that hold many positions, as lines of JSON: what a city's feeds look like to everything that follows.

A document comes from one sender, as one message, one request or one file. Each vehicle in it is read by itself: what
is wrong with one becomes a line that nobody can read, and is counted as such, and takes no other with it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, TypeAlias

from pydantic_core import from_json

from hubbub.errors import InvalidInput, MissingExtra

Unfold: TypeAlias = Callable[[bytes], bytes]

_NOT_READABLE = b"-"
_HEADER, _ENTITY = 1, 2  # the numbers of a FeedMessage's parts
_VARIABLE, _LENGTHS, _FIXED = 0, 2, {1: 8, 5: 4}  # the ways in which protocol buffers write a part
_MOST_BYTES_OF_A_NUMBER = 10


def as_it_is(body: bytes) -> bytes:
    """Lines already."""
    return body


def gtfs_realtime(body: bytes) -> bytes:
    """The vehicle positions of a GTFS-realtime feed (a `FeedMessage` of protocol buffers).

    A vehicle is told by `vehicle_id` and `trip_id`, as far as the feed has them; one without a time of its own has the
    feed's. Trip updates and alerts hold no position and are passed over.
    """
    messages = _gtfs_messages()
    entities: list[Any] = []
    feed_time, wrong = None, 0
    for number, part in _fields(body):
        if part is None:
            wrong += 1
        elif number == _HEADER:
            feed_time = _read(messages.FeedHeader, part)
        elif number == _ENTITY:
            entities.append(_read(messages.FeedEntity, part))
    lines = [_NOT_READABLE] * wrong
    now = feed_time.timestamp if feed_time is not None and feed_time.timestamp else None
    for entity in entities:
        if entity is None:
            lines.append(_NOT_READABLE)
        elif entity.HasField("vehicle") and entity.vehicle.HasField("position"):
            seen = entity.vehicle
            at = seen.timestamp or now
            lines.append(_line(at, seen.vehicle.id, seen.trip.trip_id, seen.position.longitude, seen.position.latitude))
    return b"\n".join(lines)


def mds(body: bytes) -> bytes:
    """Positions of the Mobility Data Specification, versions 1.1 to 2.1: vehicle status, telemetry, trips.

    A trip gives its start and its end, and the points of its route where it has them. Times are milliseconds.
    """
    try:
        document = from_json(body)
    except ValueError:
        return _NOT_READABLE
    found = document.get("data", document) if isinstance(document, dict) else document
    if isinstance(found, list):
        return b"\n".join(line for one in found for line in _telemetry(one))
    if not isinstance(found, dict):
        return _NOT_READABLE
    lines: list[bytes] = []
    known = False
    for name, read in _MDS.items():
        if isinstance(found.get(name), list):
            known = True
            lines += [line for one in found[name] for line in read(one)]
    return b"\n".join(lines) if known else _NOT_READABLE


UNFOLD: Mapping[str, Unfold] = {"lines": as_it_is, "gtfs-realtime": gtfs_realtime, "mds": mds}
"""By the name under which settings know them."""

MEDIA: Mapping[Unfold, tuple[str, ...]] = {
    gtfs_realtime: ("application/x-protobuf", "application/protobuf", "application/octet-stream"),
    mds: ("application/json", "application/vnd.mds+json"),
}
"""Of which types a body of each may be."""


def whole_document(body: bytes, unfold: Unfold) -> bytes:
    """The same of a file, whose owner can be told at once that it is none or breaks off."""
    lines = unfold(body)
    if not lines or lines == _NOT_READABLE or (unfold is gtfs_realtime and _is_cut_short(body)):
        raise InvalidInput(
            "The file holds no positions of this format, or breaks off.",
            "Fetch it anew; `format` in [source] says how it is read: lines, gtfs-realtime or mds.",
        )
    return lines


# ── GTFS-realtime ────────────────────────────────────────────────────────────────────────────────────────────────


def _gtfs_messages() -> Any:
    try:
        return import_module("google.transit.gtfs_realtime_pb2")
    except ModuleNotFoundError:
        raise MissingExtra.of("gtfs-realtime-bindings", "spatial") from None


def _fields(body: bytes) -> Iterator[tuple[int, bytes | None]]:
    """The outermost parts of a message, each with its number; None for what breaks off or cannot be.

    The library reads a message as a whole, so that one damaged vehicle would take all others along.
    """
    at = 0
    while at < len(body):
        tag, at = _number(body, at)
        kind = None if tag is None else tag & 7
        size: int | None = _FIXED.get(kind or 0)
        if kind == _VARIABLE:
            size, at = _number(body, at)[1] - at or None, at
        elif kind == _LENGTHS:
            size, at = _number(body, at)
        if tag is None or size is None or at + size > len(body):
            yield 0, None  # where the next part begins cannot be known
            return
        if kind == _LENGTHS:
            yield tag >> 3, body[at : at + size]
        at += size


def _is_cut_short(body: bytes) -> bool:
    return any(part is None for _, part in _fields(body))


def _number(body: bytes, at: int) -> tuple[int | None, int]:
    value = 0
    for i, byte in enumerate(body[at : at + _MOST_BYTES_OF_A_NUMBER]):
        value |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            return value, at + i + 1
    return None, at


def _read(kind: Any, part: bytes) -> Any:
    wrong: type[Exception] = import_module("google.protobuf.message").DecodeError
    try:
        return kind.FromString(part)
    except (wrong, UnicodeDecodeError):
        return None


# ── MDS ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _status(one: Any) -> Iterator[bytes]:
    last = one.get("last_telemetry") or one.get("current_location") if isinstance(one, dict) else None
    yield from _telemetry({"device_id": one.get("device_id"), **last} if isinstance(last, dict) else None)


def _telemetry(one: Any) -> Iterator[bytes]:
    """A point of telemetry: with a `location`, with `gps` (before 2.0), or as a point of GeoJSON."""
    if not isinstance(one, dict):
        yield _NOT_READABLE
        return
    where, properties = one.get("location") or one.get("gps"), one.get("properties")
    at = one.get("timestamp")
    if isinstance(properties, dict):
        coordinates = _inside(one.get("geometry"), "coordinates")
        at = properties.get("timestamp")
        if isinstance(coordinates, list) and len(coordinates) >= 2:
            where = {"lng": coordinates[0], "lat": coordinates[1]}
    trips = one.get("trip_ids")
    trip = trips[0] if isinstance(trips, list) and trips else one.get("trip_id")
    yield _line(
        _seconds(at if at is not None else _inside(where, "timestamp")),
        one.get("device_id"),
        trip,
        _inside(where, "lng"),
        _inside(where, "lat"),
    )


def _trip(one: Any) -> Iterator[bytes]:
    if not isinstance(one, dict):
        yield _NOT_READABLE
        return
    who = {"device_id": one.get("device_id"), "trip_id": one.get("trip_id")}
    for end in ("start", "end"):
        if one.get(f"{end}_location") is not None:
            yield from _telemetry({**who, "timestamp": one.get(f"{end}_time"), "location": one[f"{end}_location"]})
    points = _inside(one.get("route"), "features")
    for point in points if isinstance(points, list) else []:
        yield from _telemetry({**who, **point} if isinstance(point, dict) else None)


_MDS: Mapping[str, Callable[[Any], Iterator[bytes]]] = {
    "vehicles_status": _status,
    "vehicles": _status,
    "telemetry": _telemetry,
    "trips": _trip,
}


def _inside(what: Any, name: str) -> Any:
    return what.get(name) if isinstance(what, dict) else None


def _seconds(milliseconds: Any) -> float | None:
    number = type(milliseconds) in (int, float) and math.isfinite(milliseconds)
    return milliseconds / 1000 if number else None


def _line(at: Any, vehicle: Any, trip: Any, x: Any, y: Any) -> bytes:
    """One position, in the words of `POSITIONS`; what is missing makes it unreadable there."""
    told = {"time": at, "vehicle_id": vehicle or None, "trip_id": trip or None, "x": x, "y": y}
    return json.dumps({name: value for name, value in told.items() if value is not None}).encode()
