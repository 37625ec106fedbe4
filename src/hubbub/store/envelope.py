"""Places in files of this machine, closed to everybody else who holds the store.

How far a log had grown when a tick closed tells how many lines were written, without noise; a digest of its last lines
lets somebody try which they were. Only this machine goes on from such a place, so only this machine can read it.
"""

from __future__ import annotations

import base64
import binascii
import os
from functools import cached_property

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from hubbub.state import kept_word

MARK = "sealed:"
"""How a sealed text begins; an open one is JSON, and never begins so."""

BLOCK = 512
"""Texts are filled up to whole blocks, since digits tell how large a number is."""

_NONCE = 12


class Envelope:
    """Seals with a key that is kept in the machine's state folder, outside of every store and its backups.

    `about` says what a text belongs to: moved to another place, it does not open.

    >>> import os, tempfile
    >>> before = os.environ.get("HUBBUB_STATE")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     os.environ["HUBBUB_STATE"] = folder
    ...     envelope = Envelope()
    ...     sealed = envelope.seal('{"access.log": "4711"}', about="site 3")
    ...     envelope.open(sealed, about="site 3"), envelope.open(sealed, about="site 4"), "4711" in sealed
    ('{"access.log": "4711"}', None, False)
    >>> _ = os.environ.pop("HUBBUB_STATE") if before is None else os.environ.update(HUBBUB_STATE=before)
    """

    @cached_property
    def _cipher(self) -> AESGCM:
        return AESGCM(bytes.fromhex(kept_word("key", 64)))

    def seal(self, text: str, about: str) -> str:
        nonce = os.urandom(_NONCE)  # not for privacy: no noise
        filled = text.encode()
        filled += b" " * (-len(filled) % BLOCK)
        return MARK + base64.b64encode(nonce + self._cipher.encrypt(nonce, filled, about.encode())).decode()

    def open(self, text: str, about: str) -> str | None:
        """What was sealed here; None where it was sealed elsewhere, or changed since."""
        try:
            sealed = base64.b64decode(text.removeprefix(MARK), validate=True)
            return self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], about.encode()).decode().rstrip(" ")
        except (InvalidTag, binascii.Error, ValueError):
            return None
