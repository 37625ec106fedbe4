"""What holds confidential values stays in memory."""

from __future__ import annotations

from typing import NoReturn

from hubbub.errors import ConfidentialLeak


class Sealed:
    """A base for whatever holds counts or events that were not released: it is not copied, pickled or taken apart.

    >>> class Held(Sealed):
    ...     pass
    >>> import copy
    >>> copy.copy(Held())
    Traceback (most recent call last):
    ...
    hubbub.errors.ConfidentialLeak: A confidential value was about to be pickled or copied. Release it first: ...
    """

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__getstate__ = Sealed.__getstate__  # type: ignore[method-assign]  # or a dataclass brings its own

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise leak("pickled or copied")

    def __reduce__(self) -> NoReturn:
        raise leak("pickled or copied")

    def __getstate__(self) -> NoReturn:
        raise leak("pickled or copied")


def leak(done: str) -> ConfidentialLeak:
    return ConfidentialLeak(
        f"A confidential value was about to be {done}.",
        "Release it first: a monitor's release is public and can be printed, stored and compared.",
    )
