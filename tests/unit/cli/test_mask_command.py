"""`hubbub mask`: from days to a policy, to what is shown, to what that gives away."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from hubbub.cli.main import main

DAYS = "\n".join(["home,work,work,home"] * 6 + ["home,work,clinic,home"] * 2 + ["home,home,work,home"] * 4)


def answer(capsys, *words, code=0):
    assert main([str(word) for word in words]) == code
    return capsys.readouterr().out


@pytest.fixture
def made(tmp_path, capsys):
    (tmp_path / "days.csv").write_text(DAYS)
    chain, policy = tmp_path / "chain.json", tmp_path / "policy.bin"
    fitted = answer(
        capsys, "mask", "fit", tmp_path / "days.csv", "--out", chain, "--smoothing", 0, "--json"
    )  # fmt: skip
    assert json.loads(fitted)["ticks"] == 4
    planned = json.loads(
        answer(capsys, "mask", "plan", chain, "--sensitive", "clinic", "--delta", "0.1", "--out", policy, "--json")
    )
    assert planned["bytes"] == policy.stat().st_size
    assert 0 < planned["shown"] < planned["shown_by_mask_sensitive"] < 1
    assert "10 points" in planned["promise"]
    return chain, policy, tmp_path / "day"


def offer(monkeypatch, text):
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_a_day_from_end_to_end(made, capsys, monkeypatch, tmp_path):
    chain, policy, day = made
    offer(monkeypatch, "0,home\n1,work\n")
    first = answer(capsys, "mask", "run", policy, "--day", day)
    offer(monkeypatch, "2,clinic\n3,home\n")
    second = answer(capsys, "mask", "run", policy, "--day", day)
    lines = (first + second).splitlines()
    assert [line.split(",")[0] for line in lines] == ["0", "1", "2", "3"]
    assert "clinic" not in first + second
    (tmp_path / "shown").write_text(first + second)
    words = ["mask", "explain", chain, policy, "--sensitive", "clinic", "--shown", tmp_path / "shown"]
    told = json.loads(answer(capsys, *words, "--json"))
    assert max(belief["rise"] for belief in told["beliefs"]) <= 0.1 + 1e-9
    assert (told["beyond"], "points of a hundred" in told["promise"]) == (0, True)
    assert "rises of belief" in answer(capsys, *words)


def test_masking_alone_gives_it_away(made, capsys, tmp_path):
    chain, _, _ = made
    naive = tmp_path / "naive.json"
    words = answer(
        capsys, "mask", "plan", chain, "--sensitive", "clinic", "--method", "mask-sensitive", "--out", naive
    )  # fmt: skip
    assert "Promises nothing" in words
    (tmp_path / "shown").write_text("0,home\n1,work\n2,\n3,home\n")
    told = json.loads(
        answer(
            capsys, "mask", "explain", chain, naive, "--sensitive", "clinic", "--shown", tmp_path / "shown", "--json"
        )
    )
    assert told["beliefs"][0]["after"] == 1.0
    assert (told["promise"], told["beyond"]) == (None, 1), "no promise is printed under its own breach"
    words = answer(capsys, "mask", "explain", chain, naive, "--sensitive", "clinic", "--shown", tmp_path / "shown")
    assert "▲" in words
    assert "it promises nothing" in words
    assert "points of a hundred" not in words.partition("Against whom")[0]


def test_every_method_and_every_secret(made, capsys, tmp_path):
    chain, _, _ = made
    for method in ("simulatable", "probabilistic", "remembering", "hybrid"):
        for secret in ("clinic", "clinic+work", "clinic@1-2", "clinic@1-2~", "clinic=0.3"):
            out = tmp_path / "p.json"
            answer(capsys, "mask", "plan", chain, "--sensitive", secret, "--method", method, "--out", out, "--json")
            told = answer(capsys, "mask", "explain", chain, out, "--sensitive", secret, "--json")
            assert all(abs(belief["rise"]) < 1e-9 for belief in json.loads(told)["beliefs"])


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["plan", "CHAIN", "--sensitive", "bar", "--out", "OUT"], "unknown_key"),
        (["plan", "CHAIN", "--sensitive", "@", "--out", "OUT"], "invalid_parameter"),
        (["plan", "CHAIN", "--sensitive", "clinic", "--delta", "2", "--out", "OUT"], "invalid_parameter"),
        (["plan", "CHAIN", "--sensitive", "clinic", "--method", "magic", "--out", "OUT"], "invalid_parameter"),
        (["plan", "CHAIN", "--sensitive", "clinic", "--out", "CHAIN"], "invalid_input"),
        (["plan", "POLICY", "--sensitive", "clinic", "--out", "OUT"], "invalid_input"),
        (["run", "CHAIN", "--day", "OUT"], "invalid_input"),
        (["explain", "CHAIN", "POLICY", "--sensitive", "clinic", "--shown", "CHAIN"], "invalid_input"),
        (["explain", "CHAIN", "POLICY", "--sensitive", "clinic", "--shown", "NONE"], "invalid_input"),
        (["fit", "NONE", "--out", "OUT"], "invalid_input"),
    ],
)
def test_what_is_refused(made, capsys, tmp_path, words, code):
    chain, policy, _ = made
    places = {"CHAIN": chain, "POLICY": policy, "OUT": tmp_path / "out", "NONE": tmp_path / "none"}
    told = answer(capsys, "mask", *[places.get(word, word) for word in words], "--json", code=2)
    assert json.loads(told)["error"]["code"] == code


def test_odd_lines_are_answered_and_the_day_goes_on(made, capsys, monkeypatch, tmp_path):
    """A process that ends tells more than a suppressed tick: every line gets its answer."""
    chain, policy, day = made
    lines = ["0,home", "0,home", "home", "9,home", "9" * 5000 + ",home", "", "1,work", "2,mars", "3,home", "2,work"]
    offer(monkeypatch, "\n".join(lines) + "\n")
    assert main(["mask", "run", str(policy), "--day", str(day)]) == 0
    told = capsys.readouterr()
    answers = told.out.splitlines()
    assert [answer.partition(",")[0] for answer in answers] == ["0", "0", "", "9", "", "", "1", "2", "3", "2"]
    assert answers[1:6] == ["0,", ",", "9,", ",", ","]
    assert (answers[7], answers[9]) == ("2,", "2,")
    assert told.err.count("Suppressed:") == 7
    assert "mars" not in told.out + told.err
    (tmp_path / "shown").write_text(told.out)
    words = ["mask", "explain", chain, policy, "--sensitive", "clinic", "--shown", tmp_path / "shown", "--json"]
    assert json.loads(answer(capsys, *words))["beyond"] == 0
    offer(monkeypatch, "0,home\n")
    again = json.loads(answer(capsys, "mask", "run", policy, "--day", day, "--json"))
    assert (len(again["outputs"]), again["refused"]) == (4, 1)


def test_nobody_reads_the_answers(made):
    _, policy, day = made
    with Path("/dev/full").open("w") as full:
        start = "import sys, hubbub.cli.main as cli; sys.exit(cli.main(sys.argv[1:]))"
        ended = subprocess.run(
            [sys.executable, "-c", start, "mask", "run", policy, "--day", day],
            input="0,home\n1,\xff\n".encode("latin-1"), stdout=full, stderr=subprocess.PIPE, timeout=60,
        )  # fmt: skip
    told = ended.stderr.decode()
    assert ended.returncode == 1
    assert "cannot be printed" in told
    assert "Traceback" not in told
    assert day.read_text().splitlines()[1:] in (["0 1"], ["0 -"])


def test_masking_is_told_once(made, capsys, tmp_path):
    words = ["mask", "plan", made[0], "--sensitive", "clinic", "--out", tmp_path / "p.json", "--method"]
    assert answer(capsys, *words, "mask-sensitive").count("mask-sensitive") == 1
    assert answer(capsys, *words, "remembering").count("mask-sensitive") == 1


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "empty"),
        ("a,,b\n", "empty cell"),
        ("day,tick,context\n1,x,a\n", "line 2"),
        ("day,tick,context\n1,0,a\n1,0,b\n", "second context"),
        ("day,tick,context\n1,0,a\n1,1,a\n2,1,a\n", "lacks a tick"),
        ("\udcff", "UTF-8"),
        ("day;tick;context\n1;0;a\n", "semicolons"),
        *((f'a,"{name}"\n', "line break in its name") for name in ("a+b", "c@d", "g~", "a=1", "two\nlines")),
    ],
)
def test_files_of_days(tmp_path, capsys, text, word):
    path = tmp_path / "days.csv"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    told = answer(capsys, "mask", "fit", path, "--out", tmp_path / "chain.json", "--json", code=2)
    assert word in json.loads(told)["error"]["message"]


@pytest.mark.parametrize("heading", ["day,tick,context", "Day, TICK, Context"])
def test_days_with_a_heading(tmp_path, capsys, heading):
    path = tmp_path / "days.csv"
    path.write_text(f"{heading}\nmo,1,b\nmo,0,a\ntu,0,a\ntu,1,a\n")
    told = json.loads(answer(capsys, "mask", "fit", path, "--out", tmp_path / "chain.json", "--json"))
    assert (told["days"], told["ticks"], told["contexts"]) == (2, 2, ["a", "b"])


def test_pictures_of_a_day(made, capsys, tmp_path):
    chain, policy, _ = made
    days, out, picture = tmp_path / "days.csv", tmp_path / "again.json", tmp_path / "chain.svg"
    answer(capsys, "mask", "fit", days, "--out", out, "--plot", picture)
    assert picture.read_text().startswith("<svg")
    believed = tmp_path / "believed.svg"
    answer(capsys, "mask", "explain", chain, policy, "--sensitive", "clinic", "--plot", believed)
    assert "clinic" in believed.read_text()
    wrong = tmp_path / "new.json", tmp_path / "picture.png"
    told = answer(capsys, "mask", "fit", days, "--out", wrong[0], "--plot", wrong[1], "--json", code=2)
    assert "does not end in .svg" in told
    assert not wrong[0].exists(), "refused before anything is written"


def test_planning_again_when_days_were_added(made, capsys, tmp_path):
    chain, policy, _ = made
    more, newer, again = tmp_path / "more.csv", tmp_path / "newer.json", tmp_path / "again.bin"
    more.write_text(DAYS + "\n" + "\n".join(["home,clinic,clinic,home", "home,bar,work,home"]))
    answer(capsys, "mask", "fit", more, "--out", newer, "--smoothing", 0)
    words = ["mask", "plan", newer, "--sensitive", "clinic", "--out", again, "--before", policy]
    assert "Earlier policies" in answer(capsys, *words)
    told = json.loads(answer(capsys, *words, "--also", chain, "--json"))
    [past] = told["before"]
    assert past["rise"] > 0.1
    assert not past["keeps"]
    assert told["method"] == told["chosen"] == "for-several"
    words = ["mask", "plan", newer, "--sensitive", "clinic", "--out", tmp_path / "third.bin", "--before", again]
    assert json.loads(answer(capsys, *words, "--json"))["before"][0]["keeps"]
    refused = answer(capsys, *words, "--also", chain, "--method", "simulatable", "--json", code=2)
    assert "tosses coins" in refused
