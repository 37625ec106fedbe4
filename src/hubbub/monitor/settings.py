"""One TOML file says what a live monitor does. Declared once: for the file, its checks and the documents."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
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
from hubbub.monitor.map_settings import GridSettings
from hubbub.monitor.source_settings import CountsSource, LogSource, Source
from hubbub.monitor.table import Table
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


class StreamSettings(Table):
    """What is published, and how often."""

    name: str = Field(
        pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$", description="The stream's name, in addresses and the ledger."
    )
    tick: Duration = Field(description="How long a tick is: a release comes out once per tick.")


class KeySettings(Table):
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


class PrivacySettings(Table):
    """What is protected, and how strongly. It cannot be changed under the same stream name."""

    protect: Literal["event", "window", "session", "trip", "user"] = Field(
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
            timeout=self.timeout if self.protect in ("session", "trip") else None,
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


class GrantSettings(Table):
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


class CollectSettings(Table):
    """How events become counts."""

    lateness: Duration | None = Field(
        None, description="How late an event may come. Live: 5s if not given; a file read once waits for its end."
    )
    stay: TruthOrDuration = Field(
        timedelta(minutes=2),
        description="Between requests a visitor stays on the last page: true, for how long, or false. On a map: false "
        "unless it is given.",
    )
    identify: list[str] = Field(
        ["person"], description="Which columns tell visitors apart: person, or person and agent."
    )
    bots: bool = Field(False, strict=True, description="Count automatic clients too.")
    assets: bool = Field(False, strict=True, description="Count images, styles and scripts too.")


class MethodSettings(Table):
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


class RangeSettings(Table):
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


class StoreSettings(Table):
    """Where the ledger and the releases are kept."""

    url: str = Field("hubbub.db", description="A path (SQLite) or postgresql://user:password@host/database.")
    keep: Duration | None = Field(
        None,
        description="How long the numbers of releases are kept, e.g. 30d; left out: for ever. What was spent stays "
        "in the ledger, and can be verified as before.",
    )

    @field_serializer("url")
    def _without_secrets(self, url: str) -> str:
        """What is printed of an address: where the store is, and nothing of one that cannot be read."""
        try:
            return shown(url)
        except HubbubError:
            return MASK


class MonitorSettings(Table):
    """The whole file."""

    stream: StreamSettings
    source: Source
    keys: KeySettings | None = None
    grid: GridSettings | None = None
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
        return self.privacy.guarantee(finds_keys=self.found_keys is not None)

    @property
    def found_keys(self) -> KeySettings | None:
        """How keys are found, where nobody lists them."""
        return self.keys if self.keys is not None and self.keys.discover is not None else None

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
    def _keys_or_a_map(self) -> MonitorSettings:
        if (self.keys is None) == (self.grid is None):
            raise ValueError("say what is counted: names under [keys], or a map under [grid]; one of them")
        told = getattr(self.source, "format", "lines")
        if self.grid is None:
            if told in ("gtfs-realtime", "mds"):
                raise ValueError(f"{told} holds positions: give a map under [grid]")
            return self
        if isinstance(self.source, LogSource) and told != "json":
            raise ValueError('an access log holds no positions: give format = "json", or another source')
        if self.ranges is not None:
            raise ValueError("ranges are for keys; of a map any area over any span can be asked for without them")
        if self.method.model is not None:
            raise ValueError("a model knows how visitors move between pages: leave `model` out")
        if self.privacy.max_items != 1:
            raise ValueError("a vehicle is in one place: leave `max_items` out of [privacy]")
        return self

    @model_validator(mode="after")
    def _can_find_keys(self) -> MonitorSettings:
        found = self.found_keys
        if found is None:
            return self
        period = found.discover
        assert period is not None
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

    @model_validator(mode="after")
    def _keeps_enough(self) -> MonitorSettings:
        keep = self.store.keep
        if keep is None:
            return self
        if self.found_keys is not None:
            raise ValueError("`keep` cannot be given where keys are found: releases say what is counted, and stay")
        if self.ranges is not None and keep < self.ranges.ticks(self.stream.tick) * self.stream.tick:
            raise ValueError("`keep` must reach as far back as `window` of [ranges]")
        return self

    @field_validator("publish")
    @classmethod
    def _one_stream(cls, publish: ServerSettings) -> ServerSettings:
        if publish.stream is not None:
            raise ValueError("`publish.stream` is not needed: the pages show this file's stream")
        return publish
