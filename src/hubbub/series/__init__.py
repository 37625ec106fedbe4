"""Whole series: counts from files and tables with their dates and gaps, released values to files and back, alarms."""

from hubbub.series.count_series import CountSeries
from hubbub.series.detection import Alerts, detect
from hubbub.series.reading import read_series
from hubbub.series.released_files import read_released, write_released
from hubbub.series.released_series import ReleasedSeries
from hubbub.series.releasing import release_series

__all__ = [
    "Alerts",
    "CountSeries",
    "ReleasedSeries",
    "detect",
    "read_released",
    "read_series",
    "release_series",
    "write_released",
]
