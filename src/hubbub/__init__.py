"""Live statistics about people, with a privacy guarantee that can be proved."""

from hubbub.monitor import Monitor
from hubbub.privacy import Event, Guarantee, Session, User, Window
from hubbub.released import Release
from hubbub.version import __version__

__all__ = ["Event", "Guarantee", "Monitor", "Release", "Session", "User", "Window", "__version__"]
