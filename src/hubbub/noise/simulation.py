"""The seeded twin of the system's source: the same bytes on every run, for simulations and tests only."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from hubbub.errors import InsecureRandomness, InvalidParameter
from hubbub.noise.source import checked_count

_KEY = object()


class SeededSource:
    """Made by `simulation` alone, and dead when its block ends; production constructors refuse it.

    A forked child goes on with the same bytes as its parent: give each worker a seed of its own.
    """

    secure = False

    def __init__(self, seed: int, key: object = None) -> None:
        if key is not _KEY:
            raise InsecureRandomness(
                "A seeded source cannot be made directly: its bytes can be foreseen.",
                "Use `with hubbub.noise.simulation(seed) as source:`.",
            )
        secret = hashlib.sha256(b"hubbub simulation %d" % seed).digest()
        self._cipher = Cipher(algorithms.AES256(secret), modes.CTR(bytes(16))).encryptor()
        self._lock = threading.Lock()
        self._live = True

    def take(self, count: int) -> bytes:
        """The next `count` bytes of the seed's stream."""
        self.mark()
        with self._lock:
            return self._cipher.update(bytes(checked_count(count)))

    def mark(self) -> int:
        """Refuses when the simulation is over, so that noise drawn ahead in it cannot be used after it either."""
        if not self._live:
            raise InsecureRandomness(
                "The simulation is over: its seeded source gives nothing more.",
                "Leave `source` out for secure noise, or keep the work inside the `with` block.",
            )
        return 0

    def _end(self) -> None:
        self._live = False

    def __reduce__(self) -> NoReturn:
        raise InsecureRandomness(
            "A seeded source is not copied or pickled: two copies would give the same noise.",
            "Open a `simulation` with another seed in each worker.",
        )


@contextmanager
def simulation(seed: int) -> Iterator[SeededSource]:
    """A block in which noise can be repeated.

    >>> with simulation(7) as source:
    ...     first = source.take(4)
    >>> with simulation(7) as source:
    ...     source.take(4) == first
    True
    """
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise InvalidParameter(f"`seed` must be a whole number; got {type(seed).__name__}.")
    source = SeededSource(seed, _KEY)
    try:
        yield source
    finally:
        source._end()
