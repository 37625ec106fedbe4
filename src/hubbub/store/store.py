"""The one door to what is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from hubbub.errors import InvalidParameter, LedgerBroken, UnknownStream
from hubbub.privacy import Guarantee
from hubbub.released import Keys, Release, Snapshot
from hubbub.store import schema
from hubbub.store.budget import Budget
from hubbub.store.checkpoint import Checkpoint
from hubbub.store.curator import Curator
from hubbub.store.database import Database
from hubbub.store.debit import Debit, cost_of
from hubbub.store.ledger import DEBIT_COLUMNS, Ledger
from hubbub.store.mechanism import Mechanism
from hubbub.store.migrations import migrate
from hubbub.store.packing import PackedRelease
from hubbub.store.stream import Definition, Stream, companion_name
from hubbub.store.times import Clock, from_micros, now, tick_of, to_micros
from hubbub.store.tokens import Tokens
from hubbub.store.verification import Verification, verify

_STREAMS, _D, _R = schema.streams.c, schema.debits.c, schema.releases.c
_Q, _P = schema.queries.c, schema.places.c
_PAGE = 1_000
_LONGEST_QUERY = 2**62

QUERIES_KEPT = 1_000
"""How many lengths of queries a stream remembers; a chooser looks at the last few hundred."""

LINES_CHECKED_ON_OPEN = 1_000
"""How much of a ledger's end is verified before a curator goes on; `verify` checks all of it."""

_RELEASES = sa.select(
    _R.tick, _D.start, _D.length, _D.settled_epsilon, _D.settled_rho, *(_R[name] for name in PackedRelease.__slots__)
).select_from(schema.releases.join(schema.debits, sa.and_(_D.stream == _R.stream, _D.tick == _R.tick)))


class Store:
    """Ledger, releases, states, query history and tokens, in SQLite or PostgreSQL.

    Threads may share a store; processes open their own.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Store.open(Path(folder.name) / "site.db") as store:
    ...     store.streams()
    []
    >>> folder.cleanup()
    """

    def __init__(self, database: Database, clock: Clock = now) -> None:
        self.database = database
        self.tokens = Tokens(database, clock)
        self._clock = clock
        self._known: dict[str, Stream] = {}

    @classmethod
    def open(
        cls,
        address: str | Path,
        *,
        create: bool = True,
        read_only: bool = False,
        patience: float = 5.0,
        clock: Clock = now,
    ) -> Store:
        """Open (and by default create) the store at a path, `sqlite:///path` or `postgresql://…`.

        A store of an older version is brought to this one; one of a newer version is refused. `patience` is how many
        seconds another process's lock is waited for.
        """
        database = Database.at(address, create=create, read_only=read_only, patience=patience)
        try:
            migrate(database, read_only=read_only)
        except BaseException:
            database.close()
            raise
        return cls(database, clock)

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ── streams ──────────────────────────────────────────────────────────────────────────────────────────────────

    def create_stream(
        self, name: str, keys: Keys, guarantee: Guarantee, method: str, options: Mapping[str, Any] | None = None
    ) -> Stream:
        """Make a stream, or find it if it exists with exactly this definition; another one is refused."""
        asked = Definition.of(name, keys, guarantee, method, options)
        found = self._find(name)
        if found is None:
            found = self._insert(asked)
        found.definition.expect(asked)
        return found

    def stream(self, name: str) -> Stream:
        found = self._find(name)
        if found is None:
            raise UnknownStream(
                f"The store has no stream {name!r}.", "`hubbub ledger show STORE` lists the streams that it has."
            )
        return found

    def streams(self) -> list[Stream]:
        with self.database.read() as connection:
            rows = connection.execute(sa.select(schema.streams).order_by(_STREAMS.name)).all()
        return [_stream(row) for row in rows]

    def companion(self, stream: str | Stream) -> Stream | None:
        """The stream of ranges that shares this stream's promise, if it has one."""
        name = stream if isinstance(stream, str) else stream.name
        found = self._find(companion_name(name))
        return found if found is not None and found.companion_of == name else None

    def curate(
        self,
        name: str,
        releaser: Mechanism,
        options: Mapping[str, Any] | None = None,
        *,
        reserve_ahead: int = 1,
        patience: float = 5.0,
    ) -> Curator:
        """Go on with the stream `name` (or begin it): the releaser is brought to where the stream stands.

        The last lines of the ledger are verified first; a broken chain is refused.
        """
        stream = self.create_stream(name, releaser.keys, releaser.guarantee, releaser.name, options)
        verify(self.database, stream, tail=LINES_CHECKED_ON_OPEN).require()
        return Curator(self.ledger(stream), releaser, reserve_ahead=reserve_ahead, patience=patience)

    # ── what was released and spent ──────────────────────────────────────────────────────────────────────────────

    def releases(
        self, stream: str | Stream, *, first: int | None = None, last: int | None = None, limit: int | None = None
    ) -> Iterator[Release]:
        """Releases by tick, from `first` to `last`, both included; read page by page, so memory stays small."""
        for name, value in (("first", first), ("last", last), ("limit", limit)):
            if value is not None and value < 0:
                raise InvalidParameter(f"`{name}` must be a whole number from 0 on; got {value}.")
        return self._pages(self._resolve(stream), first or 0, last, limit)

    def latest(self, stream: str | Stream, count: int = 1) -> list[Release]:
        """The newest `count` releases, oldest of them first; fewer if there are fewer."""
        found = self._resolve(stream)
        query = _RELEASES.where(_R.stream == found.id).order_by(_R.tick.desc()).limit(count)
        with self.database.read() as connection:
            rows = connection.execute(query).all()
        return [_release(found, row) for row in reversed(rows)]

    def budget(self, stream: str | Stream) -> Budget:
        """Spent and left, of a stream and its companion together, whichever is named: what is promised is the sum.

        Read from the sums that are kept with the states, so it takes as long after a million ticks.
        """
        found = self._resolve(stream)
        if found.companion_of is not None:
            found = self._find(found.companion_of) or found
        beside = self.companion(found)
        if beside is None:
            return self._own_budget(found)
        return Budget.joined({one.name: self._own_budget(one) for one in (found, beside)})

    def _own_budget(self, found: Stream) -> Budget:
        position = self.ledger(found).position()
        account = position.checkpoint.open_account(found)
        for debit in position.pending:
            account.charge(debit.tick, debit.limit)
        kept = position.checkpoint
        return Budget(found.guarantee, account.spent, account.left, kept.settled, kept.lost, len(position.pending))

    def debits(self, stream: str | Stream, *, last: int | None = None) -> Iterator[Debit]:
        """The lines of the ledger in order; with `last`, that many of the newest."""
        found = self._resolve(stream)
        query = sa.select(*DEBIT_COLUMNS).where(_D.stream == found.id)
        if last is not None:
            with self.database.read() as connection:
                rows = connection.execute(query.order_by(_D.tick.desc()).limit(last)).all()
            return iter([Debit(*row) for row in reversed(rows)])
        return self._debit_pages(query)

    def verify(self, stream: str | Stream, *, head: str | None = None) -> Verification:
        """Walk the whole ledger of a stream. `head` is one that was written down earlier."""
        return verify(self.database, self._resolve(stream), anchor=head)

    def state(self, stream: str | Stream) -> Snapshot | None:
        """The mechanism's state after the newest outcome: as public as the releases. None before the first."""
        kept = self.ledger(stream).position().checkpoint.snapshot
        return Snapshot.from_bytes(kept) if kept else None

    def ledger(self, stream: str | Stream) -> Ledger:
        """The durable side of a stream, for what debits by itself; releasers go through `curate`."""
        return Ledger(self.database, self._resolve(stream), self._clock)

    # ── query history ────────────────────────────────────────────────────────────────────────────────────────────

    def record_query(self, stream: str | Stream, *lengths: int) -> None:
        """Remember how long ranges were asked for: adaptive range trees are chosen by it.

        Anyone may ask, so the newest thousand are kept and no more: questions must not fill the disk.
        """
        if not lengths or min(lengths) < 1 or max(lengths) > _LONGEST_QUERY:
            raise InvalidParameter("A query covers at least one tick, and no more than 2^62.")
        one, time = self._resolve(stream).id, to_micros(self._clock())
        rows = [{"stream": one, "time": time, "length": length} for length in lengths[-QUERIES_KEPT:]]
        ranked = sa.select(_Q.id).where(_Q.stream == one).order_by(_Q.id.desc())
        with self.database.write() as connection:
            connection.execute(sa.insert(schema.queries), rows)
            oldest = connection.execute(ranked.offset(QUERIES_KEPT).limit(1)).scalar_one_or_none()
            if oldest is not None:
                connection.execute(sa.delete(schema.queries).where(_Q.stream == one, _Q.id <= oldest))

    def recent_queries(self, stream: str | Stream, limit: int = QUERIES_KEPT) -> list[int]:
        """The lengths of the newest queries, oldest of them first."""
        query = sa.select(_Q.length).where(_Q.stream == self._resolve(stream).id).order_by(_Q.id.desc()).limit(limit)
        with self.database.read() as connection:
            return list(reversed(connection.execute(query).scalars().all()))

    # ── where a pipeline reads on ────────────────────────────────────────────────────────────────────────────────

    def keep_place(self, stream: str | Stream, place: Mapping[str, Any]) -> None:
        """Remember where the stream's source is to be read on after a restart. An old place is safe, only slower."""
        row = {"time": to_micros(self._clock()), "place": json.dumps(place, sort_keys=True)}
        one = self._resolve(stream).id
        with self.database.write() as connection:
            if not connection.execute(sa.update(schema.places).where(_P.stream == one).values(row)).rowcount:
                connection.execute(sa.insert(schema.places), row | {"stream": one})

    def place(self, stream: str | Stream) -> dict[str, Any] | None:
        """What `keep_place` was last told, or None."""
        query = sa.select(_P.place).where(_P.stream == self._resolve(stream).id)
        with self.database.read() as connection:
            found = connection.execute(query).scalar_one_or_none()
        return None if found is None else dict(json.loads(found))

    # ── in here ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _resolve(self, stream: str | Stream) -> Stream:
        return stream if isinstance(stream, Stream) else self.stream(stream)

    def _find(self, name: str) -> Stream | None:
        if name not in self._known:  # a stream never changes, so it is read once
            with self.database.read() as connection:
                row = connection.execute(sa.select(schema.streams).where(_STREAMS.name == name)).one_or_none()
            if row is None:
                return None
            self._known[name] = _stream(row)
        return self._known[name]

    def _insert(self, asked: Definition) -> Stream:
        row = {
            "name": asked.name, "keys": asked.keys, "guarantee": asked.guarantee, "method": asked.method,
            "options": asked.options, "created": to_micros(self._clock()), "genesis": asked.genesis,
        }  # fmt: skip
        try:
            with self.database.write() as connection:
                made = connection.execute(sa.insert(schema.streams).returning(*_STREAMS), row).one()
                start = Checkpoint.start(_stream(made))
                connection.execute(sa.insert(schema.states), start.to_row() | {"stream": made.id})
        except sa.exc.IntegrityError:  # another process made it in this moment
            return self.stream(asked.name)
        return self.stream(asked.name)

    def _pages(self, stream: Stream, first: int, last: int | None, limit: int | None) -> Iterator[Release]:
        while limit is None or limit > 0:
            size = _PAGE if limit is None else min(limit, _PAGE)
            query = _RELEASES.where(_R.stream == stream.id, _R.tick >= first)
            if last is not None:
                query = query.where(_R.tick <= last)
            with self.database.read() as connection:
                rows = connection.execute(query.order_by(_R.tick).limit(size)).all()
            for row in rows:
                yield _release(stream, row)
            if len(rows) < size:
                return
            first = rows[-1].tick + 1
            limit = None if limit is None else limit - size

    def _debit_pages(self, query: sa.Select[Any]) -> Iterator[Debit]:
        after = -1
        while True:
            with self.database.read() as connection:
                rows = connection.execute(query.where(_D.tick > after).order_by(_D.tick).limit(_PAGE)).all()
            for row in rows:
                yield Debit(*row)
            if len(rows) < _PAGE:
                return
            after = rows[-1].tick


def _stream(row: Any) -> Stream:
    definition = Definition(row.name, row.keys, row.guarantee, row.method, row.options)
    if definition.genesis != row.genesis:
        raise LedgerBroken(
            f"The definition of the stream {row.name!r} was changed after it was made.",
            "Restore the store from a backup: the promise that was made is no longer the one that is written there.",
        )
    return Stream(row.id, definition, from_micros(row.created))


def _release(stream: Stream, row: Any) -> Release:
    index, start, length, epsilon, rho, *packed = row
    return PackedRelease(*packed).unpack(tick_of(index, start, length), stream.keys, cost_of(epsilon, rho))
