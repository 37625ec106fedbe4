"""What is protected, how strongly, and what has been spent."""

from hubbub.privacy.account import Account
from hubbub.privacy.guarantee import Guarantee
from hubbub.privacy.joint import divide, together
from hubbub.privacy.unit import Event, Session, Unit, User, Window

__all__ = ["Account", "Event", "Guarantee", "Session", "Unit", "User", "Window", "divide", "together"]
