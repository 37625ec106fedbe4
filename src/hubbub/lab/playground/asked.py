"""What a page may ask for, checked. What cannot be understood is refused by name and rule; no value is repeated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictFloat, StrictInt, ValidationError
from pydantic_core import PydanticCustomError

from hubbub.errors import InvalidInput
from hubbub.privacy import Event, Guarantee, Session, Unit, User, Window
from hubbub.release import METHODS

MOST_TICKS = 5_000
"""Longer series are for the command line: here each method must answer within seconds."""

LONGEST_TABLE = 900_000

Ticks = Annotated[int, Field(ge=1, le=MOST_TICKS)]
Seed = Annotated[int, Field(ge=0, lt=2**32)]


def _known(name: str) -> str:
    if name not in METHODS:
        raise PydanticCustomError("method", "There is no such method")
    return name


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
    epsilon: str = Field(default="1", pattern=r"^\d{1,3}(\.\d{1,6})?$")

    def guarantee(self, length: int) -> Guarantee:
        """The promise about a series of `length` ticks."""
        return Guarantee.pure(self.protected(length), self.epsilon)

    def protected(self, length: int) -> Unit:
        if self.unit == "event":
            return Event()
        if self.unit == "user":
            return User(horizon=length)
        if self.ticks is None:
            raise InvalidInput("The number of ticks is missing.", "Say how many ticks one visit or window may have.")
        return Session(self.ticks) if self.unit == "session" else Window(self.ticks)


class RunAsked(SeriesAsked, Promise):
    """One method over a whole series; with a `seed` its noise can be repeated, and so it protects nobody."""

    method: Method
    seed: Seed | None = None


class LiveAsked(Promise):
    """One method, given one value after another; `horizon` is how many there will be, `seconds` how long a tick is."""

    method: Method
    seed: Seed | None = None
    horizon: Ticks = 20
    seconds: float | None = Field(default=None, gt=0, le=4e7)


class PlanAsked(SeriesAsked, Promise):
    """What each method would cost in error, on a series that is public or simulated."""

    level: float = Field(default=500.0, gt=0, lt=2**40)
    length: Annotated[int, Field(ge=2, le=1_000)] = 365
    error: float | None = Field(default=None, gt=0)


class StepAsked(Asked):
    """The next value of a live run; null is a gap, which is predicted."""

    value: StrictInt | StrictFloat | None = Field(repr=False)


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
