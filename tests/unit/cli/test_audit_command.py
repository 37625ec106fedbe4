"""`hubbub audit`."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from hubbub.cli.main import main
from hubbub.privacy import Guarantee
from hubbub.release import Lpa
from hubbub.released import Cost

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

    monkeypatch.setattr("hubbub.checks.statistical.make_mechanism", cheat)
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


@pytest.mark.parametrize(
    "options",
    [
        ["--method", "toeplitz", "--rho", "1/2", "--unit", "session", "--max-ticks", "5"],
        ["--method", "auto", "--delta", "1e-6", "--unit", "window", "--max-ticks", "3"],
        ["--method", "two-level", "--unit", "event"],
        ["--method", "lpa", "--unit", "user", "--max-ticks", "2", "--ticks", "9"],
    ],
)
def test_exactly(capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    assert main(["audit", "--exact", *options, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["kept"] is True
    assert 0 < document["found"] <= document["charged"] * 1.001
    assert main(["audit", "--exact", *options]) == 0
    assert "kept: no unit costs more" in capsys.readouterr().out


def test_exactly_a_fault_is_exit_code_one(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from hubbub.ranges.toeplitz_filter import ToeplitzFilter

    monkeypatch.setattr(ToeplitzFilter, "_begin_tree", lambda self: setattr(self, "_left", self._size))
    assert main(["audit", "--exact", "--method", "toeplitz", "--rho", "1/2", "--unit", "event"]) == 1
    assert "BROKEN" in capsys.readouterr().out


def test_exactly_needs_a_linear_method(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--exact", "--method", "pegasus"]) != 0
    assert "linear in its counts" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [
        ["--method", "bd", "--unit", "window", "--max-ticks", "3"],
        ["--method", "adaptive", "--unit", "user", "--max-ticks", "4", "--rho", "1/2"],
        ["--method", "lpa", "--unit", "event", "--delta", "1e-9"],
        ["--method", "toeplitz", "--rho", "1/2", "--unit", "session", "--max-ticks", "3"],
        ["--method", "rtp", "--unit", "user", "--max-ticks", "3"],
        ["--method", "dft", "--unit", "user", "--max-ticks", "3"],
    ],
    ids=lambda options: options[1],
)
def test_by_replay(capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    assert main(["audit", "--replay", "--pairs", "6", *options, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["accepted"] is True
    assert document["pairs"] == 6
    assert document["draws"] > 0
    assert 0 <= Fraction(document["largest"]) <= Fraction(document["promised"])
    assert main(["audit", "--replay", "--pairs", "2", *options]) == 0
    assert "accepted: 2 pairs of neighbours look the same" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "method"),
    [
        (["--method", "fast", "--unit", "user", "--max-ticks", "3", "--option", "samples=4"], "fast"),
        (["--method", "pegasus", "--unit", "event", "--option", "smoother=median"], "pegasus"),
        (["--method", "dft", "--unit", "user", "--option", "coefficients=3"], "dft"),
        (["--method", "hq-rtp", "--unit", "event", "--option", "forecast=weighted"], "hq-rtp"),
        (["--method", "ranges", "--unit", "event", "--option", "method=two-level", "--option", "window=24"], "ranges"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_by_replay_with_options(monkeypatch, capsys, options, method):
    from hubbub.methods import METHODS

    made, usual = [], METHODS[method if method in METHODS else "ranges"]
    honest = usual.__init__

    def noted(self, keys, guarantee, **given):
        made.append(given)
        honest(self, keys, guarantee, **given)

    monkeypatch.setattr(usual, "__init__", noted)
    assert main(["audit", "--replay", "--pairs", "3", *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["accepted"] is True
    name, value = options[-1].split("=")
    assert all(str(given[name]) == value for given in made)


@pytest.mark.parametrize("mode", [[], ["--exact"], ["--replay", "--pairs", "3"]], ids=["drawn", "exact", "replay"])
@pytest.mark.parametrize("budget", [["--epsilon", "1/2"], ["--delta", "1e-9"], ["--rho", "1/8"]], ids=lambda b: b[0])
def test_every_audit_takes_the_units_options_and_every_guarantee(capsys, mode, budget):
    numbers = ["--unit", "user", "--max-ticks", "2", "--max-items", "2", "--horizon", "40"]
    assert main(["audit", *mode, "--runs", "300", "--ticks", "4", *numbers, *budget, "--json"]) == 0
    guarantee = json.loads(capsys.readouterr().out)["guarantee"]
    assert [guarantee[name] for name in ("unit", "max_ticks", "max_items", "horizon")] == ["User", 2, 2, 40]
    name, amount = budget[0].removeprefix("--"), Fraction(budget[1])
    assert Fraction(guarantee[name]) == amount


def test_by_replay_a_fault_is_exit_code_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from hubbub.release.perturbation import Perturbation

    honest = Perturbation.noise
    monkeypatch.setattr(Perturbation, "noise", lambda self, cost: honest(self, Cost(epsilon=cost.epsilon * 2)))
    assert main(["audit", "--replay", "--pairs", "20"]) == 1
    assert "BROKEN: In step" in capsys.readouterr().out


@pytest.mark.parametrize(
    "wrong",
    [
        ["--exact"],
        ["--pairs", "0"],
        ["--method", "magic"],
        ["--method", "toeplitz"],
        ["--method", "dft", "--unit", "event"],
        ["--ticks", "0"],
        ["--keys", "0"],
        ["--option", "samples=4"],
        ["--option", "samples"],
        ["--method", "fast", "--option", "samples=many"],
        ["--method", "rtp", "--option", "samples=4"],
        ["--horizon", "20"],
        ["--max-items", "0"],
    ],
    ids=" ".join,
)
def test_wrong_use_of_replay(wrong: list[str]) -> None:
    assert main(["audit", "--replay", *wrong]) == 2
