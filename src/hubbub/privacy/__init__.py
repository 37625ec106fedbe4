"""What is protected, how strongly, and what has been spent."""

from hubbub.privacy.account import Account
from hubbub.privacy.grant import Grant, Part
from hubbub.privacy.guarantee import Guarantee
from hubbub.privacy.total import steps, together
from hubbub.privacy.unit import Event, Session, Unit, User, Window

__all__ = ["Account", "Event", "Grant", "Guarantee", "Part", "Session", "Unit", "User", "Window", "steps", "together"]
