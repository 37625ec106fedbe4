"""`hb.plan`: the same plan from a level and from a public table."""

import pytest

import hubbub as hb

QUICK = {"unit": "event", "methods": ["lpa"], "runs": 1}


def test_a_made_up_series():
    told = []
    made = hb.plan(level=500, ticks=20, error=0.1, progress=lambda *step: told.append(step), **QUICK)
    assert told[-1] == (6, 6)
    assert (made.ticks, made.note, made.zeros) == (20, "", 1.0)
    assert set(made.needed) == {"lpa"}
    assert "Epsilon for an error of 0.1" in str(made)
    assert made._repr_html_().count("<table>") == 2
    assert made.to_dict()["unit"] == "event"


def test_a_public_table_and_one_of_its_keys():
    table = {"flu": [500] * 20, "measles": [0, 4] * 10}
    first = hb.plan(table, epsilon=1, **QUICK)
    assert "has 2 keys" in first.note
    assert (first.mean, first.needed) == (500, None)
    second = hb.plan(hb.read_series(table), key="measles", ticks=10, epsilon=1, **QUICK)
    assert (second.mean, second.zeros, second.ticks, second.note) == (2, 0.5, 10, "")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"key": "flu"}, "chooses a column"),
        ({"series": {"flu": [5]}, "level": 5}, "for a simulated series"),
        ({"error": 0}, "above 0"),
        ({"error": 0.1, "epsilon": 1}, "not both"),
        ({"runs": 0}, "whole number"),
        ({"options": {"samples": 2}}, "no option 'samples'"),
    ],
)
def test_refused(given, words):
    with pytest.raises(hb.InvalidParameter, match=words):
        hb.plan(**{**QUICK, **given})


def test_a_plan_says_which_budget_buys_almost_nothing():
    vain = hb.plan(level=3, ticks=40, epsilon="0.001", methods=["lpa", "adaptive"], runs=2)
    assert vain.warnings[0].startswith("With epsilon 0.001 almost nothing can be said: ")
    assert "coarser ticks" in vain.warnings[-1]
    assert vain.warnings[0] in str(vain)
    assert vain.to_dict()["warnings"] == vain.warnings
    well = hb.plan(level=100_000, ticks=40, epsilon=1, methods=["lpa"], runs=1)
    assert well.warnings == []
    few = hb.plan(level=2_000, ticks=150, epsilon=1, methods=["sample"], options={"samples": 1}, runs=1)
    assert "can measure 1 of 150 ticks only" in few.warnings[0]
