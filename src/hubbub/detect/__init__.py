"""Detectors on released series. They can import released types only."""

from hubbub.detect.alerts import Alert, EarsDetector
from hubbub.detect.change import Change, ChangeDetector
from hubbub.detect.ears import EarsSettings, ears_statistics
from hubbub.detect.pooled import Pooled, PooledSettings, pooled_statistics
from hubbub.detect.pooled_alerts import PooledAlert, PooledDetector

__all__ = [
    "Alert",
    "Change",
    "ChangeDetector",
    "EarsDetector",
    "EarsSettings",
    "Pooled",
    "PooledAlert",
    "PooledDetector",
    "PooledSettings",
    "ears_statistics",
    "pooled_statistics",
]
