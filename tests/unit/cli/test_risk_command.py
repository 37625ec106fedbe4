"""`hubbub risk`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hubbub.cli.main import main


def test_the_rate_of_the_manual(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["risk", "--rate", "0.0137", "--periods", "10", "--confidence", "0.999"]) == 0
    printed = capsys.readouterr().out
    assert "2 (chosen)" in printed
    assert "at most 2 times" in printed


def test_bias_beside_the_noise_it_saves(capsys: pytest.CaptureFixture[str]) -> None:
    """The thesis' example: 42.8 visits a hundred people and year, 3.2 % of them with the diagnosis, ten years."""
    words = ["risk", "--rate", "0.013696", "--periods", "10", "--ticks", "3650", "--level", "90"]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "99.97" in printed
    assert "lowers a count by 0.193 on average (bias)" in printed
    assert "±2.83 instead of ±5,161.88" in printed
    assert main([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["bias"] == pytest.approx(-0.193, abs=1e-3)
    assert main([*words, "--rho", "1/2"]) == 0
    assert "rho = 1/2" in (said := capsys.readouterr().out)
    assert "Gaussian noise is ±1.41 instead of ±60.4152" in said  # the root of the bound over twice rho
    assert main([*words, "--epsilon", "1", "--delta", "1e-9"]) == 0
    assert "epsilon = 1, delta = 1e-9" in capsys.readouterr().out
    for wrong in (["--level", "0"], ["--level", "5", "--epsilon", "-1"]):
        assert main([*words, *wrong]) == 2
        capsys.readouterr()


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["risk", "--rate", "0.0137", "--periods", "10", "--ticks", "3650", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["chosen"]["bound"] == 2
    assert document["ticks"] == 3650


@pytest.mark.parametrize(
    "text",
    [
        "contributions\n" + "0\n" * 4000 + "3\n",
        "person,contributions\n" + "a,0\n" * 4000 + "b,3\n",
        "0\n" * 4000 + "\n3\n",
        "\ufeffcount\n" + "0\n" * 4000 + "3\n",
    ],
)
def test_samples(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    file = tmp_path / "sample.csv"
    file.write_text(text, encoding="utf-8")
    assert main(["risk", "--sample", str(file), "--confidence", "0.99", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["people"], document["chosen"]["bound"]) == (4001, 1)
    assert main(["risk", "--sample", str(file), "--confidence", "0.99"]) == 0
    assert "at least" in capsys.readouterr().out


@pytest.mark.parametrize(
    "content",
    [b"", b"a,b\n1,2\n", b"contributions\nmany\n", b"contributions\n-1\n", b"x,contributions\n1\n", b"\xff\xfe1\n2"],
)
def test_unreadable_samples(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes) -> None:
    file = tmp_path / "sample.csv"
    file.write_bytes(content)
    assert main(["risk", "--sample", str(file), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "invalid_input"


def test_no_such_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["risk", "--sample", str(tmp_path / "none.csv")]) == 2
    assert "FileNotFoundError" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options", [[], ["--rate", "0.1"], ["--periods", "3"], ["--rate", "0.1", "--periods", "3", "--sample", "x"]]
)
def test_one_basis_at_a_time(options: list[str]) -> None:
    assert main(["risk", *options]) == 2


def test_a_wrong_rate() -> None:
    assert main(["risk", "--rate", "2", "--periods", "3"]) == 2
