"""What a source hands over: some events, and where to read on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from hubbub.confidential import Sealed
from hubbub.errors import InvalidInput

TIME = pl.Datetime("us", "UTC")
"""The one type of every event's time."""

_OPTIONAL = {"agent": pl.String, "method": pl.String, "status": pl.Int32}


@dataclass(frozen=True, slots=True)
class Batch(Sealed):
    """Events in the order in which they came. The columns:

    | column | type | meaning |
    |---|---|---|
    | `time` | Datetime("us", "UTC") | when it happened |
    | `person` | String | who: a session id, a user id, a host |
    | `path` | String | what: a path, or a key's own name |
    | `agent`, `method`, `status` | String, String, Int32 | optional, for filters; `agent` also to tell clients apart |

    A column that is absent means the same as one that is empty in every row: what a row says never depends on the rows
    beside it.

    `positions` says, for each partition of the source, where to read on after this batch. `reached` says that nothing
    is left in front of the frontier that was read up to. `lost` says that records in front of this batch are gone
    unread: the ticks they may have belonged to cannot be measured. `malformed` and `oversized` count lines that could
    not be read.

    >>> print(Batch.of([], reached=True))
    Batch(<confidential>)
    """

    events: pl.DataFrame
    positions: Mapping[str, str] = field(default_factory=dict)
    reached: bool = False
    lost: bool = False
    malformed: int = 0
    oversized: int = 0

    @classmethod
    def of(
        cls,
        events: pl.DataFrame | list[dict[str, object]],
        *,
        positions: Mapping[str, str] | None = None,
        reached: bool = False,
        lost: bool = False,
        malformed: int = 0,
        oversized: int = 0,
    ) -> Batch:
        """Bring `events` into the types above; rows without a time, a person or a path become malformed."""
        frame = events if isinstance(events, pl.DataFrame) else _frame(events)
        for name in ("time", "person", "path"):
            if name not in frame.columns:
                raise InvalidInput(
                    f"The events have no column `{name}`.",
                    "Needed are time, person and path; rename what the source has.",
                )
        if not isinstance(frame.schema["time"], pl.Datetime) or frame.schema["time"].time_zone is None:
            raise InvalidInput(
                f"The column `time` must be a time with a time zone; got {frame.schema['time']}.",
                "Parse it first, and say its zone: without one an hour of each year would be counted twice.",
            )
        wanted: dict[str, pl.DataType | type[pl.DataType]] = {"time": TIME, "person": pl.String, "path": pl.String}
        wanted |= {name: kind for name, kind in _OPTIONAL.items() if name in frame.columns}
        frame = frame.select(pl.col(name).cast(kind, strict=False) for name, kind in wanted.items())
        whole = frame.drop_nulls(["time", "person", "path"])
        return cls(whole, positions or {}, reached, lost, malformed + frame.height - whole.height, oversized)

    def __repr__(self) -> str:
        return "Batch(<confidential>)"


def _frame(rows: list[dict[str, object]]) -> pl.DataFrame:
    names = {"time": TIME, "person": pl.String, "path": pl.String}
    present = {name: kind for name, kind in _OPTIONAL.items() if any(name in row for row in rows)}
    return pl.DataFrame(rows, schema=names | present)  # type: ignore[arg-type]
