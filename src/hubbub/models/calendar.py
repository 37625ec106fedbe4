"""What the calendar alone says about a series: its public rhythms."""

from __future__ import annotations

from datetime import timedelta

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
_YEAR = timedelta(days=365.2425)


def calendar_periods(length: timedelta | None) -> tuple[float, ...]:
    """The rhythms, in ticks, that people's lives have at this length of a tick: a day, a week, a year.

    >>> calendar_periods(timedelta(days=1))
    (7.0, 365.2425)
    >>> calendar_periods(timedelta(hours=1)), calendar_periods(timedelta(days=30)), calendar_periods(None)
    ((24.0, 168.0), (12.0,), ())
    """
    if length is None or length < timedelta(minutes=10):
        return ()  # a day would be hundreds of ticks: too long to learn from few samples
    if length < 13 * HOUR:
        return tuple(span / length for span in (DAY, 7 * DAY) if span / length >= 2)
    if length < 6 * DAY:
        return tuple(span / length for span in (7 * DAY, _YEAR) if span / length >= 2)
    if timedelta(days=28) <= length <= timedelta(days=31):
        return (12.0,)  # months differ in days, not in number
    if length <= 183 * DAY:
        return (_YEAR / length,)
    return ()
