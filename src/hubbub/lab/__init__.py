"""Simulators, metrics and experiments. The one room that may look at the truth and compare."""

from hubbub.lab.site import SECTIONS, NewsSite, Requests

__all__ = ["SECTIONS", "NewsSite", "Requests"]
