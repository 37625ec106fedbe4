"""What is protected, how strongly, and what has been spent."""

from hubbub.privacy.account import Account
from hubbub.privacy.belief import BeliefBound
from hubbub.privacy.grant import Grant, Part
from hubbub.privacy.guarantee import Guarantee
from hubbub.privacy.total import steps, together
from hubbub.privacy.unit import Event, Session, Trip, Unit, User, Window

__all__ = [
    "Account",
    "BeliefBound",
    "Event",
    "Grant",
    "Guarantee",
    "Part",
    "Session",
    "Trip",
    "Unit",
    "User",
    "Window",
    "steps",
    "together",
]
