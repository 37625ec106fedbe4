"""Slips in the store: drawn as exact parts, debited, sealed, lost, mended, verified and told."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.support.slipping import KEYS, SLIPPING, VISITORS, Listing

from hubbub.cli.main import main
from hubbub.confidential import Counts
from hubbub.errors import BudgetExceeded, GrantExhausted, GuaranteeChanged, LedgerBroken
from hubbub.privacy import Account, Grant, Guarantee, Session
from hubbub.release import Lpa
from hubbub.released import Cost, Tick
from hubbub.store import Definition, Store, chain, faults, migrations
from hubbub.store.debit import cost_of, texts_of
from hubbub.store.mark import Mark

MakeCounts = Callable[..., Counts]
EACH = Cost(rho=Fraction(1, 40), delta=Fraction(1, 4 * 10**6))


def change(store: Store, *statements: str) -> None:
    with store.database.write() as connection:
        for statement in statements:
            connection.execute(sa.text(statement))


def definition(name: str, share: str, slips: str) -> Definition:
    return Definition.of(name, KEYS, VISITORS.part(share, slips), "listing")


@pytest.fixture
def lists(store: Store, counts: MakeCounts) -> Store:
    """Three ticks that may have slipped, a prediction, and a stream of the same grant that slips nothing."""
    part = VISITORS.part("1/2", "1/4")
    with store.curate("lists", Listing(KEYS, part.guarantee), part=part) as curator:
        for tick in range(3):
            curator.release(counts(tick))
        curator.predict(Tick(3))
    rest = VISITORS.part("1/4")
    with store.curate("pages", Lpa(KEYS, rest.guarantee), part=rest) as curator:
        curator.release(counts(0))
    return store


# ── grants ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_streams_draw_exact_parts_of_both_until_nothing_is_left(lists: Store) -> None:
    kept = lists.grant("visitors")
    assert (kept.left, kept.slips_left) == (Fraction(1, 4), Fraction(3, 4))
    assert (dict(kept.shares), dict(kept.slips)) == (
        {"lists": Fraction(1, 2), "pages": Fraction(1, 4)},
        {"lists": Fraction(1, 4)},
    )
    before = lists.budget("lists")
    for share, slips, words in (("1/2", "1/2", "of its budget left"), ("1/8", "4/5", "has 3/4 of its slips left")):
        with pytest.raises(GrantExhausted, match=words):
            lists.create_stream("more", KEYS, VISITORS.part(share, slips), "listing")
    assert lists.find("more") is None
    assert lists.budget("lists") == before
    lists.create_stream("more", KEYS, VISITORS.part("1/8", "3/4"), "listing")
    assert lists.grant("visitors").slips_left == 0
    with pytest.raises(
        GrantExhausted, match="has nothing of its slips left, and last would draw 1/1000: lists has 1/4"
    ):
        lists.create_stream("last", KEYS, VISITORS.part("1/8", "1/1000"), "listing")
    assert all(lists.verify(name).ok for name in ("lists", "pages", "more"))


def test_two_streams_at_once_are_refused_together(store: Store) -> None:
    with pytest.raises(GrantExhausted, match="a and b would draw 6/5"):
        store.create_streams([definition("a", "1/4", "3/5"), definition("b", "1/4", "3/5")])
    assert store.grants() == []


def test_of_many_who_want_the_last_slips_one_gets_them(path: Path) -> None:
    Store.open(path).close()
    at_once, made = threading.Barrier(4), []

    def draw(name: str) -> None:
        with Store.open(path) as store:
            at_once.wait()
            try:
                store.create_stream(name, KEYS, VISITORS.part("1/10", "3/4"), "listing")
            except GrantExhausted:
                return
            made.append(name)

    threads = [threading.Thread(target=draw, args=(f"s{i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Store.open(path) as store:
        assert [one.name for one in store.streams()] == made
        assert len(made) == 1
        assert store.grant("visitors").slips_left == Fraction(1, 4)


def test_a_stream_of_its_own_draws_all_slips(store: Store, counts: MakeCounts) -> None:
    with store.curate("site", Listing(KEYS, SLIPPING)) as curator:
        curator.release(counts(0))
    assert store.stream("site").part == Grant("site", SLIPPING).part()
    assert store.stream("site").guarantee == SLIPPING
    assert store.budget("site").slipped == EACH.delta


def test_another_part_of_the_slips_is_another_promise(lists: Store) -> None:
    other = VISITORS.part("1/2", "1/2")
    with pytest.raises(GuaranteeChanged):
        lists.curate("lists", Listing(KEYS, other.guarantee), part=other)


def test_what_slips_nothing_is_defined_as_before() -> None:
    """The hash of a definition covers its options: nothing new may stand in those that were made before."""
    grant = Grant("visitors", Guarantee.zcdp(Session(4), "1/10"))
    (pinned,) = json.loads(Definition.of("site", KEYS, grant.part("1/2"), "lpa").options).values()
    assert set(pinned) == {"name", "population", "guarantee", "apart_from", "share"}
    assert json.loads(definition("site", "1/2", "1/2").options)["grant"]["slips"] == "1/2"


# ── the ledger ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_debits_and_releases_hold_what_may_slip(lists: Store) -> None:
    part = VISITORS.part("1/2", "1/4").guarantee
    each = Cost(rho=part.rho / 4, delta=part.slips / 4)
    debits = list(lists.debits("lists"))
    assert [debit.cost for debit in debits] == [each] * 3 + [Cost.nothing()]
    assert (debits[0].delta, debits[0].settled_delta) == (str(each.delta),) * 2
    assert (debits[3].delta, debits[3].settled_delta) == (None, None)
    assert [release.cost for release in lists.releases("lists")] == [debit.cost for debit in debits]
    assert {debit.delta for debit in lists.debits("pages")} == {None}
    verified = lists.verify("lists").require()
    assert (verified.spent, verified.slipped) == (3 * each.rho, 3 * each.delta)
    assert cost_of(*texts_of(each)) == each


def test_hashes_of_what_slips_nothing_are_those_of_before(lists: Store) -> None:
    debit = next(lists.debits("pages"))
    d = debit
    parts = (d.previous, d.place, d.tick, d.start, d.length, d.epsilon, d.rho, d.purpose, d.reserved)
    assert debit.hash == chain.digest("debit 1", *parts)
    slipping = next(lists.debits("lists"))
    assert slipping.hash == chain.debit_hash(slipping)
    assert chain.seal(b"", b"", "settled", "0", "1", b"") == chain.digest(
        "outcome 1", b"", b"", "settled", "0", "1", b""
    )
    assert chain.seal(b"", b"", "settled", "0", "1", b"", "0") != chain.seal(b"", b"", "settled", "0", "1", b"")


CHANGES = {
    "a reserved slip": ("UPDATE debits SET delta = '1/9000000' WHERE tick = 1", "debit was changed"),
    "a reserved slip taken out": ("UPDATE debits SET delta = NULL WHERE tick = 1", "debit was changed"),
    "a reserved slip made a zero": ("UPDATE debits SET delta = '0' WHERE tick = 1", "debit was changed"),
    "a settled slip": ("UPDATE debits SET settled_delta = '1/90000000' WHERE tick = 1", "outcome"),
    "a settled slip taken out": ("UPDATE debits SET settled_delta = NULL WHERE tick = 1", "outcome"),
    "a settled slip made a zero": ("UPDATE debits SET settled_delta = '0' WHERE tick = 1", "outcome"),
    "both taken out": ("UPDATE debits SET delta = NULL, settled_delta = NULL WHERE tick = 1", "debit was changed"),
    "a zero for a prediction": ("UPDATE debits SET delta = '0' WHERE tick = 3", "debit was changed"),
    "a settled zero for a prediction": ("UPDATE debits SET settled_delta = '0' WHERE tick = 3", "outcome"),
    "no number": ("UPDATE debits SET delta = 'many' WHERE tick = 1", "is no amount"),
    "more than one": ("UPDATE debits SET delta = '2' WHERE tick = 1", "debit was changed"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_found(lists: Store, what: str) -> None:
    statement, words = CHANGES[what]
    change(lists, f"{statement} AND stream = (SELECT id FROM streams WHERE name = 'lists')")
    found = lists.verify("lists")
    assert not found.ok
    assert any(words in fault.what for fault in found.faults), found.faults


def test_a_reserved_line_with_a_settled_slip_is_found(lists: Store) -> None:
    change(
        lists,
        "UPDATE debits SET state = 'reserved', seal = NULL, settled_epsilon = NULL, settled_rho = NULL WHERE tick = 2",
        "DELETE FROM releases WHERE tick = 2",
    )
    assert any("but has an outcome" in fault.what for fault in lists.verify("lists").faults)


@pytest.mark.parametrize("slips", ["0", "1/2", "1", "2", "-1", "many", "1/0"])
def test_a_stream_with_other_slips_than_it_was_made_with_is_refused(lists: Store, path: Path, slips: str) -> None:
    change(lists, f"UPDATE streams SET slips = '{slips}' WHERE name = 'lists'")
    with Store.open(path) as again, pytest.raises(LedgerBroken, match=r"another part|store was changed"):
        again.stream("lists")


def test_slips_given_to_a_stream_that_has_none_are_found(store: Store, path: Path, lpa: Callable[[], Lpa]) -> None:
    store.create_stream("site", KEYS, lpa().guarantee, "lpa")
    change(store, "UPDATE streams SET slips = '1/2'")
    with Store.open(path) as again, pytest.raises(LedgerBroken, match=r"another part|store was changed"):
        again.stream("site")


def test_slips_that_were_drawn_twice_are_found(store: Store) -> None:
    store.create_streams([definition("a", "1/4", "3/5")])
    second = definition("b", "1/4", "3/5")
    with store.database.write() as connection:
        row = connection.execute(sa.text("SELECT * FROM streams")).one()._asdict()
        row |= {"id": 2, "name": "b", "options": second.options, "genesis": second.genesis}
        names = ", ".join(row)
        connection.execute(sa.text(f"INSERT INTO streams ({names}) VALUES ({', '.join(f':{n}' for n in row)})"), row)
    assert any("drawn more slips than it has" in fault.what for fault in store.verify("a").faults)


def test_settled_above_what_was_reserved_is_refused_and_lost(store: Store, counts: MakeCounts) -> None:
    class Greedy(Listing):
        def _measure(self, counted, cost):  # type: ignore[no-untyped-def]
            measured = super()._measure(counted, cost)
            return measured._replace(cost=Cost(rho=cost.rho, delta=2 * cost.delta))

    with store.curate("site", Greedy(KEYS, SLIPPING)) as curator:
        with pytest.raises(BudgetExceeded, match="may have slipped"):
            curator.release(counts(0))
        curator.predict(Tick(1))
    assert [(debit.state, debit.cost) for debit in store.debits("site")] == [
        ("lost", EACH),
        ("settled", Cost.nothing()),
    ]
    assert store.verify("site").require().slipped == EACH.delta


@pytest.mark.parametrize("where", ["debit:committed", "mark:written", "draw:done", "settle:debit", "settle:state"])
def test_a_debit_that_was_reserved_and_lost_stays_charged_in_both(store: Store, counts: MakeCounts, where: str) -> None:
    class Died(Exception):
        pass

    def fail(at: str) -> None:
        if at == where:
            raise Died

    with store.curate("site", Listing(KEYS, SLIPPING)) as curator:
        curator.release(counts(0))
        faults.install(fail)
        with pytest.raises(Died):
            curator.release(counts(1))
        faults.install(None)
        budget = store.spending("site")  # open reservations count as spent
        assert (budget.spent, budget.slipped) == (2 * EACH.rho, 2 * EACH.delta)
    with store.curate("site", Listing(KEYS, SLIPPING)) as curator:
        curator.release(counts(curator.next_tick))
    debits = list(store.debits("site"))
    assert all(debit.limit == debit.cost == EACH for debit in debits)
    assert store.spending("site").slipped == len(debits) * EACH.delta
    assert store.verify("site").require().slipped == len(debits) * EACH.delta


def test_the_ledger_refuses_more_than_may_slip(store: Store) -> None:
    """Its own account, apart from the mechanism's."""
    stream = store.create_stream("site", KEYS, SLIPPING, "listing")
    ledger = store.ledger(stream)
    position = ledger.position()
    account = position.checkpoint.open_account(stream)
    wanted = [(Tick(i), Cost(rho=EACH.rho, delta=Fraction(3, 10**7))) for i in range(4)]
    with pytest.raises(BudgetExceeded, match="for slips leaves less"):
        ledger.reserve(position, account, wanted, "me", "release")
    assert ledger.position() == position
    assert len(ledger.reserve(position, account, wanted[:3], "me", "release").pending) == 3


# ── marks and mending ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_mark_covers_the_largest_of_both() -> None:
    account = Account(SLIPPING)
    wide, deep = Mark(0, 1, b"a", rho="1/40"), Mark(1, 2, b"b", rho="1/80", delta="1/1000000")
    assert deep.after(wide, account).most == Cost(rho=Fraction(1, 40), delta=Fraction(1, 10**6))
    assert wide.after(deep, account).most == Cost(rho=Fraction(1, 40), delta=Fraction(1, 10**6))
    assert wide.after(None, account) is wide
    for mark in (wide, deep):
        assert Mark.from_slot(mark.to_slot("x", 7), "x") == (7, mark)
    assert b"delta" not in wide.to_slot("x", 7)


def test_mending_charges_what_may_have_slipped_in_the_past_that_was_forgotten(
    path: Path, tmp_path: Path, counts: MakeCounts
) -> None:
    promise = Guarantee.zcdp(Session(max_ticks=8), "1/5", delta="2e-6")
    with Store.open(path) as store, store.curate("site", Listing(KEYS, promise)) as curator:
        curator.predict(Tick(0))
        with sqlite3.connect(path) as source, sqlite3.connect(tmp_path / "copy.db") as target:
            source.backup(target)
        for tick in (1, 2):
            curator.release(counts(tick))
    for end in ("-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)
    (tmp_path / "copy.db").replace(path)
    with Store.open(path) as store:
        assert store.mend("site", None) == 2
        assert store.spending("site").slipped == 2 * promise.slips / 8
        with store.curate("site", Listing(KEYS, promise)) as curator:
            curator.release(counts(3))
        assert store.verify("site").require().slipped == 3 * promise.slips / 8


def test_a_tick_that_is_booked_as_lost_is_charged_in_both(store: Store, counts: MakeCounts) -> None:
    with store.curate("site", Listing(KEYS, SLIPPING)) as curator:
        curator.release(counts(0))
        assert curator.lose(Tick(1)).cost == EACH
    assert store.budget("site").slipped == 2 * EACH.delta


# ── what is told ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_budgets_tell_slips_where_there_are_any(lists: Store, lpa: Callable[[], Lpa]) -> None:
    lists.create_stream("plain", KEYS, lpa().guarantee, "lpa")
    told = lists.budget("lists").to_dict()
    total, spent = SLIPPING.slips, SLIPPING.slips * 3 / 16
    assert told["slips"] == {
        "total": str(total), "spent": str(spent), "left": str(total - spent), "free_share": "3/4",
    }  # fmt: skip
    assert told["parts"]["lists"]["slips"] == {
        "share": "1/4", "total": str(total / 4), "spent": str(spent), "left": str(total / 4 - spent),
    }  # fmt: skip
    assert "slips" not in told["parts"]["pages"]
    assert lists.budget("lists").slips_left == total - spent
    plain = lists.budget("plain").to_dict()
    assert "slip" not in json.dumps(plain)


def test_the_commands_tell_slips_where_there_are_any(
    lists: Store, path: Path, lpa: Callable[[], Lpa], counts: MakeCounts, capsys: pytest.CaptureFixture[str]
) -> None:
    with lists.curate("plain", lpa()) as curator:
        curator.release(counts(0))

    def said(*words: str) -> str:
        assert main(["ledger", *words]) == 0
        return " ".join(capsys.readouterr().out.split())

    where = str(path)
    amounts = "May have slipped 3/16000000 of 1/1000000 delta, 13/16000000 left."
    assert amounts in said("show", where, "lists")
    assert "Of that lists: 3/16000000 of 1/4000000 (share 1/4)." in said("show", where, "lists")
    assert "Of the slips a share of 3/4 was not drawn by any stream." in said("grants", where, "visitors")
    assert f"visitors: {amounts}" in said("grants", where)
    assert "1/80 1/80 6.25e-8" in said("show", where, "lists")
    assert "rho, slips" in said("show", where)  # a table wraps its cells
    assert "1.875e-7 of" in said("show", where)
    table = list(csv.DictReader(io.StringIO("".join(_export(where, "lists", capsys)))))
    assert [row["settled_delta"] for row in table] == ["1/16000000"] * 3 + [""]
    assert json.loads(said("verify", where, "lists", "--json"))["streams"][0]["slipped"] == "3/16000000"
    for command in (("show", where, "plain"), ("verify", where, "plain"), ("export", where, "plain")):
        told = said(*command)
        assert "slip" not in told.replace("not drawn", "")
        assert "delta" not in told


def _export(where: str, stream: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert main(["ledger", "export", where, stream]) == 0
    return capsys.readouterr().out.splitlines(keepends=True)


def test_grants_with_slips_add_up(lists: Store) -> None:
    lists.create_stream("more", KEYS, Guarantee.zcdp(Session(max_ticks=4), "1/10", delta="1e-6"), "listing")
    total = lists.total("visitors")
    assert total.guarantee == Guarantee.zcdp(Session(max_ticks=4), "1/5", delta="2e-6")
    assert total.to_dict()["delta"] == "1/500000"
    assert "but for a chance of at most 2e-6" in total.sentences[0]


# ── stores of the layout before ──────────────────────────────────────────────────────────────────────────────────


def test_a_store_of_the_layout_before_keeps_its_hashes_and_may_slip_from_then_on(
    path: Path, lpa: Callable[[], Lpa], counts: MakeCounts
) -> None:
    with Store.open(path) as store, store.curate("site", lpa()) as curator:
        curator.release(counts(0))
        curator.predict(Tick(1))
        head, before = store.verify("site").head, store.budget("site")
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE forgotten")
        later = ("streams", "slips"), ("debits", "delta"), ("debits", "settled_delta"), ("releases", "joint")
        for table, column in later:
            connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        connection.execute("UPDATE hubbub_schema SET version = 7")
    connection.close()
    with Store.open(path) as store:
        assert store.verify("site", head=head).require().anchor_tick == 1
        assert store.budget("site") == before
        with store.curate("site", lpa()) as curator:
            assert curator.proved  # marks stay valid
            curator.release(counts(2))
        with store.curate("lists", Listing(KEYS, SLIPPING)) as curator:
            curator.release(counts(0))
        assert store.verify("lists").require().slipped == EACH.delta
    assert migrations.VERSION >= 8
