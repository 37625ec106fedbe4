"""A connection to SQLite or PostgreSQL that keeps what it was told to keep."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, Connection, Engine

from hubbub.errors import MissingExtra, StoreUnavailable
from hubbub.store.address import parse, shown, wrong
from hubbub.store.sqlite_file import SqliteFile, replaced
from hubbub.store.unavailable import unavailable

_WRITING = "hubbub_writing"


class Database:
    """Transactions on one database; every error of the driver leaves as one of ours.

    SQLite runs in write-ahead mode with `synchronous=FULL`: a commit returns after the disk has it. PostgreSQL is
    held to the same: `synchronous_commit` is switched on if the server has it off, and a server that runs with
    `fsync=off` is refused, since after a power cut it may have forgotten what was spent.
    """

    def __init__(self, url: URL, *, read_only: bool, patience: float, untouched: bool = False) -> None:
        self.is_sqlite = url.get_backend_name() == "sqlite"
        self.where = shown(url)
        self._read_only = read_only
        self._pid = os.getpid()
        self._patience = patience
        self._file: SqliteFile | None = None
        if self.is_sqlite:
            self._file = SqliteFile(url.database or "", read_only=read_only, patience=patience, untouched=untouched)
        self._engine = self._postgres(url) if self._file is None else self._sqlite(self._file)

    @classmethod
    def at(
        cls, address: str | Path, *, create: bool, read_only: bool, patience: float, untouched: bool = False
    ) -> Database:  # fmt: skip
        """`address` is a path, `sqlite:///path` or `postgresql://…`."""
        url = parse(address)
        made = cls(url, read_only=read_only, patience=patience, untouched=untouched)
        if made._file is not None and not made._file.exists():
            if read_only or not create:
                raise StoreUnavailable(f"There is no store at {url.database}.", "Check the path.")
            made._file.create()
        return made

    def tighten(self) -> str:
        """Take a SQLite file away from other users of the machine; a word about it if that was needed."""
        return "" if self._file is None or self._read_only else self._file.tighten()

    def settle_file(self) -> None:
        """Bring what stands in the `-wal` of a SQLite store into the file itself, if the disk and other readers let us.

        A young store is all in its `-wal`. Whoever loses that, or tidies it up after a crash, would hold an empty file,
        which passes for a new store that owes nothing. One that knows its name and streams is found out by its marks.
        """
        if self._file is not None:
            self._file.take_in_wal()

    def insert_new(self, table: sa.Table) -> sa.Insert:
        """An insert that leaves a row alone which is there already."""
        kind = sqlite if self.is_sqlite else postgresql
        made: sa.Insert = kind.insert(table).on_conflict_do_nothing()
        return made

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
            file = connection.connection.driver_connection
            self._expect(file)
            yield connection
        self._expect(file)  # committed, but where? If the file is gone it is as if it had not been

    def _expect(self, connection: Any) -> None:
        if self._file is not None and not self._file.is_current(connection):
            raise replaced(self.where)

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
        except (sa.exc.DBAPIError, self._engine.dialect.loaded_dbapi.Error) as error:
            # The driver's own words stay behind: they may repeat the address, and with it a password.
            raise unavailable(getattr(error, "orig", None) or error, self.where) from None
        except sa.exc.TimeoutError:
            raise StoreUnavailable(
                f"All connections to the store {self.where} are in use.", "Use fewer threads at once, or wait longer."
            ) from None

    def close(self) -> None:
        self._engine.dispose(close=os.getpid() == self._pid)

    # ── the two kinds ────────────────────────────────────────────────────────────────────────────────────────────

    def _sqlite(self, file: SqliteFile) -> Engine:
        url = URL.create("sqlite", database=str(file.path))
        engine = sa.create_engine(url, creator=file.connect, pool_timeout=self._patience)

        @sa.event.listens_for(engine, "checkout")
        def checkout(connection: Any, record: Any, proxy: Any) -> None:  # noqa: ARG001
            if not file.is_current(connection):  # the pool then throws it away and opens what the path leads to now
                raise sa.exc.DisconnectionError

        @sa.event.listens_for(engine, "begin")
        def begin(connection: Connection) -> None:
            # A writer takes the lock at once: a reader that turns writer half-way can only fail.
            writing = connection.get_execution_options().get(_WRITING)
            driver: Any = connection.connection.driver_connection
            driver.execute("BEGIN IMMEDIATE" if writing else "BEGIN")

        return engine

    def _postgres(self, url: URL) -> Engine:
        try:
            import psycopg  # noqa: F401
        except ImportError:
            raise MissingExtra.of("psycopg", "postgres") from None
        # Parameters may hold passwords too: handed over beside the URL, so that nothing that shows a URL shows them.
        beside = {name: value for name, value in url.query.items() if name not in ("host", "port")}
        arguments = beside | {"connect_timeout": max(2, int(self._patience))}
        try:
            engine = sa.create_engine(
                url.set(drivername="postgresql+psycopg").difference_update_query(beside),
                pool_pre_ping=True,  # a server that was started anew is noticed before anything is begun on it
                pool_timeout=self._patience,
                connect_args=arguments,
            )
        except (sa.exc.ArgumentError, ValueError):  # they repeat what was given, and with it a password
            raise wrong("Its parameters cannot be read.") from None

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
