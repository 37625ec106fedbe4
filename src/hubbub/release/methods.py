"""The mechanisms by name: one line each, and the command line, the checks, the audit and the monitor know them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from hubbub.errors import InvalidParameter
from hubbub.privacy import Guarantee
from hubbub.release.adaptive import Adaptive
from hubbub.release.ba import Ba
from hubbub.release.bd import Bd
from hubbub.release.fast import Fast
from hubbub.release.lpa import Lpa
from hubbub.release.mkf import Mkf
from hubbub.release.navigation import Navigation
from hubbub.release.releaser import Releaser
from hubbub.release.sample import Sample
from hubbub.release.ukf import Ukf
from hubbub.released import Keys

METHODS: Mapping[str, type[Releaser]] = MappingProxyType(
    {method.name: method for method in (Adaptive, Ba, Bd, Fast, Lpa, Mkf, Navigation, Sample, Ukf)}
)


def usual_method(guarantee: Guarantee) -> str:
    """The method to take if nobody says otherwise, from the unit alone.

    A person's budget has to last for a horizon: there looks must be few, and `adaptive` plans them. Events, sessions
    and windows are measured at every tick; there `navigation` learns how visitors move between keys.

    >>> from hubbub.privacy import Session, User
    >>> usual_method(Guarantee.pure(User(horizon=52), 1)), usual_method(Guarantee.pure(Session(max_ticks=20), 1))
    ('adaptive', 'navigation')
    """
    return "navigation" if guarantee.unit.horizon is None else "adaptive"


def make_releaser(name: str, keys: Keys, guarantee: Guarantee, **settings: Any) -> Releaser:
    """The mechanism of that name; `settings` are its own (a model, a byte source for simulations).

    >>> from hubbub.privacy import Event
    >>> make_releaser("lpa", Keys(["front"]), Guarantee.pure(Event(), 1)).name
    'lpa'
    """
    if name not in METHODS:
        raise InvalidParameter(f"There is no method {name!r}.", f"Known methods: {', '.join(sorted(METHODS))}.")
    return METHODS[name](keys, guarantee, **settings)
