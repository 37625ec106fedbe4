"""A connection to SQLite or PostgreSQL that keeps what it was told to keep."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine, make_url

from hubbub.errors import InvalidParameter, MissingExtra, StoreUnavailable
from hubbub.store.unavailable import unavailable

_WRITING = "hubbub_writing"


class Database:
    """Transactions on one database; every error of the driver leaves as one of ours.

    SQLite runs in write-ahead mode with `synchronous=FULL`: a commit returns after the disk has it. PostgreSQL is
    held to the same: `synchronous_commit` is switched on if the server has it off, and a server that runs with
    `fsync=off` is refused, since after a power cut it may have forgotten what was spent.
    """

    def __init__(self, url: URL, *, read_only: bool, patience: float) -> None:
        self.is_sqlite = url.get_backend_name() == "sqlite"
        self.where = url.database or "" if self.is_sqlite else url.render_as_string(hide_password=True)
        self._read_only = read_only
        self._pid = os.getpid()
        self._patience = patience
        self._engine = self._sqlite(url) if self.is_sqlite else self._postgres(url)

    @classmethod
    def at(cls, address: str | Path, *, create: bool, read_only: bool, patience: float) -> Database:
        """`address` is a path, `sqlite:///path` or `postgresql://…`."""
        url = _parse(address)
        if url.get_backend_name() == "sqlite" and not Path(url.database or "").exists():
            if read_only or not create:
                raise StoreUnavailable(f"There is no store at {url.database}.", "Check the path.")
            if not Path(url.database or "").parent.is_dir():
                raise StoreUnavailable(
                    f"The folder of {url.database} does not exist.", "Make the folder first, or check the path."
                )
        return cls(url, read_only=read_only, patience=patience)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """One moment of the store: all that is read inside belongs together."""
        options = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with self._transaction(options) as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """All or nothing, and durable when it returns."""
        if self._read_only:
            raise StoreUnavailable(f"The store {self.where} was opened read-only.", "Open it for writing.")
        with self._transaction({_WRITING: True}) as connection:
            yield connection

    @contextmanager
    def _transaction(self, options: dict[str, Any]) -> Iterator[Connection]:
        if os.getpid() != self._pid:
            raise StoreUnavailable(
                "The store was opened before this process was forked, and a connection serves one process only.",
                "Open the store again in the new process.",
            )
        try:
            with self._engine.connect() as plain, plain.execution_options(**options) as connection, connection.begin():
                yield connection
        except sa.exc.IntegrityError:
            raise
        except sa.exc.DBAPIError as error:
            raise unavailable(error.orig or error, self.where) from error
        except sa.exc.TimeoutError as error:
            raise StoreUnavailable(
                f"All connections to the store {self.where} are in use.", "Use fewer threads at once, or wait longer."
            ) from error

    def close(self) -> None:
        self._engine.dispose(close=os.getpid() == self._pid)

    # ── the two kinds ────────────────────────────────────────────────────────────────────────────────────────────

    def _sqlite(self, url: URL) -> Engine:
        path = url.database or ""
        if self._read_only:
            quoted = Path(path).absolute().as_uri()
            url = sa.make_url(f"sqlite:///{quoted}?mode=ro&uri=true")
        engine = sa.create_engine(url, pool_timeout=self._patience, connect_args={"timeout": self._patience})

        @sa.event.listens_for(engine, "connect")
        def prepare(connection: Any, record: Any) -> None:  # noqa: ARG001
            connection.isolation_level = None  # transactions begin where we say, not where the driver guesses
            if not self._read_only:
                connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA fullfsync=ON")  # macOS: a plain fsync stops at the drive's cache
            connection.execute("PRAGMA foreign_keys=ON")

        @sa.event.listens_for(engine, "begin")
        def begin(connection: Connection) -> None:
            # A writer takes the lock at once: a reader that turns writer half-way can only fail.
            writing = connection.get_execution_options().get(_WRITING)
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

        return engine

    def _postgres(self, url: URL) -> Engine:
        try:
            import psycopg  # noqa: F401
        except ImportError:
            raise MissingExtra.of("psycopg", "postgres") from None
        arguments = {"connect_timeout": max(2, int(self._patience))}
        engine = sa.create_engine(
            url.set(drivername="postgresql+psycopg"),
            pool_pre_ping=True,  # a server that was started anew is noticed before anything is begun on it
            pool_timeout=self._patience,
            connect_args=arguments,
        )

        @sa.event.listens_for(engine, "connect")
        def prepare(connection: Any, record: Any) -> None:  # noqa: ARG001
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT current_setting('fsync'), current_setting('synchronous_commit'), "
                    "set_config('lock_timeout', %s, false)",
                    (f"{int(self._patience * 1000)}ms",),
                )
                fsync, commit, _ = cursor.fetchone()
                if fsync == "off":
                    raise StoreUnavailable(
                        f"The server of {self.where} runs with fsync=off: after a power cut it may have forgotten what "
                        "was spent.",
                        "Switch fsync on in postgresql.conf and reload the server.",
                    )
                if commit == "off":
                    cursor.execute("SET synchronous_commit = on")
            connection.commit()

        return engine


def _parse(address: str | Path) -> URL:
    text = os.fspath(address)
    if "://" not in text:
        url = URL.create("sqlite", database=text)
    else:
        try:
            url = make_url(text)
        except sa.exc.ArgumentError:
            raise _wrong("It cannot be read as an address.") from None
        if url.get_backend_name() not in ("sqlite", "postgresql"):
            raise _wrong(f"Its kind is {url.get_backend_name()!r}.")
    if url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:"):
        raise _wrong("A ledger must outlive the process, so it cannot be kept in memory.")
    return url


def _wrong(why: str) -> InvalidParameter:
    return InvalidParameter(
        f"This is not the address of a store. {why}",
        "Give a path (site.db), sqlite:///path or postgresql://user:password@host/database.",
    )
