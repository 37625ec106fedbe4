"""Kalman filters: pure functions from a belief and a measurement to a belief. No privacy inside."""

from hubbub.filters.dense import DenseState
from hubbub.filters.diagonal import Links
from hubbub.filters.observation import Observation, observe_gaussian, observe_laplace
from hubbub.filters.scalar import ScalarState

__all__ = ["DenseState", "Links", "Observation", "ScalarState", "observe_gaussian", "observe_laplace"]
