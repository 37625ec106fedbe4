"""Walks a whole ledger and says which line is not as it was written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from hubbub.errors import HubbubError, LedgerBroken
from hubbub.privacy import Account
from hubbub.store import chain, decisions, grants, schema
from hubbub.store.cells import Shape, broken
from hubbub.store.checkpoint import Checkpoint, account_text
from hubbub.store.database import Database
from hubbub.store.debit import COLUMNS as DEBIT_COLUMNS
from hubbub.store.debit import Debit
from hubbub.store.decision import Decision
from hubbub.store.decisions import History
from hubbub.store.packing import PackedRelease
from hubbub.store.stream import Stream

_D, _R, _S, _F = schema.debits.c, schema.releases.c, schema.states.c, schema.forgotten.c
_WIDTH = len(DEBIT_COLUMNS)
_PAGE = 2_000
_MOST_CELLS = 5_000_000
_MOST_FAULTS = 100

_ROWS = (
    sa.select(
        *DEBIT_COLUMNS,
        _F.digest,
        _F.measured,
        _R.tick.label("released"),
        *(_R[name] for name in PackedRelease.__slots__),
    )
    .select_from(
        schema.debits.outerjoin(schema.releases, sa.and_(_R.stream == _D.stream, _R.tick == _D.tick)).outerjoin(
            schema.forgotten, sa.and_(_F.stream == _D.stream, _F.tick == _D.tick)
        )
    )
    .where(_D.stream == sa.bindparam("id"), _D.tick > sa.bindparam("after"))
    .order_by(_D.tick)
    .limit(sa.bindparam("page"))
)
_BEFORE_TAIL = (
    sa.select(*DEBIT_COLUMNS)
    .where(_D.stream == sa.bindparam("id"))
    .order_by(_D.tick.desc())
    .offset(sa.bindparam("rows"))
    .limit(1)
)
_ORPHANS = (
    sa.select(_R.tick)
    .where(
        _R.stream == sa.bindparam("id"),
        ~sa.exists().where(_D.stream == _R.stream, _D.tick == _R.tick),
    )
    .order_by(_R.tick)
    .limit(_MOST_FAULTS)
)
_FORGOTTEN = Shape([_F.digest, _F.measured])
_RELEASE = Shape([_R[name] for name in PackedRelease.__slots__])
_STATE = sa.select(*(_S[name] for name in Checkpoint.__slots__)).where(_S.stream == sa.bindparam("id"))


class Outcome(NamedTuple):
    """What is known of a release: its digest, on which the chain rests, and whether it was measured.

    `forgotten` where its numbers were let go and the digest alone was kept.
    """

    digest: bytes
    measured: bool
    forgotten: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """One line that is not as it was written."""

    tick: int | None
    what: str

    def __str__(self) -> str:
        return self.what if self.tick is None else f"tick {self.tick}: {self.what}"


@dataclass(frozen=True, slots=True)
class Verification:
    """What a walk over a ledger found."""

    stream: str
    settled: int
    lost: int
    reserved: int
    spent: Fraction | None
    head: str
    anchor_tick: int | None
    faults: tuple[Fault, ...]
    slipped: Fraction | None = None

    @property
    def ok(self) -> bool:
        return not self.faults

    @property
    def debits(self) -> int:
        return self.settled + self.lost + self.reserved

    @classmethod
    def unreadable(cls, stream: str, what: str) -> Verification:
        """Of a stream whose own row was changed, so that its ledger cannot be walked at all."""
        return cls(stream, 0, 0, 0, None, "", None, (Fault(None, what),))

    def require(self) -> Verification:
        """This, if nothing was found; otherwise the refusal to go on."""
        if self.faults:
            raise LedgerBroken(
                f"The ledger of the stream {self.stream!r} is broken at {self.faults[0]}.",
                "Stop releasing, find out who changed it, and restore the store from a backup. Nothing was written.",
            )
        return self


def verify(database: Database, stream: Stream, *, anchor: str | None = None, tail: int | None = None) -> Verification:
    """Check its grant and every line of a stream's ledger, in constant memory; with `tail`, only the last so many.

    `anchor` is a head that was written down earlier: the ledger must still hold it, or its end was cut off.
    """
    with database.read() as connection:
        walk = _Walk(stream, None if anchor is None else anchor.lower())
        if tail is not None:
            walk.begin_after(connection, tail)
        try:
            walk.decisions = [one for one in decisions.read(connection, stream) if one.place > walk.place]
            for debit, release in _rows(connection, stream, walk.tick, _page(stream, walk.decisions)):
                walk.decide(connection, before=debit.place)
                walk.step(debit, release)
            walk.decide(connection)
            walk.end(connection)
            walk.note(grants.faults(connection, stream.part.grant.name))
        except LedgerBroken as error:  # a cell that holds what is never written there: no line after it can be read
            walk.note([error.message])
    return walk.result()


def _page(stream: Stream, changes: Sequence[Decision]) -> int:
    """How many lines are read at a time, with their releases: few of a stream with many keys."""
    return max(1, min(_PAGE, _MOST_CELLS // History(stream, changes).largest))


def _rows(
    connection: Connection, stream: Stream, after: int, page: int = _PAGE
) -> Iterator[tuple[Debit, Outcome | None]]:  # fmt: skip
    name = stream.name
    while True:
        rows = connection.execute(_ROWS, {"id": stream.id, "after": after, "page": page}).all()
        for row in rows:
            values = tuple(row)
            debit = Debit.read(values[:_WIDTH], name, amounts=False)
            yield debit, _outcome(name, debit, values[_WIDTH : _WIDTH + 2], values[_WIDTH + 2], values[_WIDTH + 3 :])
        if len(rows) < page:
            return
        after = rows[-1].tick


def _outcome(
    stream: str, debit: Debit, forgotten: tuple[Any, ...], released: int | None, packed: tuple[Any, ...]
) -> Outcome | None:
    if released is not None:
        if not _RELEASE.fits(packed):
            _RELEASE.checked(packed, _where(stream, debit))
        release = PackedRelease(*packed)
        return Outcome(chain.release_digest(release), release.measurements is not None, forgotten[0] is not None)
    if forgotten[0] is None:
        return None
    digest, measured = _FORGOTTEN.checked(forgotten, _where(stream, debit))
    if measured not in (0, 1):
        raise broken(_F.measured, _where(stream, debit))
    return Outcome(digest, measured == 1, forgotten=True)


def _where(stream: str, debit: Debit) -> str:
    return f"stream {stream!r}, tick {debit.tick}"


class _Walk:
    """Carries from line to line what the next one must fit to."""

    def __init__(self, stream: Stream, anchor: str | None) -> None:
        self._stream = stream
        self._anchor, self._anchor_tick = anchor, None if anchor != stream.genesis.hex() else -1
        self._account: Account | None = Account(stream.guarantee)
        self.tick, self.place = -1, 0
        self.decisions: list[Decision] = []
        self._hash = self._seal = stream.genesis
        self._sealed = (-1, 0)  # tick and place of the last outcome
        self._counts = {"settled": 0, "lost": 0, "reserved": 0}
        self._faults: list[Fault] = []

    def begin_after(self, connection: Connection, rows: int) -> None:
        """Take the line before the last `rows` as given; what was spent before it is then not added up."""
        row = connection.execute(_BEFORE_TAIL, {"id": self._stream.id, "rows": rows}).one_or_none()
        if row is not None:
            before = Debit.read(row, self._stream.name, amounts=False)
            self.tick, self.place, self._hash = before.tick, before.place, before.hash
            self._seal, self._sealed = before.seal or b"", (before.tick, before.place)
            self._account = None

    def step(self, debit: Debit, release: Outcome | None) -> None:
        if debit.place != self.place + 1:
            self._fault(debit, f"line {self.place + 1} is missing, or this one was put in (it says {debit.place})")
        elif debit.previous != self._hash:
            self._fault(debit, "it does not follow the line before it")
        if chain.debit_hash(debit) != debit.hash:
            self._fault(debit, "the debit was changed after it was written")
        if debit.state == "reserved":
            settled = (debit.seal, debit.settled_epsilon, debit.settled_rho, debit.settled_delta)
            if settled != (None, None, None, None):
                self._fault(debit, "it is marked as reserved, but has an outcome")
            if release is not None:
                self._fault(debit, "there is a release, but the debit was never settled")
        else:
            self._outcome(debit, release)
        self._counts[debit.state] = self._counts.get(debit.state, 0) + 1
        self.tick, self.place, self._hash = debit.tick, debit.place, debit.hash

    def decide(self, connection: Connection, before: int | None = None) -> None:
        """The decisions about what is counted that stand here: all that are left, or those before a debit's place."""
        while self.decisions and (before is None or self.decisions[0].place < before):
            self._decision(connection, self.decisions.pop(0))

    def _decision(self, connection: Connection, one: Decision) -> None:
        if one.place != self.place + 1:
            self._fault(one, f"line {self.place + 1} is missing, or this one was put in (it says {one.place})")
        elif one.previous != self._hash:
            self._fault(one, "it does not follow the line before it")
        if one != decisions.made(one, self._seal):
            self._fault(one, "the decision about what is counted was changed after it was written")
        elif self._counts["reserved"] or not self._in_its_place(one):
            self._fault(one, "what is counted changes with the tick after the last outcome, and with no other")
        elif decisions.seal_of(connection, one.evidence, one.evidence_tick) != one.evidence_seal:
            self._fault(one, f"the release of {one.evidence!r} that decided what is counted is not there, or another")
        self.place, self._hash, self._seal = one.place, one.hash, one.seal
        self._sealed = (self.tick, one.place)
        if self._seal.hex() == self._anchor:
            self._anchor_tick = self.tick

    def _in_its_place(self, one: Decision) -> bool:
        """It is about the tick that follows; or a release brought its own keys, and this line is about that release."""
        brought = one.tick == self.tick and (one.evidence, one.evidence_tick) == (self._stream.name, self.tick)
        return one.tick == self.tick + 1 or (brought and self._stream.finds_keys)

    def _outcome(self, debit: Debit, release: Outcome | None) -> None:
        if self._counts["reserved"]:
            self._fault(debit, "it has an outcome, but the tick before it has none")
        if release is None:
            self._fault(debit, "its release is missing")
        else:
            cost = (debit.settled_epsilon or "", debit.settled_rho or "")
            parts = (debit.hash, debit.state, *cost, release.digest, debit.settled_delta)
            if debit.seal != chain.seal(self._seal, *parts):
                self._fault(debit, "its outcome (state, settled amount or release) was changed, or that before it")
            else:
                try:
                    self._plausible(debit, release)
                except (HubbubError, ValueError, ZeroDivisionError):
                    self._fault(debit, "what it cost cannot be read")
        self._seal, self._sealed = debit.seal or b"", (debit.tick, debit.place)
        if self._seal.hex() == self._anchor:
            self._anchor_tick = debit.tick

    def _plausible(self, debit: Debit, release: Outcome) -> None:
        """Unchanged, but was it ever right? A ledger written by something else than Hubbub may not be."""
        try:
            debit.expect_amounts(self._stream.name)
        except LedgerBroken as error:
            self._fault(debit, error.message)
            return
        measured, cost, limit = release.measured, debit.cost, debit.limit
        if debit.state == "lost" and (cost != limit or measured):
            self._fault(debit, "a lost tick must be predicted and keep its whole reserved cost")
        if measured and cost.is_free:
            self._fault(debit, "it was measured, but nothing was charged for it")
        if self._account is not None:
            try:
                if not self._account.covers(limit, cost):
                    self._fault(debit, "it was settled above the reserved amount")
                self._account.charge(debit.tick, cost)
            except HubbubError as error:
                self._fault(debit, f"it was more than the guarantee allows ({error.message})")

    def end(self, connection: Connection) -> None:
        if self._account is not None:
            for tick in connection.execute(_ORPHANS, {"id": self._stream.id}).scalars():
                found = tick if isinstance(tick, int) else None
                self._faults.append(Fault(found, "there is a release without a debit"))
        row = connection.execute(_STATE, {"id": self._stream.id}).one_or_none()
        if row is None:
            self._faults.append(Fault(None, "the state of the stream is missing"))
            return
        state = Checkpoint.read(row, self._stream)
        try:
            state.check(self._stream)
        except LedgerBroken as error:
            self._faults.append(Fault(None, error.message))
        if (state.tick, state.place, state.seal) != (*self._sealed, self._seal):
            what = f"the state was taken after tick {state.tick}, the last outcome is that of tick {self._sealed[0]}"
            self._faults.append(Fault(state.tick, f"{what}: the end of the ledger was cut off or changed"))
        elif self._account is not None and not self._faults:
            kept = (state.account, state.settled, state.lost)
            if kept != (account_text(self._account), self._counts["settled"], self._counts["lost"]):
                self._faults.append(Fault(None, "the sum that was kept of all debits is not their sum"))
        if self._anchor is not None and self._anchor_tick is None:
            self._faults.append(
                Fault(None, "the given head is not in the ledger: its end was cut off, or it is another one")
            )

    def note(self, faults: Iterable[str]) -> None:
        """What is wrong beside the lines of the ledger."""
        self._faults += [Fault(None, what) for what in faults]

    def _fault(self, debit: Debit | Decision, what: str) -> None:
        if len(self._faults) < _MOST_FAULTS:
            self._faults.append(Fault(debit.tick, what))

    def result(self) -> Verification:
        return Verification(
            stream=self._stream.name,
            settled=self._counts["settled"],
            lost=self._counts["lost"],
            reserved=self._counts["reserved"],
            spent=None if self._account is None else self._account.spent,
            head=self._seal.hex(),
            anchor_tick=self._anchor_tick,
            faults=tuple(self._faults),
            slipped=None if self._account is None else self._account.slipped,
        )
