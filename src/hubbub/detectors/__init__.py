"""Detectors on released series. They can import released types only."""

from hubbub.detectors.alerts import Alert, EarsDetector
from hubbub.detectors.change import Change, ChangeDetector
from hubbub.detectors.ears import EarsSettings, ears_statistics
from hubbub.detectors.pooled import Pooled, PooledSettings, pooled_statistics
from hubbub.detectors.pooled_alerts import PooledAlert, PooledDetector

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
