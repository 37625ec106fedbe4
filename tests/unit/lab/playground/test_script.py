"""The exported program: it runs, keeps the promise, and repeats a simulation to the last digit."""

import csv
import subprocess
import sys

import pytest

from hubbub.lab.playground import Playground

TABLE = "date;flu;colds\n" + "\n".join(f"{day:02}.03.2026;{300 + 9 * day};{day}" for day in range(1, 25) if day != 7)
NAMELESS = "\n".join(str(500 + day) for day in range(20))
RUNS = [
    {"table": TABLE, "column": "colds", "gaps": "zero", "unit": "user", "epsilon": "0.5", "method": "adaptive"},
    {"table": TABLE, "gaps": "predict", "unit": "session", "ticks": 3, "epsilon": "2", "method": "lpa"},
    {"table": NAMELESS, "unit": "window", "ticks": 5, "epsilon": "1", "method": "bd"},
    {"sample": "growing", "unit": "event", "epsilon": "0.1", "method": "navigation"},
]


@pytest.fixture
def exported(tmp_path):
    """Runs a program and reads what it wrote."""

    def run(asked, *more):
        program, table, out = tmp_path / "release.py", tmp_path / "counts.csv", tmp_path / "released.csv"
        program.write_text(Playground().script(asked))
        table.write_text(asked.get("table", ""))
        given = [str(table)] if "table" in asked else []
        command = [sys.executable, "-W", "error", str(program), *given, "--out", str(out), *more]
        said = subprocess.run(command, check=True, capture_output=True, text=True)
        assert said.stderr == ""
        return said.stdout.strip(), out.read_text()

    return run


@pytest.mark.parametrize("asked", RUNS, ids=lambda asked: f"{asked['unit']}-{asked['method']}")
def test_a_simulation_is_repeated_exactly(exported, asked):
    shown = list(Playground().run({**asked, "seed": 11}))[-1]["result"]
    said, written = exported({**asked, "seed": 11}, "--seed", "11")
    assert said == shown["guarantee"]
    assert written == shown["csv"]


def test_without_a_seed_the_noise_is_new_and_the_rest_the_same(exported):
    asked = RUNS[0]
    shown = list(Playground().run(asked))[-1]["result"]
    (said, one), (_, two) = exported(asked), exported(asked)
    assert said == shown["guarantee"]
    assert one != two
    head, *rows = csv.reader(one.splitlines())
    shown_head, *shown_rows = csv.reader(shown["csv"].splitlines())
    assert head == shown_head
    assert [row[:3] for row in rows] == [row[:3] for row in shown_rows], "the same ticks, times and key"


def test_the_program_warns_of_its_own_seed_and_holds_no_data():
    plain = Playground().script(RUNS[0])
    seeded = Playground().script({**RUNS[0], "seed": 11})
    assert "must not be published" in seeded
    assert "--seed 11" in seeded
    assert "--seed 11" not in plain
    for value in ("309", "01.03.2026"):
        assert value not in seeded


@pytest.mark.parametrize("name", ['x"y', "a'b", '"""', "\\", "{0}", "{key}", "# no"])
def test_no_name_of_a_column_breaks_out_of_the_program(exported, name):
    quoted = '"' + name.replace('"', '""') + '"'
    asked = {"table": f"{quoted}\n5\n7\n", "method": "lpa", "unit": "event", "seed": 3}
    assert exported(asked, "--seed", "3")[1] == list(Playground().run(asked))[-1]["result"]["csv"]


def test_the_program_never_writes_over_its_counts(tmp_path):
    program, table = tmp_path / "release.py", tmp_path / "counts.csv"
    program.write_text(Playground().script(RUNS[0]))
    table.write_text(TABLE)
    command = [sys.executable, str(program), str(table), "--out", str(table)]
    said = subprocess.run(command, check=False, capture_output=True, text=True)
    assert said.returncode != 0
    assert "is the file that is read" in said.stderr
    assert table.read_text() == TABLE
