"""`hubbub release` and `hubbub plan --series` on the files that people have: right answers, or exit code 2."""

import csv
import json
from datetime import date, timedelta

import polars as pl
import pytest

from hubbub.cli.main import main
from hubbub.released.table import COLUMNS

DAYS = [date(2026, 1, 1) + timedelta(days=i) for i in range(12)]
COUNTS = [40, 42, 41, 39, 44, 40, 41, 45, 43, 40, 38, 41]
COMMANDS = {
    "release": ["release", "{file}", "--unit", "user", "--epsilon", "1", "--method", "lpa"],
    "plan": ["plan", "--series", "{file}", "--epsilon", "1", "--method", "lpa", "--runs", "1"],
}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def say(capsys, name, file, *more):
    code = main([word.format(file=file) for word in COMMANDS[name]] + list(more))
    return code, capsys.readouterr()


def written(kind, rows):
    """A file of (date, count) rows; `None` is an empty cell."""
    if kind == "csv":
        with open("x.csv", "w", newline="") as file:
            csv.writer(file).writerows([("date", "flu"), *((day, "" if x is None else x) for day, x in rows)])
    else:
        pl.DataFrame({"date": [day for day, _ in rows], "flu": [x for _, x in rows]}, strict=False).write_parquet(
            "x.parquet"
        )
    return f"x.{kind}"


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("command", COMMANDS)
class TestBothCommands:
    def test_a_whole_series(self, capsys, command, kind):
        code, said = say(capsys, command, written(kind, list(zip(DAYS, COUNTS, strict=True))), "--json")
        assert code == 0
        assert json.loads(said.out)["ticks"] == 12

    @pytest.mark.parametrize("hole", ["missing row", "empty cell"])
    def test_gaps(self, capsys, command, kind, hole):
        rows = list(zip(DAYS, COUNTS, strict=True))
        rows = rows[:5] + ([] if hole == "missing row" else [(DAYS[5], None)]) + rows[6:]
        file = written(kind, rows)
        code, said = say(capsys, command, file)
        assert code == 2
        assert "--gaps zero" in said.err
        for gaps in ("zero", "predict"):
            code, said = say(capsys, command, file, "--gaps", gaps, "--json")
            assert code == 0
            assert json.loads(said.out)["ticks"] == 12

    @pytest.mark.parametrize("series", [[40], [0] * 12, [40] * 6 + [40_000_000] * 6])
    def test_one_tick_zeros_and_a_jump(self, capsys, command, kind, series):
        code, said = say(capsys, command, written(kind, list(zip(DAYS, series, strict=False))), "--json")
        assert code == 0, said.err
        assert json.loads(said.out)["ticks"] == len(series)

    @pytest.mark.parametrize("wrong", [-31337, 31337.5, 2.0**60, "x31337"])
    def test_no_counts(self, capsys, command, kind, wrong):
        column = [wrong, 5] if not isinstance(wrong, str) else [wrong, "5"]
        code, said = say(capsys, command, written(kind, list(zip(DAYS, column, strict=False))))
        assert code == 2
        assert "hint" in said.err
        assert "31337" not in said.err + said.out

    def test_not_what_it_says(self, here, capsys, command, kind):
        (here / f"x.{kind}").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
        code, said = say(capsys, command, f"x.{kind}")
        assert code == 2
        assert f"cannot be read as {kind}" in said.err


@pytest.mark.parametrize("command", COMMANDS)
def test_dates_in_three_formats(capsys, command):
    for form in ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y"):
        file = written("csv", [(f"{day + timedelta(days=9):{form}}", x) for day, x in zip(DAYS, COUNTS, strict=True)])
        code, said = say(capsys, command, file, "--json")
        assert code == 0, said.err
    file = written("csv", [(f"{day:%m/%d/%Y}", x) for day, x in zip(DAYS, COUNTS, strict=True)])
    code, said = say(capsys, command, file, "--json", "--dates", "month-first")
    assert code == 0
    code, said = say(capsys, command, file)
    assert code == 2
    assert "two ways" in said.err


def test_dates_are_written_back(here, capsys):
    file = written("csv", list(zip(DAYS, COUNTS, strict=True)))
    for ending in ("csv", "parquet"):
        code, said = say(capsys, "release", file, "--out", f"out.{ending}", "--plot", "out.html")
        assert code == 0
        assert "2026-01-12" in said.out
    frame = pl.read_parquet("out.parquet")
    assert tuple(frame.columns) == COLUMNS
    assert frame["start"][11].date() == DAYS[11]
    assert "\n11,2026-01-12T00:00:00+00:00,flu," in (here / "out.csv").read_text()


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        (["user"], "each person counts under at most one key per tick"),
        (["user", "--max-ticks", "2"], "in at most 2 ticks, under at most one key in each"),
        (["window", "--max-ticks", "3", "--max-items", "2"], "in at most 3 ticks, under at most 2 keys in each"),
        (["event"], "each event counts once, under one key at most"),
    ],
)
def test_what_the_guarantee_rests_on_is_said(capsys, unit, words):
    file = written("csv", list(zip(DAYS, COUNTS, strict=True)))
    code = main(["release", file, "--epsilon", "1", "--method", "lpa", "--unit", *unit])
    said = capsys.readouterr()
    assert code == 0
    assert words in said.err.replace("\n", " ")
    assert "all 12 ticks were measured" in said.out


def test_an_event_has_one_key(capsys):
    file = written("csv", list(zip(DAYS, COUNTS, strict=True)))
    assert main(["release", file, "--epsilon", "1", "--unit", "event", "--max-items", "2"]) == 2
    assert "has no `max_items`" in capsys.readouterr().err


def test_the_horizon(capsys):
    file = written("csv", list(zip(DAYS, COUNTS, strict=True)))
    code, said = say(capsys, "release", file, "--horizon", "365", "--json")
    assert code == 0
    assert "365 ticks" in json.loads(said.out)["guarantee"]
    code, said = say(capsys, "release", file, "--horizon", "10")
    assert code == 1
    assert "Nothing was spent" in said.err
    code, said = say(capsys, "release", file, "--horizon", "10", "--unit", "event")
    assert code == 2
    assert "has no `horizon`" in said.err
