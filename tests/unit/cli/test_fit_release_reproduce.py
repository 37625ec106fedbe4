"""`hubbub fit`, `hubbub release` and `hubbub reproduce`."""

import json

import numpy as np
import pytest

from hubbub.cli.main import main
from hubbub.lab.msnbc import msnbc
from hubbub.models import NavigationModel
from hubbub.released.table import COLUMNS


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    lines = ["session,key,tick"]
    for session in range(300):
        start = int(rng.integers(20))
        for step in range(int(rng.integers(1, 5))):
            lines.append(f"s{session},{['front', 'news', 'sport'][int(rng.integers(3))]},{start + step}")
    (tmp_path / "sessions.csv").write_text("\n".join(lines) + "\n")
    rows = [f"{k},{500 + k},{100 + k % 3},7" for k in range(30)]
    (tmp_path / "counts.csv").write_text("\n".join(["tick,front,news,sport", *rows]) + "\n")
    return tmp_path


def say(capsys, *words):
    code = main(list(words))
    return code, capsys.readouterr()


RELEASE = ("release", "counts.csv", "--unit", "session", "--max-ticks", "20", "--epsilon", "1")


def test_fit_then_release(here, capsys):
    code, said = say(capsys, "fit", "sessions.csv", "--out", "site.model", "--max-ticks", "20")
    assert code == 0
    assert "300 sessions, 3 keys" in said.out
    assert list(NavigationModel.load(here / "site.model").keys) == ["front", "news", "sport"]
    code, said = say(capsys, *RELEASE, "--model", "site.model", "--out", "out.csv", "--plot", "out.html")
    assert code == 0
    assert "Each browsing session's presence" in said.out
    assert "must have been enforced" in said.err
    lines = (here / "out.csv").read_text().splitlines()
    assert tuple(lines[0].split(",")) == COLUMNS
    assert len(lines) == 1 + 30 * 3
    assert "<html" in (here / "out.html").read_text()[:200]


@pytest.mark.parametrize("method", ["navigation", "lpa", "ukf", "mkf"])
def test_release_as_json(here, capsys, method):
    code, said = say(capsys, *RELEASE, "--method", method, "--json")
    assert code == 0
    document = json.loads(said.out)
    assert document["ticks"] == 30
    assert len(document["releases"]) == 30
    assert {"key", "value", "standard_error", "lower", "upper", "measurement"} == set(
        document["releases"][0]["keys"][0]
    )


@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_release_to_other_files(here, capsys, ending):
    code, _ = say(capsys, *RELEASE, "--out", f"out.{ending}")
    assert code == 0
    assert (here / f"out.{ending}").stat().st_size > 100


@pytest.mark.parametrize("unit", [("event",), ("user",), ("user", "--max-ticks", "2"), ("window", "--max-ticks", "3")])
def test_release_for_every_unit(here, capsys, unit):
    code, said = say(capsys, "release", "counts.csv", "--epsilon", "1", "--unit", *unit)
    assert code == 0, said.err


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (("release", "counts.csv", "--epsilon", "1", "--unit", "session"), "needs `max_ticks`"),
        (("release", "counts.csv"), "got neither"),
        (("release", "counts.csv", "--epsilon", "1", "--rho", "1"), "got `epsilon` and `rho`"),
        (("release", "counts.csv", "--delta", "1e-9", "--rho", "1"), "got `delta` and `rho`"),
        (("release", "counts.csv", "--epsilon", "1", "--unit", "event", "--max-ticks", "2"), "has no `max_ticks`"),
        (
            ("release", "counts.csv", "--epsilon", "1", "--unit", "window", "--max-ticks", "2", "--horizon", "9"),
            "has no `horizon`",
        ),
        (("release", "counts.csv", "--epsilon", "1", "--unit", "house"), "no unit"),
        ((*RELEASE, "--method", "magic"), "no method"),
        ((*RELEASE, "--method", "lpa", "--model", "x"), "takes no model"),
        ((*RELEASE, "--model", "x"), "no model file"),
        ((*RELEASE, "--out", "out.doc"), "none of"),
        ((*RELEASE, "--plot", "out.png"), "does not end in .html"),
        (("release", "nothing.csv", "--epsilon", "1"), "no file"),
        (("fit", "nothing.csv"), "no file"),
        (("release", "counts.csv", "--epsilon", "0", "--max-ticks", "20"), "above 0"),
    ],
)
def test_wrong_use(here, capsys, words, match):
    code, said = say(capsys, *words)
    assert code == 2
    assert match in said.err


def test_places_that_cannot_be_written(here, capsys):
    for words in (
        (*RELEASE, "--out", "no/out.csv"),
        (*RELEASE, "--plot", "no/out.html"),
        (*RELEASE, "--out", "no/out.json"),
    ):
        code, said = say(capsys, *words)
        assert code == 2
        assert "cannot be written" in said.err
    code, said = say(capsys, "fit", "sessions.csv", "--out", "no/site.model")
    assert code == 2
    assert "cannot be written" in said.err


def test_a_model_for_other_keys(here, capsys):
    (here / "other.csv").write_text("front,blog\n1,2\n")
    say(capsys, "fit", "sessions.csv", "--out", "site.model")
    code, said = say(capsys, "release", "other.csv", "--epsilon", "1", "--max-ticks", "3", "--model", "site.model")
    assert code == 2
    assert "'blog'" in said.err


def test_training_data_of_one_session(here, capsys):
    (here / "one.csv").write_text("session,key\n1,front\n1,news\n")
    code, said = say(capsys, "fit", "one.csv", "--ticks", "5")
    assert code == 2
    assert "1 session" in said.err


def test_no_confidential_value_in_an_error(here, capsys):
    (here / "counts.csv").write_text("front,news\n31337,-77123\n")
    code, said = say(capsys, *RELEASE)
    assert code == 2
    assert "77123" not in said.err + said.out


def test_reproduce_without_the_data(here, capsys, monkeypatch):
    monkeypatch.setenv("HUBBUB_DATA", str(here))
    msnbc.cache_clear()
    code, said = say(capsys, "reproduce", "www14", "--quick")
    assert code == 2
    assert "HUBBUB_DATA" in said.err
    (here / "msnbc").mkdir()
    (here / "msnbc" / "msnbc990928.seq.gz").write_bytes(b"% x\n")
    code, said = say(capsys, "reproduce", "www14", "--quick")
    assert code == 2
    assert "no sessions" in said.err


def test_reproduce_on_a_small_pool(here, capsys, monkeypatch):
    """The whole command, with a pool of a few sessions and a small setting."""
    from hubbub.lab import experiment
    from hubbub.lab.www14 import Www14

    monkeypatch.setenv("HUBBUB_DATA", str(here))
    msnbc.cache_clear()
    rng = np.random.default_rng(1)
    sessions = [" ".join(str(v) for v in rng.integers(1, 7, rng.integers(1, 6))) for _ in range(200)]
    (here / "msnbc").mkdir()
    (here / "msnbc" / "msnbc990928.seq.gz").write_text("\n".join(["a b c d e f", *sessions]))
    monkeypatch.setattr(experiment, "Www14", lambda: Www14(ticks=15, first=3000, arrivals=300.0))
    tiny = experiment.Size(trainings=1, tests=2, tuning_runs=2, generations=1)
    monkeypatch.setattr(experiment.Size, "quick", lambda: tiny)
    code, said = say(capsys, "reproduce", "www14", "--quick", "--out", "plots")
    msnbc.cache_clear()
    assert code == 0, said.err
    for word in ("average relative error", "top-5 precision", "KL divergence", "[0.59]", "± "):
        assert word in said.out
    assert (here / "plots" / "www14.csv").is_file()
    assert (here / "plots" / "www14_divergence.html").is_file()
    code, said = say(capsys, "reproduce", "www14", "--quick", "--json")
    msnbc.cache_clear()
    assert len(json.loads(said.out)["rows"]) == 20
    (here / "file").write_text("")
    code, said = say(capsys, "reproduce", "www14", "--quick", "--out", "file/x")
    msnbc.cache_clear()
    assert code == 2
