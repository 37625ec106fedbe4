"""`hubbub plan`: tables, wished errors, refusals."""

import json

import numpy as np
import pytest

from hubbub.cli.main import main
from hubbub.errors import InvalidParameter
from hubbub.planning import expectations, simulated_series
from hubbub.privacy import Guarantee, User


def test_a_plan_as_json(capsys):
    assert main(["plan", "--ticks", "20", "--epsilon", "1", "--runs", "2", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert [e["method"] for e in plan["expectations"]] == ["adaptive", "fast", "lpa", "sample"]
    assert all(e["lucky"] <= e["error"] <= e["unlucky"] for e in plan["expectations"])
    assert plan["epsilon_for_error"] is None
    assert plan["zeros"] == 1.0
    assert plan["usual"] == ["adaptive"]
    assert all(0 <= e["coverage"] <= 1 for e in plan["expectations"])


def test_a_wished_error_and_a_plot(capsys, tmp_path):
    public = tmp_path / "public.csv"
    public.write_text("tick,a,b\n" + "\n".join(f"{t},{500 + t},9" for t in range(25)))
    plot = tmp_path / "plan.html"
    arguments = ["plan", "--series", str(public), "--ticks", "15", "--error", "0.5", "--method", "lpa", "--runs", "1"]
    assert main([*arguments, "--plot", str(plot)]) == 0
    said = capsys.readouterr()
    assert "Epsilon for an error of 0.5" in said.out
    assert "has 2 keys" in said.err
    assert main([*arguments, "--key", "b", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["series"] == "the public series 'b' of public.csv"
    assert main([*arguments, "--key", "c"]) == 2
    capsys.readouterr()
    assert plot.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--epsilon", "0"],
        ["--error", "-1"],
        ["--epsilon", "1", "--error", "0.1"],
        ["--unit", "family"],
        ["--unit", "window"],
        ["--level", "0"],
        ["--ticks", "0"],
        ["--key", "a"],
        ["--runs", "0"],
        ["--kind", "perfect"],
        ["--kind", "zcdp", "--delta", "1e-9"],
        ["--kind", "zcdp", "--rho", "1"],
        ["--max-items", "0"],
        ["--unit", "session", "--max-ticks", "3", "--horizon", "400"],
        ["--method", "magic", "--ticks", "5", "--epsilon", "1"],
        ["--ticks", "5", "--epsilon", "1", "--method", "lpa", "--plot", "plan.png"],
        ["--ticks", "5", "--epsilon", "1", "--method", "lpa", "--plot", "/no/such/folder/plan.html"],
    ],
)
def test_wrong_use(arguments, capsys):
    assert main(["plan", *arguments]) == 2
    assert "hint" in capsys.readouterr().err


@pytest.mark.parametrize("unit", ["event", "session", "window"])
def test_other_units(unit, capsys):
    bound = [] if unit == "event" else ["--max-ticks", "3"]
    assert main(["plan", "--unit", unit, *bound, "--ticks", "10", "--epsilon", "1", "--runs", "1"]) == 0
    said = capsys.readouterr().out
    assert "adaptive" in said
    assert "only zeros" in said
    assert "95 % intervals held" in said.replace("\n", " ")


@pytest.mark.parametrize("unit", [["event"], ["session", "--max-ticks", "3"], ["window", "--max-ticks", "4"], ["user"]])
def test_the_epsilon_for_an_error_for_every_unit(unit, capsys):
    arguments = ["plan", "--unit", *unit, "--ticks", "12", "--error", "0.3", "--runs", "1", "--json"]
    assert main(arguments) == 0
    needed = json.loads(capsys.readouterr().out)["epsilon_for_error"]
    assert needed["lpa"] is not None
    assert 0.01 <= needed["lpa"] <= 3


def test_more_budget_means_less_error():
    series = simulated_series(400, 40, 1)
    found = expectations(series, [Guarantee.pure(User(horizon=40), e) for e in ("0.1", 1)], ["lpa"], 3)
    assert found[0].error > found[1].error
    assert np.isclose(found[0].absolute / found[1].absolute, 10, rtol=0.5)
    with pytest.raises(InvalidParameter):
        simulated_series(-1, 5, 1)


@pytest.mark.parametrize("budget", [["--rho", "1/2"], ["--epsilon", "1", "--delta", "1e-9"]])
def test_every_kind_of_budget(budget, capsys):
    assert main(["plan", "--ticks", "10", "--runs", "1", "--method", "lpa", *budget, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["expectations"]
    stated = (None, 0, 0.5) if "--rho" in budget else (1, 1e-9, None)
    assert (found["epsilon"], found["delta"], found["rho"]) == stated


def test_a_delta_for_every_epsilon(capsys):
    words = ["plan", "--ticks", "10", "--runs", "1", "--method", "lpa", "--delta", "1e-9", "--error", "9", "--json"]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert [e["epsilon"] for e in found["expectations"]] == [0.01, 0.03, 0.1, 0.3, 1, 3]
    assert {e["delta"] for e in found["expectations"]} == {1e-9}


@pytest.mark.parametrize(
    ("kind", "deltas", "amounts"),
    [
        ("pure", {0}, [0.01, 0.03, 0.1, 0.3, 1, 3]),
        ("approximate", {1e-9}, [0.01, 0.03, 0.1, 0.3, 1, 3]),
        ("zcdp", {0}, [0.00005, 0.0005, 0.005, 0.05, 0.5, 2]),
    ],
)
def test_a_range_of_budgets_of_every_kind(kind, deltas, amounts, capsys, tmp_path):
    words = ["plan", "--ticks", "10", "--runs", "1", "--method", "lpa", "--kind", kind, "--error", "9"]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    currency = "rho" if kind == "zcdp" else "epsilon"
    assert [e[currency] for e in found["expectations"]] == amounts
    assert {e["delta"] for e in found["expectations"]} == deltas
    assert found[f"{currency}_for_error"]["lpa"] in amounts
    assert main([*words, "--plot", str(tmp_path / "plan.html")]) == 0
    assert f"{currency.capitalize()} for an error of 9" in capsys.readouterr().out
    assert currency in (tmp_path / "plan.html").read_text()


def test_the_units_numbers(capsys):
    words = ["plan", "--ticks", "10", "--runs", "2", "--method", "lpa", "--epsilon", "1", "--json"]
    errors = []
    for more in ([], ["--max-items", "3"], ["--horizon", "40"]):
        assert main([*words, *more]) == 0
        errors.append(json.loads(capsys.readouterr().out)["expectations"][0]["absolute"])
    assert errors[0] < errors[1]
    assert errors[0] < errors[2]
    assert main([*words, "--horizon", "9"]) == 1
    assert "the horizon only 9" in capsys.readouterr().out
