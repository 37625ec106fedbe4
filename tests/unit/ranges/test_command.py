"""`hubbub ranges`, as a person and as a program would use it."""

import json
from datetime import date, timedelta

import polars as pl
import pytest

from hubbub.cli.main import main
from hubbub.series import read_released


@pytest.fixture
def files(tmp_path):
    counts, queries = tmp_path / "counts.csv", tmp_path / "queries.csv"
    counts.write_text("tick,front,news\n" + "".join(f"{t},{500 + t},{t}\n" for t in range(200)))
    queries.write_text("from,to,key\n10,19,front\n0,199,news\n50,99,\n")
    return counts, queries


def run(capsys, *arguments):
    words = [*map(str, arguments)]
    for option, usual in (("--unit", "event"), ("--epsilon", "1")):
        if option not in words and not (option == "--epsilon" and "--rho" in words):
            words += [option, usual]
    code = main(["ranges", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_answers_for_people(files, capsys):
    code, out, _ = run(capsys, *files, "--truth")
    assert code == 0
    assert "±" in out
    assert "Mean squared error of 4 answers" in out
    assert "Each event's presence" in out


@pytest.mark.parametrize("options", [[], ["--rho", "1/2"], ["--unit", "session", "--max-ticks", "3"]])
@pytest.mark.parametrize("method", ["auto", "rtp"])
def test_answers_for_programs(files, capsys, options, method, tmp_path):
    out = tmp_path / "released.csv"
    code, said, _ = run(capsys, *files, "--json", "--truth", "--method", method, "--out", out, *options)
    facts = json.loads(said)
    assert code == 0
    assert [(a["key"], a["first"], a["last"]) for a in facts["answers"]] == [
        ("front", 10, 19),
        ("front", 50, 99),
        ("news", 50, 99),
        ("news", 0, 199),
    ]
    for answer in facts["answers"]:
        assert abs(answer["error"]) < 12 * answer["standard_error"]  # beyond by chance: less than 1e-6 a run
    assert facts["stream"]["lengths"] == [10, 50, 200]
    released = read_released(out)
    assert len(released) == 200
    assert sum(int(release.measurements[0]) for release in released[10:20]) == facts["answers"][0]["value"]


@pytest.mark.parametrize("unit", ["user", "window"])
def test_other_units(files, capsys, unit):
    code, out, _ = run(capsys, *files, "--unit", unit, "--max-ticks", 5, "--method", "none")
    assert code == 0
    assert "truth" not in out


def test_queries_asked_later_and_a_window(files, capsys):
    counts, queries = files
    queries.write_text("from,to,at\n0,9,100\n")
    assert run(capsys, counts, queries)[0] == 0
    code, _, err = run(capsys, counts, queries, "--window", 64)
    assert code == 2
    assert "Line 2" in err
    assert "before the window" in err


@pytest.mark.parametrize(
    ("counts", "queries", "why"),
    [
        ("front\n1\n2\n", "from,to\n0,5\n", "not been released yet"),
        ("front\n1\n2\n", "from,to\n1,0\n", "reversed"),
        ("front\n1\n2\n", "from,to,key\n0,1,news\n", "not one of"),
        ("front\n1\nmany\n", "from,to\n0,1\n", "line 3"),
        ("front\n1\n-7654321\n", "from,to\n0,1\n", "negative"),
        ("front,news\n1\n", "from,to\n0,1\n", "has gaps"),
        ("front\n1\n2\n", "from,to\n0,x\n", "Row 2"),
        ("front\n1\n2\n", "a,b\n0,1\n", "`from` and `to`"),
        ("front\n", "from,to\n0,1\n", "no counts"),
        ("front\n1\n2\n", "from,to\n", "no data"),
    ],
)
def test_files_that_cannot_be(tmp_path, capsys, counts, queries, why):
    (tmp_path / "c.csv").write_text(counts)
    (tmp_path / "q.csv").write_text(queries)
    code, out, err = run(capsys, tmp_path / "c.csv", tmp_path / "q.csv", "--method", "none")
    assert code == 2
    assert why in err
    assert "7654321" not in out + err


def test_files_that_are_not_there(files, tmp_path, capsys):
    code, _, err = run(capsys, tmp_path / "none.csv", files[1])
    assert (code, "no file" in err) == (2, True)
    code, _, err = run(capsys, files[0], tmp_path / "none.csv")
    assert (code, "Cannot read" in err) == (2, True)
    code, _, err = run(capsys, *files, "--out", tmp_path / "out.txt")
    assert (code, "none of" in err) == (2, True)
    code, _, err = run(capsys, *files, "--method", "none", "--out", tmp_path / "no" / "such.csv")
    assert (code, "cannot be written" in err) == (2, True)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_dates_and_gaps_as_release_reads_them(tmp_path, capsys, kind):
    """The file that `hubbub release` reads; a gap is predicted, and is missing from the total."""
    days = [date(2026, 1, 1) + timedelta(days=i) for i in range(20) if i != 5]
    table = pl.DataFrame({"date": days, "flu": [100 + i for i in range(19)]})
    table.write_csv(tmp_path / "c.csv")
    table.write_parquet(tmp_path / "c.parquet")
    (tmp_path / "q.csv").write_text("from,to\n3,9\n")
    words = (tmp_path / f"c.{kind}", tmp_path / "q.csv", "--out", tmp_path / "out.csv")
    code, _, err = run(capsys, *words)
    assert (code, "--gaps zero" in err) == (2, True)
    code, said, _ = run(capsys, *words, "--gaps", "predict", "--json")
    assert (code, json.loads(said)["answers"][0]["missing"]) == (0, 1)
    released = read_released(tmp_path / "out.csv")
    assert [r.tick.index for r in released if r.is_predicted] == [5]
    assert released[0].tick.start.date() == days[0]
    assert released[0].tick.length == timedelta(days=1)
    assert main(["detect", str(tmp_path / "out.csv")]) == 0


def test_a_budget_must_be_named_and_people_are_protected_unless_said_otherwise(files, capsys):
    assert main(["ranges", *map(str, files)]) == 2
    assert "got neither" in capsys.readouterr().err
    assert main(["ranges", *map(str, files), "--epsilon", "1", "--delta", "1e-9"]) == 0
    assert "for k people together" in capsys.readouterr().out


@pytest.mark.parametrize("budget", [["--epsilon", "1"], ["--epsilon", "1", "--delta", "1e-9"], ["--rho", "1/2"]])
def test_a_horizon_beyond_the_file(files, capsys, budget):
    code, said, _ = run(capsys, *files, "--json", "--unit", "user", "--horizon", "365", "--max-ticks", "5", *budget)
    assert code == 0
    assert json.loads(said)["guarantee"]["horizon"] == 365
    code, _, err = run(capsys, *files, "--unit", "user", "--horizon", "100", *budget)
    assert code == 1
    assert "the horizon only 100" in err


def test_a_strategy_that_cannot_promise_pure_says_what_it_can(files, capsys):
    code, _, err = run(capsys, *files, "--method", "toeplitz")
    assert code == 2
    assert "Guarantee.zcdp or Guarantee.approximate" in " ".join(err.split())
