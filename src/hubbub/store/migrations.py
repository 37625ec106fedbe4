"""From one layout of the tables to the next, step by step, each step whole or not at all."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from hubbub.errors import SchemaMismatch
from hubbub.store import schema
from hubbub.store.database import Database

_LOCK = 0x68756262  # any fixed number: PostgreSQL's advisory lock that makes two openers take turns


def _ledger(connection: Connection) -> None:
    tables = [schema.version, schema.streams, schema.debits, schema.releases, schema.states]
    schema.metadata.create_all(connection, tables=tables, checkfirst=False)
    connection.execute(sa.insert(schema.version).values(version=0))


def _queries_and_tokens(connection: Connection) -> None:
    schema.metadata.create_all(connection, tables=[schema.queries, schema.tokens], checkfirst=False)


def _places(connection: Connection) -> None:
    schema.metadata.create_all(connection, tables=[schema.places], checkfirst=False)


STEPS: tuple[Callable[[Connection], None], ...] = (_ledger, _queries_and_tokens, _places)
"""Step i leads from version i to version i + 1; a fresh store walks through all of them.

The day a table changes, the steps before that day get a frozen copy of the layout they make: a step never changes.
"""

VERSION = len(STEPS)


def migrate(database: Database, *, read_only: bool = False) -> None:
    """Bring the store to this version's layout, or refuse: one that a newer Hubbub wrote is left alone."""
    with database.read() as connection:
        found = _version(connection)
    if found > VERSION or (found < VERSION and read_only):
        raise _mismatch(found, database)
    if found == VERSION:
        return
    with database.write() as connection:
        if not database.is_sqlite:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        for step in STEPS[_version(connection) :]:
            step(connection)
        connection.execute(sa.update(schema.version).values(version=VERSION))


def _version(connection: Connection) -> int:
    """0 where there is nothing of ours."""
    if not sa.inspect(connection).has_table(schema.version.name):
        return 0
    found: int = connection.execute(sa.select(schema.version.c.version)).scalar_one()
    return found


def _mismatch(found: int, database: Database) -> SchemaMismatch:
    if found > VERSION:
        return SchemaMismatch(
            f"The store {database.where} has layout {found}; this version of Hubbub knows up to {VERSION}.",
            "Use the version of Hubbub that wrote it, or a newer one. Nothing was changed.",
        )
    return SchemaMismatch(
        f"The store {database.where} has layout {found} and would have to be brought to {VERSION} first.",
        "Open it once for writing (any command that releases does), then read it again.",
    )
