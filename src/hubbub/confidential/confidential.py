"""A box that does not open by accident."""

from __future__ import annotations

from typing import Generic, NoReturn, TypeVar

from hubbub.confidential.sealed import Sealed, leak

T = TypeVar("T")


class Confidential(Sealed, Generic[T]):
    """A value about people that has not been through a mechanism.

    It prints as `<confidential>`, cannot be compared, iterated, copied to disk or turned into JSON, and opens only by
    `reveal()`, a name that stands nowhere else in the code so that a test can list the rooms that use it.

    >>> secret = Confidential([812, 240])
    >>> print(secret)
    <confidential>
    >>> f"{secret:>20}"
    '      <confidential>'
    >>> import pickle
    >>> pickle.dumps(secret)
    Traceback (most recent call last):
    ...
    hubbub.errors.ConfidentialLeak: A confidential value was about to be pickled or copied. Release it first: ...
    """

    __slots__ = ("__value",)

    def __init__(self, value: T) -> None:
        self.__value = value

    def reveal(self) -> T:
        """Open the box. Only rooms that add noise, and the lab, may call this."""
        return self.__value

    def __repr__(self) -> str:
        return "<confidential>"

    def __format__(self, spec: str) -> str:
        return format("<confidential>", spec)

    # Every implicit way out is shut by name: comparing leaks a bit at a time, and hashing and truth leak in branches.
    def __array__(self, *args: object, **kwargs: object) -> NoReturn:
        raise leak("turned into an array")

    def __iter__(self) -> NoReturn:
        raise leak("iterated")

    def __bool__(self) -> NoReturn:
        raise leak("used as a truth value")

    def __eq__(self, other: object) -> NoReturn:
        raise leak("compared")

    def __len__(self) -> NoReturn:
        raise leak("measured")

    __hash__ = None  # type: ignore[assignment]
