"""How counts move from tick to tick, and how that is learned from public data."""

from hubbub.models.navigation import NavigationModel
from hubbub.models.sessions import Sessions

__all__ = ["NavigationModel", "Sessions"]
