"""`hubbub audit`."""

from __future__ import annotations

import json

import pytest

from hubbub.cli.main import main
from hubbub.privacy import Guarantee
from hubbub.release import Lpa

FEW = ["--runs", "300", "--ticks", "2"]


def test_an_honest_method(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--method", "lpa", *FEW]) == 0
    printed = capsys.readouterr().out
    for word in ("promised", "found", "event", "accepted"):
        assert word in printed


@pytest.mark.parametrize("unit", ["event", "session", "user", "window"])
def test_json_for_every_unit(capsys: pytest.CaptureFixture[str], unit: str) -> None:
    assert main(["audit", "--unit", unit, *FEW, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["accepted"] is True
    assert document["guarantee"]["unit"].lower() == unit
    assert document["currency"] == "epsilon"


def test_gaussian_guarantees(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--rho", "1/2", *FEW, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["currency"] == "rho"
    assert main(["audit", "--delta", "1e-6", *FEW, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["guarantee"]["delta"] == "1/1000000"


def test_a_broken_method_is_exit_code_one(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def cheat(name, keys, guarantee):
        lpa = Lpa(keys, Guarantee.pure(guarantee.unit, 10))
        lpa.guarantee = guarantee
        return lpa

    monkeypatch.setattr("hubbub.release.make_releaser", cheat)
    assert main(["audit", *FEW]) == 1
    assert "BROKEN" in capsys.readouterr().out


@pytest.mark.parametrize(
    "wrong",
    [
        ["--method", "magic"],
        ["--epsilon", "0"],
        ["--epsilon", "50"],
        ["--rho", "-1"],
        ["--rho", "1", "--delta", "1e-9"],
        ["--delta", "1"],
        ["--runs", "5"],
        ["--confidence", "2"],
        ["--max-ticks", "9"],
        ["--keys", "0"],
        ["--unit", "household"],
    ],
)
def test_wrong_use(wrong: list[str]) -> None:
    assert main(["audit", *wrong]) == 2
