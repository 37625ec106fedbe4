"""A store that was set back to an older copy is noticed, by a mark that is kept outside of it."""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hubbub.confidential import Counts
from hubbub.errors import (
    BudgetExceeded,
    HorizonReached,
    InvalidParameter,
    StoreSetBack,
    StoreUnavailable,
    TickOutOfOrder,
    TickTaken,
)
from hubbub.privacy import Account, Grant, Guarantee, User
from hubbub.release import Lpa
from hubbub.released import Cost, Tick
from hubbub.state import state_folder
from hubbub.store import Store, faults, owner
from hubbub.store.mark import SLOT, Mark
from hubbub.store.mark_file import MarkFile

Make = Callable[[], Lpa]
MakeCounts = Callable[..., Counts]


def backup(path: Path, to: Path) -> Path:
    """By the database's own means, while it runs."""
    with sqlite3.connect(path) as source, sqlite3.connect(to) as target:
        source.backup(target)
    source.close()
    target.close()
    return to


def restore(copy: Path, path: Path) -> None:
    for end in ("-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)
    shutil.copy(copy, f"{path}.new")
    os.replace(f"{path}.new", path)


def release(path: Path, lpa: Make, counts: MakeCounts, ticks: range, **settings: Any) -> None:
    with Store.open(path, **settings) as store, store.curate("site", lpa()) as curator:
        for tick in ticks:
            assert not curator.release(counts(tick)).is_predicted


def mark_of(path: Path) -> MarkFile:
    with Store.open(path) as store:
        found = store.ledger("site").mark
    assert found is not None
    return found


@pytest.fixture
def set_back(path: Path, tmp_path: Path, lpa: Make, counts: MakeCounts) -> Path:
    """Ten ticks were released since the backup was made."""
    release(path, lpa, counts, range(5))
    copy = backup(path, tmp_path / "copy.db")
    release(path, lpa, counts, range(5, 15))
    restore(copy, path)
    return path


class TestARestoredBackup:
    def test_is_refused_with_the_way_out(self, set_back: Path, lpa: Make) -> None:
        with Store.open(set_back) as store:
            with pytest.raises(StoreSetBack, match="tick 14 was debited on this machine as line 15") as caught:
                store.curate("site", lpa())
            assert "hubbub ledger mend" in caught.value.hint
            assert str(set_back.parent) not in caught.value.public
            assert caught.value.public
            assert len(list(store.releases("site"))) == 5

    def test_goes_on_once_it_is_mended(self, set_back: Path, lpa: Make, counts: MakeCounts) -> None:
        with Store.open(set_back) as store:
            assert store.mend("site") == 10
            assert store.budget("site").reserved == 10
            with store.curate("site", lpa()) as curator:
                assert curator.proved
                assert curator.next_tick == 15
                for tick in range(5, 15):
                    with pytest.raises(TickOutOfOrder):
                        curator.release(counts(tick))
                curator.release(counts(15))
            assert [d.state for d in store.debits("site")] == ["settled"] * 5 + ["lost"] * 10 + ["settled"]
            lost = list(store.releases("site", first=5, last=14))
            assert all(one.is_predicted and one.cost.epsilon == Fraction(1, 4) for one in lost)
            assert store.verify("site").ok
            assert store.mend("site") == 0

    def test_a_mending_that_was_cut_short_can_be_done_again(
        self, set_back: Path, lpa: Make, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fails(*_: object) -> None:
            raise KeyboardInterrupt

        with Store.open(set_back) as store:
            with monkeypatch.context() as patched:
                patched.setattr(MarkFile, "replace", fails)
                with pytest.raises(KeyboardInterrupt):
                    store.mend("site")
            with pytest.raises(StoreSetBack):
                store.curate("site", lpa())
            assert store.mend("site") == 0
            with store.curate("site", lpa()) as curator:
                assert curator.next_tick == 15

    def test_ticks_keep_their_times(self, path: Path, tmp_path: Path, lpa: Make, counts: MakeCounts) -> None:
        start, step = datetime(2026, 1, 1, tzinfo=UTC), timedelta(seconds=10)
        ticks = [Tick(i, start + i * step, step) for i in range(6)]
        with Store.open(path) as store, store.curate("site", lpa()) as curator:
            curator.release(counts(ticks[0]))
            copy = backup(path, tmp_path / "copy.db")
            curator.release(counts(ticks[1]))
            curator.release(counts(ticks[3]))
        restore(copy, path)
        with Store.open(path) as store:
            assert store.mend("site", upto=5) == 5
            store.curate("site", lpa()).close()
            assert [one.tick for one in store.releases("site")] == ticks

    def test_of_a_stream_that_the_copy_does_not_know(
        self, path: Path, tmp_path: Path, lpa: Make, counts: MakeCounts
    ) -> None:
        Store.open(path).close()
        copy = backup(path, tmp_path / "copy.db")
        release(path, lpa, counts, range(3))
        restore(copy, path)
        with Store.open(path) as store, pytest.raises(StoreSetBack):
            store.curate("site", lpa())

    def test_without_the_wal_of_a_young_store(self, path: Path, tmp_path: Path, lpa: Make, counts: MakeCounts) -> None:
        """As it was: all of a young store stood in its `-wal`, and the file alone passed for a new, empty store."""
        with Store.open(path) as store, store.curate("site", lpa()) as curator:
            curator.release(counts(0))
            shutil.copy(path, tmp_path / "alone.db")  # what is left of it after a crash, once somebody tidied up
        with Store.open(tmp_path / "alone.db") as alone:
            with pytest.raises(StoreSetBack):
                alone.curate("site", lpa())
            assert alone.mend("site") == 1

    def test_a_store_whose_file_cannot_take_in_its_wal_works_on(
        self, path: Path, lpa: Make, counts: MakeCounts
    ) -> None:
        with Store.open(path, patience=0.1) as store, closing(sqlite3.connect(path)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM streams").fetchall()  # and holds on to what it saw
            with store.curate("site", lpa()) as curator:
                assert not curator.release(counts(0)).is_predicted

    def test_a_horizon_that_does_not_allow_it_leaves_everything_alone(
        self, path: Path, tmp_path: Path, counts: MakeCounts
    ) -> None:
        keys, guarantee = counts(0).keys, Guarantee.pure(User(horizon=4), 1)
        with Store.open(path) as store:
            with store.curate("site", Lpa(keys, guarantee)) as curator:
                curator.release(counts(0))
            copy = backup(path, tmp_path / "copy.db")
            with store.curate("site", Lpa(keys, guarantee)) as curator:
                curator.release(counts(1))
        restore(copy, path)
        with Store.open(path) as store:
            with pytest.raises(HorizonReached, match="does not fit") as caught:
                store.mend("site", upto=9)
            assert "another name" in caught.value.hint
            assert store.budget("site").reserved == 0
            with pytest.raises(InvalidParameter, match="1,000,000 ticks"):
                store.mend("site", upto=2_000_000)

    def test_costs_the_most_that_any_tick_ever_cost(
        self, path: Path, tmp_path: Path, lpa: Make, counts: MakeCounts
    ) -> None:
        """Ticks that were forgotten may have cost more than those the copy knows: the mark remembers how much."""

        class Dear(Lpa):
            def cost(self, tick: Tick) -> Cost:
                return Cost(epsilon=Fraction(1, 2) if tick.index == 1 else Fraction(1, 8))

        def dear() -> Lpa:
            return Dear(lpa().keys, lpa().guarantee)

        release(path, dear, counts, range(1))
        copy = backup(path, tmp_path / "copy.db")
        release(path, dear, counts, range(1, 4))
        restore(copy, path)
        with Store.open(path) as store, pytest.raises(BudgetExceeded, match="does not fit"):
            store.mend("site")  # three ticks at 1/2 do not fit into 1


class TestAReplacedFile:
    def test_is_noticed_under_a_running_curator(
        self, path: Path, tmp_path: Path, lpa: Make, counts: MakeCounts
    ) -> None:
        with Store.open(path) as store, store.curate("site", lpa()) as curator:
            curator.release(counts(0))
            copy = backup(path, tmp_path / "copy.db")
            curator.release(counts(1))
            restore(copy, path)
            for tick in (2, 2, 3):
                with pytest.raises(StoreSetBack):
                    curator.release(counts(tick))
            assert [r.tick.index for r in store.releases("site")] == [0]

    @pytest.mark.parametrize("where", ["debit:written", "debit:committed", "mark:written", "draw:done", "settle:state"])
    def test_is_noticed_in_the_middle_of_a_tick(
        self, path: Path, tmp_path: Path, lpa: Make, counts: MakeCounts, where: str
    ) -> None:
        with Store.open(path) as store, store.curate("site", lpa()) as curator:
            curator.release(counts(0))
            copy = backup(path, tmp_path / "copy.db")

            def replaced(name: str) -> None:
                if name == where:
                    faults.install(None)
                    restore(copy, path)

            faults.install(replaced)
            with pytest.raises((StoreUnavailable, TickTaken)):
                curator.release(counts(1))
            marked = mark_of(path).read()
            assert marked is not None
            if where == "debit:written":  # nothing was drawn: the copy is as good
                assert marked.tick == 0
                curator.release(counts(1))
            else:
                assert marked.tick == 1
                with pytest.raises(StoreSetBack):
                    curator.release(counts(2))

    def test_a_copy_that_holds_everything_may_take_its_place(
        self, path: Path, tmp_path: Path, lpa: Make, counts: MakeCounts
    ) -> None:
        with Store.open(path) as store, store.curate("site", lpa()) as curator:
            curator.release(counts(0))
            restore(backup(path, tmp_path / "copy.db"), path)
            curator.release(counts(1))
        with Store.open(path) as store:
            assert [r.tick.index for r in store.releases("site")] == [0, 1]

    def test_a_file_that_is_taken_away_is_not_made_anew(self, path: Path, lpa: Make, counts: MakeCounts) -> None:
        with Store.open(path) as store, store.curate("site", lpa()) as curator:
            curator.release(counts(0))
            path.unlink()
            with pytest.raises(StoreUnavailable):
                curator.release(counts(1))
            assert not path.exists()

    def test_two_copies_share_a_mark(self, path: Path, tmp_path: Path, lpa: Make, counts: MakeCounts) -> None:
        release(path, lpa, counts, range(1))
        other = backup(path, tmp_path / "other.db")
        with Store.open(path) as one, one.curate("site", lpa()) as first, Store.open(other) as two:
            second = two.curate("site", lpa())
            first.release(counts(1))
            with pytest.raises(StoreSetBack):
                second.release(counts(1))
            first.release(counts(2))
            assert len(list(two.releases("site"))) == 1

    def test_two_copies_that_debit_in_the_same_moment(
        self, path: Path, tmp_path: Path, lpa: Make, counts: MakeCounts
    ) -> None:
        release(path, lpa, counts, range(1))
        other = backup(path, tmp_path / "other.db")
        with Store.open(path) as one, one.curate("site", lpa()) as first, Store.open(other) as two:
            second = two.curate("site", lpa())

            def meanwhile(name: str) -> None:
                if name == "debit:committed":
                    faults.install(None)
                    second.release(counts(1))

            faults.install(meanwhile)
            with pytest.raises(StoreSetBack):
                first.release(counts(1))
            assert [r.tick.index for r in one.releases("site")] == [0]

    def test_and_went_another_way_cannot_be_mended(
        self, path: Path, tmp_path: Path, lpa: Make, counts: MakeCounts
    ) -> None:
        release(path, lpa, counts, range(1))
        copy = backup(path, tmp_path / "copy.db")
        release(path, lpa, counts, range(1, 3))
        restore(copy, path)
        release(path, lpa, counts, range(1, 4), marks=False)  # somebody did not want to know
        with Store.open(path) as store, pytest.raises(StoreSetBack, match="went another way"):
            store.mend("site")


class TestProof:
    def test_a_stream_that_was_made_here_is_proved(self, path: Path, lpa: Make, counts: MakeCounts) -> None:
        with Store.open(path) as store, store.curate("site", lpa()) as curator:
            assert curator.proved
            assert curator.next_tick == 0
            curator.release(counts(0))
        with Store.open(path) as store, store.curate("site", lpa()) as curator:
            assert curator.proved
            assert curator.next_tick == 1

    def test_a_machine_without_the_mark_proves_nothing(
        self, path: Path, tmp_path: Path, lpa: Make, counts: MakeCounts
    ) -> None:
        release(path, lpa, counts, range(2))
        now = datetime.now(UTC)
        over = Tick(2, now - timedelta(seconds=20), timedelta(seconds=10))
        coming = Tick(4, now + timedelta(seconds=5), timedelta(seconds=10))
        with Store.open(path, marks=tmp_path / "elsewhere") as store, store.curate("site", lpa()) as curator:
            assert not curator.proved
            assert curator.next_tick == 2
            with pytest.raises(StoreSetBack, match="ended before this curator was opened"):
                curator.release(counts(over))
            lost = curator.lose(over)
            assert lost.is_predicted
            assert lost.cost.epsilon == Fraction(1, 4)
            curator.predict(Tick(3))
        with Store.open(path, marks=tmp_path / "elsewhere") as store, store.curate("site", lpa()) as curator:
            assert not curator.proved  # booking alone shows nothing
            curator.release(counts(coming))
        with Store.open(path, marks=tmp_path / "elsewhere") as store, store.curate("site", lpa()) as curator:
            assert curator.proved
            assert [d.state for d in store.debits("site")] == ["settled", "settled", "lost", "settled", "settled"]
            assert store.verify("site").ok

    def test_what_another_machine_released_since_proves_nothing(
        self, path: Path, tmp_path: Path, lpa: Make, counts: MakeCounts
    ) -> None:
        here, there = tmp_path / "here", tmp_path / "there"
        release(path, lpa, counts, range(2), marks=here)
        with Store.open(path, marks=there) as store:
            assert store.mend("site", upto=1) == 0
        release(path, lpa, counts, range(2, 4), marks=there)
        with Store.open(path, marks=here) as store, store.curate("site", lpa()) as curator:
            assert not curator.proved
            curator.release(counts(4))

    def test_a_tick_without_a_time_needs_a_mark(
        self, path: Path, tmp_path: Path, lpa: Make, counts: MakeCounts
    ) -> None:
        """A backup on a new machine, or with an emptied state folder: its ticks were drawn a second time."""
        release(path, lpa, counts, range(3))
        copy = backup(path, tmp_path / "copy.db")
        release(path, lpa, counts, range(3, 6))
        restore(copy, path)
        elsewhere = tmp_path / "elsewhere"
        with Store.open(path, marks=elsewhere) as store, store.curate("site", lpa()) as curator:
            for _ in range(2):
                with pytest.raises(StoreSetBack, match="no time, and this machine has no mark") as refused:
                    curator.release(counts(3))
            assert "mend STORE site --upto 2" in str(refused.value)
            assert store.budget("site").spent == 3 * lpa().cost(Tick(0)).epsilon
        with Store.open(path, marks=elsewhere) as store:
            assert store.mend("site", upto=5) == 3
            with store.curate("site", lpa()) as curator:
                assert curator.proved
                assert curator.release(counts(6)).tick.index == 6
            assert [release.is_predicted for release in store.releases("site")] == [False] * 3 + [True] * 3 + [False]

    def test_a_standby_moves_its_mark_along(self, path: Path, tmp_path: Path, lpa: Make, counts: MakeCounts) -> None:
        here, there = tmp_path / "here", tmp_path / "there"
        with (
            Store.open(path, marks=here) as one,
            one.curate("site", lpa()) as first,
            Store.open(path, marks=there) as two,
        ):
            two.create_stream("site", lpa().keys, lpa().guarantee, "lpa", {"mechanism": {}})
            mark = two.ledger("site").mark
            assert mark is not None
            mark.begin(two.stream("site").genesis)
            standby = two.curate("site", lpa())
            assert standby.proved
            for tick in range(3):
                first.release(counts(tick))
                with pytest.raises(TickTaken):
                    standby.release(counts(tick))
                moved = mark.read()
                assert moved is not None
                assert moved.tick == tick
            first.close()
            standby.release(counts(3))

    def test_without_marks_nothing_is_proved_and_nothing_noticed(
        self, path: Path, lpa: Make, counts: MakeCounts
    ) -> None:
        with Store.open(path, marks=False) as store:
            with store.curate("site", lpa()) as curator:
                assert not curator.proved
                curator.release(counts(Tick(0, datetime(2020, 1, 1, tzinfo=UTC), timedelta(seconds=1))))
            with pytest.raises(InvalidParameter, match="nothing can be mended"):
                store.mend("site")

    def test_lose_takes_what_was_reserved_ahead(self, store: Store, lpa: Make, counts: MakeCounts) -> None:
        with store.curate("site", lpa(), reserve_ahead=4) as curator:
            curator.release(counts(0))
            assert curator.lose(Tick(2)).is_predicted
            curator.release(counts(3))
        assert [(d.tick, d.state, str(d.cost.epsilon)) for d in store.debits("site")] == [
            (0, "settled", "1/4"),
            (1, "settled", "0"),
            (2, "lost", "1/4"),
            (3, "settled", "1/4"),
        ]
        assert store.verify("site").ok

    def test_lose_when_another_curator_came_before(self, store: Store, lpa: Make, counts: MakeCounts) -> None:
        with store.curate("site", lpa()) as one, store.curate("site", lpa()) as two:
            one.release(counts(0))
            two.lose(Tick(1))
            assert two.next_tick == 2


class TestReservedAhead:
    def test_what_was_handed_back_is_taken_up(self, path: Path, lpa: Make, counts: MakeCounts) -> None:
        with Store.open(path) as store:
            with store.curate("site", lpa(), reserve_ahead=4) as curator:
                curator.release(counts(0))
            with store.curate("site", lpa()) as curator:
                assert not curator.release(counts(1)).is_predicted
            assert [d.state for d in store.debits("site")] == ["settled", "settled", "reserved", "reserved"]

    def test_but_not_after_it_may_have_been_drawn(
        self, path: Path, tmp_path: Path, lpa: Make, counts: MakeCounts
    ) -> None:
        """The copy holds the marked debit: only the word that it was taken up again tells that it may be drawn."""
        with Store.open(path) as store:
            with store.curate("site", lpa(), reserve_ahead=4) as curator:
                curator.release(counts(0))
            copy = backup(path, tmp_path / "copy.db")
            taken = store.curate("site", lpa())
            taken.release(counts(1))
            owner.retire(taken._owner)  # it dies
        restore(copy, path)
        with Store.open(path) as store, store.curate("site", lpa()) as curator:
            assert curator.next_tick == 4
            assert [d.state for d in store.debits("site")] == ["settled", "lost", "lost", "lost"]

    def test_a_mark_that_cannot_be_written_on_closing_only_costs(
        self, path: Path, lpa: Make, counts: MakeCounts
    ) -> None:
        with Store.open(path) as store:
            curator = store.curate("site", lpa(), reserve_ahead=4)
            curator.release(counts(0))
            with unwritable(mark_of(path)):
                curator.close()
            with store.curate("site", lpa()) as curator:
                assert curator.next_tick == 4


class unwritable:
    """A folder where the mark should be cannot be opened for writing, whoever asks."""

    def __init__(self, mark: MarkFile) -> None:
        self._mark, self._aside = mark, mark.path.with_suffix(".aside")

    def __enter__(self) -> None:
        os.rename(self._mark.path, self._aside)
        self._mark.path.mkdir()

    def __exit__(self, *_: object) -> None:
        self._mark.path.rmdir()
        os.rename(self._aside, self._mark.path)


class TestTroubleWithTheMark:
    def test_nothing_is_drawn_while_it_cannot_be_written(
        self, store: Store, path: Path, lpa: Make, counts: MakeCounts
    ) -> None:
        drawn = []

        class Watched(Lpa):
            def _measure(self, counts: Counts, cost: Cost) -> Any:
                drawn.append(counts.tick.index)
                return super()._measure(counts, cost)

        with store.curate("site", Watched(lpa().keys, lpa().guarantee)) as curator:
            curator.release(counts(0))
            mark = mark_of(path)
            hold = unwritable(mark)
            faults.install(lambda name: hold.__enter__() if name == "mark:begin" else None)
            with pytest.raises(StoreUnavailable, match="cannot be written"):
                curator.release(counts(1))
            faults.install(None)
            with pytest.raises(StoreUnavailable, match="cannot be read"):
                curator.release(counts(1))
            hold.__exit__()
            assert drawn == [0]
            curator.release(counts(1))  # the same tick, from the same debit: nothing is lost
            assert drawn == [0, 1]
        assert [d.state for d in store.debits("site")] == ["settled", "settled"]

    def test_a_folder_that_cannot_be_made(self, tmp_path: Path, path: Path, lpa: Make) -> None:
        (tmp_path / "file").write_text("")
        with Store.open(path, marks=tmp_path / "file" / "marks") as store:
            with pytest.raises(StoreUnavailable, match="HUBBUB_STATE"):
                store.curate("site", lpa())
            assert store.streams() == []

    @pytest.mark.parametrize("slot", [0, 1])
    def test_one_damaged_slot_leaves_the_other_and_proves_nothing(
        self, path: Path, lpa: Make, counts: MakeCounts, slot: int
    ) -> None:
        release(path, lpa, counts, range(4))
        mark = mark_of(path)
        with mark.path.open("r+b") as file:
            file.seek(slot * SLOT + 100)
            file.write(b"\0\0\0\0")
        found = mark.read()
        assert found is not None
        assert found.tick in (2, 3)
        assert not mark.whole
        with Store.open(path) as store, store.curate("site", lpa()) as curator:
            assert not curator.proved
            curator.release(counts(4))
        found = mark.read()
        assert found is not None
        assert found.tick == 4

    @pytest.mark.parametrize("content", [b"", b"\0" * 2 * SLOT, b"nonsense" * SLOT])
    def test_a_mark_of_which_nothing_can_be_read_is_no_missing_one(
        self, path: Path, lpa: Make, counts: MakeCounts, content: bytes
    ) -> None:
        release(path, lpa, counts, range(2))
        mark = mark_of(path)
        mark.path.write_bytes(content)
        with Store.open(path) as store:
            with pytest.raises(StoreSetBack, match="damaged"):
                store.curate("site", lpa())
            with pytest.raises(InvalidParameter, match="--upto"):
                store.mend("site")
            assert store.mend("site", upto=3) == 2
            with store.curate("site", lpa()) as curator:
                assert curator.next_tick == 4

    def test_a_mark_of_another_stream_is_none_of_ours(self, path: Path, lpa: Make, counts: MakeCounts) -> None:
        release(path, lpa, counts, range(2))
        with Store.open(path) as store:
            with store.curate("other", lpa()) as curator:
                curator.release(counts(0))
            other = store.ledger("other").mark
            assert other is not None
            shutil.copy(other.path, mark_of(path).path)
            with pytest.raises(StoreSetBack, match="damaged"):
                store.curate("site", lpa())

    def test_a_lock_that_is_held_too_long(self, tmp_path: Path) -> None:
        mark = MarkFile(tmp_path, "store", b"g" * 32, patience=0.05)
        mark.begin(b"g" * 32)
        with mark.path.open() as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            with pytest.raises(StoreUnavailable, match="held by another process"):
                mark.read()
        assert mark.read() == Mark.begin(b"g" * 32)

    def test_a_mark_that_is_taken_away_while_it_is_written(self, store: Store, lpa: Make, counts: MakeCounts) -> None:
        with store.curate("site", lpa()) as curator:
            mark = store.ledger("site").mark
            assert mark is not None

            def take_away(*_: object) -> None:
                mark.path.unlink(missing_ok=True)

            curator.release(counts(0))
            link = os.link
            try:
                os.link = lambda *_: None  # type: ignore[assignment]  # the new file vanishes at once
                faults.install(lambda name: take_away() if name == "mark:begin" else None)
                with pytest.raises(StoreUnavailable, match="taken away"):
                    curator.release(counts(1))
            finally:
                os.link = link
                faults.install(None)
            curator.release(counts(1))

    def test_a_failed_flush_is_not_taken_for_done(
        self, store: Store, lpa: Make, counts: MakeCounts, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        flushed: list[bool] = []

        def fails(file: int) -> None:
            flushed.append(False)
            raise OSError(5, "Input/output error")

        def works(file: int) -> None:
            flushed.append(True)

        with store.curate("site", lpa()) as curator:
            curator.release(counts(0))
            monkeypatch.setattr(os, "fdatasync", fails)
            with pytest.raises(StoreUnavailable, match="cannot be written"):
                curator.release(counts(1))
            monkeypatch.setattr(os, "fdatasync", works)
            curator.release(counts(1))
        assert flushed == [False, True]  # what stood in the file already was written once more


class TestWhereMarksAre:
    @pytest.fixture(autouse=True)
    def home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))

    def test_by_the_environment(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HUBBUB_STATE", "/somewhere")
        assert state_folder() == Path("/somewhere")
        monkeypatch.delenv("HUBBUB_STATE")
        monkeypatch.setenv("XDG_STATE_HOME", "/state")
        assert state_folder() == Path("/state/hubbub")
        monkeypatch.delenv("XDG_STATE_HOME")
        assert state_folder() == tmp_path / ".local" / "state" / "hubbub"

    def test_without_a_home(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def none() -> Path:
            raise RuntimeError

        monkeypatch.delenv("HUBBUB_STATE")
        monkeypatch.delenv("XDG_STATE_HOME", raising=False)
        monkeypatch.setattr(Path, "home", none)
        with pytest.raises(StoreUnavailable, match="no home"):
            state_folder()

    def test_only_the_owner_can_read_them(self, path: Path, tmp_path: Path, lpa: Make, counts: MakeCounts) -> None:
        release(path, lpa, counts, range(1), marks=tmp_path / "new" / "marks")
        (made,) = (tmp_path / "new" / "marks").iterdir()
        assert made.stat().st_mode & 0o777 == 0o600
        assert made.parent.stat().st_mode & 0o777 == 0o700


def test_marks_never_move_back(tmp_path: Path, lpa: Make) -> None:
    mark = MarkFile(tmp_path, "store", b"g" * 32)
    mark.begin(b"g" * 32)
    account = Account(lpa().guarantee)
    far, near = Mark(9, 9, b"9" * 32), Mark(3, 3, b"3" * 32)
    mark.move(far, Mark.begin(b"g" * 32), account, lambda _: True)
    assert mark.move(near, None, account, lambda _: True) == far
    assert mark.read() == far
    with pytest.raises(StoreSetBack):
        mark.move(replace(far, hash=b"8" * 32), None, account, lambda _: False)


def test_a_stream_that_a_backup_does_not_know_is_missed_before_it_is_made_again(
    path: Path, tmp_path: Path, lpa: Make, counts: MakeCounts
) -> None:
    Store.open(path).close()
    copy = backup(path, tmp_path / "backup.db")
    release(path, lpa, counts, range(2))
    restore(copy, path)
    with Store.open(path) as store:
        wanted = store.definition("site", lpa(), Grant("site", lpa().guarantee).part())
        with pytest.raises(StoreSetBack) as expected:
            store.expect_streams([wanted])
        assert store.streams() == []
        with pytest.raises(StoreSetBack) as refused:
            store.curate("site", lpa())
        assert str(expected.value) == str(refused.value)
