"""What a stream counts changes by a released decision, and by nothing else."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

import hubbub as hb
from hubbub.cli.main import main
from hubbub.confidential import Counts
from hubbub.errors import GuaranteeChanged, InvalidModel, InvalidParameter, UnknownKey, UnreleasedDecision
from hubbub.models import NavigationModel
from hubbub.monitor.paired import RangePlan, open_curator
from hubbub.privacy import Event, Grant, Guarantee, Session, User
from hubbub.ranges import RangeStream
from hubbub.release import Ba, Lpa, Navigation, Ukf
from hubbub.released import Discovered, Domain, Grid, Hierarchy, Keys, Release, Tick
from hubbub.store import Curator, Store, decisions, faults, migrations, schema

FIRST = Discovered()
SESSIONS = Guarantee.pure(Session(max_ticks=50), 1)


def found(tick: int, *names: str) -> Discovered:
    return Discovered(names, decision=f"site tick {tick}")


def count(curator: Curator, tick: int, level: int = 500) -> Release:
    return curator.release(Counts.of(curator.keys, Tick(tick), [level] * len(curator.keys)))


@pytest.fixture
def curator(store: Store) -> Iterator[Curator]:
    with store.curate("site", Lpa(FIRST, SESSIONS)) as made:
        count(made, 0)
        yield made


def test_a_released_decision_changes_what_is_counted(store: Store, curator: Curator) -> None:
    second = found(0, "/", "/news")
    assert curator.change_domain(second, released=("site", 0)) == second
    count(curator, 1)
    assert [release.keys for release in store.releases("site")] == [FIRST, second]
    assert [release.keys for release in store.latest("site", 2)] == [FIRST, second]
    assert (store.domain("site"), store.domain("site", 0), store.domain("site", 1)) == (second, FIRST, second)
    assert store.stream("site").keys == FIRST, "the promise was made about the first one"
    (decision,) = store.decisions("site")
    assert (decision.place, decision.tick, decision.evidence, decision.evidence_tick) == (2, 1, "site", 0)
    assert decision.keys == second
    told = decision.to_dict()
    assert (told["domain"]["names"], told["evidence"]["stream"]) == (["/", "/news"], "site")
    assert store.verify("site").ok


def test_it_costs_nothing_and_the_account_goes_on(store: Store, curator: Curator) -> None:
    before = store.spending("site").spent
    curator.change_domain(found(0, "/"), released=("site", 0))
    assert store.spending("site").spent == before == Fraction(1, 50)
    count(curator, 1)
    assert store.spending("site").spent == Fraction(2, 50)
    assert store.spending("site").settled == 2


def test_a_rule_is_handed_the_release_and_nothing_else(store: Store, curator: Curator) -> None:
    seen: list[Release] = []

    def rule(release: Release) -> Domain:
        seen.append(release)
        return found(0, "busy") if release["other"] > 0 else found(0, "quiet")

    assert curator.change_domain(rule, released=("site", 0)) == found(0, "busy")
    assert len(seen) == 1
    assert np.array_equal(seen[0].values, next(store.releases("site")).values)


def test_counts_of_the_earlier_domain_are_refused(curator: Curator) -> None:
    curator.change_domain(found(0, "/"), released=("site", 0))
    with pytest.raises(UnknownKey, match="other keys"):
        curator.release(Counts.of(FIRST, Tick(1), [3]))
    assert count(curator, 1).keys == found(0, "/")


def test_done_twice_nothing_happens_the_second_time(store: Store, curator: Curator) -> None:
    for _ in range(2):
        curator.change_domain(found(0, "/"), released=("site", 0))
    assert len(store.decisions("site")) == 1
    curator.change_domain(FIRST, released=("site", 0))  # and back again, before any tick
    assert store.domain("site", 1) == FIRST
    assert store.verify("site").ok


@pytest.mark.parametrize(
    ("released", "match"),
    [
        (("site", 1), "holds no settled release of tick 1"),
        (("nobody", 0), "'nobody' is no stream of it"),
        (("elsewhere", 0), "'elsewhere' is no stream of it"),
    ],
)
def test_what_was_not_released_decides_nothing(
    store: Store, curator: Curator, released: tuple[str, int], match: str
) -> None:
    with store.curate("elsewhere", Lpa(FIRST, SESSIONS)) as other:
        count(other, 0)
    new = Discovered(["/"], decision=f"{released[0]} tick {released[1]}")
    with pytest.raises(UnreleasedDecision, match=match):
        curator.change_domain(new, released=released)
    assert store.decisions("site") == ()
    assert count(curator, 1).keys == FIRST


def test_keys_that_name_another_decision_are_refused(curator: Curator) -> None:
    with pytest.raises(UnreleasedDecision, match="'site tick 7' found them, and the evidence is 'site tick 0'"):
        curator.change_domain(found(7, "/"), released=("site", 0))


@pytest.mark.parametrize("released", ["site", ("site",), ("site", "0"), ("site", True), (0, "site"), None])
def test_evidence_is_a_stream_and_a_tick(curator: Curator, released: Any) -> None:
    with pytest.raises(InvalidParameter, match="as its stream and its tick; got"):
        curator.change_domain(FIRST, released=released)


@pytest.mark.parametrize("new", ["ab", None, lambda _: {"a"}], ids=["text", "nothing", "rule"])
def test_what_is_counted_next_is_a_domain(curator: Curator, new: Any) -> None:
    with pytest.raises(InvalidParameter, match="must be a domain; got"):
        curator.change_domain(new, released=("site", 0))
    assert count(curator, 1).keys == FIRST


def test_a_decision_is_exported_with_the_ledger(
    store: Store, curator: Curator, capsys: pytest.CaptureFixture[str]
) -> None:
    curator.change_domain(found(0, "/"), released=("site", 0))
    assert main(["ledger", "export", store.database.where, "site", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["decisions"]
    assert (told["tick"], told["evidence"]["stream"]) == (1, "site")


def test_a_tick_that_was_lost_decides_nothing(store: Store) -> None:
    with store.curate("site", Lpa(FIRST, SESSIONS)) as curator:
        curator.lose(Tick(0))
        with pytest.raises(UnreleasedDecision, match="reserved or lost decides nothing"):
            curator.change_domain(found(0, "/"), released=("site", 0))


def test_another_stream_of_the_grant_may_decide(store: Store) -> None:
    half = Grant("visitors", SESSIONS).part("1/2")
    with (
        store.curate("site.keys", Lpa(Keys(["a", "b"]), half.guarantee), part=half) as finder,
        store.curate("site", Lpa(FIRST, half.guarantee), part=half) as curator,
    ):
        count(finder, 3)
        new = Discovered(["a"], decision="site.keys tick 3")
        curator.change_domain(new, released=("site.keys", 3))
        assert count(curator, 0).keys == new, "before its first tick"
    assert store.verify("site").ok


def test_reserved_ahead_is_reserved_for_the_keys_of_now(store: Store) -> None:
    with store.curate("site", Lpa(FIRST, SESSIONS), reserve_ahead=4) as curator:
        count(curator, 0)
        with pytest.raises(InvalidParameter, match="Ticks up to 3 are reserved ahead"):
            curator.change_domain(found(0, "/"), released=("site", 0))
        assert count(curator, 1).keys == FIRST


def test_a_mechanism_that_cannot_says_so_and_goes_on(store: Store) -> None:
    for name, mechanism in {
        "saves": Ba(FIRST, SESSIONS),
        "ranges": RangeStream(FIRST, SESSIONS, window=8),
    }.items():
        with store.curate(name, mechanism) as curator:
            count(curator, 0)
            with pytest.raises(InvalidParameter, match="cannot go on with other keys"):
                curator.change_domain(Keys(["/"]), released=(name, 0))
            assert count(curator, 1).keys == FIRST
            assert store.verify(name).ok


def test_a_model_knows_its_own_keys_only(store: Store) -> None:
    keys = Keys(["front"])
    with store.curate("site", Navigation(keys, SESSIONS, model=NavigationModel.of(keys, [[0.5]], [9.0]))) as curator:
        count(curator, 0)
        with pytest.raises(InvalidModel, match="'news'"):
            curator.change_domain(Keys(["news"]), released=("site", 0))
        assert count(curator, 1).keys == keys


def test_ranges_beside_a_stream_keep_its_keys(store: Store) -> None:
    open_curator(store, "site", FIRST, SESSIONS, Lpa, RangePlan(8)).close()
    with store.curate("site", Lpa(FIRST, SESSIONS.part(Fraction(1, 2))), part=store.stream("site").part) as curator:
        count(curator, 0)
        with pytest.raises(InvalidParameter, match=r"'site\.ranges' answers ranges for 'site'"):
            curator.change_domain(found(0, "/"), released=("site", 0))


def test_an_estimator_starts_anew_and_a_restart_finds_it(store: Store) -> None:
    make: Callable[[Domain], Ukf] = lambda keys: Ukf(keys, SESSIONS)  # noqa: E731
    with store.curate("site", make(FIRST)) as curator:
        for tick in range(5):
            count(curator, tick)
        settled = store.latest("site")[0]["other"].standard_error
        curator.change_domain(Grid(3, 2), released=("site", 4))
        fresh = count(curator, 5)
        assert fresh["2,1"].standard_error > settled, "nothing is known yet of the new cells"
    for keys in (FIRST, Grid(3, 2)):  # whoever goes on may know the first domain, or the present one
        with store.curate("site", make(keys)) as again:
            assert again.keys == Grid(3, 2)
            assert count(again, again.next_tick)["2,1"].standard_error < fresh["2,1"].standard_error
    with pytest.raises(GuaranteeChanged, match="other keys"):
        store.curate("site", make(Keys(["news"])))


def test_a_second_curator_moves_along(store: Store, curator: Curator) -> None:
    with store.curate("site", Lpa(FIRST, SESSIONS)) as standby:
        curator.change_domain(found(0, "/"), released=("site", 0))
        with pytest.raises(UnknownKey):
            standby.release(Counts.of(FIRST, Tick(1), [3]))
        curator.change_domain(found(0, "/", "/news"), released=("site", 0))
        standby.change_domain(found(0, "/"), released=("site", 0))
        curator.change_domain(found(0, "/", "/news"), released=("site", 0))  # which it thinks it counts by
        standby.change_domain(found(0, "/"), released=("site", 0))
        assert count(standby, 1).keys == found(0, "/")
        assert len(store.decisions("site")) == 5
    assert store.verify("site").ok


@pytest.mark.parametrize("point", faults.DOMAIN_POINTS)
def test_whenever_it_is_cut_off_the_change_is_whole_or_not_there(store: Store, curator: Curator, point: str) -> None:
    class Cut(Exception): ...

    def cut(name: str) -> None:
        if name == point:
            raise Cut

    faults.install(cut)
    with pytest.raises(Cut):
        curator.change_domain(found(0, "/"), released=("site", 0))
    faults.install(None)
    done = point == "domain:committed"
    expected = found(0, "/") if done else FIRST
    with Store.open(store.database.where) as other:
        assert other.domain("site") == expected
        assert len(other.decisions("site")) == done
        assert other.verify("site").ok
    curator.predict(Tick(1))
    assert curator.keys == expected, "the one that was cut off goes on too"
    with store.curate("site", Lpa(FIRST, SESSIONS)) as again:
        assert again.keys == expected
        assert count(again, 2).keys == expected


def test_every_way_of_changing_reopening_and_reading(path: Path) -> None:
    """Random scripts against a list in memory: each tick is read with the domain that it had when it was released."""
    generator = np.random.default_rng(7)
    domains: list[Domain] = [
        Keys(["a", "b"]), Grid(3, 2), Grid(2, 3), Hierarchy({"top": None, "low": "top"}, nested=False),
        Keys(["b", "a"]), Grid(1, 1),
    ]  # fmt: skip
    for number in range(12):
        name, told, now, changes = f"site-{number}", {}, domains[0], 0
        store = Store.open(path)
        curator = store.curate(name, Lpa(domains[0], SESSIONS))
        for tick in range(int(generator.integers(3, 12))):
            turn = generator.random()
            if turn < 0.2:
                curator.predict(Tick(tick))
            elif turn < 0.9:
                count(curator, tick, int(generator.integers(0, 900)))
            if turn < 0.9:  # otherwise a gap
                told[tick] = now
            if told and generator.random() < 0.5:
                wanted = domains[int(generator.integers(len(domains)))]
                changes += wanted != now
                now = curator.change_domain(wanted, released=(name, max(told)))
            if generator.random() < 0.4:
                curator.close()
                store.close()
                store = Store.open(path)
                curator = store.curate(name, Lpa(domains[0], SESSIONS))
                assert curator.keys == now
        assert {release.tick.index: release.keys for release in store.releases(name)} == told
        assert {tick: store.domain(name, tick) for tick in told} == told
        assert store.domain(name) == now
        assert len(store.decisions(name)) == changes
        found = store.verify(name).require()
        assert found.debits == len(told)
        assert store.verify(name, head=found.head).ok
        curator.close()
        store.close()


def test_a_head_that_is_a_decision_is_found_again(store: Store, curator: Curator) -> None:
    curator.change_domain(found(0, "/"), released=("site", 0))
    head = store.verify("site").head
    count(curator, 1)
    assert store.verify("site", head=head).anchor_tick == 0


@pytest.mark.parametrize(
    ("tamper", "match"),
    [
        ("UPDATE domains SET domain = '[\"secret\"]'", "was changed after it was written"),
        ("UPDATE domains SET evidence_tick = 1", "was changed after it was written"),
        ("UPDATE domains SET seal = x'00'", "was changed after it was written"),
        ("UPDATE domains SET previous = x'00'", "does not follow the line before it"),
        ("UPDATE domains SET place = 7", "line 5 is missing"),
        ("DELETE FROM domains", "line 2 is missing"),
    ],
)
def test_a_decision_that_was_changed_is_seen(store: Store, curator: Curator, tamper: str, match: str) -> None:
    curator.change_domain(found(0, "/"), released=("site", 0))
    count(curator, 1)
    count(curator, 2)
    _write(store, tamper)
    assert any(match in str(fault) for fault in store.verify("site").faults)


def test_the_last_decision_cannot_be_taken_away_unseen(store: Store, curator: Curator) -> None:
    curator.change_domain(found(0, "/"), released=("site", 0))
    _write(store, "DELETE FROM domains")
    assert any("cut off or changed" in str(fault) for fault in store.verify("site").faults)


def test_evidence_that_is_gone_is_seen(store: Store) -> None:
    half = Grant("visitors", SESSIONS).part("1/2")
    with (
        store.curate("keys", Lpa(Keys(["a"]), half.guarantee), part=half) as finder,
        store.curate("site", Lpa(FIRST, half.guarantee), part=half) as curator,
    ):
        count(finder, 0)
        curator.change_domain(Keys(["a"]), released=("keys", 0))
    _write(store, "UPDATE debits SET state = 'lost' WHERE stream = 1")
    (fault,) = store.verify("site").faults
    assert "the release of 'keys' that decided what is counted is not there" in str(fault)


def test_a_decision_between_the_wrong_ticks_is_seen(store: Store, curator: Curator) -> None:
    """Rightly hashed, as only another program would write it."""
    curator.change_domain(found(0, "/"), released=("site", 0))
    (kept,) = store.decisions("site")
    (before,) = store.debits("site")
    assert before.seal is not None
    wrong = decisions.made(replace(kept, tick=5), before.seal)
    with store.database.write() as connection:
        connection.execute(sa.update(schema.domains).values(tick=5, hash=wrong.hash, seal=wrong.seal))
    assert any("and with no other" in str(fault) for fault in store.verify("site").faults)


def test_a_store_of_the_layout_before_gets_its_table(path: Path) -> None:
    with Store.open(path) as store, store.curate("site", Lpa(FIRST, SESSIONS)) as curator:
        count(curator, 0)
        head = store.verify("site").head
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE domains")
        connection.execute("DROP TABLE forgotten")
        later = ("streams", "slips"), ("debits", "delta"), ("debits", "settled_delta"), ("releases", "joint")
        for table, column in later:
            connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        connection.execute("UPDATE hubbub_schema SET version = 6")
    connection.close()
    with Store.open(path) as store, store.curate("site", Lpa(FIRST, SESSIONS)) as curator:
        assert store.verify("site", head=head).require().anchor_tick == 0
        assert store.decisions("site") == ()
        curator.change_domain(found(0, "/"), released=("site", 0))
        assert count(curator, 1).keys == found(0, "/")
    assert migrations.VERSION >= 7


def test_a_monitor_changes_its_keys_where_it_has_a_store(tmp_path: Path) -> None:
    with hb.Monitor(["a", "b"], "event", 1, method="lpa", store=tmp_path / "m.db") as monitor:
        monitor.release([3, 900])
        released = ("monitor", 0)
        monitor.change_domain(lambda seen: Keys([key for key in seen.keys if seen[key] > 100]), released=released)
        assert monitor.keys == Keys(["b"])
        assert monitor.release({"b": 5}).keys == Keys(["b"])
    with pytest.raises(InvalidParameter, match="without a store"):
        hb.Monitor(["a"], "event", 1).change_domain(Keys(["b"]), released=("monitor", 0))


def test_a_horizon_goes_on(store: Store) -> None:
    with store.curate("site", Lpa(FIRST, Guarantee.pure(User(horizon=2), 1))) as curator:
        count(curator, 0)
        curator.change_domain(Keys(["a"]), released=("site", 0))
        count(curator, 1)
        assert store.spending("site").left == 0


def test_marks_go_on_over_a_decision(path: Path, tmp_path: Path) -> None:
    for tick in range(3):
        with Store.open(path, marks=tmp_path / "marks") as store, store.curate("site", Lpa(FIRST, SESSIONS)) as curator:
            assert curator.proved
            assert curator.next_tick == tick
            count(curator, tick)
            curator.change_domain(Grid(tick + 1, 1), released=("site", tick))


def _write(store: Store, statement: str) -> None:
    with store.database.write() as connection:
        connection.execute(sa.text(statement))


# ── counts without names ─────────────────────────────────────────────────────────────────────────────────────────────


def swapped(path: Path, keys: list[str]) -> hb.Monitor:
    return hb.Monitor(keys, "event", 20, method="lpa", store=path / "m.db", name="site")


def published(path: Path) -> list[dict[str, int]]:
    with Store.open(path / "m.db") as store:
        return [{key: round(float(release[key])) for key in release.keys} for release in store.releases("site")]


@pytest.mark.parametrize("form", [list, tuple, np.array], ids=["list", "tuple", "array"])
def test_a_list_never_lands_under_keys_that_another_program_chose(tmp_path: Path, form: Callable[..., Any]) -> None:
    """As it was: refused once, and published with its keys exchanged when it was sent again."""
    counts = form([100, 9000])
    with swapped(tmp_path, ["a", "b"]) as one, swapped(tmp_path, ["a", "b"]) as other:
        one.release(counts)
        other.change_domain(Keys(["b", "a"]), released=("site", 0))
        for _ in range(3):
            with pytest.raises(UnknownKey, match="by name"):
                one.release(counts)
        one.release({"a": 100, "b": 9000})
        with pytest.raises(UnknownKey, match="by name"):
            one.release(counts)
        with pytest.raises(UnknownKey, match="by name"):
            one.release([1, 2, 3])
        one.release(Counts.of(one.keys, Tick(one.next_tick), form([9000, 100])))
        other.release(form([9000, 100]), tick=3)
        other.change_domain(Keys(["a", "b"]), released=("site", 0))
        with pytest.raises(UnknownKey):
            one.release(counts, tick=4)  # it has yet to see that
        one.release(counts, tick=4)
    assert published(tmp_path) == 5 * [{"a": 100, "b": 9000}]


def test_nor_under_those_that_a_stream_has_come_to_since(tmp_path: Path) -> None:
    with swapped(tmp_path, ["a", "b"]) as first:
        first.release([100, 9000])
        first.change_domain(Keys(["b", "a"]), released=("site", 0))
    with swapped(tmp_path, ["a", "b"]) as again:
        for _ in range(2):
            with pytest.raises(UnknownKey, match="by name"):
                again.release([100, 9000])
        again.release({"a": 100, "b": 9000})
    with swapped(tmp_path, ["b", "a"]) as today:
        today.release([9000, 100])
    assert published(tmp_path) == 3 * [{"a": 100, "b": 9000}]


def test_a_plain_list_of_names_will_do(curator: Curator) -> None:
    assert curator.change_domain(["a", "b"], released=("site", 0)) == Keys(["a", "b"])
    assert curator.change_domain(lambda _: ["b"], released=("site", 0)) == Keys(["b"])
    with pytest.raises(InvalidParameter, match="non-empty string"):
        curator.change_domain([1], released=("site", 0))  # type: ignore[list-item]


def test_a_history_that_is_read_piece_by_piece_is_the_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream whose keys are found has a decision each period: those that are known are not read again."""
    asked: list[int] = []
    real = decisions.read

    def read(connection, stream, first=0):  # type: ignore[no-untyped-def]
        asked.append(first)
        return real(connection, stream, first)

    monkeypatch.setattr(decisions, "read", read)
    with (
        Store.open(path) as store,
        store.curate("site", Lpa(Discovered(), Guarantee.pure(Event(), 1))) as curator,
        Store.open(path, read_only=True) as reader,
    ):
        for tick in range(6):
            curator.release(Counts.of(curator.keys, Tick(tick), [5] * len(curator.keys)))
            names = [f"/{tick}", f"/{tick}a"]
            curator.change_domain(Discovered(names, decision=f"site tick {tick}"), released=("site", tick))
            assert reader.domain("site").names == (*names, "other")
        seen = reader.decisions("site")
    with Store.open(path, read_only=True) as fresh:
        assert fresh.decisions("site") == seen
        assert [fresh.domain("site", tick).names for tick in range(6)] == [
            reader._histories[1].at(tick).names for tick in range(6)
        ]
    assert [first for first in asked if first] == [one.place for one in seen[:5]]
