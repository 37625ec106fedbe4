"""The mechanisms by name: one line each, and every entrance, the checks, the audit and the documents know them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

from hubbub.errors import InvalidParameter
from hubbub.mechanism import Mechanism, OnlineMechanism
from hubbub.noise import ByteSource
from hubbub.privacy import Guarantee
from hubbub.ranges import RangeStream
from hubbub.release import Adaptive, Ba, Bd, Dft, Fast, Lpa, Mkf, Navigation, Pegasus, Sample, Ukf
from hubbub.released import Domain
from hubbub.spatial import Areas, Quadtree, Roads, Temporal

METHODS: Mapping[str, type[Mechanism]] = MappingProxyType(
    {
        method.name: method
        for method in (
            *(Adaptive, Areas, Ba, Bd, Dft, Fast, Lpa, Mkf, Navigation, Pegasus),
            *(Quadtree, RangeStream, Roads, Sample, Temporal, Ukf),
        )
    }
)


def method_named(name: str) -> type[Mechanism]:
    """The mechanism of that name."""
    if name not in METHODS:
        close = difflib.get_close_matches(name, METHODS, n=1)
        meant = f"Did you mean `{close[0]}`? " if close else ""
        raise InvalidParameter(f"There is no method {name!r}.", f"{meant}Known methods: {', '.join(sorted(METHODS))}.")
    return METHODS[name]


def build(
    name: str, keys: Domain, guarantee: Guarantee, *, source: ByteSource | None = None, **options: Any
) -> Mechanism:
    """The mechanism of that name, online or offline; `options` are its own, as it declares them."""
    return method_named(name)(keys, guarantee, source=source, **options)


def make_mechanism(
    name: str, keys: Domain, guarantee: Guarantee, *, source: ByteSource | None = None, **options: Any
) -> OnlineMechanism:
    """`build`, for those who release tick by tick: a mechanism that needs the whole series is refused.

    >>> from hubbub.privacy import Event
    >>> from hubbub.released import Keys
    >>> make_mechanism("lpa", Keys(["front"]), Guarantee.pure(Event(), 1)).name
    'lpa'
    >>> make_mechanism("pegasus", Keys(["front"]), Guarantee.pure(Event(), 1), smother="median")
    Traceback (most recent call last):
    ...
    hubbub.errors.InvalidParameter: The method 'pegasus' has no option 'smother'. Did you mean `smoother`?
    """
    if not method_named(name).traits.online:
        raise InvalidParameter(
            f"`{name}` needs the whole series at once and cannot release tick by tick.",
            "Use `hubbub release`, or `build(…).release_series(…)`; for a live stream use another method.",
        )
    return cast(OnlineMechanism, build(name, keys, guarantee, source=source, **options))
