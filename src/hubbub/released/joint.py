"""How the errors of a release go together, in few bytes: what the variance of any set of its keys follows from."""

from __future__ import annotations

import importlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import SchemaMismatch
from hubbub.released.domain import Domain

Array = NDArray[np.float64]

_KINDS: dict[str, type[JointErrors]] = {}
_ELSEWHERE = dict.fromkeys(("areas", "roads"), "hubbub.spatial")
"""Kinds of rooms above this one, loaded by name when a release has one: whoever reads it need not know them."""
_FLOATS = ("<f2", "<f4", "<f8")
_MOST_HALF = 60_000.0


class Causes(NamedTuple):
    """Of a set of keys: their sum, and what it may be wrong by, taken apart into causes that are independent.

    | symbol | here | meaning, for each cause |
    |---|---|---|
    | l | `loads` | by how much the sum moves if this is off by one |
    | v | `variances` | how far it may be off |
    | k | `kept` | which part of it was so in the tick before; the rest was measured away |

    The same keys have the same causes in the same order in every tick of a stream, so that ticks can be added up.
    """

    value: float
    loads: Array
    variances: Array
    kept: Array

    @property
    def variance(self) -> float:
        return float((self.loads**2 * self.variances).sum())


class JointErrors(ABC):
    """What is released beside the errors of single keys where errors of different keys have common causes.

    It is made of released values alone and says nothing of anybody. `arrays` is all it keeps; how they are read is the
    matter of its `kind`. Most streams have none.
    """

    kind: ClassVar[str]

    def __init_subclass__(cls) -> None:
        _KINDS[cls.kind] = cls

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.arrays = dict(arrays)
        for array in self.arrays.values():
            array.setflags(write=False)

    @abstractmethod
    def causes(self, keys: Domain, values: Array, cells: NDArray[np.int64]) -> Causes:
        """Of these keys (positions in the domain, each once) of a release with these `values`."""

    def to_bytes(self) -> bytes:
        """A line that says what follows, and the arrays one after the other."""
        small = {name: array.astype(array.dtype.newbyteorder("<")) for name, array in self.arrays.items()}
        head = [self.kind, *([name, array.dtype.str, len(array)] for name, array in small.items())]
        return b"\n".join([json.dumps(head).encode(), b"".join(array.tobytes() for array in small.values())])

    @staticmethod
    def from_bytes(data: bytes) -> JointErrors:
        """The inverse of `to_bytes`. Bytes of a kind that this version does not know are refused."""
        try:
            head, _, body = data.partition(b"\n")
            kind, *layout = json.loads(head)
            if kind not in _KINDS and kind in _ELSEWHERE:
                importlib.import_module(_ELSEWHERE[kind])
            made, at, arrays = _KINDS[kind], 0, {}
            for name, dtype, size in layout:
                if dtype not in _FLOATS or type(size) is not int:
                    raise ValueError
                arrays[str(name)] = np.frombuffer(body, dtype, size, at)
                at += size * np.dtype(dtype).itemsize
            if at != len(body):
                raise ValueError
        except (ValueError, TypeError, LookupError):
            raise unreadable() from None
        return made(arrays)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {sum(array.nbytes for array in self.arrays.values()):,} bytes>"


def few_bytes(errors: NDArray[Any]) -> NDArray[Any]:
    """Standard errors or shares in two bytes each, where they fit: nobody needs more than three digits of an error."""
    fits = errors.size == 0 or float(np.max(errors)) < _MOST_HALF
    return errors.astype(np.float16 if fits else np.float32)


def unreadable() -> SchemaMismatch:
    return SchemaMismatch(
        "What a release says of errors that go together cannot be read: it is damaged, or a newer Hubbub wrote it.",
        "Run `hubbub ledger verify`, and restore the store from a backup if a release was damaged.",
    )
