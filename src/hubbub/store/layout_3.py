"""The tables of layouts 1 to 3, as they were. Migrations make them on the way to a newer layout: never change this."""

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

# SQLite numbers rows by itself only where the column is plain INTEGER.
_Number = BigInteger().with_variant(Integer, "sqlite")

# An amount is an exact rational as text ("1/20"), a time is whole microseconds since 1970 in UTC, a hash 32 bytes.

version = Table("hubbub_schema", metadata, Column("version", Integer, nullable=False))

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
    Column("genesis", LargeBinary, nullable=False),
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
    Column("previous", LargeBinary, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    # What follows is written once more, when the tick has its outcome, and covered by `seal` (all but the owner).
    Column("state", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("settled_epsilon", Text),
    Column("settled_rho", Text),
    Column("seal", LargeBinary),
    UniqueConstraint("stream", "place"),
)

releases = Table(
    "releases",
    metadata,
    Column("stream", _Number, ForeignKey("streams.id"), primary_key=True),
    Column("tick", BigInteger, primary_key=True, autoincrement=False),
    Column("estimates", LargeBinary, nullable=False),
    Column("standard_errors", LargeBinary, nullable=False),
    Column("lower", LargeBinary, nullable=False),
    Column("upper", LargeBinary, nullable=False),
    Column("measurements", LargeBinary),
    Column("noise_variance", Double),
)

states = Table(
    "states",
    metadata,
    Column("stream", _Number, ForeignKey("streams.id"), primary_key=True, autoincrement=False),
    Column("tick", BigInteger, nullable=False),
    Column("place", BigInteger, nullable=False),
    Column("snapshot", LargeBinary, nullable=False),
    Column("account", Text, nullable=False),
    Column("settled", BigInteger, nullable=False),
    Column("lost", BigInteger, nullable=False),
    Column("seal", LargeBinary, nullable=False),
    Column("mark", LargeBinary, nullable=False),
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
    Column("hash", LargeBinary, nullable=False, unique=True),
    Column("created", BigInteger, nullable=False),
    Column("revoked", BigInteger),
)

places = Table(
    "places",
    metadata,
    Column("stream", _Number, ForeignKey("streams.id"), primary_key=True, autoincrement=False),
    Column("time", BigInteger, nullable=False),
    Column("place", Text, nullable=False),
)
