"""The tables, as this version of Hubbub writes them. `docs/store.md` tells what each column means."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()


class _Bytes(LargeBinary):
    """Bytes as the driver gives them: what is no bytes is found by whoever reads the row, who can say where it is."""

    def result_processor(self, dialect: object, coltype: object) -> None:  # noqa: ARG002
        return None


# SQLite numbers rows by itself only where the column is plain INTEGER.
_Number = BigInteger().with_variant(Integer, "sqlite")

# An amount is an exact rational as text ("1/20"), a time is whole microseconds since 1970 in UTC, a hash 32 bytes.

version = Table(
    "hubbub_schema",
    metadata,
    Column("version", Integer, nullable=False),
    # Which store this is, through copies and backups: marks outside the store are kept under this name.
    Column("store", Text, nullable=False, server_default=""),
)

grants = Table(
    "grants",
    metadata,
    Column("id", _Number, Identity(), primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("population", Text, nullable=False),
    Column("guarantee", Text, nullable=False),
    Column("apart_from", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("genesis", _Bytes, nullable=False),
)

streams = Table(
    "streams",
    metadata,
    Column("id", _Number, Identity(), primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("keys", Text, nullable=False),
    Column("guarantee", Text, nullable=False),
    Column("method", Text, nullable=False),
    Column("options", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("genesis", _Bytes, nullable=False),
    # Filled in by a migration where a stream is older than grants.
    Column("grant_id", _Number, ForeignKey("grants.id")),
    Column("share", Text, nullable=False, server_default="1"),
    # Of what the streams of the grant may slip.
    Column("slips", Text, nullable=False, server_default="0"),
)

debits = Table(
    "debits",
    metadata,
    Column("stream", _Number, ForeignKey("streams.id"), primary_key=True),
    Column("tick", BigInteger, primary_key=True, autoincrement=False),
    # What follows is fixed when the tick is reserved, and covered by `hash`.
    Column("place", BigInteger, nullable=False),
    Column("start", BigInteger),
    Column("length", BigInteger),
    Column("epsilon", Text, nullable=False),
    Column("rho", Text, nullable=False),
    Column("purpose", Text, nullable=False),
    Column("reserved", BigInteger, nullable=False),
    Column("previous", _Bytes, nullable=False),
    Column("hash", _Bytes, nullable=False),
    # What follows is written once more, when the tick has its outcome, and covered by `seal` (all but the owner).
    Column("state", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("settled_epsilon", Text),
    Column("settled_rho", Text),
    Column("seal", _Bytes),
    # What the tick may slip: fixed with `epsilon` and `rho`, settled with theirs. Nothing is NULL, and nothing else is.
    Column("delta", Text),
    Column("settled_delta", Text),
    UniqueConstraint("stream", "place"),
)

# What a stream counts since its first domain, which stands in its definition. A line of the ledger, covered by `hash`
# in the strand of debits and by `seal` in that of outcomes.
domains = Table(
    "domains",
    metadata,
    Column("stream", _Number, ForeignKey("streams.id"), primary_key=True),
    Column("place", BigInteger, primary_key=True, autoincrement=False),
    Column("tick", BigInteger, nullable=False),
    Column("domain", Text, nullable=False),
    Column("evidence", Text, nullable=False),
    Column("evidence_tick", BigInteger, nullable=False),
    Column("evidence_seal", _Bytes, nullable=False),
    Column("decided", BigInteger, nullable=False),
    Column("previous", _Bytes, nullable=False),
    Column("hash", _Bytes, nullable=False),
    Column("seal", _Bytes, nullable=False),
)

releases = Table(
    "releases",
    metadata,
    Column("stream", _Number, ForeignKey("streams.id"), primary_key=True),
    Column("tick", BigInteger, primary_key=True, autoincrement=False),
    Column("estimates", _Bytes, nullable=False),
    Column("standard_errors", _Bytes, nullable=False),
    Column("lower", _Bytes, nullable=False),
    Column("upper", _Bytes, nullable=False),
    Column("measurements", _Bytes),
    Column("noise_variance", Double),
    Column("noise_variances", _Bytes),
    Column("correlated", Integer),
    Column("joint", _Bytes),
)

forgotten = Table(
    "forgotten",
    metadata,
    Column("stream", _Number, ForeignKey("streams.id"), primary_key=True),
    Column("tick", BigInteger, primary_key=True, autoincrement=False),
    Column("digest", _Bytes, nullable=False),
    Column("measured", Integer, nullable=False),
)
"""Of releases whose numbers were let go: what the chain rests on, and whether they were measured."""

states = Table(
    "states",
    metadata,
    Column("stream", _Number, ForeignKey("streams.id"), primary_key=True, autoincrement=False),
    Column("tick", BigInteger, nullable=False),
    Column("place", BigInteger, nullable=False),
    Column("snapshot", _Bytes, nullable=False),
    Column("account", Text, nullable=False),
    Column("settled", BigInteger, nullable=False),
    Column("lost", BigInteger, nullable=False),
    Column("seal", _Bytes, nullable=False),
    Column("mark", _Bytes, nullable=False),
)

queries = Table(
    "queries",
    metadata,
    Column("id", _Number, Identity(), primary_key=True),
    Column("stream", _Number, ForeignKey("streams.id"), nullable=False),
    Column("time", BigInteger, nullable=False),
    Column("length", BigInteger, nullable=False),
    Index("queries_of_stream", "stream", "id"),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", _Number, Identity(), primary_key=True),
    Column("role", Text, nullable=False),
    Column("hash", _Bytes, nullable=False, unique=True),
    Column("created", BigInteger, nullable=False),
    Column("revoked", BigInteger),
)

cuts = Table(
    "cuts",
    metadata,
    Column("stream", _Number, ForeignKey("streams.id"), primary_key=True),
    Column("tick", BigInteger, primary_key=True, autoincrement=False),
    Column("source", Text, nullable=False),
    Column("time", BigInteger, nullable=False),
    Column("frontier", Text, nullable=False),
    Column("doubt", Text),
)

answers = Table(
    "answers",
    metadata,
    Column("id", _Number, Identity(), primary_key=True),
    Column("stream", _Number, ForeignKey("streams.id"), nullable=False),
    Column("key", _Bytes, nullable=False),
    Column("body", _Bytes, nullable=False),
    Column("tick", BigInteger, nullable=False),
    UniqueConstraint("stream", "key"),
    Index("answers_of_stream", "stream", "id"),
)

# Streams that were made before a definition told what decides who counts where. `counted`: by a monitor's collector.
earlier = Table(
    "earlier",
    metadata,
    Column("stream", _Number, ForeignKey("streams.id"), primary_key=True, autoincrement=False),
    Column("counted", Integer, nullable=False),
)
