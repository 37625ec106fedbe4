from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from hubbub.cli.main import main
from hubbub.confidential import Counts
from hubbub.monitor.paired import RangePlan, open_curator
from hubbub.release import Lpa
from hubbub.released import Tick
from hubbub.store import Store


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
    assert "Spent 1/2 of 1 epsilon, 1/2 left. Ticks: 3 settled, 0 lost, 0 open." in out
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
    assert "Cannot write" in err


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
    assert "0.25 of 0.5 epsilon, within site" in " ".join(out.split())
    streams = {one["stream"]: one for one in json.loads(run(capsys, "show", paired, "--json")[1])["streams"]}
    assert (streams["site"]["total"], streams["site.ranges"]["total"]) == ("1", "1/2")
    assert streams["site.ranges"]["companion_of"] == "site"
    for name in ("site", "site.ranges"):
        _, out, _ = run(capsys, "show", paired, name)
        assert "a factor e^1 " in out
        assert "of 1 epsilon" in out
        assert "Of that site.ranges: " in out


def test_both_ledgers_of_a_promise_are_verified(paired: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "verify", paired, "site")
    assert code == 0
    assert "site.ranges: 2 lines are as they were written" in out
    with Store.open(paired) as store, store.database.write() as connection:
        connection.execute(
            sa.text("UPDATE debits SET settled_epsilon = '0' WHERE stream = (SELECT min(id) FROM streams)")
        )
    code, out, _ = run(capsys, "verify", paired, "site")
    assert code == 1
    assert "site.ranges: BROKEN" in out
