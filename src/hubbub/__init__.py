"""Live statistics about people, with a privacy guarantee that can be proved."""

from hubbub.monitor import Monitor
from hubbub.privacy import Event, Guarantee, Session, User, Window
from hubbub.released import Release

__version__ = "0.1.0"

__all__ = ["Event", "Guarantee", "Monitor", "Release", "Session", "User", "Window", "__version__"]
