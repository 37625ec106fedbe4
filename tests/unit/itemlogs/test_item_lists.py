"""Lists as a stream of the store: each release has the keys that it found, and is charged in both currencies."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from hubbub.confidential import Counts
from hubbub.errors import (
    GrantExhausted,
    GuaranteeChanged,
    HorizonReached,
    InvalidParameter,
    StoreUnavailable,
    TickTaken,
)
from hubbub.itemlogs import Adaptive, ItemLists, ItemLog, TickLog, Weighted
from hubbub.itemlogs.rounds import WeightedRounds
from hubbub.privacy import Grant, Guarantee, User
from hubbub.release import Lpa
from hubbub.released import Discovered, Keys, Release, Tick
from hubbub.store import Store, faults

PEOPLE = 3000
MONTHS = Guarantee.approximate(User(horizon=3), 3, "1e-6", aside="5e-7")


def log(*items: str, people: int = PEOPLE) -> ItemLog:
    return ItemLog.of([(f"user {i}", item) for i in range(people) for item in items] + [("ann", "ann has gout")])


def lists(promise: Guarantee = MONTHS, **options: object) -> ItemLists:
    return ItemLists(Discovered(), promise, **options)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lists.db", marks=tmp_path / "marks") as opened:
        yield opened


@pytest.fixture(autouse=True)
def _no_faults() -> Iterator[None]:
    yield
    faults.install(None)


def same(one: Release, other: Release) -> bool:
    vectors = [(getattr(one, n), getattr(other, n)) for n in ("values", "standard_errors", "lower", "upper")]
    return (one.tick, one.keys, one.cost) == (other.tick, other.keys, other.cost) and all(
        np.array_equal(a, b) for a, b in vectors
    )


class TestAlone:
    def test_a_list_has_the_items_that_enough_people_share_and_nothing_of_one_person(self) -> None:
        release = lists().release(TickLog(Tick(0), log("weather", "news")))
        assert sorted(release.keys.names[:-1]) == ["news", "weather"]
        assert release.keys.names[-1] == "other"
        value = release["weather"]
        assert value.lower <= PEOPLE <= value.upper or abs(value.value - PEOPLE) < 5 * value.standard_error
        assert (release["other"].lower, release["other"].upper) == (0, np.inf)
        assert release.variance_of_sum() == np.inf

    def test_both_currencies_are_charged_and_both_end(self) -> None:
        made = lists()
        for tick in range(3):
            cost = made.release(TickLog(Tick(tick), log("weather"))).cost
            assert cost.rho == MONTHS.budget / 3
            assert cost.delta == MONTHS.slips / 3
        assert (made.spent, made.slipped) == (MONTHS.budget, MONTHS.slips)
        with pytest.raises(HorizonReached):
            made.release(TickLog(Tick(3), log("weather")))

    @pytest.mark.parametrize("kind", [Adaptive, Weighted])
    def test_a_list_of_a_stream_is_drawn_as_a_single_one_of_the_same_numbers(self, kind: type[WeightedRounds]) -> None:
        """What is proved and measured of single lists is about these, too."""
        alone = kind(1, "1e-6", 10)
        part = kind.within(alone.claim.rho, alone.claim.rho_delta, 10)
        assert (part.division, part.thresholds) == (alone.division, alone.thresholds)
        assert part.claim.epsilon <= alone.claim.epsilon
        assert (part.claim.delta, part.reach) == (alone.claim.delta, alone.reach)

    def test_a_skipped_month_has_the_last_list_again(self) -> None:
        made = lists()
        made.release(TickLog(Tick(0), log("weather")))
        predicted = made.predict(Tick(1))
        assert predicted.keys.names == ("weather", "other")
        assert (predicted["weather"].lower, predicted["weather"].upper) == (0, np.inf)
        assert made.release(TickLog(Tick(2), log("news"))).keys.names == ("news", "other")

    def test_an_item_called_other_is_told_apart_from_what_is_not_in_the_list(self) -> None:
        release = lists().release(TickLog(Tick(0), log("other", "(other)")))
        assert sorted(release.keys.names[:-1]) == ["(other)", "other"]
        assert release.keys.names[-1] == "((other))"

    def test_a_list_without_counts(self) -> None:
        release = lists(count_share=0).release(TickLog(Tick(0), log("weather")))
        assert release.keys.names == ("weather", "other")
        assert (release["weather"].lower, release["weather"].upper) == (0, np.inf)

    def test_an_empty_log_gives_an_empty_list(self) -> None:
        assert lists().release(TickLog(Tick(0), ItemLog.of([]))).keys.names == ("other",)

    @pytest.mark.parametrize("promise", [Guarantee.pure(User(horizon=3), 1), Guarantee.zcdp(User(horizon=3), "1/10")])
    def test_a_promise_without_anything_for_slips_is_refused(self, promise: Guarantee) -> None:
        with pytest.raises(InvalidParameter, match=r"slips|cannot promise"):
            lists(promise)

    def test_what_is_no_log_is_refused_before_anything_is_spent(self) -> None:
        made = lists()
        with pytest.raises(InvalidParameter, match="logs"):
            made.release(Counts.of(Keys(["a"]), Tick(0), [1]))  # type: ignore[arg-type]
        with pytest.raises(InvalidParameter, match="ItemLog"):
            TickLog(Tick(0), [("ann", "flu")])  # type: ignore[arg-type]
        assert made.spent == 0
        lpa = Lpa(Keys(["a"]), Guarantee.pure(User(horizon=3), 1))
        with pytest.raises(InvalidParameter, match="counts"):
            lpa.release(TickLog(Tick(0), log("weather")))  # type: ignore[arg-type]

    def test_it_prints_nothing_of_the_log(self) -> None:
        gathered = TickLog(Tick(0), log("weather"))
        assert "weather" not in f"{gathered!r}{gathered}"


class TestInTheStore:
    def test_what_is_returned_is_what_is_stored_each_with_its_own_keys(self, store: Store) -> None:
        with store.curate("searches", lists()) as curator:
            given = [curator.release(TickLog(Tick(0), log("weather", "news"))), curator.predict(Tick(1))]
            given.append(curator.release(TickLog(Tick(2), log("flu"))))
        stored = list(store.releases("searches"))
        assert all(same(a, b) for a, b in zip(given, stored, strict=True))
        assert [sorted(r.keys.names) for r in stored] == [["news", "other", "weather"]] * 2 + [["flu", "other"]]
        assert store.domain("searches").names == ("flu", "other")
        assert store.verify("searches").ok
        spent = store.budget("searches")
        assert (spent.spent, spent.slipped) == (MONTHS.budget * Fraction(2, 3), MONTHS.slips * Fraction(2, 3))

    def test_another_program_goes_on_with_the_last_list(self, tmp_path: Path) -> None:
        places = {"marks": tmp_path / "marks"}
        with Store.open(tmp_path / "lists.db", **places) as store, store.curate("searches", lists()) as curator:
            curator.release(TickLog(Tick(0), log("weather")))
        with Store.open(tmp_path / "lists.db", **places) as store, store.curate("searches", lists()) as curator:
            assert curator.keys.names == ("weather", "other")
            assert curator.predict(Tick(1)).keys.names == ("weather", "other")
            curator.release(TickLog(Tick(2), log("news")))
            assert store.verify("searches").ok

    def test_two_at_once(self, tmp_path: Path) -> None:
        with Store.open(tmp_path / "lists.db") as one, Store.open(tmp_path / "lists.db") as two:
            with one.curate("searches", lists()) as first, two.curate("searches", lists()) as second:
                first.release(TickLog(Tick(0), log("weather")))
                with pytest.raises(TickTaken):
                    second.release(TickLog(Tick(0), log("weather")))
                assert second.keys.names == ("weather", "other")
                second.release(TickLog(Tick(1), log("news")))
                assert first.release(TickLog(Tick(2), log("flu"))).keys.names == ("flu", "other")
            assert one.verify("searches").ok

    @pytest.mark.parametrize(
        ("point", "lost"),
        [("debit:committed", True), ("draw:done", True), ("settle:release", True), ("settle:domain", True),
         ("settle:committed", False)],
    )  # fmt: skip
    def test_a_failure_at_any_step_leaves_a_whole_ledger(self, store: Store, point: str, lost: bool) -> None:
        def hook(passed: str) -> None:
            if passed == point:
                faults.install(None)
                raise StoreUnavailable("broken here")

        with store.curate("searches", lists()) as curator:
            curator.release(TickLog(Tick(0), log("weather")))
            faults.install(hook)
            with pytest.raises(StoreUnavailable):
                curator.release(TickLog(Tick(1), log("news")))
            assert curator.release(TickLog(Tick(2), log("flu"))).keys.names == ("flu", "other")
        assert store.verify("searches").ok
        names = [sorted(r.keys.names) for r in store.releases("searches")]
        assert names == [["other", "weather"], ["other", "weather"] if lost else ["news", "other"], ["flu", "other"]]
        assert store.budget("searches").spent == MONTHS.budget

    def test_other_options_are_refused(self, store: Store) -> None:
        store.curate("searches", lists()).close()
        with pytest.raises(GuaranteeChanged, match="max_items"):
            store.curate("searches", lists(max_items=20))

    def test_nothing_is_reserved_ahead(self, store: Store) -> None:
        with pytest.raises(InvalidParameter, match="ahead"):
            store.curate("searches", lists(), reserve_ahead=2)

    def test_its_keys_change_by_its_own_releases_alone(self, store: Store) -> None:
        with store.curate("searches", lists()) as curator:
            curator.release(TickLog(Tick(0), log("weather")))
            with pytest.raises(InvalidParameter, match="finds its keys"):
                curator.change_domain(["mine"], released=("searches", 0))

    def test_a_changed_list_is_noticed(self, store: Store) -> None:
        with store.curate("searches", lists()) as curator:
            curator.release(TickLog(Tick(0), log("weather")))
            curator.release(TickLog(Tick(1), log("news")))
        with curator._ledger.database.write() as connection:
            connection.execute(sa.text("update domains set domain = replace(domain, 'weather', 'whether')"))
        assert "changed" in str(store.verify("searches").faults[0])

    def test_a_stream_of_counts_cannot_have_its_past_keys_changed_so(self, store: Store) -> None:
        """The line that a list writes about its own tick is no way to rename what others have counted."""
        with store.curate("site", Lpa(Keys(["a"]), Guarantee.pure(User(horizon=3), 1))) as curator:
            curator.release(Counts.of(Keys(["a"]), Tick(0), [5]))
            ledger = curator._ledger
            position = ledger.position()
            with ledger.writing() as connection:
                before = position.checkpoint
                line = ledger._decision(0, Keys(["b"]), ("site", 0), before.seal, position.last[0], before)
                from hubbub.store import decisions

                decisions.write(connection, ledger.stream.id, line)
                ledger._keep(connection, before.after(line.place, line.seal))
        assert "changes with the tick after" in str(store.verify("site").faults[0])


class TestUnderOneGrant:
    GRANT = Grant("visitors", Guarantee.approximate(User(horizon=3), 3, "1e-6", aside="5e-7"))

    def test_lists_and_counts_divide_one_promise_and_a_list_decides_what_is_counted(self, store: Store) -> None:
        half = self.GRANT.part("1/2", slips=1)
        with store.curate("site.keys", lists(half.guarantee), part=half) as finder:
            finder.release(TickLog(Tick(0), log("/", "/news")))
            rest = self.GRANT.part("1/2")
            counts = Lpa(Discovered(), rest.guarantee)
            with store.curate("site", counts, part=rest) as curator:
                curator.release(Counts.of(curator.keys, Tick(0), [5]))
                curator.change_domain(
                    lambda found: Discovered(found.keys.names[:-1], decision="site.keys tick 0"),
                    released=("site.keys", 0),
                )
                assert sorted(curator.keys.names) == ["/", "/news", "other"]
                curator.release(Counts.of(curator.keys, Tick(1), [50, 20, 5]))
        assert store.verify("site").ok
        assert store.verify("site.keys").ok
        with pytest.raises(GrantExhausted, match="left"):
            store.curate("more", Lpa(Keys(["a"]), self.GRANT.part("1/10").guarantee), part=self.GRANT.part("1/10"))
