"""Detectors on released series. They can import released types only."""

from hubbub.detect.change import Change, ChangeDetector

__all__ = ["Change", "ChangeDetector"]
