"""`hubbub ranges`, as a person and as a program would use it."""

import json

import pytest

from hubbub.cli.main import main


@pytest.fixture
def files(tmp_path):
    counts, queries = tmp_path / "counts.csv", tmp_path / "queries.csv"
    counts.write_text("tick,front,news\n" + "".join(f"{t},{500 + t},{t}\n" for t in range(200)))
    queries.write_text("from,to,key\n10,19,front\n0,199,news\n50,99,\n")
    return counts, queries


def run(capsys, *arguments):
    code = main(["ranges", *map(str, arguments)])
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
    lines = out.read_text().splitlines()
    assert len(lines) == 201
    total = sum(int(line.split(",")[1]) for line in lines[11:21])
    assert total == facts["answers"][0]["value"]


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
        ("front\n1\nmany\n", "from,to\n0,1\n", "Row 3"),
        ("front\n1\n-7654321\n", "from,to\n0,1\n", "negative"),
        ("front,news\n1\n", "from,to\n0,1\n", "2 keys"),
        ("front\n1\n2\n", "from,to\n0,x\n", "Row 2"),
        ("front\n1\n2\n", "a,b\n0,1\n", "`from` and `to`"),
        ("front\n", "from,to\n0,1\n", "no data"),
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
    assert (code, "Cannot read" in err) == (2, True)
    code, _, err = run(capsys, *files, "--method", "none", "--out", tmp_path / "no" / "such.csv")
    assert (code, "cannot be written" in err) == (2, True)
