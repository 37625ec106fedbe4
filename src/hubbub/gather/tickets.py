"""One answer a client: tickets that are given once, spent once, and cannot be told apart by those who saw them given.

RSA blind signatures (RFC 9474, RSABSSA-SHA384-PSS-Deterministic over a message with 32 random bytes of its own). Each
round has a key, so that a ticket is good for one round and no other.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
import secrets  # not for privacy: numbers of tickets and blinding factors, no noise
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from hubbub.errors import InvalidInput, TicketRefused
from hubbub.files import write_file

BITS = 2048
SIZE = BITS // 8
EXPONENT = 65537
NUMBER = 32
"""Bytes of a ticket's number: whoever has the ticket chose it, and nobody else saw it before it was spent."""

LABEL = b"hubbub gather ticket 1\n"
KIND = "hubbub gather issuer 1"
_HASH = 48
_TRAILER = b"\xbc"


@dataclass(frozen=True)
class PublicTicketKey:
    """With which anybody checks tickets of one round; its text is the modulus."""

    modulus: int

    @classmethod
    def of(cls, text: str) -> PublicTicketKey:
        try:
            data = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            data = b""
        if len(data) != SIZE or not data[0] & 0x80 or not data[-1] & 1:
            raise InvalidInput(f"A key for tickets is an odd number of {BITS} bits.", "Copy it whole.")
        return cls(int.from_bytes(data, "big"))

    def __str__(self) -> str:
        return base64.b64encode(self.modulus.to_bytes(SIZE, "big")).decode()

    def spent(self, query: bytes, ticket: str) -> bytes:
        """The number of a ticket, if it is one of this round's; to be taken once."""
        try:
            data = base64.b64decode(ticket, validate=True)
        except (binascii.Error, ValueError):
            data = b""
        if len(data) != NUMBER + SIZE:
            raise TicketRefused("An answer to this query needs a ticket.", "Get one from the issuer of the plan.")
        number, signature = data[:NUMBER], data[NUMBER:]
        self._verify(_message(query, number), signature)
        return number

    def _verify(self, message: bytes, signature: bytes) -> None:
        key = rsa.RSAPublicNumbers(EXPONENT, self.modulus).public_key()
        how = padding.PSS(mgf=padding.MGF1(hashes.SHA384()), salt_length=_HASH)
        try:
            key.verify(signature, message, how, hashes.SHA384())
        except InvalidSignature:
            raise TicketRefused(
                "This ticket is not of this round, or was not given by the plan's issuer.", "Get one for this round."
            ) from None


@dataclass(frozen=True)
class Wish:
    """A ticket that somebody asks for. `blinded` goes to the issuer, who learns nothing from it.

    >>> key = TicketKey.make()
    >>> wish = Wish.make(key.public, bytes(32))
    >>> ticket = wish.ticket(key.sign(wish.blinded))
    >>> key.public.spent(bytes(32), ticket) == wish.number
    True
    """

    key: PublicTicketKey
    query: bytes
    number: bytes = field(repr=False)
    blinded: bytes
    inverse: int = field(repr=False)

    @classmethod
    def make(cls, key: PublicTicketKey, query: bytes) -> Wish:
        number = secrets.token_bytes(NUMBER)  # not for privacy: no noise
        encoded = int.from_bytes(_encoded(_message(query, number)), "big")
        while True:
            blind = secrets.randbelow(key.modulus - 2) + 2  # not for privacy: no noise
            if math.gcd(blind, key.modulus) == 1:
                break
        blinded = encoded * pow(blind, EXPONENT, key.modulus) % key.modulus
        return cls(key, query, number, blinded.to_bytes(SIZE, "big"), pow(blind, -1, key.modulus))

    def ticket(self, signed: bytes) -> str:
        """What was asked for, from the issuer's answer; refused if the issuer cheated."""
        if len(signed) != SIZE:
            raise InvalidInput("This is no answer of an issuer.", "Ask again.")
        made = int.from_bytes(signed, "big") * self.inverse % self.key.modulus
        signature = made.to_bytes(SIZE, "big")
        self.key._verify(_message(self.query, self.number), signature)
        return base64.b64encode(self.number + signature).decode()


@dataclass(frozen=True)
class TicketKey:
    """The issuer's secret for one round."""

    modulus: int
    secret: int = field(repr=False)

    @classmethod
    def make(cls) -> TicketKey:
        numbers = rsa.generate_private_key(EXPONENT, BITS).private_numbers()
        return cls(numbers.public_numbers.n, numbers.d)

    @property
    def public(self) -> PublicTicketKey:
        return PublicTicketKey(self.modulus)

    def sign(self, blinded: bytes) -> bytes:
        """Without seeing what; the same for the same, so that an answer that was lost is given again."""
        value = int.from_bytes(blinded, "big")
        if len(blinded) != SIZE or not 1 < value < self.modulus - 1:
            raise InvalidInput("This is no blinded ticket.", "Was it made for another key?")
        # Blinded once more: how long the secret power takes must not depend on a number that a stranger chose.
        mask = secrets.randbelow(self.modulus - 2) + 2  # not for privacy: no noise
        masked = value * pow(mask, EXPONENT, self.modulus) % self.modulus
        signed = pow(masked, self.secret, self.modulus) * pow(mask, -1, self.modulus) % self.modulus
        return signed.to_bytes(SIZE, "big")


def save_keys(path: Path, keys: list[TicketKey]) -> None:
    facts = {"kind": KIND, "keys": [[str(key.public), hex(key.secret)] for key in keys]}
    write_file(path, (json.dumps(facts, indent=1) + "\n").encode(), mode=0o600)


def load_keys(path: Path) -> list[TicketKey]:
    try:
        facts = json.loads(path.read_text())
        if facts["kind"] != KIND:
            raise ValueError
        return [TicketKey(PublicTicketKey.of(public).modulus, int(secret, 16)) for public, secret in facts["keys"]]
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.", "Give the issuer's keys.") from None
    except (KeyError, TypeError, ValueError):
        raise InvalidInput(f"{path} holds no keys for tickets.", "`hubbub gather issuer-keys` makes them.") from None


def load_public_keys(path: Path) -> list[str]:
    """What goes into a plan, one key a line."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError):
        raise InvalidInput(f"{path} cannot be read.", "Give the issuer's public keys.") from None
    if KIND in text:
        raise InvalidInput(
            f"{path} holds the issuer's secret keys, which nobody else may have.", f"Give {path.name}.public."
        )
    return text.split()


def _message(query: bytes, number: bytes) -> bytes:
    return LABEL + query + number


def _encoded(message: bytes) -> bytes:
    """EMSA-PSS-ENCODE (RFC 8017, 9.1.1) with SHA-384 and a salt of 48 bytes."""
    bits = BITS - 1
    size = -(-bits // 8)
    salt = secrets.token_bytes(_HASH)  # not for privacy: no noise
    digest = hashlib.sha384(bytes(8) + hashlib.sha384(message).digest() + salt).digest()
    block = bytes(size - 2 * _HASH - 2) + b"\x01" + salt
    masked = bytearray(a ^ b for a, b in zip(block, _stretched(digest, len(block)), strict=True))
    masked[0] &= 0xFF >> (8 * size - bits)
    return bytes(masked) + digest + _TRAILER


def _stretched(seed: bytes, size: int) -> bytes:
    """MGF1 with SHA-384."""
    rounds = range(-(-size // _HASH))
    return b"".join(hashlib.sha384(seed + at.to_bytes(4, "big")).digest() for at in rounds)[:size]
