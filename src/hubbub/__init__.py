"""Live statistics about people, with a privacy guarantee that can be proved."""

from hubbub.privacy import Event, Guarantee, Session, User, Window
from hubbub.released import Release

__version__ = "0.1.0"

__all__ = ["Event", "Guarantee", "Release", "Session", "User", "Window", "__version__"]
