"""Joins a releaser and a stream of the store: the one way in which a tick is released."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from hubbub.confidential import Gathered
from hubbub.errors import BudgetExceeded, HubbubError, InvalidParameter, StoreSetBack, StoreUnavailable
from hubbub.exact import whole
from hubbub.mechanism import OnlineMechanism
from hubbub.noise import require_secure
from hubbub.privacy import Account
from hubbub.released import Cost, Domain, Release, Snapshot, Tick
from hubbub.released.few_bits import in_few_bits
from hubbub.store.debit import Debit
from hubbub.store.decisions import Counted, decided, expect_named, expect_no_keys_ahead
from hubbub.store.faults import fault_point
from hubbub.store.ledger import NOBODY, Ledger, Moved, Position, taken
from hubbub.store.mark_file import without_a_mark
from hubbub.store.options import with_options
from hubbub.store.owner import is_gone, new_owner, retire
from hubbub.store.stream import Definition

_POLL = 0.01
_BY_ITSELF = "Use 1 to debit each tick by itself."


class Curator:
    """Releases ticks of one stream so that no crash, no second curator and no full disk can break the promise.

    A tick goes through six steps: *check* everything that can be refused; *debit* its cost durably; *mark* outside the
    store that it was debited; *draw*; write release, estimator's state and settlement in *one transaction*; *publish*,
    that is, return. A tick that was debited and has no outcome (a crash, a failed write) is lost: it is predicted, its
    whole reserved cost stays charged, and it is never drawn again. What was drawn for it was never published.

    A store that does not hold what was marked was set back to an older copy, and is refused (`StoreSetBack`).
    `proved` tells whether the mark shows that the store is the newest there ever was. Where it does not (a new machine,
    marks switched off, another machine released since), no tick may be released that ended before this curator was
    opened: it may have been released before. `lose` books such a tick at its full cost.

    `reserve_ahead` debits that many ticks in one commit and so saves waiting for the disk; after a crash, those that
    were not used are lost. `patience` is how many seconds another curator's open reservation is waited for, if it
    cannot be seen that that curator is gone.

    Guarantee
        Protects: what the releaser's guarantee protects; the same promise, now across restarts and curators.
        Enforced by the caller: the unit's bounds, before counting; one store for all curators of a stream; where
        `proved` is False and ticks have no time, that none is released which was released before.
        Formula: the sum of all debits that one unit can meet (settled at their cost, reserved and lost at the
        reserved amount) is at most the guarantee's budget.
        Not covered: a store that is set back together with its mark (a snapshot of the whole machine).
        Reference: none; the argument is our own.
        Proof: docs/proofs/ledger.md (proved).

    >>> import tempfile
    >>> from pathlib import Path
    >>> from hubbub.confidential import Counts
    >>> from hubbub.privacy import Guarantee, Session
    >>> from hubbub.release import Lpa
    >>> from hubbub.released import Keys
    >>> from hubbub.store import Store
    >>> folder = tempfile.TemporaryDirectory()
    >>> lpa = Lpa(Keys(["front", "news"]), Guarantee.pure(Session(max_ticks=20), 1))
    >>> here = Path(folder.name)
    >>> with Store.open(here / "site.db", marks=here / "marks") as store, store.curate("site", lpa) as curator:
    ...     print(curator.guarantee)
    ...     release = curator.release(Counts.of(lpa.keys, Tick(0), {"front": 812, "news": 240}))
    ...     store.budget("site").spent
    Each browsing session's presence changes any output's probability by at most a factor e^1 = 2.72, ...
    Fraction(1, 20)
    >>> folder.cleanup()
    """

    def __init__(
        self,
        ledger: Ledger,
        releaser: OnlineMechanism[Any],
        *,
        reserve_ahead: int = 1,
        patience: float = 5.0,
        owner: str | None = None,
    ) -> None:
        stream = ledger.stream
        require_secure(releaser.source)
        # The grant and all facts but the mechanism's options are the caller's, who had them compared.
        facts = with_options(stream.options, releaser, stream)
        same_promise = releaser.guarantee == stream.guarantee
        promise = stream.part if same_promise else releaser.guarantee
        # It may have been made for the domain of the first day, or for the one of today: the store brings it there.
        keys = stream.keys if releaser.keys == ledger.keys() else releaser.keys
        stream.definition.expect(Definition.of(stream.name, keys, promise, releaser.name, facts))
        if releaser.next_tick != 0:
            raise InvalidParameter(
                f"The releaser has already released up to tick {releaser.next_tick - 1} outside the store.",
                "Give a fresh one: the store brings it to where the stream stands.",
            )
        self.stream = stream
        self.guarantee = stream.guarantee
        self._ledger = ledger
        self._releaser = releaser
        self._fresh = releaser.snapshot().to_bytes()
        self._ahead_limit = expect_no_keys_ahead(releaser.traits, whole(reserve_ahead, "reserve_ahead", _BY_ITSELF))
        self._patience = patience
        self._lock = threading.RLock()
        self._owner, self._awaits = owner or new_owner(), owner  # who is named outlives this process
        self._unused: set[int] = set()  # ticks reserved by us for which certainly nothing was drawn
        self._position: Position
        self._account: Account
        self._stale = True
        self._closed = False
        self._opened = ledger.clock()
        self._proved: bool | None = None
        self._unmarked = False  # no mark at all: a new machine, or a state folder that was emptied
        self._largest: Cost | None = None
        self._handed_back = False
        try:
            self._catch_up()
        except BaseException:
            retire(self._owner)
            raise

    # ── what a stream does ───────────────────────────────────────────────────────────────────────────────────────

    @property
    def streams(self) -> tuple[str, ...]:
        """The names of the streams that it releases into: one."""
        return (self.stream.name,)

    @property
    def next_tick(self) -> int:
        """The first tick that is free, as far as this curator knows."""
        held = [debit.tick for debit in self._position.pending if debit.tick not in self._unused]
        return max(held, default=self._position.checkpoint.tick) + 1

    @property
    def proved(self) -> bool:
        """Whether it is shown that the store was not set back: whether the past that it tells is the whole past.

        Without proof, `lose` the ticks from `next_tick` up to the last that ended before this curator was opened, or
        `predict` those that cannot have been released before.
        """
        return self._proved is True

    def release(self, counts: Gathered) -> Release:
        """Debit, mark, draw, store, and only then return what may be published."""
        tick = counts.tick
        self._require_unseen(tick)
        with self._lock, self._alive():
            while True:
                self._catch_up(tick)
                cost = self._releaser.check(counts)
                try:
                    if cost.is_free:
                        return self._predict(tick)
                    self._reserve(tick, cost)
                    break
                except Moved:
                    self._stale = True
            self._ledger.keep_mark(self._position.pending[-1], self._account)
            self._unused.discard(tick.index)  # from here on the tick may have been drawn
            release = in_few_bits(self._releaser.release(counts))
            fault_point("draw:done")
            self._settle(release)
            fault_point("publish")
            return release

    def predict(self, tick: Tick) -> Release:
        """The release of a tick nobody counted: stored like any other, and free."""
        with self._lock, self._alive():
            while True:
                self._catch_up(tick)
                try:
                    return self._predict(tick)
                except Moved:
                    self._stale = True

    def lose(self, tick: Tick) -> Release:
        """Book a tick that may have been drawn in a past which the store forgot: charged in full, predicted, not drawn.

        The charge is the most that any tick of the stream was ever debited.
        """
        with self._lock, self._alive():
            while True:
                self._catch_up(tick)
                try:
                    self._skip_unused(tick)
                    return self._book_lost(tick)
                except Moved:
                    self._stale = True

    @property
    def keys(self) -> Domain:
        """What is counted from the next tick on, as far as this curator knows."""
        return self._releaser.keys

    def change_domain(self, new: Counted | Callable[[Release], Counted], *, released: tuple[str, int]) -> Domain:
        """Count by another domain from the next tick on, because of what was released; it costs nothing.

        `released` names the evidence: a stream (this one, or another of the same grant) and a tick of it that is
        settled. `new` is the domain that follows from it; better, a rule that is handed that release and nothing else.
        Anything but a settled release is refused (`UnreleasedDecision`), and so is a mechanism that cannot go on with
        other keys (`Traits.changes_domain`). The decision is written into the ledger together with the estimator's new
        state. What was released before keeps the keys that it had. Done twice, nothing happens the second time.
        """
        with self._lock, self._alive():
            self._stale = True  # whether there is anything to change is for the store to say
            while True:
                self._catch_up()
                try:
                    return self._change_domain(new, released)
                except Moved:
                    self._stale = True

    def close(self) -> None:
        """Hand back what was reserved and not used, so that a successor need not count it as lost."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            retire(self._owner)
            if self._unused:
                # If even this fails they count as lost later, which costs budget but no privacy.
                with suppress(StoreUnavailable, StoreSetBack):
                    self._ledger.hand_over(self._owner, NOBODY, first=min(self._unused))
                    self._ledger.keep_mark(self._position.pending[-1], self._account, free=True)

    def __repr__(self) -> str:
        return f"<Curator of {self.stream!r}, next tick {self.next_tick:,}>"

    def __enter__(self) -> Curator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ── the steps ────────────────────────────────────────────────────────────────────────────────────────────────

    def _reserve(self, tick: Tick, cost: Cost) -> None:
        """Hold a durable debit for the tick: one that was reserved ahead, or a new one."""
        self._skip_unused(tick)
        if tick.index in self._unused:
            self._check_reserved(self._position.pending[0], tick, cost)
            return
        wanted = self._affordable(tick, cost)
        self._position = self._ledger.reserve(self._position, self._account, wanted, self._owner, "release")
        self._unused = {ahead.index for ahead, _ in wanted}

    def _affordable(self, tick: Tick, cost: Cost) -> list[tuple[Tick, Cost]]:
        """The tick, and as many after it as are to be reserved ahead and the budget allows."""
        wanted = [(tick, cost)]
        if self._ahead_limit > 1:
            account = self._position.checkpoint.open_account(self.stream)
            account.charge(tick.index, cost)
            for step in range(1, self._ahead_limit):
                ahead = tick.after(step)
                price = self._releaser.cost(ahead)
                try:
                    account.charge(ahead.index, price)
                except HubbubError:
                    break
                if price.is_free:
                    break
                wanted.append((ahead, price))
        return wanted

    def _check_reserved(self, debit: Debit, tick: Tick, cost: Cost) -> None:
        if tick != debit.at:
            raise InvalidParameter(
                f"Tick {tick} is not the one that was reserved ahead, {debit.at}.",
                "Ticks reserved ahead follow each other at the same length; use reserve_ahead=1 for others.",
            )
        if not self._account.covers(debit.limit, cost):
            raise BudgetExceeded(
                f"Tick {debit.tick} now costs {cost!r}, but {debit.limit!r} was reserved ahead for it.",
                "Use reserve_ahead=1 with a mechanism whose cost changes, and predict this tick.",
            )

    def _settle(self, release: Release) -> None:
        snapshot = self._releaser.snapshot().to_bytes()
        finds = self._releaser.traits.finds_keys and not release.is_predicted
        self._position = self._ledger.settle(self._position, self._account, release, snapshot, finds=finds)

    def _predict(self, tick: Tick) -> Release:
        """A free tick: from its reservation if it has one, otherwise in a single transaction."""
        self._skip_unused(tick)
        if tick.index in self._unused:
            self._unused.discard(tick.index)
            release = in_few_bits(self._releaser.predict(tick))
            self._settle(release)
        else:
            release, self._position = self._ledger.settle_free(
                self._position, self._account, tick, lambda: self._predicted(tick)
            )
        fault_point("publish")
        return release

    def _predicted(self, tick: Tick, lost: Cost | None = None) -> tuple[Release, bytes]:
        release = in_few_bits(self._releaser.predict(tick, lost))
        return release, self._releaser.snapshot().to_bytes()

    def _change_domain(self, new: Counted | Callable[[Release], Counted], released: tuple[str, int]) -> Domain:
        evidence = self._ledger.evidence(released)
        keys = decided(new, evidence)
        expect_named(keys, released)
        if self._position.pending:
            raise InvalidParameter(
                f"Ticks up to {self._position.last_tick} are reserved ahead, for the keys of now.",
                "Use reserve_ahead=1 for a stream whose domain changes.",
            )
        if keys != self._releaser.keys:

            def change() -> bytes:
                self._releaser.change_domain(keys)
                return self._releaser.snapshot().to_bytes()

            self._position = self._ledger.decide(self._position, keys, released, change)
        return keys

    def _skip_unused(self, tick: Tick) -> None:
        """Ticks reserved ahead that the caller left out: nothing was drawn for them, so they settle for nothing."""
        while self._unused and (debit := self._position.pending[0]).tick < tick.index:
            self._unused.discard(debit.tick)
            self._settle(in_few_bits(self._releaser.predict(debit.at)))

    def _book_lost(self, tick: Tick) -> Release:
        made: list[Release] = []

        def predicted(cost: Cost) -> tuple[Release, bytes]:
            release, snapshot = self._predicted(tick, cost)
            made.append(release)
            return release, snapshot

        if tick.index in self._unused:  # reserved ahead: that amount is charged, and no more
            debit = self._position.pending[0]
            self._unused.discard(tick.index)
            self._position = self._ledger.lose(self._position, self._account, lambda: predicted(debit.limit))
        else:
            cost = self._full_cost(tick)
            self._position = self._ledger.book_lost(
                self._position, self._account, tick, cost, lambda: predicted(cost)
            )  # fmt: skip
        return made[-1]

    def _full_cost(self, tick: Tick) -> Cost:
        if self._largest is None:
            self._largest = self._ledger.largest(self._account)
        return self._account.larger(self._largest, self._releaser.cost(tick))

    def _require_unseen(self, tick: Tick) -> None:
        """Without proof, a tick that was over before we began may have been released in a past we do not see."""
        if self.proved or self._ledger.mark is None:
            return
        if tick.start is None or tick.length is None:
            if self._unmarked:
                raise without_a_mark(tick.index, self.stream.name, self._position.last_tick)
            return
        if tick.start + tick.length <= self._opened:
            raise StoreSetBack(
                f"Tick {tick.index} ended before this curator was opened, and nothing shows that the store is not an "
                "older copy: it may have been released before.",
                "Book it with `curator.lose(tick)`, and go on with ticks that end from now on.",
            )

    # ── after a failure, a restart, or another curator's work ────────────────────────────────────────────────────

    @contextmanager
    def _alive(self) -> Iterator[None]:
        """Whatever goes wrong inside, the store is what counts: read it anew before the next step."""
        if self._closed:
            raise StoreUnavailable("This curator was closed.", "Open another one: `store.curate(…)`.")
        try:
            yield
        except BaseException:
            self._stale = True
            raise

    def _catch_up(self, wanted: Tick | None = None) -> None:
        """Bring releaser and account to the store's last outcome; give every tick that was left without one its own."""
        if not self._stale:
            return
        seen, since, given_up = None, time.monotonic(), set[str]()
        before = -1 if wanted is None else self._position.checkpoint.tick
        while True:
            self._read()
            waiting = [d for d in self._position.pending if d.tick not in self._unused and d.owner != self._awaits]
            if not waiting:
                break
            first = waiting[0]
            if first.owner == NOBODY:
                if self._handed_back:
                    self._unused |= self._ledger.hand_over(NOBODY, self._owner)
                else:  # the mark cannot show that nobody has drawn for them since
                    self._lose(first)
                continue
            if first.tick != seen:
                seen, since = first.tick, time.monotonic()
            if time.monotonic() - since >= self._patience:
                given_up.add(first.owner)
            if first.owner == self._owner or first.owner in given_up or is_gone(first.owner):
                self._lose(first)
            elif wanted is not None and wanted.index <= self._position.last_tick:
                raise taken(wanted.index, "another curator holds it")
            else:
                time.sleep(_POLL)
        self._stale = False
        if wanted is not None and before < wanted.index <= self._position.checkpoint.tick:
            raise self._gone(wanted)

    def _read(self) -> None:
        self._position, mark = self._ledger.checked_position()
        self._unused &= {debit.tick for debit in self._position.pending if debit.owner == self._owner}
        checkpoint = self._position.checkpoint
        self._account = checkpoint.open_account(self.stream)
        keys = self._ledger.keys(self._position)
        if keys != self._releaser.keys:
            self._releaser.change_domain(keys)
        self._releaser.restore(Snapshot.from_bytes(checkpoint.snapshot or self._fresh))
        file = self._ledger.mark
        # Reservations that a closed curator handed back are as good as our own, if the mark knows of it.
        self._handed_back = file is None or (mark is not None and mark.free and mark.hash == self._position.last[0])
        if self._proved is None:
            self._unmarked = mark is None
            self._proved = (
                file is not None and mark is not None and file.whole and not self._ledger.released_after(mark)
            )
        if self.proved and mark is not None and mark.hash != self._position.last[0]:
            # What another curator wrote belongs to the past that we have seen: a standby's mark moves along.
            last = self._ledger.debit(self._position.last_tick)
            if last is not None:
                self._ledger.keep_mark(last, self._account)

    def _lose(self, debit: Debit) -> None:
        with suppress(Moved):  # another curator came before; the next look at the store shows it
            self._position = self._ledger.lose(
                self._position, self._account, lambda: self._predicted(debit.at, debit.limit)
            )

    def _gone(self, tick: Tick) -> Exception:
        debit = self._ledger.debit(tick.index)
        if debit is not None and debit.state == "lost":
            return taken(tick.index, "it was lost when a step failed after its debit; a prediction stands for it")
        return taken(tick.index, "it was released already, by another curator or before a step failed")
