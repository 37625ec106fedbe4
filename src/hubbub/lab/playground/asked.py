"""What a page may ask for, checked. What cannot be understood is refused by name and rule; no value is repeated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictFloat, StrictInt, ValidationError
from pydantic_core import PydanticCustomError

from hubbub.errors import InvalidInput
from hubbub.mechanism import read_options
from hubbub.methods import METHODS, method_named
from hubbub.privacy import Guarantee, Unit

MOST_TICKS = 5_000
"""Longer series are for the command line: here each method must answer within seconds."""

LONGEST_TABLE = 900_000

Ticks = Annotated[int, Field(ge=1, le=MOST_TICKS)]
Seed = Annotated[int, Field(ge=0, lt=2**32)]
Amount = Annotated[str, Field(pattern=r"^\d{1,3}(\.\d{1,6}|/\d{1,6})?$")]
Chance = Annotated[str, Field(pattern=r"^(0?\.\d{1,20}|1e-\d{1,3})$")]


def _known(name: str) -> str:
    if name not in METHODS or not METHODS[name].traits.online:
        raise PydanticCustomError("method", "There is no such method")
    return name


Options = Annotated[dict[str, str], Field(max_length=20)]

Method = Annotated[str, AfterValidator(_known)]


class Asked(BaseModel):
    """The root: frozen, and silent about what it does not know."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class SeriesAsked(Asked):
    """A sample by name, or a table as text and the column to take."""

    sample: str | None = Field(default=None, max_length=60)
    table: str | None = Field(default=None, max_length=LONGEST_TABLE, repr=False)
    column: str | None = Field(default=None, max_length=500, repr=False)
    gaps: Literal["refuse", "zero", "predict"] = "refuse"


class Promise(Asked):
    """What is protected and how strongly."""

    unit: Literal["user", "window", "session", "event"] = "user"
    ticks: Ticks | None = None
    epsilon: Amount | None = None
    delta: Chance | None = None
    rho: Amount | None = None

    def guarantee(self, length: int) -> Guarantee:
        """The promise about a series of `length` ticks."""
        epsilon, delta, rho = self.amounts.values()
        return Guarantee.parse(self.protected(length), epsilon=epsilon, delta=delta, rho=rho)

    @property
    def amounts(self) -> dict[str, str | None]:
        """The budget; an epsilon of 1 where none was named."""
        usual = "1" if self.rho is None else None
        return {"epsilon": self.epsilon or usual, "delta": self.delta, "rho": self.rho}

    def protected(self, length: int) -> Unit:
        """`ticks` is a field of the page, which is hidden where the unit has no use for it."""
        bounded = self.unit in ("session", "window")
        ticks, horizon = self.ticks if bounded else None, length if self.unit == "user" else None
        return Unit.parse(self.unit, max_ticks=ticks, horizon=horizon)


class RunAsked(SeriesAsked, Promise):
    """One method over a whole series; with a `seed` its noise can be repeated, and so it protects nobody."""

    method: Method
    options: Options = Field(default_factory=dict)
    seed: Seed | None = None


class LiveAsked(Promise):
    """One method, given one value after another; `horizon` is how many there will be, `seconds` how long a tick is."""

    method: Method
    options: Options = Field(default_factory=dict)
    seed: Seed | None = None
    horizon: Ticks = 20
    seconds: float | None = Field(default=None, gt=0, le=4e7)


class PlanAsked(SeriesAsked, Promise):
    """What each method would cost in error, on a series that is public or simulated, over a range of budgets of one
    `kind` (with a `delta`, if that has one)."""

    kind: Literal["pure", "approximate", "zcdp"] = "pure"
    level: float = Field(default=500.0, gt=0, lt=2**40)
    length: Annotated[int, Field(ge=2, le=1_000)] = 365
    error: float | None = Field(default=None, gt=0)


class StepAsked(Asked):
    """The next value of a live run; null is a gap, which is predicted."""

    value: StrictInt | StrictFloat | None = Field(repr=False)


class DaysAsked(Asked):
    """A sample person by name, or days of one's own as text."""

    person: str | None = Field(default=None, max_length=60)
    table: str | None = Field(default=None, max_length=LONGEST_TABLE, repr=False)


class ContextsAsked(DaysAsked):
    """What is sensitive, when, and by how much belief in it may rise; `draw` chooses the days and their coins."""

    sensitive: Annotated[list[Annotated[str, Field(max_length=500)]], Field(min_length=1, max_length=100)] = Field(
        repr=False
    )
    first: Annotated[int, Field(ge=0)] | None = None
    last: Annotated[int, Field(ge=0)] | None = None
    together: bool = False
    sometime: bool = False
    delta: Annotated[str, Field(pattern=r"^(1|0?\.\d{1,6})$")] = "0.1"
    smoothing: Literal[0, 1] = 0
    draw: Seed = 0


Kind = TypeVar("Kind", bound=Asked)


def understood(kind: type[Kind], asked: Mapping[str, Any]) -> Kind:
    """`asked` as that kind, or a refusal that names the field and the rule.

    >>> understood(LiveAsked, {"method": "lpa", "horizon": 0})
    Traceback (most recent call last):
    ...
    hubbub.errors.InvalidInput: `horizon`: Input should be greater than or equal to 1. ...
    """
    try:
        return kind.model_validate(asked)
    except ValidationError as wrong:
        fault = wrong.errors(include_input=False, include_url=False, include_context=False)[0]
        name = fault["loc"][0] if fault["loc"] else "the request"
        raise InvalidInput(f"`{name}`: {fault['msg']}.", "Change it and try again.") from None


def options_asked(method: str, given: Mapping[str, str]) -> dict[str, Any]:
    """The options of a method as a page gives them: no files are opened for it, and nothing large is made.

    >>> options_asked("fast", {"samples": "5"})
    {'samples': 5}
    """
    if "model" in given:
        raise InvalidInput("The Lab opens no files: `model` cannot be given here.", "Use `hubbub release --model`.")
    options = read_options(method_named(method), given)
    if any(isinstance(value, int) and value > MOST_TICKS for value in options.values()):
        raise InvalidInput(f"An option here is at most {MOST_TICKS:,}.", "Use `hubbub release` for more.")
    return options
