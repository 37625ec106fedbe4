"""Parts of a report sealed to one server each (HPKE, RFC 9180), so that the first can pass on what it cannot read."""

from __future__ import annotations

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from hubbub.errors import InvalidInput

SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)
KEY_SIZE = 32
LABEL = b"hubbub gather report 1"
OWN = b"hubbub gather kept 1"


def bound_to(server: int, query: bytes, nonce: bytes) -> bytes:
    """What a seal is bound to: opened for another server, query or report it breaks."""
    return LABEL + bytes([server]) + query + nonce


def seal(public: bytes, data: bytes, server: int, query: bytes, nonce: bytes) -> bytes:
    """`data` for whoever has the secret half of `public`."""
    key = _public(public)
    try:
        return SUITE.encrypt(data, key, bound_to(server, query, nonce))
    except ValueError:  # a point that whoever asks could have chosen, so that everybody can open what is sealed to it
        raise InvalidInput("This public key is none that can be sealed to.", "Do not answer.") from None


class SealKey:
    """A server's own key: `public` goes to clients.

    >>> key = SealKey.make()
    >>> sealed = seal(key.public, b"a part", 0, bytes(32), bytes(16))
    >>> key.open(sealed, 0, bytes(32), bytes(16))
    b'a part'
    """

    def __init__(self, secret: bytes) -> None:
        if not isinstance(secret, bytes) or len(secret) != KEY_SIZE:
            raise InvalidInput(f"A sealing key has {KEY_SIZE} bytes.")
        self._key = X25519PrivateKey.from_private_bytes(secret)

    @classmethod
    def make(cls) -> SealKey:
        return cls(X25519PrivateKey.generate().private_bytes_raw())

    @property
    def secret(self) -> bytes:
        """For the server's own safe."""
        return self._key.private_bytes_raw()

    @property
    def public(self) -> bytes:
        return self._key.public_key().public_bytes_raw()

    def open(self, sealed: bytes, server: int, query: bytes, nonce: bytes) -> bytes:
        try:
            return SUITE.decrypt(sealed, self._key, bound_to(server, query, nonce))
        except (InvalidTag, ValueError):
            raise InvalidInput(
                "This seal does not open: it is damaged, or for another server, query or report."
            ) from None

    def locked(self, data: bytes, query: bytes) -> bytes:
        """`data` for this server's own disk: without the key nobody reads it."""
        return SUITE.encrypt(data, self._key.public_key(), OWN + query)

    def unlocked(self, sealed: bytes, query: bytes) -> bytes:
        try:
            return SUITE.decrypt(sealed, self._key, OWN + query)
        except (InvalidTag, ValueError):
            raise InvalidInput("What was kept of this query is damaged, or was kept under another key.") from None

    def __repr__(self) -> str:
        return f"SealKey(public={self.public.hex()})"


def _public(data: bytes) -> X25519PublicKey:
    if not isinstance(data, bytes) or len(data) != KEY_SIZE:
        raise InvalidInput(f"A server's public key has {KEY_SIZE} bytes.")
    return X25519PublicKey.from_public_bytes(data)
