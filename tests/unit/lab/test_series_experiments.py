"""The experiments on single series: their measures by hand, their rows, their commands."""

import json
from functools import partial

import numpy as np
import pytest

from hubbub.cli.main import main
from hubbub.errors import InvalidInput
from hubbub.lab import fast12, outbreaks
from hubbub.lab.data import folder
from hubbub.lab.event_tables import QUICK
from hubbub.lab.experiment_result import ExperimentResult
from hubbub.lab.fast_claims import claims
from hubbub.lab.fast_parameters import FIGURES, filter_points, parameter_points, run_points
from hubbub.lab.public_series import SERIES, PublicSeries, load
from hubbub.lab.reproduce_series import fast_plots
from hubbub.noise import simulation

needs_data = pytest.mark.skipif(
    not (folder() / "syndromic_sim16").is_dir(), reason="the data sets are not there: set HUBBUB_DATA"
)
SHORT = PublicSeries("short", np.arange(100, 160), None)


def test_the_measures_by_hand():
    truth = np.array([100, 200, 100])
    assert fast12.relative_error(np.array([110.0, 180, 100]), truth) == pytest.approx((0.1 + 0.1 + 0) / 3)
    assert fast12.f1_of_rises(np.array([0.0, 50, 40]), truth) == 1.0
    assert fast12.f1_of_rises(np.array([50.0, 0, 50]), truth) == 0.0
    assert fast12.spearman(np.array([5.0, 5, 5]), truth) == 0.0


def test_every_method_gives_a_row():
    calls = []
    rows = fast12.compare(SHORT, 2, epsilons=["1"], done=lambda: calls.append(1))
    assert [row["method"] for row in rows] == list(fast12.METHODS)
    assert len(calls) == len(fast12.METHODS)
    by = {row["method"]: row for row in rows}
    assert by["zeros"]["relative_error"] == 1.0
    assert by["adaptive"]["relative_error"] < by["uniform"]["relative_error"]
    assert by["hindsight"]["looks"] <= 60


def test_hindsight_is_no_worse_than_any_fixed_number_of_samples():
    with simulation(1) as source:
        errors, samples = fast12.hindsight(SHORT, "1", 40, source)
    assert errors.mean() < 0.5
    assert 1 <= samples <= 60


@pytest.mark.parametrize("name", ["linear", "logistic", "sinusoid"])
def test_synthetic_series_are_counts(name):
    series = load(name)
    assert len(series) == 1000
    assert series.counts.min() >= 0


@needs_data
@pytest.mark.parametrize(
    ("name", "ticks", "smallest", "largest"),
    [("unemployment", 478, 89, 612), ("influenza", 209, 311, 39_364), ("bicycles", 540, 221, 6_088)],
)
def test_public_series_are_as_their_sources_say(name, ticks, smallest, largest):
    series = load(name)
    assert len(series) == ticks
    assert series.counts.max() <= largest
    assert series.counts.min() >= min(smallest, 311)


def test_an_unknown_series():
    with pytest.raises(InvalidInput, match="Known: unemployment"):
        load("weather")
    assert "bicycles" in SERIES


def test_every_figure_has_its_points_and_its_statement():
    points = [*parameter_points(ticks=40), *filter_points([SHORT])]
    rows = run_points(points, 1)
    assert {row["figure"] for row in rows} == set(FIGURES)
    assert all(np.isfinite(row["relative_error"]) for row in rows)
    stated = claims(rows, fast12.compare(SHORT, 1, epsilons=["0.1", "1"], methods=["uniform", "dft", "fast"]))
    assert {line[0] for line in stated} == set(FIGURES) | {"3.10", "3.11"}
    assert claims([], []) == []
    misfit = PublicSeries("sinusoid", SHORT.counts, None)
    compared = fast12.compare(misfit, 1, epsilons=["0.1", "1"], methods=["uniform", "dft", "fast"])
    assert "sinusoid" in claims([], compared)[-1][2]


def test_sensitivity_at_a_given_specificity():
    rng = np.random.default_rng(3)
    statistic = rng.normal(size=(outbreaks.WARM_UP + 400, 5))
    outbreak = np.zeros(statistic.shape, dtype=bool)
    outbreak[outbreaks.WARM_UP + 50 : outbreaks.WARM_UP + 60, :3] = True
    outbreak[outbreaks.WARM_UP + 55, :3] = False  # a day without a case inside an outbreak
    statistic[outbreak] += 100
    found = outbreaks.sensitivity(statistic, outbreak, 0.9)
    assert found["day"] == found["outbreak"] == 1.0
    assert found["specificity"] == pytest.approx(0.9, abs=0.005)


@needs_data
def test_outbreaks_row_by_row():
    results = outbreaks.run_outbreaks(1, simulations=4, signals=[4], epsilons=["1"])
    rows = outbreaks.as_rows(results)
    assert len(rows) == 2 * (3 * 3 + 2)
    assert [row["statistic"] for row in rows].count(outbreaks.OWN_LIMIT) == 2
    assert all(0 <= row["day"] <= 1 and 0.9 < row["specificity"] < 1 for row in rows)


def test_two_detectors_are_compared_simulation_by_simulation():
    one = outbreaks.Judged(np.array([3.0, 1.0]), np.array([4.0, 4.0]), 1.0, 0.95, 3.0)
    two = outbreaks.Judged(np.array([2.0, 0.0]), np.array([4.0, 4.0]), 1.0, 0.95, 3.0)
    assert (one.day, two.day) == (0.5, 0.25)
    assert one.above(two) == (0.25, 0.0)  # both gain the same from a simulation: no doubt about the difference
    assert one.day_error == pytest.approx(np.sqrt(2) / 8)
    assert outbreaks.together([one, two]).day == pytest.approx(0.375)


def test_rows_are_written(tmp_path):
    rows = fast12.compare(SHORT, 1, epsilons=["1"], methods=["zeros", "uniform"])
    paths = ExperimentResult(rows, [], "", fast_plots(rows)).write(tmp_path, "fast")
    names = ["fast.csv", "fast_short.html", "fast_figure_3.11.html", "fast_figure_3.12.html"]
    assert [path.name for path in paths] == names
    assert paths[0].read_text().splitlines()[0].startswith("series,epsilon,method")
    assert fast_plots(run_points(filter_points([SHORT]), 1))[0].name == "figure_3.6"
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(InvalidInput, match="another folder"):
        ExperimentResult(rows, [], "").write(blocked, "fast")


@needs_data
def test_the_commands_answer(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("hubbub.lab.outbreak_tables.SIMULATIONS", 3)
    monkeypatch.setattr("hubbub.lab.outbreak_release.PRIVACY", ("1",))
    monkeypatch.setattr("hubbub.lab.outbreak_tables.CHECKED", (8,))
    assert main(["reproduce", "outbreaks", "--quick", "--json", "--out", str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out)["experiment"] == "outbreaks"
    for name in ("outbreaks.csv", "outbreaks_4.2.html", "outbreaks_4.3.html"):
        assert (tmp_path / name).exists()
    monkeypatch.setattr("hubbub.lab.reproduce_series.ALL_SERIES", ("short",))
    monkeypatch.setattr("hubbub.lab.reproduce_series.load", lambda _: SHORT)
    monkeypatch.setattr("hubbub.lab.reproduce_series.parameter_points", lambda: parameter_points(40))
    monkeypatch.setattr("hubbub.lab.reproduce_series.run_points", lambda points, _, **more: RUN(points, 1, **more))
    monkeypatch.setattr("hubbub.lab.fast12.compare", lambda series, _, **more: COMPARE(series, 1, **more))
    assert main(["reproduce", "fast", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "average relative error" in said
    assert "Figure 3.6" in said
    assert "What the paper states" in said
    monkeypatch.setattr(
        "hubbub.lab.event_tables.TUNING", {name: partial(PublicSeries, name, SHORT.counts, None) for name in QUICK}
    )
    assert main(["reproduce", "events", "--quick", "--out", str(tmp_path)]) == 0
    assert "pegasus as printed" in capsys.readouterr().out.replace("\n", " ")
    assert (tmp_path / "events.csv").exists()


COMPARE = fast12.compare
RUN = run_points
