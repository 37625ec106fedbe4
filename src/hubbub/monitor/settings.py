"""One TOML file says what a live monitor does. Declared once: for the file, its checks and the documents."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from hubbub.errors import HubbubError
from hubbub.monitor.durations import Duration, TicksOrDuration
from hubbub.privacy import Event, Guarantee, Session, Unit, User, Window
from hubbub.ranges import METHODS
from hubbub.server import ServerSettings


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StreamSettings(_Table):
    """What is published, and how often."""

    name: str = Field(
        pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$", description="The stream's name, in addresses and the ledger."
    )
    tick: Duration = Field(description="How long a tick is: a release comes out once a tick.")


class LogSource(_Table):
    """A web server's access log."""

    kind: Literal["log"]
    path: Path = Field(description="The log file; .gz is read as it is.")
    format: Literal["common", "combined", "json"] = Field("combined", description="How its lines are written.")
    follow: bool = Field(
        True, description="Go on reading as it grows, across rotation; false reads it once, as fast as it can."
    )
    start: datetime | None = Field(None, description="Of a file that is read once: when its span begins; public.")
    end: datetime | None = Field(None, description="Of a file that is read once: when its span ends; public.")


class FileSource(_Table):
    """A file of events: CSV, JSON lines or Parquet with a time, a person or session, and a key or path."""

    kind: Literal["events"]
    path: Path = Field(description="The file; its ending says what it is.")
    time: str = Field("time", description="The column of the time.")
    person: str = Field("person", description="The column of the session or person.")
    key: str = Field("path", description="The column of the key or path.")
    start: datetime | None = Field(None, description="Of a file that is read once: when its span begins; public.")
    end: datetime | None = Field(None, description="Of a file that is read once: when its span ends; public.")


class HttpSource(_Table):
    """Events that are sent to this server: `POST /v1/streams/NAME/events`."""

    kind: Literal["http"]
    spool: Path = Field(Path("hubbub-spool"), description="A folder, readable by this user alone, where batches wait.")


class CountsSource(_Table):
    """Ready-made counts that are sent here: `POST /v1/streams/NAME/counts`. The sender enforces the bound."""

    kind: Literal["counts"]


class NatsSource(_Table):
    """A NATS JetStream stream."""

    kind: Literal["nats"]
    servers: list[str] = Field(["nats://127.0.0.1:4222"], description="Addresses of the servers.")
    stream: str = Field(description="The JetStream stream.")
    subject: str | None = Field(None, description="Only this subject of the stream.")


class KafkaSource(_Table):
    """A Kafka topic."""

    kind: Literal["kafka"]
    servers: str = Field("127.0.0.1:9092", description="Addresses of the brokers, with commas.")
    topic: str = Field(description="The topic.")


Source = Annotated[
    LogSource | FileSource | HttpSource | CountsSource | NatsSource | KafkaSource, Field(discriminator="kind")
]


class KeySettings(_Table):
    """What is counted. The list is public; a path that is on it nowhere counts as `other`."""

    names: list[str] | None = Field(None, description="Keys as they are: names, paths, or patterns such as /article/*.")
    routes: dict[str, str] | None = Field(None, description="Keys by name, each with its path or pattern.")
    file: Path | None = Field(None, description="A file with one key a line, `name = /pattern/*` or just a path.")
    other: str | Literal[False] = Field("other", description="The key of all other paths; false drops them.")

    @model_validator(mode="after")
    def _one_of_three(self) -> KeySettings:
        if sum(given is not None for given in (self.names, self.routes, self.file)) != 1:
            raise ValueError("give exactly one of `names`, `routes` and `file`")
        return self


class PrivacySettings(_Table):
    """What is protected, and how strongly. It cannot be changed under the same stream name."""

    protect: Literal["event", "window", "session", "user"] = Field(
        "session", description="What one neighbour differs in."
    )
    epsilon: float = Field(gt=0, description="Small is strong; values from 0.1 to 3 are usual.")
    max_ticks: int = Field(20, ge=1, description="In how many ticks a session or person counts at most; enforced.")
    timeout: Duration = Field(timedelta(minutes=30), description="A session is over after this long a silence.")
    horizon: int | None = Field(None, ge=1, description="For `user`: how many ticks the stream will have.")
    allow_weak: bool = Field(False, description="Allow an epsilon above 20, which promises practically nothing.")

    def unit(self) -> Unit:
        if self.protect == "event":
            return Event()
        if self.protect == "window":
            return Window(self.max_ticks)
        if self.protect == "session":
            return Session(self.max_ticks, self.timeout)
        return User(min(self.max_ticks, self.horizon) if self.horizon else self.max_ticks, self.horizon)

    def guarantee(self) -> Guarantee:
        return Guarantee.pure(self.unit(), str(self.epsilon), allow_weak=self.allow_weak)

    @model_validator(mode="after")
    def _sound(self) -> PrivacySettings:
        try:
            self.guarantee()
        except HubbubError as error:
            raise ValueError(f"{error.message} {error.hint}".rstrip(".")) from None
        return self


class CollectSettings(_Table):
    """How events become counts."""

    lateness: Duration | None = Field(
        None, description="How late an event may come. Live: 5s if not given; a file read once waits for its end."
    )
    stay: bool | Duration = Field(
        timedelta(minutes=2),
        description="Between requests a visitor stays on the last page: true, for how long, or false.",
    )
    identify: list[str] = Field(
        ["person"], description="Which columns tell visitors apart: person, or person and agent."
    )
    bots: bool = Field(False, description="Count automatic clients too.")
    assets: bool = Field(False, description="Count images, styles and scripts too.")


class MethodSettings(_Table):
    """How noisy counts become estimates."""

    name: str | None = Field(
        None,
        description="The mechanism: `navigation` filters, `lpa` publishes the noisy counts. "
        "Left out: what suits the promise and the number of keys.",
    )
    model: Path | None = Field(None, description="A model that `hubbub fit` learned from public sessions.")


class RangeSettings(_Table):
    """Totals over any range of the recent past. Without this table, ticks are added up, noise and all."""

    window: TicksOrDuration = Field(
        description='How far back ranges reach: a span such as "7d", or a number of ticks. Fixed for the stream.'
    )
    share: float = Field(
        0.5, gt=0, lt=1, description="The part of epsilon that ranges get; live numbers get the rest. Fixed too."
    )
    method: str = Field("auto", description="How noise is spread over time: docs/ranges.md lists the methods.")

    def ticks(self, tick: timedelta) -> int:
        """The window as a number of ticks."""
        return self.window if isinstance(self.window, int) else max(1, -(-self.window // tick))

    @field_validator("method")
    @classmethod
    def _known(cls, method: str) -> str:
        if method not in METHODS:
            raise ValueError(f"there is no method {method!r}; known: {', '.join(METHODS)}")
        return method


class StoreSettings(_Table):
    """Where the ledger and the releases are kept."""

    url: str = Field("hubbub.db", description="A path (SQLite) or postgresql://user:password@host/database.")


class MonitorSettings(_Table):
    """The whole file."""

    stream: StreamSettings
    source: Source
    keys: KeySettings
    privacy: PrivacySettings
    collect: CollectSettings = CollectSettings()
    method: MethodSettings = MethodSettings()
    ranges: RangeSettings | None = None
    store: StoreSettings = StoreSettings()
    publish: ServerSettings = ServerSettings()

    @field_validator("publish")
    @classmethod
    def _one_stream(cls, publish: ServerSettings) -> ServerSettings:
        if publish.stream is not None:
            raise ValueError("`publish.stream` is not needed: the pages show this file's stream")
        return publish
