"""How a value that carries more than its number still counts, compares and formats like one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Real
from typing import SupportsIndex


class Number(ABC):
    """Arithmetic and comparing by the number alone; the result is a plain float, which has no error.

    An error is not carried over: a value does not know how its error hangs together with that of another.
    """

    __slots__ = ()
    __array_ufunc__ = None  # so that NumPy's numbers leave the work to the methods below

    @abstractmethod
    def __float__(self) -> float: ...

    def __int__(self) -> int:
        return int(float(self))

    def __bool__(self) -> bool:
        return bool(float(self))

    def __round__(self, digits: SupportsIndex | None = None) -> float:
        return round(float(self)) if digits is None else round(float(self), digits)

    def __abs__(self) -> float:
        return abs(float(self))

    def __neg__(self) -> float:
        return -float(self)

    def __add__(self, other: object) -> float:
        return float(self) + float(other) if isinstance(other, _NUMBERS) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: object) -> float:
        return float(self) - float(other) if isinstance(other, _NUMBERS) else NotImplemented

    def __rsub__(self, other: object) -> float:
        return float(other) - float(self) if isinstance(other, _NUMBERS) else NotImplemented

    def __mul__(self, other: object) -> float:
        return float(self) * float(other) if isinstance(other, _NUMBERS) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> float:
        return float(self) / float(other) if isinstance(other, _NUMBERS) else NotImplemented

    def __rtruediv__(self, other: object) -> float:
        return float(other) / float(self) if isinstance(other, _NUMBERS) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return float(self) < float(other) if isinstance(other, _NUMBERS) else NotImplemented

    def __le__(self, other: object) -> bool:
        return float(self) <= float(other) if isinstance(other, _NUMBERS) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return float(self) > float(other) if isinstance(other, _NUMBERS) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return float(self) >= float(other) if isinstance(other, _NUMBERS) else NotImplemented


_NUMBERS = (Number, Real)
