"""Which batches came already: the memory behind idempotency keys."""

from __future__ import annotations

import hashlib
import struct
import time
from collections import Counter, deque

from hubbub.monitor.spool.frame import Frame, Key, unpacked

_KNOWN = struct.Struct("<16sIIqdQ")


class KnownKeys:
    """Keys of the recent past, each sender's for itself; hashes only.

    A key is remembered for `seconds`, as long as a repetition could still count, and not much longer; restarts do
    not shorten that. If more than `most` are that young, there is no room for another (`has_room`), and batches with a
    key are refused: forgetting one that still matters could count somebody twice.
    """

    def __init__(self, seconds: float, most: int) -> None:
        self._seconds, self._most = seconds, most
        self._known: dict[bytes, bytes] = {}
        self._order: deque[tuple[float, bytes]] = deque()
        self._homes: Counter[int] = Counter()
        self._found: deque[tuple[int, int, bytes]] = deque()
        self._last = 0

    def find(self, name: bytes) -> tuple[bytes, int, int] | None:
        """Digest of the body and what was answered (accepted, malformed); None if the key is new."""
        packed = self._known.get(name)
        return None if packed is None else _KNOWN.unpack(packed)[:3]

    def has_room(self, count: int) -> bool:
        return len(self._known) + count <= self._most

    def add(self, key: Key, segment: int, at: float) -> None:
        """`at` is when it came, by this process's steady clock."""
        if key.name in self._known:
            self._homes[self._home(key.name)] -= 1
        else:
            self._order.append((at, key.name))
        self._known[key.name] = _KNOWN.pack(key.digest, key.accepted, key.malformed, key.arrived, at, segment)
        self._homes[segment] += 1

    def see(self, segment: int, frame: Frame) -> None:
        """A frame of an earlier process, the oldest first; `restore` when all were seen."""
        self._last = max(self._last, frame.arrived)
        if frame.keys:
            self._found.append((segment, frame.arrived, frame.keys))
        while self._found and self._found[0][1] < self._last - self._seconds * 1e6:
            self._found.popleft()

    def restore(self) -> None:
        """Know again what was seen. How long nobody could send does not count as time: ticks wait as well."""
        now = time.monotonic()
        pairs = [(segment, key) for segment, _, keys in self._found for key in unpacked(keys)]
        for segment, key in sorted(pairs, key=lambda pair: pair[1].arrived):
            self.add(key, segment, now - (self._last - key.arrived) / 1e6)
        self._found.clear()
        self.forget()

    def of(self, segments: list[int]) -> list[Key]:
        """The keys that stand in these segments and still matter: they must be written elsewhere before."""
        dropped, kept = {segment for segment in segments if self._homes[segment] > 0}, []
        if not dropped:
            return []
        for name, packed in self._known.items():
            digest, accepted, malformed, arrived, _, segment = _KNOWN.unpack(packed)
            if segment in dropped:
                kept.append(Key(name, digest, accepted, malformed, arrived))
        return kept

    def move(self, keys: list[Key], segment: int) -> None:
        for key in keys:
            self.add(key, segment, _KNOWN.unpack(self._known[key.name])[4])

    def forget(self) -> None:
        """Let go of keys that matter no more."""
        now = time.monotonic()
        while self._order and now - self._order[0][0] > self._seconds:
            name = self._order.popleft()[1]
            self._homes[self._home(name)] -= 1
            del self._known[name]

    def _home(self, name: bytes) -> int:
        return int(_KNOWN.unpack(self._known[name])[5])


def name_of(spool: str, sender: str, key: str) -> tuple[bytes, bytes]:
    """A name for the pair (sender, key), and a secret that only somebody who knows the pair can make."""
    pair = f"{len(sender)}:{sender}{key}".encode()
    return tuple(
        hashlib.blake2b(pair, key=bytes.fromhex(spool), person=use, digest_size=size).digest()
        for use, size in ((b"name", 16), (b"body", 32))
    )  # type: ignore[return-value]


def digest_of(body: bytes, secret: bytes) -> bytes:
    """So that another body is noticed. Without the key it cannot be tried out what the body was."""
    return hashlib.blake2b(body, key=secret, digest_size=16).digest()
