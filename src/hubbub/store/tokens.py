"""Who may read and who may send, known by a hash only."""

from __future__ import annotations

import hashlib
import secrets  # tokens only, not for privacy
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from hubbub.errors import InvalidParameter
from hubbub.store import schema
from hubbub.store.cells import Shape
from hubbub.store.database import Database
from hubbub.store.times import Clock, from_micros, to_micros

_T = schema.tokens.c
_COLUMNS = (_T.id, _T.role, _T.created, _T.revoked)
_SHAPE = Shape(_COLUMNS, times=("created", "revoked"))


@dataclass(frozen=True, slots=True)
class Token:
    """A token as the store knows it: not the secret itself, which was shown once."""

    id: int
    role: str
    created: datetime
    revoked: datetime | None


class Tokens:
    """Makes, finds and revokes tokens.

    A token holds 256 random bits, so a plain SHA-256 of it can be stored: there is nothing to guess. (Slow hashes
    are for passwords, which people choose.) The bits come from the operating system and have nothing to do with the
    noise of releases.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def add(self, role: str) -> str:
        """A new token for `role`. This is the only time its text can be seen."""
        if not isinstance(role, str) or not role:
            raise InvalidParameter("A token needs a role.", "The server knows 'reader' and 'ingest'.")
        secret = secrets.token_urlsafe(32)
        row = {"role": role, "hash": _hash(secret), "created": to_micros(self._clock())}
        with self._database.write() as connection:
            connection.execute(sa.insert(schema.tokens), row)
        return secret

    def lookup(self, secret: str) -> Token | None:
        """The token with this text; None if there is none or it was revoked."""
        with self._database.read() as connection:
            query = sa.select(*_COLUMNS).where(_T.hash == _hash(secret), _T.revoked.is_(None))
            row = connection.execute(query).one_or_none()
        if row is None:
            return None
        number, role, created, _ = _SHAPE.checked(row, "a token")
        return Token(number, role, from_micros(created), None)

    def revoke(self, number: int) -> bool:
        """Make token `number` void; False if there is none or it was void already."""
        change = sa.update(schema.tokens).where(_T.id == number, _T.revoked.is_(None))
        with self._database.write() as connection:
            return connection.execute(change.values(revoked=to_micros(self._clock()))).rowcount == 1

    def list(self) -> list[Token]:
        with self._database.read() as connection:
            rows = connection.execute(sa.select(*_COLUMNS).order_by(_T.id)).all()
        return [
            Token(number, role, from_micros(created), None if revoked is None else from_micros(revoked))
            for number, role, created, revoked in (_SHAPE.checked(row, "a token") for row in rows)
        ]


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
