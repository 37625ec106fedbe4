"""The keys of one server: to open what clients seal to it, and to know the other server."""

from __future__ import annotations

import hmac
import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from hubbub.errors import InvalidInput
from hubbub.files import write_file
from hubbub.gather.prio3 import VERIFY_KEY_SIZE
from hubbub.gather.sealing import KEY_SIZE, SealKey

KIND = "hubbub gather secret 1"


@dataclass(frozen=True)
class PublicKeys:
    """Of one server, for everybody: `seal` for clients, `peer` for the other server."""

    seal: bytes
    peer: bytes

    @classmethod
    def of(cls, text: str) -> PublicKeys:
        """From the 128 digits that `str` gives."""
        try:
            data = bytes.fromhex(text)
        except (TypeError, ValueError):
            data = b""
        if len(data) != 2 * KEY_SIZE:
            raise InvalidInput(f"A server's public keys are {4 * KEY_SIZE} hexadecimal digits.", "Copy them whole.")
        return cls(data[:KEY_SIZE], data[KEY_SIZE:])

    def __str__(self) -> str:
        return (self.seal + self.peer).hex()


@dataclass(frozen=True)
class ServerKeys:
    """The secret halves, and for the server that opens ciphertexts the scheme's own `secret`.

    >>> one, other = ServerKeys.make(), ServerKeys.make()
    >>> one.shared_with(other.public, "verify") == other.shared_with(one.public, "verify")
    True
    """

    seal: SealKey
    peer: bytes = field(repr=False)
    secret: bytes = field(default=b"", repr=False)
    erased: bool = False
    """Only `peer` is left: a server that is done can still tell the other what came out."""

    @classmethod
    def make(cls) -> ServerKeys:
        return cls(SealKey.make(), X25519PrivateKey.generate().private_bytes_raw())

    @property
    def public(self) -> PublicKeys:
        peer = X25519PrivateKey.from_private_bytes(self.peer).public_key()
        return PublicKeys(self.seal.public, peer.public_bytes_raw())

    def shared_with(self, other: PublicKeys, purpose: str) -> bytes:
        """A key that these two servers have, and nobody else; another one for each purpose."""
        try:
            met = X25519PrivateKey.from_private_bytes(self.peer).exchange(X25519PublicKey.from_public_bytes(other.peer))
        except ValueError:
            raise InvalidInput("The other server's public key is none.", "Was it changed on the way?") from None
        both = b"".join(sorted([self.public.peer, other.peer]))
        info = f"hubbub gather {purpose} 1\n".encode()
        return HKDF(SHA256(), VERIFY_KEY_SIZE, salt=both, info=info).derive(met)

    def save(self, path: Path) -> None:
        """Readable by this user alone."""
        seal = "" if self.erased else self.seal.secret.hex()
        facts = {"kind": KIND, "seal": seal, "peer": self.peer.hex(), "scheme": self.secret.hex()}
        if path.exists():
            os.chmod(path, 0o600)
        write_file(path, (json.dumps(facts, indent=1) + "\n").encode(), mode=0o600)

    def erase(self, path: Path) -> None:
        """Their last round is over: what was sealed to them can never be opened again."""
        if not self.erased:
            replace(self, seal=SealKey.make(), secret=b"", erased=True).save(path)

    @classmethod
    def load(cls, path: Path) -> ServerKeys:
        try:
            if path.stat().st_mode & 0o077:
                raise InvalidInput(
                    f"{path} can be read by other users of this machine: it is no secret.", f"chmod 600 {path}"
                )
            facts = json.loads(path.read_text())
            if facts["kind"] != KIND:
                raise KeyError
            seal, peer, secret = (bytes.fromhex(facts[name]) for name in ("seal", "peer", "scheme"))
            return cls(SealKey(seal) if seal else SealKey.make(), peer, secret, not seal)
        except OSError as error:
            raise InvalidInput(f"{path} cannot be read: {error.strerror}.", "Give a file of keys.") from None
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput(f"{path} holds no keys of a server.", "`hubbub gather plan` writes them.") from None


def same_mark(shown: str, expected: str) -> bool:
    """Without telling by its time how much of it is right. What is shown may be anything."""
    return hmac.compare_digest(shown.encode("utf-8", "replace"), expected.encode())


def mark(key: bytes, *parts: bytes) -> str:
    """Shows that whoever sends this has the servers' key, and meant just these parts."""
    body = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    return hmac.new(key, body, "sha256").hexdigest()
