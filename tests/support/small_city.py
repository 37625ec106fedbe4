"""A city of twelve cells: a store, a source and a clock set by hand.

A weak epsilon makes noise vanish, so that counts can be read off the releases.
"""

import json
from datetime import UTC, datetime, timedelta

from google.transit import gtfs_realtime_pb2

from hubbub.monitor.assembly import open_pipeline
from hubbub.monitor.settings import MonitorSettings
from hubbub.store import Store

START = datetime(2026, 1, 1, 10, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
BOUNDS = [8.0, 53.0, 8.4, 53.3]


class SmallCity:
    """Four columns of a tenth of a degree, three rows; the store and the clock outlive the pipelines."""

    def __init__(self, folder, source=None, *, protect="trip", **more):
        self.folder, self.now, self.said, self.released = folder, START, [], []
        self.store = Store.open(folder / "city.db", marks=folder / "marks")
        self.source = source or {"kind": "http", "spool": folder / "spool"}
        self.grid = {"columns": 4, "rows": 3, "bounds": BOUNDS}
        self.privacy = {"protect": protect, "epsilon": 3000, "max_ticks": 3, "allow_weak": True}
        if protect == "trip":
            self.privacy["timeout"] = "5m"
        self.method, self.more = {"name": "lpa"}, more
        self.pipeline = self.spool = None

    def settings(self):
        told = {
            "stream": {"name": "city", "tick": "1m"},
            "source": self.source,
            "grid": self.grid,
            "privacy": self.privacy,
            "method": self.method,
            "store": {"url": str(self.folder / "city.db")},
        }
        return MonitorSettings.model_validate(told | self.more)

    def open(self):
        self.pipeline, self.spool = open_pipeline(
            self.settings(), self.store, clock=lambda: self.now, on_release=self.released.append, say=self.said.append
        )
        return self

    def close(self):
        if self.pipeline is not None:
            self.pipeline.close()
        self.pipeline = None

    def die(self):
        """Without a word: what was reserved is left as it is."""
        self.pipeline._source.close()
        self.pipeline = None

    def send(self, body):
        return self.spool.push("city", body if isinstance(body, bytes) else body.encode())

    def minute(self):
        """To the end of this minute, and past the lateness of five seconds."""
        self.now += MINUTE
        self.now += timedelta(seconds=6)
        self.pipeline.catch_up()
        self.now -= timedelta(seconds=6)

    def counts(self, first=0):
        """Where somebody was, tick by tick; None where a tick was predicted."""
        return [
            None if one.measurements is None else {one.keys.names[i]: n for i, n in enumerate(one.measurements) if n}
            for one in self.store.releases("city", first=first)
        ]


def line(vehicle, x, y, at, **more):
    return json.dumps({"time": at.isoformat(), "vehicle_id": vehicle, "lon": x, "lat": y, **more}) + "\n"


def feed(vehicles, at):
    """A feed of GTFS-realtime: (vehicle, longitude, latitude) each."""
    message = gtfs_realtime_pb2.FeedMessage()
    message.header.gtfs_realtime_version = "2.0"
    message.header.timestamp = int(at.timestamp())
    for number, (vehicle, x, y) in enumerate(vehicles):
        entity = message.entity.add()
        entity.id = f"entity-{number}"
        entity.vehicle.vehicle.id = vehicle
        entity.vehicle.position.longitude, entity.vehicle.position.latitude = x, y
        entity.vehicle.timestamp = int(at.timestamp())
    return message.SerializeToString()


def mds_status(vehicles, at):
    """An answer of MDS: the status of vehicles."""
    moment = int(at.timestamp() * 1000)
    return json.dumps(
        {
            "version": "2.0.0",
            "vehicles_status": [
                {
                    "device_id": vehicle,
                    "last_telemetry": {"timestamp": moment, "location": {"lat": y, "lng": x}, "trip_ids": None},
                }
                for vehicle, x, y in vehicles
            ],
        }
    ).encode()
