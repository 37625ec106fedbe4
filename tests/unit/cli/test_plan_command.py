"""`hubbub plan`: tables, wished errors, refusals."""

import json

import numpy as np
import pytest

from hubbub.cli.main import main
from hubbub.errors import InvalidParameter
from hubbub.lab.planning import expectations, simulated_series
from hubbub.privacy import User


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
    assert main(["plan", "--unit", unit, "--max-ticks", "3", "--ticks", "10", "--epsilon", "1", "--runs", "1"]) == 0
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
    found = expectations(series, User(horizon=40), [0.1, 1.0], ["lpa"], 3)
    assert found[0].error > found[1].error
    assert np.isclose(found[0].absolute / found[1].absolute, 10, rtol=0.5)
    with pytest.raises(InvalidParameter):
        simulated_series(-1, 5, 1)
