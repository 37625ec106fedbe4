"""What a source hands over: some events, and where to read on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from hubbub.collect.layout import PATHS, Layout
from hubbub.confidential import Sealed
from hubbub.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Batch(Sealed):
    """Events in the order in which they came. The columns:

    | column | type | meaning |
    |---|---|---|
    | `time` | Datetime("us", "UTC") | when it happened |
    | `person` | String | who: a session id, a user id, a host |
    | `path` | String | what: a path, or a key's own name |
    | `x`, `y` | Float64 | in place of a path, where positions on a map are counted: longitude and latitude, or metres |
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
        layout: Layout = PATHS,
        positions: Mapping[str, str] | None = None,
        reached: bool = False,
        lost: bool = False,
        malformed: int = 0,
        oversized: int = 0,
    ) -> Batch:
        """Bring `events` into the types above; rows without one of the layout's needed columns become malformed."""
        frame = events if isinstance(events, pl.DataFrame) else _frame(events, layout)
        for name in layout.needed:
            if name not in frame.columns:
                raise InvalidInput(
                    f"The events have no column `{name}`.",
                    f"Needed are {', '.join(layout.needed)}; rename what the source has.",
                )
        if not isinstance(frame.schema["time"], pl.Datetime) or frame.schema["time"].time_zone is None:
            raise InvalidInput(
                f"The column `time` must be a time with a time zone; got {frame.schema['time']}.",
                "Parse it first, and say its zone: without one an hour of each year would be counted twice.",
            )
        wanted = {name: kind for name, kind in layout.types.items() if name in frame.columns}
        frame = frame.select(pl.col(name).cast(kind, strict=False) for name, kind in wanted.items())
        whole = layout.whole(frame)
        return cls(whole, positions or {}, reached, lost, malformed + frame.height - whole.height, oversized)

    def __repr__(self) -> str:
        return "Batch(<confidential>)"


def _frame(rows: list[dict[str, object]], layout: Layout) -> pl.DataFrame:
    present = [name for name in layout.types if name in layout.needed or any(name in row for row in rows)]
    return pl.DataFrame(rows, schema={name: layout.types[name] for name in present})
