"""Letting go of old releases: their numbers go, their lines in the ledger and what proves them stay."""

from __future__ import annotations

import sqlalchemy as sa

from hubbub.errors import InvalidParameter
from hubbub.store import chain, schema
from hubbub.store.database import Database
from hubbub.store.packing import PackedRelease
from hubbub.store.stream import Stream

_R = schema.releases.c
_PAGE = 16

_OLDEST = (
    sa.select(_R.tick, *(_R[name] for name in PackedRelease.__slots__))
    .where(_R.stream == sa.bindparam("id"), _R.tick < sa.bindparam("before"))
    .order_by(_R.tick)
    .limit(_PAGE)
)


def forget(database: Database, stream: Stream, before: int) -> int:
    """Delete the numbers of every release before a tick; how many there were. What was spent stays as it was.

    Of each its hash is kept, which the chain of the ledger rests on: so the ledger can be verified as before. A few
    releases per transaction: whoever releases need not wait.
    """
    if stream.finds_keys or stream.keys_of is not None:
        raise InvalidParameter(
            f"The releases of {stream.name!r} say what is counted, and stay.", "Leave `keep` out for found keys."
        )
    gone = 0
    while True:
        with database.write() as connection:
            rows = connection.execute(_OLDEST, {"id": stream.id, "before": before}).all()
            if not rows:
                return gone
            packed = {row.tick: PackedRelease(*tuple(row)[1:]) for row in rows}
            proofs = [
                {
                    "stream": stream.id,
                    "tick": tick,
                    "digest": chain.release_digest(one),
                    "measured": int(one.measurements is not None),
                }
                for tick, one in packed.items()
            ]
            connection.execute(sa.insert(schema.forgotten), proofs)
            connection.execute(
                sa.delete(schema.releases).where(_R.stream == stream.id, _R.tick.in_(list(packed)))
            )  # fmt: skip
        gone += len(rows)
