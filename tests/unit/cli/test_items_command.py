"""`hubbub items`: a log in, a list out."""

import json

import pytest

import hubbub as hb
from hubbub.cli.main import main


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.csv"
    rows = [f"u{i},weather\nu{i},news" for i in range(900)]
    path.write_text("\n".join(["who,what", *rows, "ann,ann's secret"]) + "\n")
    return path


ASKED = ["--user", "who", "--item", "what", "--epsilon", "1", "--delta", "1e-6"]


def test_for_people(log, capsys):
    assert main(["items", str(log), *ASKED]) == 0
    said = capsys.readouterr().out
    assert "weather" in said
    assert "With or without any one user" in said
    assert "secret that many typed" in said
    assert "ann" not in said
    assert "Nothing was written" in said


def test_for_programs(log, capsys, tmp_path):
    assert main(["items", str(log), *ASKED, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [row["item"] for row in document["items"]] in (["news", "weather"], ["weather", "news"])
    assert document["guarantee"]["delta"] == "1/1000000"
    out = tmp_path / "items.parquet"
    assert main(["items", str(log), *ASKED, "--json", "--out", str(out), "--method", "zealous", "--users", "5000"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["items"], document["published"], document["written"]) == (None, 2, str(out))
    assert len(hb.read_published(out)) == 2


def test_refusals(log, capsys, tmp_path):
    assert main(["items", str(log), *ASKED, "--out", str(tmp_path / "list.doc")]) == 2
    assert main(["items", str(log), "--epsilon", "1", "--delta", "1e-6"]) == 2
    assert "no column 'user'" in capsys.readouterr().err
    assert main(["items", str(log), *ASKED, "--method", "best", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "invalid_parameter"


def test_the_line_that_says_what_goes_on(capsys, monkeypatch):
    from hubbub.cli.output import Output

    with Output(False).status("reading") as say:
        say("nothing on a pipe")
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("FORCE_COLOR", "1")
    output = Output(False)
    assert output._err.is_terminal
    with output.status("reading") as say:
        say("weighing")
    assert capsys.readouterr().out == ""
