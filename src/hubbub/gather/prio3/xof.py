"""The stream of pseudorandom bytes that seeds are stretched into (draft-irtf-cfrg-vdaf, section 6.2.1)."""

from __future__ import annotations

from functools import lru_cache
from types import ModuleType

import numpy as np

from hubbub.errors import InvalidParameter
from hubbub.extras import missing
from hubbub.gather.prio3.field import Elements, Field

SEED_SIZE = 32
VERSION = 18
"""Of the draft's wire format; part of every domain separation tag."""


class XofTurboShake128:
    """Bytes that follow from a seed, a tag that says what they are for, and what else they are bound to.

    >>> XofTurboShake128(bytes(32), b"tag", b"").next(4).hex()
    '1dce505f'
    """

    def __init__(self, seed: bytes, tag: bytes, binder: bytes) -> None:
        if len(seed) > 255 or len(tag) > 65535:
            raise InvalidParameter("A seed has at most 255 bytes and a tag at most 65,535.", "Shorten the context.")
        self._stream = _turboshake().new(domain=1)
        self._stream.update(len(tag).to_bytes(2, "little") + tag + bytes([len(seed)]) + seed)
        self._stream.update(binder)

    def next(self, length: int) -> bytes:
        """The next bytes of the stream."""
        found: bytes = self._stream.read(length)
        return found

    def next_vector(self, field: Field, length: int) -> Elements:
        """The next elements: what encodes none is passed over, so that each element is as likely as any other."""
        size = field.encoded_size
        words = np.frombuffer(self.next(length * size), dtype=np.uint8).reshape(length, size)
        while (wrong := field.beyond(words)).any():
            kept = words[~wrong]
            more = np.frombuffer(self.next((length - len(kept)) * size), dtype=np.uint8).reshape(-1, size)
            words = np.concatenate([kept, more])
        return field.from_words(words)


@lru_cache(maxsize=1)
def _turboshake() -> ModuleType:
    try:
        from Crypto.Hash import TurboSHAKE128
    except ModuleNotFoundError as error:
        raise missing(error) or error from None
    return TurboSHAKE128


def derived_seed(seed: bytes, tag: bytes, binder: bytes) -> bytes:
    return XofTurboShake128(seed, tag, binder).next(SEED_SIZE)


def expanded(field: Field, seed: bytes, tag: bytes, binder: bytes, length: int) -> Elements:
    """A vector that follows from `seed`."""
    return XofTurboShake128(seed, tag, binder).next_vector(field, length)


def tag_of(algorithm: int, usage: int, context: bytes) -> bytes:
    """The domain separation tag: what, for which algorithm, in which application."""
    return bytes([VERSION, 0]) + algorithm.to_bytes(4, "big") + usage.to_bytes(2, "big") + context
