"""The table `[source]`: where events come from."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from hubbub.monitor.table import Table


class LogSource(Table):
    """A web server's access log."""

    kind: Literal["log"]
    path: Path = Field(description="The log file; .gz is read as it is.")
    format: Literal["common", "combined", "json"] = Field("combined", description="How its lines are written.")
    follow: bool = Field(
        True,
        strict=True,
        description="Go on reading as it grows, across rotation; false reads it once, as fast as it can.",
    )
    start: datetime | None = Field(None, description="Of a file that is read once: when its span begins; public.")
    end: datetime | None = Field(None, description="Of a file that is read once: when its span ends; public.")


Format = Annotated[
    Literal["lines", "gtfs-realtime", "mds"],
    Field(description="With [grid]: JSON lines, feeds of GTFS-realtime, or documents of MDS."),
]


class FileSource(Table):
    """A file of events: CSV, JSON lines or Parquet with a time, a person or session, and a key or path (or x and y)."""

    kind: Literal["events"]
    path: Path = Field(description="The file; its ending says what it is.")
    format: Format = "lines"
    time: str = Field("time", description="The column of the time.")
    person: str = Field("person", description="The column of the session or person.")
    key: str = Field("path", description="The column of the key or path.")
    x: str = Field("x", description="With [grid]: the column of x or longitude.")
    y: str = Field("y", description="With [grid]: the column of y or latitude.")
    start: datetime | None = Field(None, description="Of a file that is read once: when its span begins; public.")
    end: datetime | None = Field(None, description="Of a file that is read once: when its span ends; public.")


class HttpSource(Table):
    """Events that are sent to this server: `POST /v1/streams/NAME/events`."""

    kind: Literal["http"]
    spool: Path = Field(Path("hubbub-spool"), description="A folder, readable by this user alone, where batches wait.")
    format: Format = "lines"


class CountsSource(Table):
    """Ready-made counts that are sent here: `POST /v1/streams/NAME/counts`. The sender enforces the bound."""

    kind: Literal["counts"]


class NatsSource(Table):
    """A NATS JetStream stream."""

    kind: Literal["nats"]
    servers: list[str] = Field(["nats://127.0.0.1:4222"], description="Addresses of the servers.")
    stream: str = Field(description="The JetStream stream.")
    subject: str | None = Field(None, description="Only this subject of the stream.")
    format: Format = "lines"


class KafkaSource(Table):
    """A Kafka topic."""

    kind: Literal["kafka"]
    servers: str = Field("127.0.0.1:9092", description="Addresses of the brokers, with commas.")
    topic: str = Field(description="The topic.")
    format: Format = "lines"


Source = Annotated[
    LogSource | FileSource | HttpSource | CountsSource | NatsSource | KafkaSource, Field(discriminator="kind")
]
