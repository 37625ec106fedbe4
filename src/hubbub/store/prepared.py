"""The few statements that every tick needs, straight to the driver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection


class Prepared:
    """A statement that is compiled once for each kind of database and then handed to the driver as it is.

    SQLAlchemy takes some 30 microseconds to run a statement that it knows, SQLite 4 to do what it says: with five of
    them a tick that is a fifth of a tick's time (`python -m benchmarks store`). Everything else goes the usual way.
    """

    def __init__(self, statement: Any, columns: Sequence[str] | None = None) -> None:
        self._statement, self._columns = statement, columns
        self._compiled: dict[str, tuple[str, tuple[str, ...] | None, dict[str, Any]]] = {}

    def run(self, connection: Connection, values: Mapping[str, Any]) -> Any:
        """The driver's cursor: rows are plain tuples. Its errors are the driver's own but for `IntegrityError`."""
        dialect = connection.dialect
        known = self._compiled.get(dialect.name)
        if known is None:
            made = self._statement.compile(dialect=dialect, column_keys=self._columns)
            order = tuple(made.positiontup) if made.positional else None
            known = self._compiled[dialect.name] = (str(made), order, dict(made.params))
        text, order, fixed = known
        given = fixed | dict(values)
        driver: Any = connection.connection.driver_connection
        try:
            return driver.execute(text, given if order is None else [given[name] for name in order])
        except dialect.loaded_dbapi.IntegrityError as error:
            raise sa.exc.IntegrityError(text, None, error) from None
