"""What can be set about a mechanism, declared once: for its constructor, all entrances, documents and the store."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, overload

from hubbub.errors import InvalidParameter
from hubbub.mechanism.kinds import Kind

if TYPE_CHECKING:
    from hubbub.mechanism.mechanism import Mechanism

T = TypeVar("T")


class _Required:
    def __repr__(self) -> str:
        return "required"


REQUIRED: Final = _Required()
"""The default of an option that has none."""


class Option(Generic[T]):
    """One option of a mechanism, as an attribute of its class; on a mechanism it reads as the value that was chosen.

    >>> from hubbub.mechanism.kinds import Whole
    >>> class Looks:
    ...     samples: Option[int] = Option(Whole(), 10, "How many.")
    ...     def __init__(self): self._options = {"samples": 50}
    >>> Looks.samples.name, Looks.samples.default, Looks().samples
    ('samples', 10, 50)
    """

    def __init__(self, kind: Kind, default: T | _Required, help: str, *, name: str = "") -> None:
        self.kind = kind
        self.default = default
        self.help = help
        self.name = name

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.name = self.name or name

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> Option[T]: ...

    @overload
    def __get__(self, instance: Any, owner: type[Any]) -> T: ...

    def __get__(self, instance: Any, owner: type[Any]) -> Option[T] | T:
        if instance is None:
            return self
        value: T = instance._options[self.name]
        return value

    @property
    def is_required(self) -> bool:
        return self.default is REQUIRED

    def accept(self, value: Any) -> Any:
        """The value, if it may be given; None where that is the default, which then follows from the promise."""
        return None if value is None and self.default is None else self.kind.accept(value, self.name)

    def read(self, given: Any) -> Any:
        """The value that a text, or a value of TOML or JSON, stands for."""
        return None if given is None and self.default is None else self.kind.read(given, self.name)

    def plain(self, value: Any) -> Any:
        return None if value is None else self.kind.plain(value)


@cache
def options_of(mechanism: type[Mechanism]) -> Mapping[str, Option[Any]]:
    """The options that a mechanism declares, by name."""
    options = {}
    for base in reversed(mechanism.__mro__):
        options.update({one.name: one for one in vars(base).values() if isinstance(one, Option)})
    return options


def resolved(mechanism: type[Mechanism], given: Mapping[str, Any]) -> dict[str, Any]:
    """All options with their values: those given, checked, and the defaults of the others."""
    declared = options_of(mechanism)
    for name in given:
        if name not in declared:
            raise unknown(mechanism, name)
    for name, option in declared.items():
        if option.is_required and name not in given:
            raise InvalidParameter(f"`{mechanism.name}` needs the option `{name}`: {option.help}", "Give it a value.")
    return {name: one.accept(given[name]) if name in given else one.default for name, one in declared.items()}


def read_options(mechanism: type[Mechanism], given: Mapping[str, Any] | Iterable[str]) -> dict[str, Any]:
    """Options as a constructor takes them, from "name=value" texts or from plain values by name."""
    declared = options_of(mechanism)
    options = {}
    for name, value in given.items() if isinstance(given, Mapping) else map(split, given):
        if name not in declared:
            raise unknown(mechanism, name)
        options[name] = declared[name].read(value)
    return options


def split(text: str) -> tuple[str, str]:
    """The name and the value of "name=value".

    >>> split("samples=50")
    ('samples', '50')
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise InvalidParameter(f"An option is written name=value; got {text!r}.", "For example: samples=50.")
    return name.strip(), value.strip()


def unknown(mechanism: type[Mechanism], name: str) -> InvalidParameter:
    """The refusal of an option that the mechanism does not have."""
    known = sorted(options_of(mechanism))
    close = difflib.get_close_matches(name, known, n=1)
    listed = f"It has: {', '.join(known)}." if known else "It has none."
    hint = f"Did you mean `{close[0]}`?" if close else listed
    return InvalidParameter(f"The method {mechanism.name!r} has no option {name!r}.", hint)
