"""The published vector of one tick."""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.released.cost import Cost
from hubbub.released.domain import Domain, domain_from
from hubbub.released.joint import JointErrors
from hubbub.released.keys import Keys
from hubbub.released.shown import ROWS, Shown, more
from hubbub.released.tick import Tick
from hubbub.released.value import PREDICTED, Value, finite

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Release:
    """What the public sees of a tick: for each key an estimate, how wrong it may be, and the measurement behind it.

    `values` are estimates with `standard_errors` and a 95 % interval `lower` to `upper`; `measurements` are the noisy
    counts they rest on, with their `noise_variance` (one number, or one per key), or None where the tick was only
    predicted (then it cost nothing, or its budget was lost in a crash). People want the estimate, detectors often the
    measurement. Where the noise of different keys is `correlated`, a sum over keys has another variance than the sum
    of theirs: ask `variance_of_sum`. How errors of estimates go together is told by `joint`, where it is known.

    >>> r = Release(Tick(0), Keys(["front"]), np.array([812.0]), np.array([28.3]), np.array([752.0]), np.array([872.0]))
    >>> print(r)
    tick 0 (predicted)
    front  812 ± 28
    >>> r["front"], r["front"] > 800
    (Value(value=812.0, standard_error=28.3, lower=752.0, upper=872.0, predicted=True), True)
    """

    tick: Tick
    keys: Domain
    values: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    measurements: NDArray[np.int64] | None = None
    noise_variance: float | NDArray[np.float64] | None = None
    cost: Cost = field(default_factory=Cost.nothing)
    correlated: bool = False
    joint: JointErrors | None = None

    def __post_init__(self) -> None:
        # A release is made for every tick: hence no loop, and `setflags(write=False)` by position, which is faster
        # and which NumPy's annotations do not know.
        r: Any = self
        values, errors, lower, upper = r.values, r.standard_errors, r.lower, r.upper
        shape = (len(self.keys),)
        if not values.shape == errors.shape == lower.shape == upper.shape == shape:
            self._tell_wrong_shape()
        values.setflags(False)
        errors.setflags(False)
        lower.setflags(False)
        upper.setflags(False)
        measurements, variance = r.measurements, r.noise_variance
        if measurements is not None:
            if measurements.shape != shape:
                self._tell_wrong_shape()
            measurements.setflags(False)
        if (measurements is None) != (variance is None):
            raise InvalidParameter("A release has measurements with their noise variance, or neither.")
        if isinstance(variance, np.ndarray):
            if variance.shape != shape:
                raise InvalidParameter(
                    f"A release's `noise_variance` is one number or one per key; got shape {variance.shape}."
                )
            variance.setflags(write=False)

    def _tell_wrong_shape(self) -> NoReturn:
        for name in ("values", "standard_errors", "lower", "upper", "measurements"):
            array = getattr(self, name)
            if array is not None and array.shape != (len(self.keys),):
                raise InvalidParameter(f"A release's `{name}` must have one entry per key; got shape {array.shape}.")
        raise AssertionError("every shape is right")

    @property
    def is_predicted(self) -> bool:
        """True where no measurement was made: the estimate rests on earlier ticks alone."""
        return self.measurements is None

    @property
    def variances(self) -> NDArray[np.float64]:
        """The variance of each key's noise; nothing is known of a tick that was predicted."""
        known = np.inf if self.noise_variance is None else self.noise_variance
        return np.broadcast_to(np.asarray(known, dtype=np.float64), (len(self.keys),))

    def variance_of_sum(self, positions: Sequence[int] | NDArray[np.int64] | None = None) -> float:
        """Of the sum of the measurements of some keys (of all, if None): never too small.

        Independent errors: the sum of variances. Correlated ones: the square of the sum of standard errors, which
        holds however they go together.

        >>> one = np.ones(2)
        >>> keys, parts = Keys(["a", "b"]), (one, one, one, one, np.ones(2, int), 9.0)
        >>> alone, together = (Release(Tick(0), keys, *parts, correlated=c) for c in (False, True))
        >>> alone.variance_of_sum(), together.variance_of_sum(), together.variance_of_sum([0])
        (18.0, 36.0, 9.0)
        """
        variance = self.noise_variance
        if isinstance(variance, float):
            keys = len(self.keys) if positions is None else len(positions)
            return variance * (keys * keys if self.correlated else keys)
        chosen = self.variances if positions is None else self.variances[np.asarray(positions, dtype=np.int64)]
        return float(np.sqrt(chosen).sum() ** 2 if self.correlated else chosen.sum())

    def __getitem__(self, key: str) -> Value:
        return self.at(self.keys.position(key))

    def at(self, position: int) -> Value:
        """The estimate of the key at this position."""
        numbers = (self.values, self.standard_errors, self.lower, self.upper)
        return Value(*(float(array[position]) for array in numbers), predicted=self.is_predicted)

    def to_polars(self) -> pl.DataFrame:
        """One row per key, in the columns of docs/formats.md."""
        from hubbub.released.table import table_of

        return table_of([self])

    def to_pandas(self) -> Any:
        """The same as a DataFrame of pandas."""
        from hubbub.released.table import pandas_of

        return pandas_of(self.to_polars())

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; what `--json` and the API send. An interval without end is null: JSON has no infinity.

        One row per key, so a large grid gives a large document. A domain of another kind than names is told beside.
        """
        rows = [self.row_dict(i, key) for i, key in enumerate(self.keys)]
        return {**self.head_dict(), "keys": rows}

    def head_dict(self) -> dict[str, Any]:
        """What `to_dict` says of the tick as a whole."""
        start, length, one = self.tick.start, self.tick.length, self.noise_variance
        return {
            "tick": self.tick.index,
            "start": None if start is None else start.isoformat(),
            "length_seconds": None if length is None else length.total_seconds(),
            "predicted": self.is_predicted,
            "cost": self.cost.to_dict(),
            "noise_variance": [finite(each) for each in one] if isinstance(one, np.ndarray) else one,
            "correlated": self.correlated,
            **({} if self.joint is None else {"joint": b64encode(self.joint.to_bytes()).decode()}),
            **({} if isinstance(self.keys, Keys) else {"domain": self.keys.to_dict()}),
        }

    def row_dict(self, position: int, key: str) -> dict[str, Any]:
        """What it says of one key. The name is handed in: whoever writes a million of them has it already."""
        return {
            "key": key,
            "value": finite(self.values[position]),
            "standard_error": finite(self.standard_errors[position]),
            "lower": finite(self.lower[position]),
            "upper": finite(self.upper[position]),
            "measurement": None if self.measurements is None else int(self.measurements[position]),
        }

    @classmethod
    def from_dict(cls, facts: dict[str, Any]) -> Release:
        """The inverse of `to_dict`."""
        rows = facts["keys"]
        start, seconds, noise = facts["start"], facts["length_seconds"], facts["noise_variance"]
        length = None if seconds is None else timedelta(seconds=seconds)
        measured = None if noise is None else np.array([row["measurement"] for row in rows], dtype=np.int64)

        def column(name: str, instead: float) -> NDArray[np.float64]:
            return np.array([instead if row[name] is None else row[name] for row in rows], dtype=np.float64)

        return cls(
            Tick(facts["tick"], None if start is None else datetime.fromisoformat(start), length),
            _domain(facts),
            column("value", math.nan),
            column("standard_error", math.inf),
            column("lower", -math.inf),
            column("upper", math.inf),
            measured,
            _variances(noise) if isinstance(noise, list) else noise,
            Cost.from_dict(facts["cost"]),
            facts["correlated"],
            JointErrors.from_bytes(b64decode(facts["joint"])) if "joint" in facts else None,
        )

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} {self.at(i)}" for i, name in enumerate(self.keys.names[:3]))
        others = f", … ({len(self.keys):,} {self.keys.noun}s)" if len(self.keys) > 3 else ""
        return f"<Release of tick {self.tick}{' (predicted)' if self.is_predicted else ''}: {shown}{others}>"

    def _repr_html_(self) -> str:
        values = [(name, self.at(i)) for i, name in enumerate(self.keys.names[:ROWS])]
        rows = [[name, value, value.interval, value.words] for name, value in values]
        caption = f"tick {self.tick}{f' ({PREDICTED})' if self.is_predicted else ''}"
        return Shown(caption, [self.keys.noun, "value", "interval", ""], rows, self._more()).html

    def __str__(self) -> str:
        shown = self.keys.names[:ROWS]
        width = max(map(len, shown))
        rows = [f"{name:<{width}}  {self.at(i)}" for i, name in enumerate(shown)]
        head = f"tick {self.tick}{' (predicted)' if self.is_predicted else ''}"
        return "\n".join([head, *rows, *self._more()])

    def _more(self) -> list[str]:
        return more(len(self.keys), f"{self.keys.noun}s")


def _variances(noise: list[float | None]) -> NDArray[np.float64]:
    """Of a key of which nothing is known the variance has no end."""
    return np.array([math.inf if one is None else one for one in noise], dtype=np.float64)


def _domain(facts: dict[str, Any]) -> Domain:
    """What the rows of `Release.to_dict` count by."""
    names = [row["key"] for row in facts["keys"]]
    if "domain" not in facts:
        return Keys(names)
    domain = domain_from(facts["domain"])
    if len(names) != len(domain) or any(name != known for name, known in zip(names, domain, strict=True)):
        raise InvalidParameter(
            f"The rows of a release are not those of its domain, {domain!r}.", "Read the whole file."
        )
    return domain
