"""Detectors on released series. They can import released types only."""

from hubbub.detect.alerts import Alert, EarsDetector
from hubbub.detect.change import Change, ChangeDetector
from hubbub.detect.ears import EarsSettings, ears_statistics

__all__ = ["Alert", "Change", "ChangeDetector", "EarsDetector", "EarsSettings", "ears_statistics"]
