from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from hubbub.confidential import Counts
from hubbub.errors import SchemaMismatch
from hubbub.release import Lpa
from hubbub.store import Store, migrations, schema

# Layout 1 as it was: without query history and tokens. Written out by hand, so that no change of the code changes it.
LAYOUT_1 = """
CREATE TABLE hubbub_schema (version INTEGER NOT NULL);
INSERT INTO hubbub_schema VALUES (1);
CREATE TABLE streams (
    id INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL UNIQUE, keys TEXT NOT NULL, guarantee TEXT NOT NULL,
    method TEXT NOT NULL, options TEXT NOT NULL, created BIGINT NOT NULL, genesis BLOB NOT NULL
);
CREATE TABLE debits (
    stream INTEGER NOT NULL REFERENCES streams (id), tick BIGINT NOT NULL, place BIGINT NOT NULL, start BIGINT,
    length BIGINT, epsilon TEXT NOT NULL, rho TEXT NOT NULL, purpose TEXT NOT NULL, reserved BIGINT NOT NULL,
    previous BLOB NOT NULL, hash BLOB NOT NULL, state TEXT NOT NULL, owner TEXT NOT NULL, settled_epsilon TEXT,
    settled_rho TEXT, seal BLOB, PRIMARY KEY (stream, tick), UNIQUE (stream, place)
);
CREATE TABLE releases (
    stream INTEGER NOT NULL REFERENCES streams (id), tick BIGINT NOT NULL, estimates BLOB NOT NULL,
    standard_errors BLOB NOT NULL, lower BLOB NOT NULL, upper BLOB NOT NULL, measurements BLOB, noise_variance DOUBLE,
    PRIMARY KEY (stream, tick)
);
CREATE TABLE states (
    stream INTEGER NOT NULL PRIMARY KEY REFERENCES streams (id), tick BIGINT NOT NULL, place BIGINT NOT NULL,
    snapshot BLOB NOT NULL, account TEXT NOT NULL, settled BIGINT NOT NULL, lost BIGINT NOT NULL, seal BLOB NOT NULL,
    mark BLOB NOT NULL
);
"""


def test_an_older_store_is_brought_forward_with_all_it_holds(
    tmp_path: Path, lpa: Callable[[], Lpa], counts: Callable[..., Counts]
) -> None:
    new, old = tmp_path / "new.db", tmp_path / "old.db"
    with Store.open(new) as store, store.curate("site", lpa()) as curator:
        for tick in range(3):
            curator.release(counts(tick))
        head = store.verify("site").head
    with sqlite3.connect(old) as connection:
        connection.executescript(LAYOUT_1)
        connection.execute("ATTACH ? AS new", (str(new),))
        for table in ("streams", "debits", "releases", "states"):
            connection.execute(f"INSERT INTO {table} SELECT * FROM new.{table}")
    connection.close()
    with pytest.raises(SchemaMismatch, match="layout 1"):
        Store.open(old, read_only=True)
    with Store.open(old) as store:
        assert store.verify("site", head=head).anchor_tick == 2
        with store.curate("site", lpa()) as curator:
            assert curator.next_tick == 3
            curator.release(counts(3))
        store.record_query("site", 5)
        assert store.tokens.list() == []
        assert layout(store) == migrations.VERSION


def layout(store: Store) -> int:
    with store.database.read() as connection:
        return connection.execute(sa.select(schema.version.c.version)).scalar_one()


def test_a_fresh_store_has_the_layout_that_the_code_knows(store: Store) -> None:
    assert layout(store) == migrations.VERSION
    with store.database.read() as connection:
        found = sa.MetaData()
        found.reflect(connection)
    assert {name: sorted(table.c.keys()) for name, table in found.tables.items()} == {
        name: sorted(table.c.keys()) for name, table in schema.metadata.tables.items()
    }


def test_a_newer_store_is_left_alone(path: Path) -> None:
    with Store.open(path) as store, store.database.write() as connection:
        connection.execute(sa.update(schema.version).values(version=migrations.VERSION + 1))
    before = path.read_bytes()
    with pytest.raises(
        SchemaMismatch,
        match=f"layout {migrations.VERSION + 1}; this version of Hubbub knows up to {migrations.VERSION}",
    ):
        Store.open(path)
    assert path.read_bytes() == before


def test_a_step_that_fails_leaves_the_old_layout(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(connection: sa.Connection) -> None:
        connection.execute(sa.text("CREATE TABLE half (x INTEGER)"))
        raise RuntimeError

    Store.open(path).close()
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, fails))
    monkeypatch.setattr(migrations, "VERSION", len(migrations.STEPS))
    with pytest.raises(RuntimeError):
        Store.open(path)
    monkeypatch.undo()
    with Store.open(path) as store, store.database.read() as connection:
        assert layout(store) == migrations.VERSION
        assert not sa.inspect(connection).has_table("half")
