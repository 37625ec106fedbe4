"""Dates and times of a series, as people write them, put on an even grid of ticks."""

from __future__ import annotations

import math
import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

from hubbub.errors import InvalidInput, InvalidParameter

ORDERS = ("day-first", "month-first")
MOST_TICKS = 10_000_000
_MONTH = timedelta(days=365.2425 / 12)
_WAYS = "Write them all one way: 2026-01-31, 2026-01-31T12:00, 31.01.2026, 01/31/2026, 2026-01 or 2026-W05."
_CLOCK = r"(?:[ T](\d{1,2}):(\d{2})(?::(\d{2}))?(?: ?([AaPp][Mm]))?)?"
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:?\d{2})?)?")
_YEAR_FIRST = re.compile(rf"(\d{{4}})[/.](\d{{1,2}})[/.](\d{{1,2}}){_CLOCK}")
_DOTTED = re.compile(rf"(\d{{1,2}})\.(\d{{1,2}})\.(\d{{4}}){_CLOCK}")
_SLASHED = re.compile(rf"(\d{{1,2}})[/-](\d{{1,2}})[/-](\d{{4}}){_CLOCK}")
_MONTHS = re.compile(r"(\d{4})-(\d{2})")
_WEEKS = re.compile(r"(\d{4})-?W(\d{2})")
_NUMBER = re.compile(r"-?\d+")


@dataclass(frozen=True, slots=True)
class Grid:
    """Which tick each row is, counted from the first row in time; and where ticks lie in time, if they do.

    `months` is the step of ticks that follow the calendar's months, which have no one length.
    """

    places: tuple[int, ...]
    start: datetime | None = None
    length: timedelta | None = None
    months: int = 0

    @property
    def ticks(self) -> int:
        return max(self.places) + 1

    def tick_name(self, tick: int) -> str:
        """Where a tick is to be found in the file: by its time, or counted from 0.

        >>> Grid((0, 1)).tick_name(1), Grid((0, 1), datetime(2026, 1, 1, tzinfo=UTC), timedelta(days=1)).tick_name(1)
        ('tick 1 (the first is 0)', 'tick 1 (2026-01-02)')
        """
        if self.start is None or self.length is None or self.months:
            return f"tick {tick} (the first is 0)"
        when = (self.start + tick * self.length).isoformat()
        return f"tick {tick} ({when.partition('T')[0] if when.endswith('T00:00:00+00:00') else when})"


def looks_like_time(cell: str) -> bool:
    """Whether a cell is a date or time in any of the known ways; a plain number is not.

    >>> looks_like_time("2026-W05"), looks_like_time("3.5"), looks_like_time("31")
    (True, False, False)
    """
    return any(way.fullmatch(cell) for way in (_ISO, _YEAR_FIRST, _DOTTED, _SLASHED, _MONTHS, _WEEKS))


def all_are_days(numbers: Iterable[float]) -> bool:
    """Whether there are numbers, and each is a day of 1900 to 2100 without dashes.

    >>> all_are_days([20260131, 20260201]), all_are_days([20260131, 20260230]), all_are_days([])
    (True, False, False)
    """
    some = False
    for number in numbers:
        some = True
        year, month, day = int(number) // 10_000, int(number) // 100 % 100, int(number) % 100
        if not (1900 <= year <= 2100 and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]):
            return False
    return some


def read_times(cells: Sequence[str], column: str, order: str | None = None) -> list[datetime] | list[int]:
    """The cells of a time column as moments (UTC unless they say otherwise), or as numbers of ticks.

    `order` settles what 03/04/2026 means where no cell of the column does.

    >>> read_times(["30.01.2026", "31.01.2026"], "date")[1].isoformat()
    '2026-01-31T00:00:00+00:00'
    """
    if order is not None and order not in ORDERS:
        raise InvalidParameter(f"`dates` must be {' or '.join(ORDERS)}; got {order!r}.", "02/01/2026 needs it.")
    cells = [cell.strip() for cell in cells]
    if all(_NUMBER.fullmatch(cell) for cell in cells):
        return _numbers([int(cell) for cell in cells], column)
    for way, reader in _READERS:
        if all(way.fullmatch(cell) for cell in cells):
            try:
                return reader(cells, way, column, order)
            except InvalidInput:
                raise
            except ValueError:
                raise InvalidInput(f"The column {column!r} has a date that no calendar has.", _WAYS) from None
    raise InvalidInput(f"The column {column!r} does not hold dates or times that can be read, or mixes them.", _WAYS)


def _numbers(numbers: list[int], column: str) -> list[datetime] | list[int]:
    """Ticks; or, by their size, seconds or milliseconds since 1970, or dates without dashes."""
    if column.lower() == "tick":
        return numbers
    low, high = min(numbers), max(numbers)
    for unit, least, most in ((1, 10**9 // 2, 10**10), (1000, 10**12 // 2, 10**13)):
        if least <= low and high < most:
            return [datetime.fromtimestamp(number / unit, UTC) for number in numbers]
    if low >= 1900_01_01 and high <= 2199_12_31:
        try:
            return [datetime.strptime(str(number), "%Y%m%d").replace(tzinfo=UTC) for number in numbers]
        except ValueError:
            raise InvalidInput(f"The column {column!r} has a date that no calendar has.", _WAYS) from None
    return numbers


def _iso(cells: list[str], way: re.Pattern[str], column: str, order: str | None) -> list[datetime]:  # noqa: ARG001
    moments = [datetime.fromisoformat(cell) for cell in cells]
    if len({moment.tzinfo is None for moment in moments}) > 1:
        raise InvalidInput(f"Some times of the column {column!r} have a time zone, others none.", _WAYS)
    return [m.replace(tzinfo=UTC) if m.tzinfo is None else m.astimezone(UTC) for m in moments]


def _fields(cells: list[str], way: re.Pattern[str]) -> list[tuple[int, int, int, timedelta]]:
    fields = []
    for cell in cells:
        matched = way.fullmatch(cell)
        assert matched is not None
        one, two, three, hour, minute, second, half = matched.groups()
        hours = int(hour or 0)
        if half:
            if not 1 <= hours <= 12:
                raise ValueError
            hours = hours % 12 + (12 if half.lower() == "pm" else 0)
        if hours > 23 or int(minute or 0) > 59 or int(second or 0) > 59:
            raise ValueError
        since = timedelta(hours=hours, minutes=int(minute or 0), seconds=int(second or 0))
        fields.append((int(one), int(two), int(three), since))
    return fields


def _year_first(cells: list[str], way: re.Pattern[str], column: str, order: str | None) -> list[datetime]:  # noqa: ARG001
    return [datetime(y, m, d, tzinfo=UTC) + since for y, m, d, since in _fields(cells, way)]


def _dotted(cells: list[str], way: re.Pattern[str], column: str, order: str | None) -> list[datetime]:  # noqa: ARG001
    return [datetime(y, m, d, tzinfo=UTC) + since for d, m, y, since in _fields(cells, way)]


def _slashed(cells: list[str], way: re.Pattern[str], column: str, order: str | None) -> list[datetime]:
    """Day or month first: told by a number above 12 somewhere in the column, or by the caller, never by a guess."""
    fields = _fields(cells, way)
    told = {"day-first" for one, _, _, _ in fields if one > 12} | {"month-first" for _, two, _, _ in fields if two > 12}
    if len(told) > 1 or (told and order is not None and order not in told):
        raise ValueError
    if not told and order is None and any(one != two for one, two, _, _ in fields):
        raise InvalidInput(
            f"The dates of the column {column!r} can be read in two ways: is 02/01/2026 a day in January or February?",
            "Say `dates` day-first or month-first (--dates), or write 2026-01-02.",
        )
    first_is_day = (order or min(told, default="")) == "day-first"
    return [
        datetime(y, two if first_is_day else one, one if first_is_day else two, tzinfo=UTC) + since
        for one, two, y, since in fields
    ]


def _months(cells: list[str], way: re.Pattern[str], column: str, order: str | None) -> list[datetime]:  # noqa: ARG001
    return [datetime(int(cell[:4]), int(cell[5:]), 1, tzinfo=UTC) for cell in cells]


def _weeks(cells: list[str], way: re.Pattern[str], column: str, order: str | None) -> list[datetime]:  # noqa: ARG001
    days = [date.fromisocalendar(int(cell[:4]), int(cell[-2:]), 1) for cell in cells]
    return [datetime(day.year, day.month, day.day, tzinfo=UTC) for day in days]


_Reader = Callable[[list[str], re.Pattern[str], str, str | None], list[datetime]]
_READERS: tuple[tuple[re.Pattern[str], _Reader], ...] = (
    (_ISO, _iso),
    (_YEAR_FIRST, _year_first),
    (_DOTTED, _dotted),
    (_SLASHED, _slashed),
    (_MONTHS, _months),
    (_WEEKS, _weeks),
)


def on_a_grid(times: Sequence[datetime] | Sequence[int], column: str) -> Grid:
    """Each row's tick. The step is the smallest distance between two rows; every other must be a multiple of it.

    >>> on_a_grid([datetime(2026, month, 1, tzinfo=UTC) for month in (1, 2, 5)], "month").places
    (0, 1, 4)
    """
    ordered = sorted(times)
    if any(one == two for one, two in pairwise(ordered)):
        raise InvalidInput(
            f"The column {column!r} has a time twice.",
            "Give one row per tick: add rows up first. An hour that a change of clocks repeats needs a time zone.",
        )
    if isinstance(ordered[0], int):
        grid = Grid(tuple(int(at) - ordered[0] for at in times))  # type: ignore[arg-type]
    elif len(ordered) == 1:
        return Grid((0,))
    else:
        moments: list[datetime] = list(times)  # type: ignore[arg-type]
        grid = _by_months(moments) or _by_clock(moments, column)
    if grid.ticks > MOST_TICKS:
        raise InvalidInput(f"The column {column!r} spans more than ten million ticks.", "Number ticks from 0 on.")
    return grid


def _by_months(times: list[datetime]) -> Grid | None:
    """Ticks of whole months: all rows on the same day of the month, or all on its last."""
    ends = all(t.day == monthrange(t.year, t.month)[1] for t in times)
    same = {(t.day if not ends else 31, t.time()) for t in times}
    numbers = [12 * t.year + t.month for t in times]
    first = min(numbers)
    step = math.gcd(*(number - first for number in numbers))
    if len(same) > 1 or len(set(numbers)) < len(numbers):
        return None
    places = tuple((number - first) // step for number in numbers)
    return Grid(places, datetime((first - 1) // 12, (first - 1) % 12 + 1, 1, tzinfo=UTC), step * _MONTH, step)


def _by_clock(times: list[datetime], column: str) -> Grid:
    first = min(times)
    seconds = sorted((t - first).total_seconds() for t in times)
    step = min(b - a for a, b in pairwise(seconds))
    places = []
    for moment in times:
        place = (moment - first).total_seconds() / step
        if abs(place - round(place)) > 1e-6:
            raise InvalidInput(
                f"The times of the column {column!r} are not evenly spaced.",
                "A series has ticks of one length (or whole months): count again on such a grid.",
            )
        places.append(round(place))
    return Grid(tuple(places), first, timedelta(seconds=step))
