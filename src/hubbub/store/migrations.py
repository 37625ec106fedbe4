"""From one layout of the tables to the next, step by step, each step whole or not at all."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from hubbub.errors import OlderLayout, SchemaMismatch
from hubbub.store import layout_3, schema
from hubbub.store.before_grants import give_grants, tied_to
from hubbub.store.cells import as_written, broken
from hubbub.store.database import Database

_LOCK = 0x68756262  # any fixed number: PostgreSQL's advisory lock that makes two openers take turns

_NAME = re.compile(r"[0-9a-f]{32}")


def _ledger(connection: Connection) -> None:
    tables = [layout_3.version, layout_3.streams, layout_3.debits, layout_3.releases, layout_3.states]
    layout_3.metadata.create_all(connection, tables=tables, checkfirst=False)
    connection.execute(sa.insert(layout_3.version).values(version=0))


def _queries_and_tokens(connection: Connection) -> None:
    layout_3.metadata.create_all(connection, tables=[layout_3.queries, layout_3.tokens], checkfirst=False)


def _places(connection: Connection) -> None:
    layout_3.metadata.create_all(connection, tables=[layout_3.places], checkfirst=False)


def _cuts(connection: Connection) -> None:
    """A store gets a name of its own; cuts take the place of places; answers to requests are remembered."""
    connection.execute(sa.text("ALTER TABLE hubbub_schema ADD COLUMN store TEXT NOT NULL DEFAULT ''"))
    connection.execute(sa.text("UPDATE hubbub_schema SET store = :name"), {"name": uuid.uuid4().hex})
    schema.metadata.create_all(connection, tables=[schema.cuts, schema.answers, schema.earlier], checkfirst=False)
    # Whoever kept a place was a monitor that counts, and no definition told yet how; its ranges got the same counts.
    kept = set(connection.execute(sa.select(layout_3.places.c.stream)).scalars())
    streams = layout_3.streams.c
    rows = connection.execute(sa.select(streams.id, streams.name, streams.options)).all()
    counted = {row.name for row in rows if row.id in kept}
    kept |= {row.id for row in rows if tied_to(row.options) in counted}
    if rows:
        made = [{"stream": row.id, "counted": int(row.id in kept)} for row in rows]
        connection.execute(sa.insert(schema.earlier), made)
    layout_3.places.drop(connection)


def _grants(connection: Connection) -> None:
    """Every stream draws a share of a grant. What was promised stays what it was, to the last digit."""
    schema.metadata.create_all(connection, tables=[schema.grants], checkfirst=False)
    connection.execute(sa.text("ALTER TABLE streams ADD COLUMN grant_id BIGINT REFERENCES grants (id)"))
    connection.execute(sa.text("ALTER TABLE streams ADD COLUMN share TEXT NOT NULL DEFAULT '1'"))
    give_grants(connection)


def _noise_by_key(connection: Connection) -> None:
    """A release tells the noise of each key, and whether errors of different keys go together."""
    blob = "BLOB" if connection.dialect.name == "sqlite" else "BYTEA"
    connection.execute(sa.text(f"ALTER TABLE releases ADD COLUMN noise_variances {blob}"))
    connection.execute(sa.text("ALTER TABLE releases ADD COLUMN correlated INTEGER"))


def _domains(connection: Connection) -> None:
    """What a stream counts may change by a released decision; the streams that there are have their first domain."""
    schema.metadata.create_all(connection, tables=[schema.domains], checkfirst=False)


def _slips(connection: Connection) -> None:
    """What may slip is a second currency. What was made before slips nothing, and its hashes stay as they are."""
    connection.execute(sa.text("ALTER TABLE streams ADD COLUMN slips TEXT NOT NULL DEFAULT '0'"))
    connection.execute(sa.text("ALTER TABLE debits ADD COLUMN delta TEXT"))
    connection.execute(sa.text("ALTER TABLE debits ADD COLUMN settled_delta TEXT"))


def _joint_errors(connection: Connection) -> None:
    """A release may tell how errors of its keys go together."""
    blob = "BLOB" if connection.dialect.name == "sqlite" else "BYTEA"
    connection.execute(sa.text(f"ALTER TABLE releases ADD COLUMN joint {blob}"))


def _retention(connection: Connection) -> None:
    """The numbers of old releases may be let go."""
    schema.metadata.create_all(connection, tables=[schema.forgotten], checkfirst=False)


STEPS: tuple[Callable[[Connection], None], ...] = (
    _ledger,
    _queries_and_tokens,
    _places,
    _cuts,
    _grants,
    _noise_by_key,
    _domains,
    _slips,
    _joint_errors,
    _retention,
)
"""Step i leads from version i to version i + 1; a fresh store walks through all of them.

The day a table changes, the steps before that day get a frozen copy of the layout they make: a step never changes.
"""

VERSION = len(STEPS)


def migrate(database: Database, *, read_only: bool = False) -> None:
    """Bring the store to this version's layout, or refuse: one that a newer Hubbub wrote is left alone."""
    with database.read() as connection:
        version = _version(connection)
    if version > VERSION or (version < VERSION and read_only):
        raise _mismatch(version, database)
    if version == VERSION:
        return
    with database.write() as connection:
        if not database.is_sqlite:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        for step in STEPS[_version(connection) :]:
            with as_written(f"what a store of an older layout ({database.where}) holds"):
                step(connection)
        connection.execute(sa.update(schema.version).values(version=VERSION))


def _version(connection: Connection) -> int:
    """0 where there is nothing of ours."""
    if not sa.inspect(connection).has_table(schema.version.name):
        return 0
    rows = connection.execute(sa.select(schema.version.c.version)).scalars().all()
    if len(rows) != 1 or type(rows[0]) is not int or rows[0] < 1:
        raise broken(schema.version.c.version, "the layout of the store")
    return rows[0]


def store_name(connection: Connection) -> str:
    """Which store this is; a part of the names of its marks, so it must be what we once made up."""
    name = connection.execute(sa.select(schema.version.c.store)).scalar()
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise broken(schema.version.c.store, "the store's own name")
    return name


def _mismatch(version: int, database: Database) -> SchemaMismatch:
    if version > VERSION:
        return SchemaMismatch(
            f"The store {database.where} has layout {version}; this version of Hubbub knows up to {VERSION}.",
            "Use the version of Hubbub that wrote it, or a newer one. Nothing was changed.",
        )
    if not version:
        return OlderLayout(
            f"{database.where} is a database that holds no store: none of its tables is there.",
            "Check the address. If a store stood here, its ledger is gone: restore it from a backup. Opened for "
            "writing, it begins a new store, with a whole new budget.",
        )
    return OlderLayout(
        f"The store {database.where} has layout {version} and would have to be brought to {VERSION} first.",
        "Open it once for writing (any command that releases does), then read it again.",
    )
