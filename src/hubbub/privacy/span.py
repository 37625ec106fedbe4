"""Lengths of time in words."""

from datetime import timedelta


def span(length: timedelta) -> str:
    """A length of time in its largest whole part.

    >>> span(timedelta(minutes=30)), span(timedelta(hours=1)), span(timedelta(seconds=1.5))
    ('30 minutes', '1 hour', '1.5 seconds')
    """
    for name, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if length % timedelta(seconds=size) == timedelta(0):
            many = length // timedelta(seconds=size)
            return f"{many:,} {name}{'' if many == 1 else 's'}"
    seconds = length.total_seconds()
    return f"{seconds:,g} second{'' if seconds == 1 else 's'}"
