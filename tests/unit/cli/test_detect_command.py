"""`hubbub detect`: from a released file to alarms in words."""

import json
from datetime import date, timedelta

import polars as pl
import pytest

from hubbub.cli.main import main
from hubbub.errors import InvalidInput
from hubbub.series import read_released


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Seventy days with an outbreak in the last four, released with little noise, with and without dates."""
    monkeypatch.chdir(tmp_path)
    counts = [200 + (7 * i) % 11 + (90 if i > 65 else 0) for i in range(70)]
    dated = [f"{date(2026, 1, 1) + timedelta(days=i)},{x},50" for i, x in enumerate(counts)]
    (tmp_path / "dated.csv").write_text("\n".join(["date,flu,cold", *dated]))
    (tmp_path / "plain.csv").write_text("\n".join(["flu,cold", *(f"{x},50" for x in counts)]))
    return tmp_path


def release(name, out, *more):
    words = ["release", name, "--unit", "user", "--max-ticks", "2", "--epsilon", "1", "--method", "lpa", "--out", out]
    assert main([*words, *more]) == 0


@pytest.mark.parametrize("out", ["out.csv", "out.json", "out.parquet", "out.arrow"])
@pytest.mark.parametrize("detector", ["pooled", "C1", "C2", "C3"])
@pytest.mark.parametrize("name", ["dated.csv", "plain.csv"])
def test_an_outbreak_is_found_and_told(here, capsys, name, detector, out):
    release(name, out)
    capsys.readouterr()
    assert main(["detect", out, "--detector", detector, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ticks"] == 70
    assert found["weekdays"] is (name == "dated.csv")
    assert {a["tick"] for a in found["alerts"] if a["key"] == "flu"} & {66, 67, 68, 69}
    if name == "dated.csv":
        assert found["alerts"][-1]["when"].startswith("2026-03")
    assert main(["detect", out, "--detector", detector]) == 0
    assert "flu" in capsys.readouterr().out


def test_what_was_written_is_read_again(here):
    release("dated.csv", "out.csv")
    release("plain.csv", "out.parquet")
    for name in ("out.csv", "out.parquet"):
        releases = read_released(here / name)
        assert list(releases[0].keys) == ["flu", "cold"]
        assert releases[0].noise_variance == pytest.approx(7.84, abs=0.1)
        assert [r.tick.index for r in releases] == list(range(70))
    assert read_released(here / "out.csv")[1].tick.length == timedelta(days=1)


def test_predicted_ticks_stay_predicted(here):
    lines = (here / "dated.csv").read_text().splitlines()
    (here / "gap.csv").write_text("\n".join(lines[:30] + lines[31:]))
    release("gap.csv", "out.csv", "--gaps", "predict")
    assert [r.tick.index for r in read_released(here / "out.csv") if r.is_predicted] == [29]


def test_nothing_to_tell(here, capsys):
    (here / "short.csv").write_text("flu\n5\n6\n")
    release("short.csv", "out.csv")
    assert main(["detect", "out.csv", "--threshold", "99"]) == 0
    said = capsys.readouterr()
    assert "No alarm in 2 ticks" in said.out
    assert "needs 30 ticks" in said.err


def test_many_alarms_are_cut_short(here, capsys):
    release("plain.csv", "out.csv")
    assert main(["detect", "out.csv", "--detector", "C1", "--threshold", "-99", "--no-weekdays"]) == 0
    assert "the last 40" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("tick,flu\n0,5\n", "does not hold releases"),
        ("", "does not hold releases"),
    ],
)
def test_other_files_are_refused(here, capsys, content, match):
    (here / "x.csv").write_text(content)
    assert main(["detect", "x.csv"]) == 2
    assert match in capsys.readouterr().err


def test_wrong_use(here, capsys):
    assert main(["detect", "nothing.csv"]) == 2
    release("plain.csv", "out.csv")
    assert main(["detect", "out.csv", "--detector", "C4"]) == 2
    assert "no detector" in capsys.readouterr().err


def test_starts_that_are_no_times_are_refused(here):
    release("dated.csv", "out.parquet")
    pl.read_parquet("out.parquet").with_columns(start=pl.lit("once")).write_parquet("other.parquet")
    with pytest.raises(InvalidInput, match="not what their column says"):
        read_released(here / "other.parquet")


def test_gaussian_noise_is_known_again(here, capsys):
    """A detector reads Laplace and Gaussian noise differently: the file says which it was."""
    assert main(["release", "plain.csv", "--unit", "user", "--rho", "1", "--method", "lpa", "--out", "out.csv"]) == 0
    assert all(r.cost.rho and not r.cost.epsilon for r in read_released(here / "out.csv"))
