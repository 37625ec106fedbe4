"""The sets of series to tune by and to check by: apart from each other, and what the command prints of them."""

import json

import numpy as np
import pytest

from hubbub.cli.main import main
from hubbub.errors import InvalidInput
from hubbub.lab import reproduce_sets, series_sets
from hubbub.lab.data import folder
from hubbub.lab.public_series import PublicSeries, sinusoid
from hubbub.lab.simulated_series import FAMILIES, simulated

needs_data = pytest.mark.skipif(not (folder() / "dpbench").is_dir(), reason="no data sets: set HUBBUB_DATA")


def test_no_series_is_in_both_sets():
    tuning, held_out = series_sets.TUNING, series_sets.HELD_OUT
    assert not set(tuning) & set(held_out)
    assert set(series_sets.SERIES) < set(tuning)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_seed_gives_one_series_and_another_seed_another(family):
    one, again, other = simulated(family, 1), simulated(family, 1), simulated(family, 2)
    assert np.array_equal(one.counts, again.counts)
    assert not np.array_equal(one.counts, other.counts)
    assert one.counts.min() >= 0
    assert one.counts.dtype == np.int64
    assert one.name == f"{family} 1"


@needs_data
@pytest.mark.parametrize("chosen", ["tuning", "held-out"])
def test_every_series_is_there_under_its_name(chosen):
    found = {}
    for name, load in series_sets.series_set(chosen).items():
        series = load()
        assert series.name == name
        assert 48 <= len(series) <= 1000
        assert series.counts.min() >= 0
        found[name] = series.counts.tobytes()
    assert len(set(found.values())) == len(found)


@needs_data
def test_what_was_held_out_lies_after_what_was_tuned_on():
    tuned, held = series_sets.TUNING["unemployment"](), series_sets.HELD_OUT["later unemployment"]()
    assert len(tuned) + len(held) == 644  # all months of the file, each once
    assert series_sets.HELD_OUT["requests"]().counts.sum() == 30_969
    assert series_sets.HELD_OUT["impressions"]().counts.sum() == 10_000


def test_the_sinusoid_has_the_papers_size():
    counts = sinusoid().counts
    assert (counts.max() - counts.min()) / 2 == pytest.approx(5000, rel=0.2)
    assert counts.min() > 0


def test_unknown_names_are_refused():
    with pytest.raises(InvalidInput, match="set of series"):
        series_sets.series_set("all")
    with pytest.raises(InvalidInput, match="family"):
        simulated("chirps", 1)


def test_the_command_prints_a_set(monkeypatch, capsys):
    short = PublicSeries("short", np.arange(100, 130), None)
    monkeypatch.setattr(reproduce_sets, "series_set", lambda _: {"short": lambda: short})
    assert main(["reproduce", "fast", "--set", "held-out", "--quick", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["set"] == "held-out"
    assert [row["method"] for row in said["rows"][:5]] == list(reproduce_sets.METHODS)
    assert len(said["rows"]) == 15
    assert main(["reproduce", "fast", "--set", "held-out", "--quick"]) == 0
    text = capsys.readouterr().out
    assert "over all series" in text


def test_the_command_refuses_a_set_that_is_not_there(capsys):
    assert main(["reproduce", "fast", "--set", "nope", "--quick"]) == 2
