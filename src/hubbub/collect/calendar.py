"""Clock time cut into ticks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.released import Tick

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(moment: datetime | timedelta) -> int:
    """Exactly: a float of seconds would lose the last digits.

    >>> microseconds(timedelta(seconds=2))
    2000000
    """
    return (moment - EPOCH if isinstance(moment, datetime) else moment) // _MICROSECOND


def aware(moment: datetime, name: str) -> datetime:
    """`moment` in UTC; one without a time zone is refused."""
    if moment.tzinfo is None:
        raise InvalidParameter(
            f"`{name}` must say its time zone; got {moment}.", "Use datetime(…, tzinfo=datetime.UTC)."
        )
    return moment.astimezone(UTC)


@dataclass(frozen=True, slots=True)
class Calendar:
    """Tick 0 begins at `start`; every tick is `length` long. Times are whole microseconds since 1970.

    >>> calendar = Calendar(EPOCH, timedelta(minutes=1))
    >>> calendar.index(microseconds(timedelta(seconds=119))), print(calendar.tick(1))
    1 (1970-01-01T00:01:00+00:00, 60 s)
    (1, None)
    """

    start: datetime
    length: timedelta

    def __post_init__(self) -> None:
        if self.length <= timedelta(0):
            raise InvalidParameter(f"A tick must last longer than nothing; got {self.length}.")
        aware(self.start, "start")

    @classmethod
    def around(cls, moment: datetime, length: timedelta) -> Calendar:
        """Ticks on round times: those of an hour begin at full hours. Tick 0 is the one that holds `moment`."""
        cls(moment, length)
        return cls(EPOCH + (moment - EPOCH) // length * length, length)

    def index(self, time: int) -> int:
        return (time - microseconds(self.start)) // microseconds(self.length)

    def indices(self, times: NDArray[np.int64]) -> NDArray[np.int64]:
        return (times - microseconds(self.start)) // microseconds(self.length)

    def begins(self, index: int) -> int:
        """When tick `index` begins; it ends where the next begins."""
        return microseconds(self.start) + index * microseconds(self.length)

    def tick(self, index: int) -> Tick:
        return Tick(index, self.start + index * self.length, self.length)
