from __future__ import annotations

import numpy as np
import pytest

from hubbub.errors import SchemaMismatch
from hubbub.store.packing import pack, unpack


@pytest.mark.parametrize(
    ("vector", "size"),
    [
        (np.array([1.5, 2.5, 3.5]), 2 + 3 * 8),
        (np.array([1.0, 2.0, 3.0]), 2 + 3),
        (np.array([1.0, 200.0, 3.0]), 2 + 3 * 2),
        (np.array([1.0, 2.0**31 - 1, 3.0]), 2 + 3 * 4),
        (np.array([1.0, 2.0**40, 3.0]), 2 + 3 * 8),
        (np.array([np.inf, 1.0]), 2 + 2 * 8),
        (np.array([-0.0, 1.0]), 2 + 2 * 8),
        (np.full(1000, np.inf), 10),
        (np.array([-(2**63), 2**63 - 1]), 2 + 2 * 8),
        (np.array([7]), 2 + 1),
    ],
)
def test_round_trip_bit_for_bit_in_few_bytes(vector: np.ndarray, size: int) -> None:
    packed = pack(vector)
    assert len(packed) == size
    again = unpack(packed, len(vector), vector.dtype.type)
    assert again.dtype == vector.dtype
    assert again.tobytes() == vector.tobytes()


@pytest.mark.parametrize("data", [b"", b"x", b":?12345678", b"!f12345678", b":f123", b":1abc", b"=1ab"])
def test_damaged_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(SchemaMismatch, match="cannot be read"):
        unpack(data, 2, np.float64)


@pytest.mark.parametrize(
    "vector",
    [
        np.arange(5000) % 7,
        np.random.default_rng(1).integers(-(2**62), 2**62, 5000),
        np.random.default_rng(2).normal(0, 1, 5000),
        np.random.default_rng(3).normal(0, 1, 5000).astype(np.float32).astype(np.float64),
        np.where(np.arange(5000) % 2, np.inf, -0.0),
        np.where(np.arange(5000) % 2, 1e300, 0.5),
    ],
)
def test_many_entries_bit_for_bit(vector: np.ndarray) -> None:
    packed = pack(vector)
    again = unpack(packed, len(vector), vector.dtype.type)
    assert again.tobytes() == vector.tobytes()
    assert len(packed) <= 2 + vector.nbytes


def test_many_entries_that_are_damaged_are_refused() -> None:
    packed = pack(np.arange(5000) % 7)
    assert packed[:1] == b"z"
    for damaged in (packed[:-20], packed[:2], packed[:40] + b"!!!!" + packed[44:], packed[:2] + b"zip bomb"):
        with pytest.raises(SchemaMismatch, match="cannot be read"):
            unpack(damaged, 5000, np.int64)
    with pytest.raises(SchemaMismatch, match="cannot be read"):
        unpack(packed, 4999, np.int64)
