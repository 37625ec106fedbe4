"""The durable side of one stream: what is written, inside which transaction, in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from hubbub.errors import BudgetExceeded, LedgerBroken, TickTaken
from hubbub.privacy import Account
from hubbub.released import Cost, Domain, Release, Tick
from hubbub.store import chain, decisions, schema
from hubbub.store.checkpoint import Checkpoint, account_text
from hubbub.store.database import Database
from hubbub.store.debit import COLUMNS as DEBIT_COLUMNS
from hubbub.store.debit import Debit, State, cost_of, texts_of
from hubbub.store.decision import Decision
from hubbub.store.faults import fault_point
from hubbub.store.mark import Mark
from hubbub.store.mark_file import MarkFile, set_back
from hubbub.store.packing import PackedRelease
from hubbub.store.prepared import Prepared
from hubbub.store.stream import Stream, domain_text
from hubbub.store.times import Clock, span_of, to_micros

_D, _S = schema.debits.c, schema.states.c

_CHECKPOINT = sa.select(*(_S[name] for name in Checkpoint.__slots__)).where(_S.stream == sa.bindparam("id"))
_PENDING = (
    sa.select(*DEBIT_COLUMNS).where(_D.stream == sa.bindparam("id"), _D.tick > sa.bindparam("after")).order_by(_D.tick)
)
_DECIDED = (
    sa.select(sa.func.max(schema.domains.c.place))
    .where(schema.domains.c.stream == sa.bindparam("id"))
    .scalar_subquery()
)
_LAST = Prepared(
    sa.select(_D.hash, _D.seal, _D.place, _DECIDED.label("decided"))
    .where(_D.stream == sa.bindparam("id"))
    .order_by(_D.tick.desc())
    .limit(1)
)
_AT = sa.select(*DEBIT_COLUMNS).where(_D.stream == sa.bindparam("id"), _D.tick == sa.bindparam("at"))
_LOCK = sa.select(schema.streams.c.id).where(schema.streams.c.id == sa.bindparam("id")).with_for_update()
_RESERVE = Prepared(sa.insert(schema.debits), ["stream", *Debit.__slots__])
_RESERVED = sa.and_(_D.stream == sa.bindparam("id"), _D.state == "reserved", _D.owner == sa.bindparam("holder"))
_SETTLED = ("state", "settled_epsilon", "settled_rho", "settled_delta", "seal")
_SETTLE = Prepared(
    sa.update(schema.debits)
    .where(_RESERVED, _D.tick == sa.bindparam("at"))
    .values({name: sa.bindparam(f"new_{name}") for name in _SETTLED})
)
_HAND_OVER = (
    sa.update(schema.debits)
    .where(_RESERVED, _D.tick >= sa.bindparam("first"))
    .values(owner=sa.bindparam("new_owner"))
    .returning(_D.tick)
)
_RELEASE = Prepared(sa.insert(schema.releases), ["stream", "tick", *PackedRelease.__slots__])
_STATE = Prepared(
    sa.update(schema.states)
    .where(_S.stream == sa.bindparam("id"))
    .values({name: sa.bindparam(f"new_{name}") for name in Checkpoint.__slots__})
)

NOBODY = ""
"""The owner of a reservation that was handed back: certainly nothing was drawn for it, anyone may take it over."""


class Moved(Exception):
    """The store is further on than the curator knew: another one has written."""


@dataclass(frozen=True, slots=True)
class Position:
    """One moment of a stream: the last outcome, and the reservations that wait for theirs."""

    checkpoint: Checkpoint
    pending: tuple[Debit, ...]
    last: tuple[bytes, bytes | None]
    decision: Decision | None = None
    """The last one about what is counted; None while the stream has its first domain."""

    @property
    def last_tick(self) -> int:
        return self.pending[-1].tick if self.pending else self.checkpoint.tick

    @property
    def last_place(self) -> int:
        return self.pending[-1].place if self.pending else self.checkpoint.place


class Ledger:
    """Reads and writes one stream's debits, releases and state.

    It knows nothing of noise and keeps nothing in memory: what it is told about the past (`Position`) it compares
    with the store inside the transaction, and raises `Moved` if they differ. If anything is raised, the transaction
    is undone, but what was handed in (the account, the estimator behind `predict`) may have moved on: read both anew.
    """

    def __init__(self, database: Database, stream: Stream, clock: Clock, mark: MarkFile | None = None) -> None:
        self.database = database
        self.stream = stream
        self.clock = clock
        self.mark = mark
        self._checked: Mark | None = None  # the mark that was last found in the store

    def position(self) -> Position:
        """Where the stream stands, read in one moment. Whoever goes on from there uses `checked_position`."""
        with self.database.read() as connection:
            return self._position(connection)

    def checked_position(self) -> tuple[Position, Mark | None]:
        """Where the stream stands, and the mark outside the store, which was found in it in the same moment.

        The mark is read first: a debit is committed before it is marked, so the store can only be further on.
        """
        mark = self._read_mark()
        with self.database.read() as connection:
            self._check_mark(connection, mark)
            return self._position(connection), mark

    def holds(self, mark: Mark) -> bool:
        """Whether the store has the debit that is marked."""
        with self.database.read() as connection:
            return self._holds(connection, mark)

    def released_after(self, mark: Mark) -> bool:
        """Whether anything was drawn after the mark: not from here, since here the mark comes before the draw."""
        drawn = sa.or_(_D.settled_epsilon != "0", _D.settled_rho != "0", _D.settled_delta.is_not(None))
        of_ours = sa.and_(_D.stream == self.stream.id, _D.place > mark.place, _D.state == "settled", drawn)
        with self.database.read() as connection:
            return connection.execute(sa.select(sa.exists().where(of_ours))).scalar_one()

    def largest(self, account: Account, *others: Cost) -> Cost:
        """What covers all that was ever debited, an even part of the budget, and `others`: in both currencies."""
        query = sa.select(_D.epsilon, _D.rho, _D.delta).where(_D.stream == self.stream.id).distinct()
        with self.database.read() as connection:
            debited = [cost_of(*row) for row in connection.execute(query)]
        even = replace(account.even_cost, delta=account.even_slip)
        return reduce(account.larger, [*debited, even, *others])

    def keep_mark(self, debit: Debit, account: Account, *, free: bool = False) -> None:
        """Write down outside the store, durably, that it holds `debit`; must be done before anything is drawn."""
        if self.mark is not None:
            to = replace(Mark.of(debit), free=free)
            self._checked = self.mark.move(to, self._checked, account, self.holds)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that no other curator of this stream can come between."""
        with self.database.write() as connection:
            if not self.database.is_sqlite:  # SQLite has one writer anyway
                connection.execute(_LOCK, {"id": self.stream.id})
            yield connection

    def reserve(
        self,
        position: Position,
        account: Account,
        wanted: Sequence[tuple[Tick, Cost]],
        owner: str,
        purpose: str,
        *,
        checked: bool = True,
    ) -> Position:
        """Debit ticks durably, in one commit; or refuse what the guarantee does not allow, and write nothing.

        A store that does not hold its mark is refused, unless it is being mended (`checked` is then False).
        """
        self._check(position, account, wanted)
        fault_point("debit:begin")
        mark = self._read_mark() if checked else None
        try:
            with self.writing() as connection:
                self._expect(connection, position)
                if mark is not None and mark.hash != position.last[0]:
                    self._check_mark(connection, mark)
                self._checked = mark
                made = self._chained(position, wanted, owner, purpose)
                self._insert(connection, made)
                fault_point("debit:written")
        except sa.exc.IntegrityError:
            raise taken(wanted[0][0].index, "another curator holds it") from None
        fault_point("debit:committed")
        return replace(position, pending=position.pending + made, last=(made[-1].hash, None))

    def settle(
        self, position: Position, account: Account, release: Release, snapshot: bytes, *, finds: bool = False
    ) -> Position:
        """Write the outcome of the first reserved tick: release, settlement and state, together or not at all.

        With `finds` the release has keys of its own, and the line that says so is written with it.
        """
        debit = position.pending[0]
        if not account.covers(debit.limit, release.cost):
            raise BudgetExceeded(
                f"Tick {debit.tick} took {release.cost!r} where {debit.limit!r} was reserved. It is not published.",
                "The releaser's `cost` must say the most that a tick can take.",
            )
        with self.writing() as connection:
            after = self._settle(connection, position, account, "settled", release, snapshot, finds=finds)
        fault_point("settle:committed")
        return after

    def settle_free(
        self, position: Position, account: Account, tick: Tick, predict: Callable[[], tuple[Release, bytes]]
    ) -> tuple[Release, Position]:
        """A tick that costs nothing needs no reservation: its debit of zero is written with its outcome.

        `predict` moves the estimator, so it is called once it is sure that no other curator came before.
        """
        with self.writing() as connection:
            self._expect(connection, position)
            release, snapshot = predict()
            made = self._chained(position, [(tick, Cost.nothing())], NOBODY, "prediction")
            self._insert(connection, made)
            before = replace(position, pending=made, last=(made[-1].hash, None))
            after = self._settle(connection, before, account, "settled", release, snapshot)
        fault_point("settle:committed")
        return release, after

    def book_lost(
        self,
        position: Position,
        account: Account,
        tick: Tick,
        cost: Cost,
        predict: Callable[[], tuple[Release, bytes]],
    ) -> Position:
        """A tick that may have been drawn in a past that the store forgot: charged, predicted, never drawn."""
        self._check(position, account, [(tick, cost)])
        with self.writing() as connection:
            self._expect(connection, position)
            release, snapshot = predict()
            made = self._chained(position, [(tick, cost)], NOBODY, "lost")
            self._insert(connection, made)
            before = replace(position, pending=made, last=(made[-1].hash, None))
            after = self._settle(connection, before, account, "lost", release, snapshot)
        fault_point("lost:committed")
        return after

    def keys(self, position: Position | None = None) -> Domain:
        """What is counted after `position`, or now."""
        decision = (self.position() if position is None else position).decision
        return self.stream.keys if decision is None else decision.keys

    def evidence(self, released: tuple[str, int]) -> Release:
        """The settled release of a stream of the same grant that a decision may rest on; anything else is refused."""
        with self.database.read() as connection:
            return decisions.evidence(connection, self.stream, released)[0]

    def decide(
        self,
        position: Position,
        keys: Domain,
        released: tuple[str, int],
        change: Callable[[], bytes],
    ) -> Position:
        """Count by `keys` from the next tick on: the decision and the state that fits it, together or not at all.

        `change` moves the mechanism, so it is called once it is sure that no other curator came before.
        """
        fault_point("domain:begin")
        before = position.checkpoint
        with self.writing() as connection:
            self._expect(connection, position)
            decisions.expect_alone(connection, self.stream)
            _, evidence_seal = decisions.evidence(connection, self.stream, released)
            decision = self._decision(before.tick + 1, keys, released, evidence_seal, position.last[0], before)
            after = before.after(decision.place, decision.seal, change())
            decisions.write(connection, self.stream.id, decision)
            self._keep(connection, after)
            fault_point("domain:written")
        fault_point("domain:committed")
        return Position(after, (), (decision.hash, decision.seal), decision)

    def lose(self, position: Position, account: Account, predict: Callable[[], tuple[Release, bytes]]) -> Position:
        """The first reserved tick is never drawn (again): its prediction stands for it, at the reserved cost."""
        with self.writing() as connection:
            if self._position(connection) != position:
                raise Moved
            release, snapshot = predict()
            fault_point("lost:predicted")
            after = self._settle(connection, position, account, "lost", release, snapshot)
            fault_point("lost:written")
        fault_point("lost:committed")
        return after

    def hand_over(self, holder: str, to: str, first: int = 0) -> set[int]:
        """Give one owner's open reservations, from tick `first` on, to another; the ticks that changed hands."""
        with self.writing() as connection:
            values = {"id": self.stream.id, "holder": holder, "new_owner": to, "first": first}
            return set(connection.execute(_HAND_OVER, values).scalars())

    def debit(self, tick: int) -> Debit | None:
        with self.database.read() as connection:
            row = connection.execute(_AT, {"id": self.stream.id, "at": tick}).one_or_none()
        return None if row is None else Debit.read(row, self.stream.name)

    # ── in here ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _check(self, position: Position, account: Account, wanted: Sequence[tuple[Tick, Cost]]) -> None:
        if len(wanted) == 1 and not position.pending:
            account.check(wanted[0][0].index, wanted[0][1])
            return
        trial = position.checkpoint.open_account(self.stream)
        for debit in position.pending:
            trial.charge(debit.tick, debit.limit)
        for tick, cost in wanted:
            trial.charge(tick.index, cost)

    def _read_mark(self) -> Mark | None:
        return None if self.mark is None else self.mark.read()

    def _check_mark(self, connection: Connection, mark: Mark | None) -> None:
        if mark is not None and self.mark is not None and not self._holds(connection, mark):
            raise set_back(self.mark.path, mark)
        self._checked = mark

    def _holds(self, connection: Connection, mark: Mark) -> bool:
        if mark.place == 0:
            return mark.hash == self.stream.genesis
        row = connection.execute(_AT, {"id": self.stream.id, "at": mark.tick}).one_or_none()
        return row is not None and (row.place, row.hash) == (mark.place, mark.hash)

    def _position(self, connection: Connection) -> Position:
        row = connection.execute(_CHECKPOINT, {"id": self.stream.id}).one_or_none()
        if row is None:
            raise LedgerBroken(f"The state of the stream {self.stream.name!r} is missing.", "Restore a backup.")
        checkpoint = Checkpoint.read(row, self.stream).check(self.stream)
        lines = connection.execute(_PENDING, {"id": self.stream.id, "after": checkpoint.tick})
        pending = tuple(Debit.read(row, self.stream.name) for row in lines)
        decision = decisions.newest(connection, self.stream)
        return Position(checkpoint, pending, self._last(connection), decision)

    def _last(self, connection: Connection) -> tuple[bytes, bytes | None]:
        """Hash and seal of the last line, be it a debit or a decision."""
        row = _LAST.run(connection, {"id": self.stream.id}).fetchone()
        if row is not None and (row[3] is None or row[3] < row[2]):  # no decision since, as at nearly every tick
            return row[0], row[1]
        decision = decisions.newest(connection, self.stream)
        return (self.stream.genesis, self.stream.genesis) if decision is None else (decision.hash, decision.seal)

    def _expect(self, connection: Connection, position: Position) -> None:
        if self._last(connection) != position.last:
            raise Moved

    def _chained(
        self, position: Position, wanted: Sequence[tuple[Tick, Cost]], owner: str, purpose: str
    ) -> tuple[Debit, ...]:
        made: list[Debit] = []
        previous, place, time = position.last[0], position.last_place, to_micros(self.clock())
        for tick, cost in wanted:
            place += 1
            epsilon, rho, slip = texts_of(cost)
            bare = Debit(
                tick.index, place, *span_of(tick), epsilon, rho, purpose, time, previous, b"", "reserved", owner,
                delta=slip,
            )  # fmt: skip
            debit = replace(bare, hash=chain.debit_hash(bare))
            previous = debit.hash
            made.append(debit)
        return tuple(made)

    def _settle(
        self,
        connection: Connection,
        position: Position,
        account: Account,
        state: State,
        release: Release,
        snapshot: bytes,
        *,
        finds: bool = False,
    ) -> Position:
        before, debit, *rest = position.checkpoint, *position.pending
        account.charge(debit.tick, release.cost)
        packed = PackedRelease.of(release)
        epsilon, rho, slip = texts_of(release.cost)
        sealed = chain.seal(before.seal, debit.hash, state, epsilon, rho, chain.release_digest(packed), slip)
        outcome = (state, epsilon, rho, slip, sealed)
        values: dict[str, Any] = {"id": self.stream.id, "at": debit.tick, "holder": debit.owner}
        values |= {f"new_{name}": value for name, value in zip(_SETTLED, outcome, strict=True)}
        if _SETTLE.run(connection, values).rowcount != 1:
            raise taken(debit.tick, "another curator took it for lost, since it waited too long")
        fault_point("settle:debit")
        key = {"stream": self.stream.id, "tick": debit.tick}
        _RELEASE.run(connection, key | {name: getattr(packed, name) for name in packed.__slots__})
        fault_point("settle:release")
        after = Checkpoint.made(
            debit.tick,
            debit.place,
            snapshot,
            account_text(account),
            before.settled + (state == "settled"),
            before.lost + (state == "lost"),
            sealed,
        )
        last = position.last if rest else (debit.hash, sealed)
        decision = position.decision
        if finds:
            # What this release found is what it counts, and what is counted until the next one.
            assert not rest, "a stream that finds its keys reserves nothing ahead"
            decision = self._decision(
                debit.tick, release.keys, (self.stream.name, debit.tick), sealed, debit.hash, after
            )
            after = after.after(decision.place, decision.seal)
            decisions.write(connection, self.stream.id, decision)
            fault_point("settle:domain")
            last = decision.hash, decision.seal
        self._keep(connection, after)
        fault_point("settle:state")
        return Position(after, tuple(rest), last, decision)

    def _decision(
        self,
        tick: int,
        keys: Domain,
        released: tuple[str, int],
        evidence: bytes,
        previous: bytes,
        before: Checkpoint,
    ) -> Decision:
        """The line that says what is counted from `tick` on, after the line `previous`."""
        bare = Decision(
            before.place + 1, tick, domain_text(keys), *released, evidence, to_micros(self.clock()), previous, b"", b""
        )
        return decisions.made(bare, before.seal)

    def _keep(self, connection: Connection, after: Checkpoint) -> None:
        row: dict[str, Any] = {f"new_{name}": value for name, value in after.to_row().items()}
        _STATE.run(connection, row | {"id": self.stream.id})

    def _insert(self, connection: Connection, debits: Sequence[Debit]) -> None:
        for one in debits:
            row = {name: getattr(one, name) for name in Debit.__slots__}
            _RESERVE.run(connection, row | {"stream": self.stream.id})


def taken(tick: int, why: str) -> TickTaken:
    return TickTaken(
        f"Tick {tick} is taken: {why}.",
        "It is released once, by whoever came first. Go on with the next tick; the stored releases hold this one.",
    )
