"""The one door to what is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from typing_extensions import TypeVar

from hubbub.confidential import Cut
from hubbub.errors import InvalidParameter, LedgerBroken, UnknownGrant, UnknownStream
from hubbub.mechanism import OnlineMechanism
from hubbub.noise import require_secure
from hubbub.privacy import Guarantee, Part
from hubbub.ranges import RangeStream
from hubbub.ranges.old_streams import FAULTY, doubt
from hubbub.released import Domain, Release, Snapshot
from hubbub.store import answers, cut, decisions, grants, left_behind, pages, queries, retention, schema, streams
from hubbub.store.budget import Budget, Spending
from hubbub.store.curator import Curator
from hubbub.store.database import Database
from hubbub.store.debit import COLUMNS, Debit
from hubbub.store.decision import Decision
from hubbub.store.decisions import History
from hubbub.store.grants import StoredGrant
from hubbub.store.ledger import Ledger, Position
from hubbub.store.mark_file import set_back
from hubbub.store.marks import Marks, Where
from hubbub.store.mending import mend
from hubbub.store.migrations import migrate, store_name
from hubbub.store.options import with_options
from hubbub.store.stream import Definition, Stream, expect_name, ranges_name
from hubbub.store.times import Clock, now, to_micros
from hubbub.store.tokens import Tokens
from hubbub.store.total import Total
from hubbub.store.verification import Verification, verify

_D = schema.debits.c
C = TypeVar("C", bound=Curator, default=Curator)

LINES_CHECKED_ON_OPEN = 1_000
"""How much of a ledger's end is verified before a curator goes on; `verify` checks all of it."""


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

    def __init__(self, database: Database, clock: Clock = now, marks: Where = None, note: str = "") -> None:
        self.database = database
        self.note = note
        """A word for the owner about what was found and mended when the store was opened; empty if nothing was."""
        self.tokens = Tokens(database, clock)
        self._where_marks = marks
        self._clock = clock
        self._known: dict[str, Stream] = {}
        self._histories: dict[int, History] = {}

    @classmethod
    def open(
        cls,
        address: str | Path,
        *,
        create: bool = True,
        read_only: bool = False,
        untouched: bool = False,
        patience: float = 5.0,
        clock: Clock = now,
        marks: Where = None,
    ) -> Store:
        """Open (and by default create) the store at a path, `sqlite:///path` or `postgresql://…`.

        A store of an older version is brought to this one; one of a newer version is refused. `patience` is how many
        seconds another process's lock is waited for. Reading a SQLite store leaves two files beside it; `untouched`,
        together with `read_only` and for a short look, leaves none.

        `marks` is the folder, outside the store, in which is written how far each stream was debited. None is
        `$HUBBUB_STATE`, else `$XDG_STATE_HOME/hubbub`, else `~/.local/state/hubbub`. With False none are kept: then a
        restored backup or a replaced file is not noticed, ticks released since are drawn a second time, and no curator
        is ever `proved`.
        """
        database = Database.at(address, create=create, read_only=read_only, patience=patience, untouched=untouched)
        try:
            migrate(database, read_only=read_only)
            note = database.tighten()
        except BaseException:
            database.close()
            raise
        return cls(database, clock, marks, note)

    def close(self) -> None:
        self.database.close()

    def __repr__(self) -> str:
        return f"<Store at {self.database.where}>"

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ── streams ──────────────────────────────────────────────────────────────────────────────────────────────────

    def create_stream(
        self,
        name: str,
        keys: Domain,
        promise: Guarantee | Part,
        method: str,
        options: Mapping[str, Any] | None = None,
    ) -> Stream:
        """Make a stream, or find it if it exists with exactly this definition; another one is refused.

        `promise` is a part of a grant, `Grant(…).part("1/2")`. A guarantee alone is a grant of the stream's own.
        """
        return self.create_streams([Definition.of(name, keys, promise, method, options)])[0]

    def create_streams(self, wanted: Sequence[Definition]) -> list[Stream]:
        """Make streams and their grants, all of them or none, in one transaction; those that exist are found.

        A grant that has too little left is refused (`GrantExhausted`), and so is another promise under a name that
        is known (`GuaranteeChanged`): before anything is made.
        """
        before = len(wanted) + 1
        while True:
            existing = {one.name: self.find(one.name) for one in wanted}
            for one in wanted:
                if (have := existing[one.name]) is not None:
                    have.definition.expect(one)
            missing = [one for one in wanted if existing[one.name] is None]
            if not missing:
                return [self.stream(one.name) for one in wanted]
            if len(missing) >= before:  # neither made by us nor by another process
                raise LedgerBroken(
                    f"The stream {missing[0].name!r} cannot be made: rows that are in the store stand against it.",
                    "`hubbub ledger verify STORE` tells what is wrong with the store. Restore it from a backup.",
                )
            before = len(missing)
            streams.make(self.database, self._marks, missing, to_micros(self._clock()))
            self.database.settle_file()

    def expect_streams(self, wanted: Sequence[Definition]) -> None:
        """Refuse what `create_streams`, or `curate` after it, would refuse; nothing is made, and no mark is moved."""
        existing = {one.name: self.find(one.name) for one in wanted}
        for one in wanted:
            if (have := existing[one.name]) is not None:
                have.definition.expect(one)
        missing = [one for one in wanted if existing[one.name] is None]
        with self.database.read() as connection:
            grants.expect(connection, missing)
            left_behind.expect(connection, len(missing))
        for one in wanted:
            if (have := existing[one.name]) is not None:
                verify(self.database, have, tail=LINES_CHECKED_ON_OPEN).require()
                self.ledger(have).checked_position()
            elif (file := self._marks.of(one.genesis)) is not None:
                mark = file.read()
                if mark is not None and mark.place:  # it was there once: an older copy does not know it
                    raise set_back(file.path, mark)

    def stream(self, name: str) -> Stream:
        stream = self.find(name)
        if stream is None:
            raise UnknownStream(
                f"The store has no stream {name!r}.", "`hubbub ledger show STORE` lists the streams that it has."
            )
        return stream

    def find(self, name: str) -> Stream | None:
        """The stream of that name, or None."""
        expect_name(name, "stream", "`store.streams()` gives streams: `one.name`.")
        if name not in self._known:  # a stream never changes, so it is read once
            with self.database.read() as connection:
                rows = streams.read(connection, name)
            if not rows:
                return None
            self._known[name] = rows[0]
        return self._known[name]

    def streams(self) -> list[Stream]:
        with self.database.read() as connection:
            return streams.read(connection)

    def domain(self, stream: str | Stream, tick: int | None = None) -> Domain:
        """What a stream counts from its next tick on; with `tick`, what it counts at that one."""
        stream = self._resolve(stream)
        with self.database.read() as connection:
            history = self._history(connection, stream)
        return history.now if tick is None else history.at(tick)

    def decisions(self, stream: str | Stream) -> tuple[Decision, ...]:
        """The decisions that changed what a stream counts, in order. Before the first it counts by `stream.keys`."""
        stream = self._resolve(stream)
        with self.database.read() as connection:
            return self._history(connection, stream).decisions

    def ranges_of(self, stream: str | Stream) -> Stream | None:
        """The stream of ranges that gets the same counts as this stream, if there is one."""
        name = stream if isinstance(stream, str) else stream.name
        ranges = self.find(ranges_name(name))
        return ranges if ranges is not None and ranges.ranges_of == name else None

    def names(self) -> tuple[list[str], list[str]]:
        """The names of all streams and of all grants, whatever else of them was changed."""
        with self.database.read() as connection:
            return streams.names(connection, schema.streams), streams.names(connection, schema.grants)

    def grants(self) -> list[StoredGrant]:
        """All grants, by name, with the streams that draw of them."""
        with self.database.read() as connection:
            return grants.read(connection)

    def grant(self, name: str) -> StoredGrant:
        expect_name(name, "grant", "`store.grants()` gives grants with what is drawn of them: `one.grant.name`.")
        with self.database.read() as connection:
            stored = grants.read(connection, name)
        if not stored:
            raise UnknownGrant(
                f"The store has no grant {name!r}.", "`hubbub ledger grants STORE` lists the grants that it has."
            )
        return stored[0]

    def total(self, grant: str) -> Total:
        """What this grant promises together with all others that may be about the same people."""
        known = self.grants()
        one = next((kept for kept in known if kept.grant.name == grant), None)
        return Total.of(self.grant(grant) if one is None else one, known)

    def doubts(self, stream: str | Stream) -> tuple[str, ...]:
        """What the owner must know of a promise that an earlier version may not have kept; empty for a sound one."""
        stream = self._resolve(stream)
        return (*stream.doubts(), *self._doubts_of_method(stream))

    def _doubts_of_method(self, stream: Stream) -> tuple[str, ...]:
        """Range streams of a state that an earlier version wrote: their trees may have cost more than was charged."""
        state = self.state(stream) if stream.method == RangeStream.name else None
        if state is None or state.version != FAULTY:
            return ()
        # Earlier versions did not write the method down; `auto` may have chosen any.
        word = doubt(stream.mechanism.get("method", "auto"), stream.guarantee, state.facts["window"])
        return (word,) if word else ()

    def curate(
        self,
        name: str,
        releaser: OnlineMechanism[Any],
        options: Mapping[str, Any] | None = None,
        *,
        part: Part | None = None,
        kind: type[C] = Curator,  # type: ignore[assignment]
        **given: Any,
    ) -> C:
        """Go on with the stream `name` (or begin it): the releaser is brought to where the stream stands.

        `part` is what the stream draws of a grant, and what the releaser was made with; without it the stream has a
        grant of its own. `kind` is another curator than the usual one, `given` goes to it.

        The last lines of the ledger are verified first; a broken chain is refused. So is a store that was set back
        (`StoreSetBack`), and a releaser whose noise could be foreseen.
        """
        require_secure(releaser.source)
        if part is not None and part.guarantee != releaser.guarantee:
            raise InvalidParameter(
                "The mechanism keeps another guarantee than the part of the grant that it draws.",
                "Make it with `part.guarantee`.",
            )
        existing = self.find(name)
        fixed = with_options(options or {}, releaser, existing)
        # Whoever goes on may know the domain of the first day, or the one of today.
        today = existing is not None and releaser.keys != existing.keys and releaser.keys == self.domain(existing)
        keys = existing.keys if existing is not None and today else releaser.keys
        stream = self.create_stream(name, keys, part or releaser.guarantee, releaser.name, fixed)
        verify(self.database, stream, tail=LINES_CHECKED_ON_OPEN).require()
        return kind(self.ledger(stream), releaser, **given)

    def definition(
        self, name: str, mechanism: OnlineMechanism[Any], promise: Part, options: Mapping[str, Any] | None = None
    ) -> Definition:
        """What `curate` would make of a mechanism, with the options of the mechanism; for several streams at once."""
        fixed = with_options(options or {}, mechanism, self.find(name))
        return Definition.of(name, mechanism.keys, promise, mechanism.name, fixed)

    def mend(self, name: str, upto: int | None = None) -> int:
        """After a store was set back: book every tick up to the mark as lost, at the full cost; how many there were.

        Then the stream can go on. `upto` is the last tick that was published, where no mark can tell. A budget that
        does not allow it is refused, and nothing is changed. Close all curators of the stream first.
        """
        stream = self.stream(name)
        mark = self._marks.of(stream.genesis)
        if mark is None:
            raise InvalidParameter("Without marks nothing can be mended.", "Open the store with a folder for marks.")
        return mend(Ledger(self.database, stream, self._clock), mark, upto)

    # ── what was released and spent ──────────────────────────────────────────────────────────────────────────────

    def releases(
        self, stream: str | Stream, *, first: int | None = None, last: int | None = None, limit: int | None = None
    ) -> Iterator[Release]:
        """Releases by tick, from `first` to `last`, both included; read page by page, so memory stays small."""
        for name, value in (("first", first), ("last", last), ("limit", limit)):
            if value is not None and value < 0:
                raise InvalidParameter(f"`{name}` must be a whole number from 0 on; got {value}.")
        return pages.releases(self.database, self._resolve(stream), self._history, first or 0, last, limit)

    def first_tick(self, stream: str | Stream) -> int | None:
        """The oldest tick whose numbers are still there; None if there is none."""
        return pages.first_tick(self.database, self._resolve(stream))

    def latest(self, stream: str | Stream, count: int = 1, *, first: int = 0) -> list[Release]:
        """The newest `count` releases from tick `first` on, oldest of them first; fewer if there are fewer."""
        return pages.latest(self.database, self._resolve(stream), self._history, count, first)

    def forget(self, stream: str | Stream, before: int) -> int:
        """Let go of the numbers of all releases before a tick; how many. What was spent, and its proof, stay."""
        return retention.forget(self.database, self._resolve(stream), before)

    def budget(self, stream: str | Stream) -> Budget:
        """Spent and left of a stream's grant: of all its streams together, whichever is named, with each one's own.

        Read from the sums that are kept with the states, so it takes as long after a million ticks.
        """
        return self.grant_budget(self._resolve(stream).part.grant.name)

    def grant_budget(self, grant: str) -> Budget:
        stored = self.grant(grant)
        return Budget(stored.grant, {name: self.spending(name) for name in stored.shares})

    def spending(self, stream: str | Stream) -> Spending:
        """What one stream has spent of its share."""
        stream = self._resolve(stream)
        position = self._position(stream)
        account = position.checkpoint.open_account(stream)
        for debit in position.pending:
            account.charge(debit.tick, debit.limit)
        kept, part = position.checkpoint, stream.part
        return Spending(
            stream.guarantee, part.share, account.spent, account.left, kept.settled, kept.lost, len(position.pending),
            part.slips, account.slipped,
        )  # fmt: skip

    def debits(self, stream: str | Stream, *, last: int | None = None) -> Iterator[Debit]:
        """The lines of the ledger in order; with `last`, that many of the newest."""
        stream = self._resolve(stream)
        query = sa.select(*COLUMNS).where(_D.stream == stream.id)
        if last is not None:
            with self.database.read() as connection:
                rows = connection.execute(query.order_by(_D.tick.desc()).limit(last)).all()
            return iter([Debit.read(row, stream.name) for row in reversed(rows)])
        return pages.debits(self.database, stream.name, query)

    def verify(self, stream: str | Stream, *, head: str | None = None) -> Verification:
        """Walk the whole ledger of a stream. `head` is one that was written down earlier."""
        return verify(self.database, self._resolve(stream), anchor=head)

    def newest_faults(self, stream: str | Stream) -> tuple[str, ...]:
        """What is wrong with the newest 1,000 lines of a ledger, and with its state: a look that is always short."""
        return tuple(map(str, verify(self.database, self._resolve(stream), tail=LINES_CHECKED_ON_OPEN).faults))

    def left_behind(self) -> tuple[str, ...]:
        """What is in the store and belongs to no stream of it, a sentence each; empty for a sound store.

        Nothing that Hubbub does leaves such lines: a stream was deleted by hand, or they were put in.
        """
        with self.database.read() as connection:
            return tuple(left_behind.faults(connection))

    def state(self, stream: str | Stream) -> Snapshot | None:
        """The mechanism's state after the newest outcome: as public as the releases. None before the first."""
        kept = self._position(self._resolve(stream)).checkpoint.snapshot
        return Snapshot.from_bytes(kept) if kept else None

    def ledger(self, stream: str | Stream) -> Ledger:
        """The durable side of a stream, for what debits by itself; releasers go through `curate`."""
        stream = self._resolve(stream)
        return Ledger(self.database, stream, self._clock, self._marks.of(stream.genesis))

    # ── query history ────────────────────────────────────────────────────────────────────────────────────────────

    def record_query(self, stream: str | Stream, *lengths: int) -> None:
        """Remember how long ranges were asked for: adaptive range trees are chosen by it.

        Anyone may ask, so the newest thousand are kept and no more: questions must not fill the disk.
        """
        queries.record(self.database, self._resolve(stream).id, lengths, to_micros(self._clock()))

    def recent_queries(self, stream: str | Stream, limit: int = queries.KEPT) -> list[int]:
        """The lengths of the newest queries, oldest of them first."""
        return queries.recent(self.database, self._resolve(stream).id, limit)

    # ── where ticks were cut, what was answered ──────────────────────────────────────────────────────────────────

    def keep_cut(self, stream: str | Stream, made: Cut) -> Cut:
        """Where a source ended when a tick was closed: durable when this returns.

        If the tick was cut before (by another monitor, or before a restart) that cut stands, and is returned.
        """
        return cut.keep(self.database, self._resolve(stream).id, made)

    def cuts(self, stream: str | Stream, first: int | None = None) -> list[Cut]:
        """The cuts that are kept, by tick, from `first` on."""
        return cut.kept(self.database, self._resolve(stream).id, first)

    def forget_cuts(self, stream: str | Stream, before: int) -> None:
        """Delete the cuts of all ticks before `before`."""
        cut.forget(self.database, self._resolve(stream).id, before)

    def remember_answer(self, stream: str | Stream, key_hash: bytes, body_hash: bytes, tick: int) -> tuple[bytes, int]:
        """Keep which tick answered `key_hash` (the newest 100,000 do); what was answered before stands."""
        return answers.remember(self.database, self._resolve(stream).id, key_hash, body_hash, tick)

    def answer(self, stream: str | Stream, key_hash: bytes) -> tuple[bytes, int] | None:
        """The body's hash and the tick with which `key_hash` was answered, or None."""
        return answers.answered(self.database, self._resolve(stream).id, key_hash)

    # ── in here ──────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def _marks(self) -> Marks:
        with self.database.read() as connection:
            return Marks(self._where_marks, store_name(connection))

    def _position(self, stream: Stream) -> Position:
        return Ledger(self.database, stream, self._clock).position()

    def _resolve(self, stream: str | Stream) -> Stream:
        return stream if isinstance(stream, Stream) else self.stream(stream)

    def _history(self, connection: Connection, stream: Stream) -> History:
        """What the stream counted when, as of now."""
        now = decisions.history_of(connection, stream, self._histories.get(stream.id))
        self._histories[stream.id] = now
        return now
