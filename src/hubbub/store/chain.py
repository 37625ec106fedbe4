"""What is hashed, in which bytes: the two strands that tie a stream's ledger together.

| strand | made when | `hash` or `seal` of a row covers |
|---|---|---|
| debits | a tick is reserved | all that is fixed at that moment, and the hash of the debit before |
| outcomes | a tick is settled or lost | that hash, the outcome, its final cost, its release, and the seal before |
| both | a stream's domain changes | the domain, its first tick, the release it follows from; hash and seal before |

Both begin at the stream's genesis, which covers its name, keys, guarantee, method and options (and among them its grant
and its share). The seal of the last
outcome therefore stands for the whole ledger up to there: written down elsewhere, it is an anchor.
"""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hubbub.store.debit import Debit
    from hubbub.store.decision import Decision
    from hubbub.store.packing import PackedRelease


_SHORT = 512
_length = struct.Struct(">Q").pack
# Kind and length of a part, ready-made for short ones: a long ledger is verified line by line.
_BYTES, _TEXT, _NUMBER, _NOTHING = (
    [kind + _length(length) for length in range(_SHORT)] for kind in (b"b", b"s", b"i", b"n")
)


def digest(label: str, *parts: str | int | bytes | None) -> bytes:
    """SHA-256 over the parts, each with its type and length, so that no two lists of parts give the same bytes.

    >>> digest("x", "ab", "c") == digest("x", "a", "bc")
    False
    """
    pieces = [b"hubbub ", label.encode(), b"\n"]
    for part in parts:
        if type(part) is bytes:
            heads, raw = _BYTES, part
        elif type(part) is str:
            heads, raw = _TEXT, part.encode()
        elif part is None:
            heads, raw = _NOTHING, b""
        else:
            heads, raw = _NUMBER, b"%d" % part  # type: ignore[str-format]
        pieces += (heads[len(raw)] if len(raw) < _SHORT else heads[0][:1] + _length(len(raw)), raw)
    return hashlib.sha256(b"".join(pieces)).digest()


def genesis(name: str, keys: str, guarantee: str, method: str, options: str) -> bytes:
    """Where both strands of a stream begin: its definition."""
    return digest("stream 1", name, keys, guarantee, method, options)


def grant_genesis(name: str, population: str, guarantee: str, apart_from: str) -> bytes:
    """What a grant is, as one hash."""
    return digest("grant 1", name, population, guarantee, apart_from)


def debit_hash(debit: Debit) -> bytes:
    """A debit that slips nothing is hashed as it was before there were slips.

    Nothing is None, and any text, "0" too, is hashed under another label: no zero can be put in or taken out unseen.
    """
    d = debit
    parts = (d.previous, d.place, d.tick, d.start, d.length, d.epsilon, d.rho, d.purpose, d.reserved)
    return digest("debit 1", *parts) if d.delta is None else digest("debit 2", *parts, d.delta)


def seal(
    before: bytes, debit_hash: bytes, state: str, epsilon: str, rho: str, release: bytes, delta: str | None = None
) -> bytes:  # fmt: skip
    """As `debit_hash`, an outcome that slipped nothing has the seal that it had before there were slips."""
    parts = (before, debit_hash, state, epsilon, rho, release)
    return digest("outcome 1", *parts) if delta is None else digest("outcome 2", *parts, delta)


def decision_hash(decision: Decision) -> bytes:
    d = decision
    evidence = (d.evidence, d.evidence_tick, d.evidence_seal)
    return digest("domain 1", d.previous, d.place, d.tick, d.domain, *evidence, d.decided)


def decision_seal(before: bytes, decision_hash: bytes) -> bytes:
    return digest("decision 1", before, decision_hash)


def release_digest(packed: PackedRelease) -> bytes:
    p = packed
    variance = None if p.noise_variance is None else struct.pack(">d", p.noise_variance)
    parts = (p.estimates, p.standard_errors, p.lower, p.upper, p.measurements, variance)
    if p.noise_variances is None and p.correlated is None and p.joint is None:
        return digest("release 1", *parts)
    if p.joint is None:
        return digest("release 2", *parts, p.noise_variances, p.correlated)
    return digest("release 3", *parts, p.noise_variances, p.correlated, p.joint)


def mark(seal: bytes, tick: int, place: int, snapshot: bytes, account: str, settled: int, lost: int) -> bytes:
    """Ties the one state that is kept to the outcome after which it was taken."""
    return digest("state 1", seal, tick, place, snapshot, account, settled, lost)
