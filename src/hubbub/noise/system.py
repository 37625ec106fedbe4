"""Bytes that nobody can foresee: AES-CTR, keyed by the operating system."""

from __future__ import annotations

import os
import threading

from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

from hubbub.exact import whole
from hubbub.noise.process import Mark, here
from hubbub.noise.source import checked_count

RESEED_AFTER = 2**30
"""Bytes under one key. Telling 2^26 blocks of AES-CTR from random has an advantage of about 2^-77 (birthday bound)."""


class _Stream:
    """One key stream, used by one thread of one process."""

    def __init__(self) -> None:
        self.mark: Mark = here()
        self.given = 0
        self.cipher: CipherContext = Cipher(algorithms.AES256(os.urandom(32)), modes.CTR(os.urandom(16))).encryptor()


class SystemSource:
    """The source that production uses.

    Each thread has a key stream of its own, so there is no lock that a fork could catch in the wrong state. A stream
    is thrown away and keyed anew after `reseed_after` bytes, and in a forked child before its first byte.

    >>> source = SystemSource()
    >>> len(source.take(5)), source.secure
    (5, True)
    """

    secure = True

    def __init__(self, reseed_after: int = RESEED_AFTER) -> None:
        self.reseed_after = whole(reseed_after, "reseed_after")
        self._own = threading.local()

    def take(self, count: int) -> bytes:
        """`count` fresh bytes."""
        left = checked_count(count)
        stream = self._stream()
        if left <= self.reseed_after - stream.given:
            stream.given += left
            return stream.cipher.update(bytes(left))
        parts = []
        while left:
            room = self.reseed_after - stream.given
            if room <= 0:
                stream = self._own.stream = _Stream()
                continue
            part = min(left, room)
            stream.given += part
            parts.append(stream.cipher.update(bytes(part)))
            left -= part
        return b"".join(parts)

    def mark(self) -> Mark:
        """Noise drawn ahead under one mark may only be handed out under the same."""
        return here()

    def _stream(self) -> _Stream:
        stream: _Stream | None = getattr(self._own, "stream", None)
        if stream is None or stream.mark != here():
            stream = self._own.stream = _Stream()
        return stream

    def __reduce__(self) -> tuple[type[SystemSource], tuple[int]]:
        # A copy in another process or a deep copy gets keys of its own: bytes are never given twice.
        return SystemSource, (self.reseed_after,)


DEFAULT = SystemSource()
"""What is used wherever `source` is left out."""
