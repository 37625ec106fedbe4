"""Stores as earlier versions of Hubbub made them, from the words of that time."""

from __future__ import annotations

import sqlite3
from pathlib import Path

DUMP = Path(__file__).parent / "layout_4.sql"

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

# Layout 3 had query history, tokens and the places of pipelines.
LAYOUT_3 = (
    LAYOUT_1.replace("VALUES (1)", "VALUES (3)")
    + """
CREATE TABLE queries (
    id INTEGER NOT NULL PRIMARY KEY, stream INTEGER NOT NULL REFERENCES streams (id), time BIGINT NOT NULL,
    length BIGINT NOT NULL
);
CREATE INDEX queries_of_stream ON queries (stream, id);
CREATE TABLE tokens (
    id INTEGER NOT NULL PRIMARY KEY, role TEXT NOT NULL, hash BLOB NOT NULL UNIQUE, created BIGINT NOT NULL,
    revoked BIGINT
);
CREATE TABLE places (
    stream INTEGER NOT NULL PRIMARY KEY REFERENCES streams (id), time BIGINT NOT NULL, place TEXT NOT NULL
);
INSERT INTO places SELECT id, 1, '{"tick": 2}' FROM new.streams WHERE name = 'site';
"""
)
LAYOUTS = {1: LAYOUT_1, 3: LAYOUT_3}


def old_store(path: Path, layout: int = 4) -> Path:
    """A store of that layout. What layout 4 holds beyond the older ones is left out."""
    full = path if layout == 4 else path.with_suffix(".full")
    with sqlite3.connect(full) as connection:
        connection.executescript(DUMP.read_text())
    connection.close()
    if layout != 4:
        with sqlite3.connect(path) as connection:
            connection.execute("ATTACH ? AS new", (str(full),))
            connection.executescript(LAYOUTS[layout])
            for table in ("streams", "debits", "releases", "states"):
                connection.execute(f"INSERT INTO {table} SELECT * FROM new.{table}")
        connection.close()
    return path
