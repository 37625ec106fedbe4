"""One TOML file says what a live monitor does. Declared once: for the file, its checks and the documents."""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_serializer,
    field_validator,
    model_validator,
)

from hubbub.errors import HubbubError
from hubbub.exact import positive
from hubbub.itemlogs.claim import MOST_ITEMS
from hubbub.masking import MASK
from hubbub.mechanism import read_options
from hubbub.methods import method_named
from hubbub.monitor.durations import Duration, TicksOrDuration, TruthOrDuration
from hubbub.privacy import Grant, Guarantee, Part, Unit
from hubbub.ranges import METHODS
from hubbub.server import ServerSettings
from hubbub.store.address import shown


def _amount(given: Any, info: ValidationInfo) -> str:
    try:
        return str(positive(given, info.field_name or ""))
    except HubbubError as error:
        raise ValueError(error.message.rstrip(".")) from None


Amount = Annotated[str, BeforeValidator(_amount)]
"""A number above 0, or the text of one, kept exactly: 0.1 is a tenth, and "1/3" a third."""


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StreamSettings(_Table):
    """What is published, and how often."""

    name: str = Field(
        pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$", description="The stream's name, in addresses and the ledger."
    )
    tick: Duration = Field(description="How long a tick is: a release comes out once per tick.")


class LogSource(_Table):
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
    """What is counted. The list is public; a path that is on it nowhere counts as `other`.

    `keys = "discover"` in place of the table finds the keys of each day.
    """

    names: list[str] | None = Field(None, description="Keys as they are: names, paths, or patterns such as /article/*.")
    routes: dict[str, str] | None = Field(None, description="Keys by name, each with its path or pattern.")
    file: Path | None = Field(None, description="A file with one key per line, `name = /pattern/*` or just a path.")
    discover: Duration | None = Field(
        None,
        description='Nobody lists the keys: each period of this length, "1h" or "1d", finds those of the next, by what '
        'enough of its sessions looked at. Fixed for the stream. For `protect = "session"` with a delta.',
    )
    share: Amount = Field(
        "1/4", description="With `discover`: the part of the budget that finding keys gets; counts get the rest. Fixed."
    )
    max_items: int = Field(
        5,
        ge=1,
        le=MOST_ITEMS,
        strict=True,
        description="With `discover`: for how many pages a session counts in each of a list's two rounds. Fixed.",
    )
    keep: int = Field(
        3, ge=1, le=1000, strict=True, description="With `discover`: for how many lists a key stays that was found."
    )
    patterns: list[str] = Field(
        [],
        description="With `discover`: patterns you approve of, out of those that `hubbub published --patterns` offers. "
        "Each counts in place of the names that fit it, from the next start on.",
    )
    other: str | Literal[False] = Field("other", description="The key of all other paths; false drops them.")

    @model_validator(mode="after")
    def _one_of_four(self) -> KeySettings:
        if sum(given is not None for given in (self.names, self.routes, self.file, self.discover)) != 1:
            raise ValueError("give exactly one of `names`, `routes`, `file` and `discover`")
        if self.discover is None:
            idle = {"share", "max_items", "keep", "patterns"} & self.model_fields_set
            if idle:
                raise ValueError(f"`{min(idle)}` belongs to `discover`, which is not given")
        elif isinstance(self.other, str) and (self.other.startswith("/") or "*" in self.other):
            raise ValueError(f"`other` is a name, and {self.other!r} looks like a page that may be found")
        elif self.other is False:
            raise ValueError("with `discover` whatever was not found counts as `other`: it needs a name")
        if Fraction(self.share) >= 1:
            raise ValueError(f"`share` must lie between 0 and 1; got {self.share}")
        return self


class PrivacySettings(_Table):
    """What is protected, and how strongly. It cannot be changed under the same stream name."""

    protect: Literal["event", "window", "session", "user"] = Field(
        "session", description="What one neighbour differs in."
    )
    epsilon: Amount | None = Field(
        None,
        description='Small is strong; values from 0.1 to 3 are usual, as a number or exactly: "1/3". This, or `rho`.',
    )
    delta: Amount | None = Field(
        None, description="Promise epsilon with this delta (Gaussian noise), e.g. 1e-9. Left out, the promise is pure."
    )
    rho: Amount | None = Field(None, description="Promise zCDP with this rho (Gaussian noise) instead of an epsilon.")
    slips: Amount | None = Field(
        None,
        description="What thresholds may let slip: a part of `delta`, or a delta beside `rho`. Where keys are found, "
        "half of `delta` if you say nothing.",
    )
    max_ticks: int = Field(
        20,
        ge=1,
        le=10_000_000,
        strict=True,
        description="In how many ticks a session or person counts at most; enforced. A window's width.",
    )
    max_items: int = Field(
        1,
        ge=1,
        le=10_000_000,
        strict=True,
        description="Under how many keys one unit counts at most in a tick; enforced.",
    )
    timeout: Duration = Field(timedelta(minutes=30), description="A session is over after this long a silence.")
    horizon: int | None = Field(None, ge=1, strict=True, description="For `user`: how many ticks the stream will have.")
    allow_weak: bool = Field(
        False,
        strict=True,
        description="Allow an epsilon above 20, a rho above 3.59 or a delta above 1e-3: practically no promise.",
    )

    def unit(self) -> Unit:
        # `max_ticks` has a default, which an event has no use for and a short horizon none of; what was written is
        # taken at its word. `timeout` also ends a visitor's stay on a page, whatever is protected.
        bound: int | None = self.max_ticks
        if "max_ticks" not in self.model_fields_set:
            bound = None if self.protect == "event" else min(self.max_ticks, self.horizon or self.max_ticks)
        return Unit.parse(
            self.protect,
            max_ticks=bound,
            max_items=self.max_items,
            horizon=self.horizon,
            timeout=self.timeout if self.protect == "session" else None,
        )

    def guarantee(self, *, finds_keys: bool = False) -> Guarantee:
        slips: str | Fraction | None = self.slips
        if finds_keys and slips is None and self.delta is not None:
            slips = Fraction(self.delta) / 2
        return Guarantee.parse(
            self.unit(), epsilon=self.epsilon, delta=self.delta, rho=self.rho, slips=slips, allow_weak=self.allow_weak
        )

    @model_validator(mode="after")
    def _sound(self) -> PrivacySettings:
        try:
            self.guarantee()
        except HubbubError as error:
            raise ValueError(f"{error.message} {error.hint}".rstrip(". ")) from None
        return self


class GrantSettings(_Table):
    """One promise, that of [privacy], over several streams. Without this table the stream has a grant of its own."""

    name: str = Field(
        pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$",
        description="The grant's name. Every stream that names it, in the same store and with the same [privacy], "
        "draws a part of it.",
    )
    population: str = Field("", description='Who is counted, in your own words: "visitors of example.org".')
    share: Amount = Field("1", description='The part of the grant that this stream draws, exactly: "1/2", 0.25.')
    apart_from: list[str] = Field(
        [],
        description="Populations of other grants of which you vouch that nobody in them is in this one. All others are "
        "taken to be the same people, and what is promised about them is added up.",
    )

    @field_validator("share")
    @classmethod
    def _within(cls, share: str) -> str:
        if Fraction(share) > 1:
            raise ValueError(f"must lie above 0 and be at most 1; got {share}")
        return share

    def part(self, guarantee: Guarantee) -> Part:
        return Grant(self.name, guarantee, self.population, self.apart_from).part(self.share)


class CollectSettings(_Table):
    """How events become counts."""

    lateness: Duration | None = Field(
        None, description="How late an event may come. Live: 5s if not given; a file read once waits for its end."
    )
    stay: TruthOrDuration = Field(
        timedelta(minutes=2),
        description="Between requests a visitor stays on the last page: true, for how long, or false.",
    )
    identify: list[str] = Field(
        ["person"], description="Which columns tell visitors apart: person, or person and agent."
    )
    bots: bool = Field(False, strict=True, description="Count automatic clients too.")
    assets: bool = Field(False, strict=True, description="Count images, styles and scripts too.")


class MethodSettings(_Table):
    """How noisy counts become estimates."""

    name: str | None = Field(
        None,
        description="The mechanism: `navigation` filters, `lpa` publishes the noisy counts. "
        "Left out: what suits the promise and the number of keys.",
    )
    model: Path | None = Field(None, description="A model that `hubbub fit` learned from public sessions.")
    options: dict[str, Any] = Field(
        {}, description="Options of the mechanism by name, as docs/methods.md lists them. Fixed for the stream."
    )

    @model_validator(mode="after")
    def _known(self) -> MethodSettings:
        if not self.options:
            return self
        if self.name is None:
            raise ValueError("`options` belong to a method: give its `name`")
        try:
            read_options(method_named(self.name), self.options)
        except HubbubError as error:
            raise ValueError(f"{error.message} {error.hint}".rstrip(". ")) from None
        return self


class RangeSettings(_Table):
    """Totals over any range of the recent past. Without this table, ticks are added up, noise and all."""

    window: TicksOrDuration = Field(
        description='How far back ranges reach: a span such as "7d", or a number of ticks. Fixed for the stream.'
    )
    share: Amount = Field(
        "1/2",
        description='The part of the budget (epsilon or rho) that ranges get, exactly: "1/3", 0.25; live numbers get '
        "the rest. Fixed too.",
    )
    method: str = Field("auto", description="How noise is spread over time: docs/ranges.md lists the methods.")

    def ticks(self, tick: timedelta) -> int:
        """The window as a number of ticks."""
        return self.window if isinstance(self.window, int) else max(1, -(-self.window // tick))

    @field_validator("share")
    @classmethod
    def _leaves_some(cls, share: str) -> str:
        if Fraction(share) >= 1:
            raise ValueError(f"must lie between 0 and 1; got {share}")
        return share

    @field_validator("method")
    @classmethod
    def _known(cls, method: str) -> str:
        if method not in METHODS:
            raise ValueError(f"there is no method {method!r}; known: {', '.join(METHODS)}")
        return method


class StoreSettings(_Table):
    """Where the ledger and the releases are kept."""

    url: str = Field("hubbub.db", description="A path (SQLite) or postgresql://user:password@host/database.")

    @field_serializer("url")
    def _without_secrets(self, url: str) -> str:
        """What is printed of an address: where the store is, and nothing of one that cannot be read."""
        try:
            return shown(url)
        except HubbubError:
            return MASK


class MonitorSettings(_Table):
    """The whole file."""

    stream: StreamSettings
    source: Source
    keys: KeySettings
    privacy: PrivacySettings
    grant: GrantSettings | None = None
    collect: CollectSettings = CollectSettings()
    method: MethodSettings = MethodSettings()
    ranges: RangeSettings | None = None
    store: StoreSettings = StoreSettings()
    publish: ServerSettings = ServerSettings()

    @property
    def guarantee(self) -> Guarantee:
        """The promise of the grant."""
        return self.privacy.guarantee(finds_keys=self.keys.discover is not None)

    def part(self) -> Part:
        """What the stream draws of which grant; with ranges, or with keys that are found, two streams share it."""
        guarantee = self.guarantee
        return Grant(self.stream.name, guarantee).part() if self.grant is None else self.grant.part(guarantee)

    @model_validator(mode="after")
    def _granted(self) -> MonitorSettings:
        try:
            self.part()
        except HubbubError as error:
            raise ValueError(f"{error.message} {error.hint}".rstrip(". ")) from None
        return self

    @field_validator("keys", mode="before")
    @classmethod
    def _in_a_word(cls, keys: Any) -> Any:
        return {"discover": "1d"} if keys == "discover" else keys

    @model_validator(mode="after")
    def _can_find_keys(self) -> MonitorSettings:
        period = self.keys.discover
        if period is None:
            return self
        if self.privacy.protect != "session":
            raise ValueError(
                "`discover` is about sessions: each counts in the one list of the period in which it begins. Give "
                'protect = "session", or list the keys'
            )
        if self.privacy.max_items != 1:
            raise ValueError(
                "where keys are found a session counts under one per tick: two of its pages may both be `other`, "
                "and would count there twice. Leave `max_items` out of [privacy]"
            )
        if not self.guarantee.slips:
            raise ValueError(
                "finding keys needs a delta: a page that one session alone has must not be named, and that is certain "
                "up to a delta only. Give `delta` beside `epsilon`, e.g. 1e-9 (or `slips` beside `rho`)"
            )
        if period < self.stream.tick:
            raise ValueError("`discover` must be at least as long as a tick")
        if isinstance(self.source, CountsSource):
            raise ValueError("counts that come ready-made have their keys: list them")
        if self.ranges is not None:
            raise ValueError(
                "ranges add up the same keys over many ticks, and keys that are found change: leave one out"
            )
        if self.method.model is not None:
            raise ValueError("a model knows its pages, and keys that are found change: leave `model` out")
        return self

    @field_validator("publish")
    @classmethod
    def _one_stream(cls, publish: ServerSettings) -> ServerSettings:
        if publish.stream is not None:
            raise ValueError("`publish.stream` is not needed: the pages show this file's stream")
        return publish
