from __future__ import annotations

import csv
import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest
import sqlalchemy as sa

from hubbub.cli.main import main
from hubbub.confidential import Counts
from hubbub.monitor.paired import RangePlan, open_curator
from hubbub.privacy import Event, Grant, Guarantee, Session
from hubbub.release import Lpa
from hubbub.released import Tick
from hubbub.store import Store, schema


@pytest.fixture
def filled(path: Path, lpa: Callable[[], Lpa], counts: Callable[..., Counts]) -> Path:
    with Store.open(path) as store, store.curate("site", lpa()) as curator:
        curator.release(counts(0))
        curator.predict(Tick(1))
        curator.release(counts(2))
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["ledger", *map(str, arguments)])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_show(filled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "show", filled)
    assert code == 0
    assert "site" in out
    code, out, _ = run(capsys, "show", filled, "site", "--last", 2)
    assert code == 0
    assert "Spent 1/2 of 1 epsilon, 1/2 left." in out
    assert "Ticks of site: 3 settled, 0 lost, 0 open." in out
    assert "browsing session" in out
    document = json.loads(run(capsys, "show", filled, "site", "--last", 2, "--json")[1])
    assert [line["tick"] for line in document["debits"]] == [1, 2]
    assert document["budget"]["spent"] == "1/2"
    assert json.loads(run(capsys, "show", filled, "--json")[1])["streams"][0]["settled"] == 3


def test_verify(filled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "verify", filled)
    assert code == 0
    assert "3 lines are as they were written" in out
    document = json.loads(run(capsys, "verify", filled, "site", "--json")[1])
    head = document["streams"][0]["head"]
    assert document["ok"]
    code, out, _ = run(capsys, "verify", filled, "site", "--head", head)
    assert code == 0
    assert "the given head stands at tick 2" in out
    assert run(capsys, "verify", filled, "site", "--head", "00" * 32)[0] == 1
    assert run(capsys, "verify", filled, "--head", head)[0] == 2


def test_verify_names_the_broken_line(filled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Store.open(filled) as store, store.database.write() as connection:
        connection.execute(sa.text("UPDATE debits SET settled_epsilon = '1/9' WHERE tick = 2"))
    code, out, _ = run(capsys, "verify", filled, "site")
    assert code == 1
    assert "site: BROKEN at tick 2: its outcome" in out
    code, out, _ = run(capsys, "verify", filled, "--json")
    assert code == 1
    document = json.loads(out)
    assert not document["ok"]
    assert document["streams"][0]["faults"][0]["tick"] == 2


@pytest.mark.parametrize("table", ["debits", "domains", "releases", "states", "queries", "cuts", "answers", "earlier"])
def test_verify_finds_lines_of_a_stream_that_is_gone(
    filled: Path, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = schema.metadata.tables[table].c
    filling = {column.name: b"" if isinstance(column.type, sa.LargeBinary) else 0 for column in columns}
    with closing(sqlite3.connect(filled)) as plain:
        names = ", ".join(filling)
        plain.execute(
            f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(filling))})",
            list((filling | {"stream": 77}).values()),
        )
        plain.commit()
    for which in ((), ("site",)):
        code, out, _ = run(capsys, "verify", filled, *which)
        assert code == 1
        assert f"The store: BROKEN: `{table}` holds 1 line of a stream that is not in the store" in out
        assert "3 lines are as they were written" in out
    document = json.loads(run(capsys, "verify", filled, "--json")[1])
    assert not document["ok"]
    assert len(document["left_behind"]) == 1


def test_verify_finds_what_a_deleted_stream_left(filled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect(filled)) as plain:
        plain.execute("DELETE FROM streams")
        plain.commit()
    code, out, _ = run(capsys, "verify", filled)
    assert code == 1
    assert "`debits` holds 3 lines of a stream that is not in the store" in out
    assert "no stream draws of the grant 'site'" in out


def test_export(filled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "export", filled, "site")
    assert code == 0
    rows = list(csv.DictReader(out.splitlines()))
    assert [(row["tick"], row["state"], row["settled_epsilon"]) for row in rows] == [
        ("0", "settled", "1/4"),
        ("1", "settled", "0"),
        ("2", "settled", "1/4"),
    ]
    target = tmp_path / "ledger.jsonl"
    code, out, _ = run(capsys, "export", filled, "site", "--format", "jsonl", "--output", target, "--json")
    assert code == 0
    assert json.loads(out)["lines"] == 3
    lines = [json.loads(line) for line in target.read_text().splitlines()]
    assert lines[1]["previous"] == lines[0]["hash"]
    assert run(capsys, "export", filled, "site", "--output", target)[1].startswith("3 lines written")
    assert len(json.loads(run(capsys, "export", filled, "site", "--json")[1])["debits"]) == 3
    code, _, err = run(capsys, "export", filled, "site", "--output", tmp_path / "no" / "folder.csv")
    assert code == 2
    assert "cannot be written" in err


def test_refusals(filled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "show", tmp_path / "none.db")
    assert code == 1
    assert "no store at" in err
    code, out, _ = run(capsys, "show", filled, "other", "--json")
    assert code == 1
    assert json.loads(out)["error"]["code"] == "unknown_stream"
    assert not (tmp_path / "none.db").exists()


@pytest.fixture
def paired(path: Path, counts: Callable[..., Counts], lpa: Callable[[], Lpa]) -> Path:
    made = lpa()
    with (
        Store.open(path) as store,
        open_curator(store, "site", made.keys, made.guarantee, Lpa, RangePlan(64)) as curator,
    ):
        for tick in range(2):
            curator.release(counts(tick))
    return path


def test_a_promise_in_two_parts_is_told_as_one(paired: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "show", paired)
    assert " ".join(out.split()).count("0.25 of 0.5 epsilon 1/2 of site") == 2
    told = json.loads(run(capsys, "show", paired, "--json")[1])
    streams = {one["stream"]: one for one in told["streams"]}
    assert (streams["site"]["total"], streams["site.ranges"]["total"]) == ("1/2", "1/2")
    assert [one["grant"] for one in streams.values()] == ["site", "site"]
    assert [(one["grant"], one["total"], one["spent"]) for one in told["grants"]] == [("site", "1", "1/2")]
    for name in ("site", "site.ranges"):
        _, out, _ = run(capsys, "show", paired, name)
        assert "a factor e^1 " in out
        assert "of 1 epsilon" in out
        assert "Of that site.ranges: " in out


@pytest.fixture
def granted(path: Path, counts: Callable[..., Counts], lpa: Callable[[], Lpa]) -> Path:
    """A grant of which two streams have drawn three quarters, and a stream that nobody named a grant for."""
    made, visitors = lpa(), Grant("visitors", lpa().guarantee, "visitors of example.org")
    with Store.open(path) as store:
        for name, share in (("pages", "1/2"), ("searches", "1/4")):
            part = visitors.part(share)
            with store.curate(name, Lpa(made.keys, part.guarantee), part=part) as curator:
                curator.release(counts(0))
        store.create_stream("cases", made.keys, Guarantee.pure(Event(), "1/10"), "lpa")
        store.create_stream("shop", made.keys, Guarantee.pure(Session(max_ticks=2), "1/2"), "lpa")
    return path


def test_grants_are_listed_with_their_sum(granted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "grants", granted)
    assert code == 0
    said = " ".join(out.split())
    assert "visitors 0.1875 of 1 epsilon 1/4 pages, searches visitors of example.org" in said
    assert "shop 0 of 0.5 epsilon 0 shop (nobody said)" in said
    assert "visitors: This store holds 1 other grant (shop) that may be about the same people." in said
    assert "visitors: cases may be about the same people too." in said
    told = {one["grant"]: one for one in json.loads(run(capsys, "grants", granted, "--json")[1])["grants"]}
    assert told["visitors"]["together"]["epsilon"] == "3/2"
    assert (told["visitors"]["free_share"], told["visitors"]["left"]) == ("1/4", "13/16")
    assert told["cases"]["together"]["epsilon"] == str(Fraction(1, 10) + 3 * Fraction(3, 2))


def test_one_grant_is_told_stream_by_stream(granted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (("grants", granted, "visitors"), ("show", granted, "pages"), ("verify", granted, "pages")):
        code, out, _ = run(capsys, *arguments)
        assert code == 0
        said = " ".join(out.split())
        assert "Grant visitors (visitors of example.org): Each browsing session's presence changes" in said
        assert "Spent 3/16 of 1 epsilon, 13/16 left." in said
        assert "Of that pages: 1/8 of 1/2 (share 1/2)." in said
        assert "Of that searches: 1/16 of 1/4 (share 1/4)." in said
        assert "A share of 1/4 was not drawn by any stream." in said
        assert "Taken together: Each browsing session's presence" in said
    assert json.loads(run(capsys, "grants", granted, "visitors", "--json")[1])["parts"]["pages"]["share"] == "1/2"
    both = json.loads(run(capsys, "verify", granted, "pages", "--json")[1])
    assert [one["stream"] for one in both["streams"]] == ["pages", "searches"], "all ledgers of the promise"
    assert [one["grant"] for one in both["grants"]] == ["visitors"]
    everything = json.loads(run(capsys, "verify", granted, "--json")[1])
    assert [one["grant"] for one in everything["grants"]] == ["cases", "shop", "visitors"]
    code, out, _ = run(capsys, "grants", granted, "nobody", "--json")
    assert code == 1
    assert json.loads(out)["error"]["code"] == "unknown_grant"


def test_both_ledgers_of_a_promise_are_verified(paired: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "verify", paired, "site")
    assert code == 0
    assert "site.ranges: 2 lines are as they were written" in out
    with Store.open(paired) as store, store.database.write() as connection:
        ranges = "SELECT id FROM streams WHERE name = 'site.ranges'"
        connection.execute(sa.text(f"UPDATE debits SET settled_epsilon = '0' WHERE stream = ({ranges})"))
    code, out, _ = run(capsys, "verify", paired, "site")
    assert code == 1
    assert "site.ranges: BROKEN" in out


def test_mend(paired: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], counts: Callable[..., Counts]) -> None:
    made = Lpa(counts(0).keys, Guarantee.pure(Session(max_ticks=4), 1))
    code, out, _ = run(capsys, "mend", paired, "site")
    assert code == 0
    assert "site: nothing had to be booked" in out
    shutil.copy(paired, tmp_path / "copy.db")
    with (
        Store.open(paired) as store,
        open_curator(store, "site", made.keys, made.guarantee, Lpa, RangePlan(64)) as curator,
    ):
        for tick in (2, 3):
            curator.release(counts(tick))
    shutil.copy(tmp_path / "copy.db", paired)
    code, out, _ = run(capsys, "mend", paired, "site", "--json")
    assert code == 0
    assert json.loads(out) == {"booked": {"site": 2, "site.ranges": 2}}
    with (
        Store.open(paired) as store,
        open_curator(store, "site", made.keys, made.guarantee, Lpa, RangePlan(64)) as curator,
    ):
        assert curator.next_tick == 4
    code, out, _ = run(capsys, "mend", paired, "site", "--upto", 5)
    assert code == 0
    assert "site: 2 ticks are booked as lost" in out
    assert run(capsys, "show", paired, "site", "--last", 2)[1].count(" lost ") == 2
    assert run(capsys, "verify", paired)[0] == 0
    assert run(capsys, "mend", tmp_path / "none.db", "site")[0] == 1
