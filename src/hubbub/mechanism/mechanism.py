"""The base of all that spends budget."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, ClassVar

from hubbub.errors import InvalidParameter, UnknownKey
from hubbub.mechanism.option import Option, options_of, resolved
from hubbub.mechanism.traits import Traits
from hubbub.noise import ByteSource
from hubbub.privacy import Account, Guarantee
from hubbub.released import Domain, Release


class Mechanism(ABC):
    """Keys, a promise, an account of what was spent, and options: what all mechanisms have.

    `OnlineMechanism` releases tick by tick, `OfflineMechanism` a whole series at once. Both join two halves, and
    nothing else does: the *measuring* half sees counts, is charged before, and draws; the *estimating* half sees what
    was measured, which may be published. A mechanism declares its `traits` and its options (`Option`), so that nobody
    has to look at its class to find out what it is like.
    """

    name: ClassVar[str]
    traits: ClassVar[Traits]

    def __init__(self, keys: Domain, guarantee: Guarantee, *, source: ByteSource | None = None, **options: Any) -> None:
        _expect_reach(keys, guarantee)
        self.keys = keys
        self.guarantee = guarantee
        self.source = source
        self._options = resolved(type(self), options)
        self.traits.expect(self.name, guarantee)
        self._account = Account(guarantee)
        self._next = 0

    def __init_subclass__(cls, **given: Any) -> None:
        """What joins the two halves is written once: a subclass that replaces it is refused where it is defined."""
        super().__init_subclass__(**given)
        for name in vars(cls):
            if any(getattr(vars(base).get(name), "__final__", False) for base in cls.__mro__[1:]):
                raise TypeError(
                    f"{cls.__name__} must not override `{name}`: charging, drawing and estimating are joined in one "
                    "place. Say how to measure (`_measure`) and how to estimate (`_estimate`)."
                )

    @abstractmethod
    def release_series(self, series: Iterable[Any]) -> list[Release]:
        """Every tick's release of a series without gaps."""

    @property
    def options(self) -> Mapping[str, Any]:
        """Every option in its canonical form, defaults filled in, as plain JSON values: part of a stream's promise."""
        declared = options_of(type(self))
        return {name: declared[name].plain(value) for name, value in self._options.items()}

    def chosen(self, name: str) -> Any:
        """The value of one option, as the mechanism uses it."""
        return self._options[name]

    @property
    def next_tick(self) -> int:
        return self._next

    @property
    def spent(self) -> Fraction:
        """The most that any one unit has been charged so far."""
        return self._account.spent

    @property
    def slipped(self) -> Fraction:
        """The most delta that any one unit has been charged so far for what may have slipped."""
        return self._account.slipped

    def _decide(self, option: Option[Any], value: Any) -> None:
        """Fill in an option whose default follows from the promise."""
        self._options[option.name] = value

    def _identity(self) -> dict[str, Any]:
        """What a snapshot must agree on: the keys (as a digest, there may be millions) and the guarantee."""
        return {"keys": self.keys.digest, "guarantee": self.guarantee.to_dict()}

    def _check_keys(self, keys: Domain) -> None:
        if keys is not self.keys and keys != self.keys:
            raise UnknownKey(
                f"The counts have other keys than the stream: {keys!r} instead of {self.keys!r}.",
                "Count by the keys of the stream: they change by a released decision alone.",
            )


def _expect_reach(keys: Domain, guarantee: Guarantee) -> None:
    """Noise is made for `max_items` keys per tick: where one thing counts in more of them, it would be too little."""
    unit = guarantee.unit
    if keys.reach > unit.max_items:
        raise InvalidParameter(
            f"In {keys!r} one and the same thing counts in up to {keys.reach} keys at once, and the promise is made "
            f"for {unit.one} that counts in {unit.max_items} per tick: its noise would be too small.",
            f"Promise sessions or people with max_items={keys.reach}. Or let each thing count in one node alone: "
            "Hierarchy(…, nested=False), and add up what was released with `totals`.",
        )
