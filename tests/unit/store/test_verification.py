"""Every way to change a ledger that we could think of, and what `verify` says about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from hubbub.confidential import Counts
from hubbub.errors import LedgerBroken
from hubbub.release import Lpa
from hubbub.released import Tick
from hubbub.store import Store, chain, verification
from hubbub.store.debit import Debit
from hubbub.store.ledger import Ledger
from hubbub.store.packing import PackedRelease

Make = Callable[[], Lpa]
MakeCounts = Callable[..., Counts]


@pytest.fixture
def ledger(store: Store, lpa: Make, counts: MakeCounts) -> Store:
    """Six settled ticks, the fourth of them predicted."""
    with store.curate("site", lpa()) as curator:
        for tick in range(6):
            curator.predict(Tick(tick)) if tick == 3 else curator.release(counts(tick))
    assert store.verify("site").ok
    return store


def change(store: Store, *statements: str) -> None:
    with store.database.write() as connection:
        connection.execute(sa.text("PRAGMA defer_foreign_keys=ON"))
        for statement in statements:
            connection.execute(sa.text(statement))


CHANGES = {
    "a reserved amount": (["UPDATE debits SET epsilon = '1/5' WHERE tick = 2"], 2, "debit was changed"),
    "a settled amount": (["UPDATE debits SET settled_epsilon = '1/8' WHERE tick = 2"], 2, "outcome"),
    "a reserved slip put in": (["UPDATE debits SET delta = '1/9' WHERE tick = 2"], 2, "debit was changed"),
    "a zero put in": (["UPDATE debits SET delta = '0' WHERE tick = 2"], 2, "debit was changed"),
    "a settled slip put in": (["UPDATE debits SET settled_delta = '1/9' WHERE tick = 2"], 2, "outcome"),
    "a settled zero put in": (["UPDATE debits SET settled_delta = '0' WHERE tick = 2"], 2, "outcome"),
    "both amounts": (["UPDATE debits SET epsilon='1/5', settled_epsilon='1/5' WHERE tick = 2"], 2, "debit was changed"),
    "the purpose": (["UPDATE debits SET purpose = 'other' WHERE tick = 0"], 0, "debit was changed"),
    "a time": (["UPDATE debits SET reserved = reserved + 1 WHERE tick = 5"], 5, "debit was changed"),
    "settled to lost": (["UPDATE debits SET state = 'lost' WHERE tick = 4"], 4, "outcome"),
    "settled to reserved": (["UPDATE debits SET state = 'reserved' WHERE tick = 4"], 4, "but has an outcome"),
    "an outcome wiped out": (
        ["UPDATE debits SET state='reserved', seal=NULL, settled_epsilon=NULL, settled_rho=NULL WHERE tick = 5"],
        5,
        "never settled",
    ),
    "an outcome wiped out with its release": (
        [
            "UPDATE debits SET state='reserved', seal=NULL, settled_epsilon=NULL, settled_rho=NULL WHERE tick = 5",
            "DELETE FROM releases WHERE tick = 5",
        ],
        5,
        "cut off",
    ),
    "a debit that is gone": (["DELETE FROM debits WHERE tick = 2"], 3, "line 3 is missing"),
    "the first gone": (["DELETE FROM debits WHERE tick = 0"], 1, "line 1 is missing"),
    "the last gone": (["DELETE FROM debits WHERE tick = 5"], 5, "release without a debit"),
    "the last two gone with their releases": (
        ["DELETE FROM debits WHERE tick >= 4", "DELETE FROM releases WHERE tick >= 4"],
        5,
        "cut off",
    ),
    "two swapped": (
        [
            "UPDATE debits SET tick = 100 WHERE tick = 1",
            "UPDATE debits SET tick = 1 WHERE tick = 2",
            "UPDATE debits SET tick = 2 WHERE tick = 100",
        ],
        1,
        "line 2 is missing",
    ),
    "a line renumbered": (["UPDATE debits SET place = 77 WHERE tick = 5"], 5, "line 6 is missing"),
    "a release changed": (["UPDATE releases SET noise_variance = 1.5 WHERE tick = 1"], 1, "outcome"),
    "a release gone": (["DELETE FROM releases WHERE tick = 1"], 1, "release is missing"),
    "a release put in": (
        [
            "INSERT INTO releases SELECT stream, 9, estimates, standard_errors, lower, upper, NULL, NULL, NULL, NULL, "
            "NULL FROM releases LIMIT 1"
        ],
        9,
        "release without a debit",
    ),
    "a debit put in": (
        [
            "INSERT INTO debits SELECT stream, 9, 7, start, length, epsilon, rho, purpose, reserved, hash, hash, "
            "state, owner, settled_epsilon, settled_rho, seal, delta, settled_delta FROM debits WHERE tick = 5"
        ],
        9,
        "debit was changed",
    ),
    "the sum that is kept": (["UPDATE states SET account = replace(account, '1/4', '1/8')"], None, "changed after"),
    "a count that is kept": (["UPDATE states SET lost = 1"], None, "changed after"),
    "an older state": (["UPDATE states SET tick = 4, place = 5"], None, "changed after"),
    "no state": (["DELETE FROM states"], None, "is missing"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_found_and_named(ledger: Store, what: str) -> None:
    statements, tick, words = CHANGES[what]
    change(ledger, *statements)
    found = ledger.verify("site")
    assert not found.ok
    assert any(fault.tick == tick and words in fault.what for fault in found.faults), found.faults
    assert (str(found.faults[0]).startswith("tick")) == (found.faults[0].tick is not None)
    with pytest.raises(LedgerBroken, match="'site' is broken"):
        found.require()


@pytest.mark.parametrize("what", [name for name in CHANGES if name != "a release put in"])
def test_nobody_goes_on_with_a_broken_ledger(ledger: Store, lpa: Make, what: str) -> None:
    change(ledger, *CHANGES[what][0])
    before = list(ledger.debits("site"))
    with pytest.raises(LedgerBroken):
        ledger.curate("site", lpa())
    assert list(ledger.debits("site")) == before


def test_a_damaged_state_stops_a_running_curator(store: Store, lpa: Make, counts: MakeCounts) -> None:
    with store.curate("site", lpa()) as one, store.curate("site", lpa()) as two:
        one.release(counts(0))
        change(store, "UPDATE states SET account = replace(account, '1/4', '1/8')")
        with pytest.raises(LedgerBroken, match="state"):
            two.release(counts(1))
        with pytest.raises(LedgerBroken, match="state"):
            store.budget("site")
        change(store, "DELETE FROM states")
        with pytest.raises(LedgerBroken, match="missing"):
            two.release(counts(1))
    assert len(list(store.debits("site"))) == 1


def test_a_seal_made_anew_breaks_the_next_one(ledger: Store) -> None:
    """Whoever changes an old outcome and seals it again has to seal all that follow, and the anchor tells."""
    anchor = ledger.verify("site").head
    reseal(ledger, 2, settled="1/8", all_that_follow=False)
    assert [fault.tick for fault in ledger.verify("site").faults] == [3]
    reseal(ledger, 2, settled="1/8", all_that_follow=True)
    found = ledger.verify("site", head=anchor)
    assert any("given head is not in the ledger" in fault.what for fault in found.faults)


def reseal(store: Store, tick: int, settled: str, all_that_follow: bool) -> None:
    stream = store.stream("site")
    with store.database.read() as connection:
        rows = list(verification._rows(connection, stream, -1))
    before = rows[tick - 1][0].seal
    for debit, release in rows[tick:]:
        assert release is not None
        assert before is not None
        amount = settled if debit.tick == tick else debit.settled_epsilon
        seal = chain.seal(before, debit.hash, debit.state, amount or "", "0", release.digest)
        with store.database.write() as connection:
            connection.execute(
                sa.text("UPDATE debits SET settled_epsilon = :amount, seal = :seal WHERE tick = :tick"),
                {"amount": amount, "seal": seal, "tick": debit.tick},
            )
        before = seal
        if not all_that_follow:
            break


def test_a_debit_hashed_anew_breaks_the_next_one(ledger: Store) -> None:
    old = list(ledger.debits("site"))[2]
    new = replace(old, epsilon="1/5")
    with ledger.database.write() as connection:
        connection.execute(
            sa.text("UPDATE debits SET epsilon = :epsilon, hash = :hash WHERE tick = 2"),
            {"epsilon": "1/5", "hash": chain.debit_hash(new)},
        )
    faults = ledger.verify("site").faults
    assert (3, "it does not follow the line before it") in [(fault.tick, fault.what) for fault in faults]


def test_what_was_never_right_is_found_too(store: Store, lpa: Make, counts: MakeCounts) -> None:
    """Unbroken hashes over entries that break the rules: the work of something that is not Hubbub."""

    def forge(name: str, state: str, reserved: str, settled: str, measured: bool, times: int = 1) -> list[str]:
        stream = store.create_stream(name, lpa().keys, lpa().guarantee, "lpa")
        ledger = Forger(store.database, stream, store._clock)
        for tick in range(times):
            releaser = lpa()
            release = releaser.release(counts(tick)) if measured else releaser.predict(Tick(tick))
            ledger.forge(PackedRelease.of(release), tick, state, reserved, settled)
        return [fault.what for fault in store.verify(name).faults]

    assert any("must be predicted" in w for w in forge("a", "lost", "1/4", "1/8", measured=False))
    assert any("must be predicted" in w for w in forge("b", "lost", "1/4", "1/4", measured=True))
    assert any("nothing was charged" in w for w in forge("c", "settled", "1/4", "0", measured=True))
    assert any("above the reserved" in w for w in forge("d", "settled", "1/8", "1/4", measured=True))
    assert any("more than the guarantee" in w for w in forge("e", "settled", "1/2", "1/2", measured=True, times=3))


class Forger(Ledger):
    def forge(self, packed: PackedRelease, tick: int, state: str, reserved: str, settled: str) -> None:
        with self.database.write() as connection:
            newest = sa.text("SELECT hash, seal FROM debits WHERE stream = :s ORDER BY tick DESC LIMIT 1")
            last = connection.execute(newest, {"s": self.stream.id}).one_or_none()
            before = self.stream.genesis if last is None else last.seal
            place = connection.execute(sa.text("SELECT count(*) FROM debits WHERE stream=:s"), {"s": self.stream.id})
            bare = Debit(tick, place.scalar_one() + 1, None, None, reserved, "0", "forged", 0,
                         self.stream.genesis if last is None else last.hash, b"", state, "")  # type: ignore[arg-type] # fmt: skip
            made = chain.debit_hash(bare)
            seal = chain.seal(before, made, state, settled, "0", chain.release_digest(packed))
            row = {"stream": self.stream.id} | {name: getattr(bare, name) for name in Debit.__slots__}
            row |= {"hash": made, "settled_epsilon": settled, "settled_rho": "0", "seal": seal}
            connection.execute(sa.insert(sa.table("debits", *(sa.column(name) for name in row))), row)
            row = {"stream": self.stream.id, "tick": tick} | {n: getattr(packed, n) for n in packed.__slots__}
            connection.execute(sa.insert(sa.table("releases", *(sa.column(name) for name in row))), row)


class TestHead:
    def test_an_anchor_is_found_as_long_as_the_ledger_holds_it(
        self, store: Store, lpa: Make, counts: MakeCounts
    ) -> None:
        with store.curate("site", lpa()) as curator:
            nothing = store.verify("site").head
            curator.release(counts(0))
            anchor = store.verify("site").head
            curator.release(counts(1))
        assert store.verify("site", head=anchor).anchor_tick == 0
        assert store.verify("site", head=anchor.upper()).ok
        assert store.verify("site", head=nothing).ok
        assert nothing == store.stream("site").genesis.hex()

    def test_only_an_anchor_tells_that_a_whole_store_was_set_back(
        self, path: Path, lpa: Make, counts: MakeCounts
    ) -> None:
        with Store.open(path) as store, store.curate("site", lpa()) as curator:
            curator.release(counts(0))
        old = path.read_bytes()
        with Store.open(path) as store, store.curate("site", lpa()) as curator:
            curator.release(counts(1))
            anchor = store.verify("site").head
        path.write_bytes(old)
        with Store.open(path) as store:
            assert store.verify("site").ok  # an older copy is whole in itself
            found = store.verify("site", head=anchor)
            assert not found.ok
            assert found.anchor_tick is None


def test_the_tail_is_verified_from_the_line_before_it(ledger: Store) -> None:
    stream = ledger.stream("site")
    assert verification.verify(ledger.database, stream, tail=2).ok
    change(ledger, "UPDATE debits SET epsilon = '1/5' WHERE tick = 1")
    found = verification.verify(ledger.database, stream, tail=2)
    assert (found.ok, found.spent, found.debits) == (True, None, 2)
    assert not verification.verify(ledger.database, stream, tail=5).ok


def test_the_kept_sum_is_compared_with_a_full_replay(ledger: Store) -> None:
    """A forged sum with a forged mark passes the mark, not the replay."""
    stream = ledger.stream("site")
    kept = ledger.ledger("site").position().checkpoint
    lower = kept.made(kept.tick, kept.place, kept.snapshot, kept.account.replace("1/4", "1/8"), 6, 0, kept.seal)
    with ledger.database.write() as connection:
        connection.execute(
            sa.text("UPDATE states SET account = :account, mark = :mark"),
            {"account": lower.account, "mark": lower.mark},
        )
    assert [fault.what for fault in ledger.verify("site").faults] == [
        "the sum that was kept of all debits is not their sum"
    ]
    assert stream.name == "site"


def test_many_faults_are_not_all_listed(store: Store, lpa: Make, counts: MakeCounts) -> None:
    with store.curate("site", lpa()) as curator:
        for tick in range(120):
            curator.predict(Tick(tick))
    change(store, "UPDATE debits SET purpose = 'other'")
    assert len(store.verify("site").faults) == 100


def test_pages_join_without_a_seam(store: Store, lpa: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    with store.curate("site", lpa()) as curator:
        for tick in range(7):
            curator.predict(Tick(tick))
    for size in (1, 2, 3, 7):
        monkeypatch.setattr(verification, "_PAGE", size)
        monkeypatch.setattr(verification, "_ROWS", verification._ROWS.limit(size))
        assert store.verify("site").debits == 7
        assert store.verify("site").ok
