"""Every method by name, with what it must be told to be made at all."""

from functools import partial

from hubbub.methods import METHODS, make_mechanism

NEEDED = {"ranges": {"window": 64}}
"""Options without a default."""

ONLINE = [name for name, method in METHODS.items() if method.traits.online]
STATISTICAL = ["guarantee_survives_an_audit", "intervals_cover"]
"""Checks of the conformance suite that draw many times."""

PLAIN = [name for name, method in METHODS.items() if method.traits.plain]


def make(name, keys, guarantee, **options):
    """An online mechanism."""
    return make_mechanism(name, keys, guarantee, **{**NEEDED.get(name, {}), **options})


def factory(name):
    """What the conformance suite takes."""
    return partial(METHODS[name], **NEEDED.get(name, {}))
