"""Vectors as few bytes, without losing a bit."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import SchemaMismatch
from hubbub.released import Cost, Domain, JointErrors, Release, Tick
from hubbub.released.few_bits import MANY

_INTEGERS = ("<i1", "<i2", "<i4", "<i8")
_CODES = {"<f8": b"f", "<f4": b"h", "<i1": b"1", "<i2": b"2", "<i4": b"4", "<i8": b"8"}
_TYPES = {code: dtype for dtype, code in _CODES.items()}
_ALL_THE_SAME, _EACH, _DEFLATED = b"=", b":", b"z"
_QUICKLY = 1


def pack(vector: NDArray[Any]) -> bytes:
    """One byte for the type, one saying whether all entries are the same, then the entries (or the one).

    Whole numbers, also those that came as floats, take the smallest integer type that holds them. Of many entries the
    bytes are sorted by their place in the number and deflated, if that makes them fewer.

    >>> len(pack(np.full(1000, 28.3))), len(pack(np.array([812.0, 240.0, 97.0])))
    (10, 8)
    """
    vector = np.ascontiguousarray(vector, dtype=np.float64 if vector.dtype.kind == "f" else np.int64)
    if len(vector) and (vector.view(np.int64) == vector.view(np.int64)[0]).all():
        return _ALL_THE_SAME + _packed(vector[:1])
    packed = _EACH + _packed(vector)
    if len(vector) <= MANY:
        return packed
    width = (len(packed) - 2) // len(vector)
    sorted_by_place = np.frombuffer(packed, np.uint8, offset=2).reshape(-1, width).T.tobytes()
    deflated = _DEFLATED + packed[1:2] + zlib.compress(sorted_by_place, _QUICKLY)
    return min(deflated, packed, key=len)


def _packed(vector: NDArray[Any]) -> bytes:
    if vector.dtype == np.float64:
        with np.errstate(invalid="ignore"):
            whole = vector.astype(np.int64)
        # Bit for bit: minus zero, infinities and what is beyond 2^53 stay floats.
        if not _same(whole, vector):
            with np.errstate(over="ignore"):
                half = vector.astype("<f4")
            kind = "<f4" if len(vector) > MANY and _same(half, vector) else "<f8"
            return _CODES[kind] + vector.astype(kind).tobytes()
        vector = whole
    low, high = int(vector.min(initial=0)), int(vector.max(initial=0))
    for dtype in _INTEGERS:
        limits = np.iinfo(dtype)
        if limits.min <= low and high <= limits.max:
            break
    return _CODES[dtype] + vector.astype(dtype).tobytes()


def _same(short: NDArray[Any], vector: NDArray[np.float64]) -> bool:
    return bool((short.astype(np.float64).view(np.int64) == vector.view(np.int64)).all())


def unpack(data: bytes, length: int, dtype: type[np.float64] | type[np.int64]) -> NDArray[Any]:
    """The vector that `pack` was given."""
    kind = _TYPES.get(data[1:2])
    if kind is None or data[:1] not in (_ALL_THE_SAME, _EACH, _DEFLATED):
        raise _unreadable()
    if data[:1] == _DEFLATED:
        data = _inflated(data, length, np.dtype(kind).itemsize)
    try:
        vector = np.frombuffer(data, dtype=kind, offset=2).astype(dtype)
    except ValueError:
        raise _unreadable() from None
    same = data[:1] == _ALL_THE_SAME
    if len(vector) != (1 if same else length):
        raise _unreadable()
    return np.full(length, vector[0]) if same else vector


def _inflated(data: bytes, length: int, width: int) -> bytes:
    size = length * width
    try:
        found = zlib.decompressobj().decompress(data[2:], size + 1)
    except zlib.error:
        raise _unreadable() from None
    if len(found) != size:
        raise _unreadable()
    return _EACH + data[1:2] + np.frombuffer(found, np.uint8).reshape(width, length).T.tobytes()


def _unreadable() -> SchemaMismatch:
    return SchemaMismatch(
        "A stored vector cannot be read: it is damaged, or a newer Hubbub wrote it.",
        "Run `hubbub ledger verify`, and restore the store from a backup if a release was damaged.",
    )


@dataclass(frozen=True, slots=True)
class PackedRelease:
    """A release as the store keeps it; its tick and its cost stand in the debit."""

    estimates: bytes
    standard_errors: bytes
    lower: bytes
    upper: bytes
    measurements: bytes | None
    noise_variance: float | None
    """One number for all keys: the largest, where they differ."""

    noise_variances: bytes | None = None
    """One for each key; None where `noise_variance` is the same for all."""

    correlated: int | None = None
    """1 where errors of different keys go together, otherwise None."""

    joint: bytes | None = None
    """How they go together, where the release says so."""

    @classmethod
    def of(cls, release: Release) -> PackedRelease:
        r = release
        measured = None if r.measurements is None else pack(r.measurements)
        vectors = pack(r.values), pack(r.standard_errors), pack(r.lower), pack(r.upper)
        one: Any = r.noise_variance
        each = None
        if isinstance(one, np.ndarray):
            each = pack(one)
            one = float(one.max())
        joint = None if r.joint is None else r.joint.to_bytes()
        return cls(*vectors, measured, one, each, 1 if r.correlated else None, joint)

    def unpack(self, tick: Tick, keys: Domain, cost: Cost) -> Release:
        packed = (self.estimates, self.standard_errors, self.lower, self.upper)
        values, errors, lower, upper = (unpack(vector, len(keys), np.float64) for vector in packed)
        measured = None if self.measurements is None else unpack(self.measurements, len(keys), np.int64)
        each = self.noise_variances
        variance = self.noise_variance if each is None else unpack(each, len(keys), np.float64)
        joint = None if self.joint is None else JointErrors.from_bytes(self.joint)
        noise = measured, variance, cost, bool(self.correlated)
        return Release(tick, keys, values, errors, lower, upper, *noise, joint)
