"""Tickets by which each person's items are drawn, whatever order they are read in."""

from __future__ import annotations

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from hubbub.noise.source import ByteSource
from hubbub.noise.system import DEFAULT

CHUNK = 1 << 20
"""Words at a time: the blocks of all of them would double the memory."""


class Lottery:
    """A secret function from 64-bit words to 128-bit tickets: AES under a key of its own.

    The same word always has the same ticket, so that a pair read twice, or in another part of a file, counts once. To
    whoever lacks the key, tickets of different words are different uniform numbers (a random permutation of blocks):
    the lowest k of a set are a uniform choice of k, and tell nothing of the choices in other sets.

    >>> lottery = Lottery()
    >>> high, low = lottery.tickets(np.array([7, 8, 7], dtype=np.uint64))
    >>> bool(high[0] == high[2]), bool((high[0], low[0]) == (high[1], low[1]))
    (True, False)
    """

    __slots__ = ("_cipher",)

    def __init__(self, source: ByteSource | None = None) -> None:
        key = bytes((DEFAULT if source is None else source).take(32))
        # Each word is a block of its own: ECB is the block cipher itself, which is what is wanted here.
        self._cipher = Cipher(algorithms.AES256(key), modes.ECB())

    def tickets(self, words: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """The two halves of each word's ticket; the second only decides where the first are equal."""
        high = np.empty(len(words), dtype=np.uint64)
        low = np.empty(len(words), dtype=np.uint64)
        encryptor = self._cipher.encryptor()
        for start in range(0, len(words), CHUNK):
            part = words[start : start + CHUNK]
            blocks = np.zeros((len(part), 2), dtype="<u8")
            blocks[:, 0] = part
            drawn = np.frombuffer(encryptor.update(blocks.tobytes()), dtype="<u8").reshape(-1, 2)
            high[start : start + len(part)] = drawn[:, 0]
            low[start : start + len(part)] = drawn[:, 1]
        return high, low
