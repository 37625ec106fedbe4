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
