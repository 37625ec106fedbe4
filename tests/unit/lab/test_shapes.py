"""`hubbub reproduce shapes`: the shapes, the sites, the measures, the tables, and the command's refusal."""

import json

import numpy as np
import pytest

from hubbub.cli.main import main
from hubbub.errors import InvalidInput
from hubbub.lab import shape_tables
from hubbub.lab.shape_experiment import METHODS, TOLD, Size, run_long, run_shapes, steps
from hubbub.lab.shape_sites import LONG, named, news
from hubbub.lab.shapes import SHAPES, Crowd

SMALL = Size(epsilons=(1.0,), sizes=(4.0,), repeats=1, ticks=40, sites=1)


def test_every_shape_is_what_it_says():
    middle = {name: SHAPES[name](100, 3, 0)[:, 0] for name in TOLD if name in SHAPES}
    assert middle["calm"].tolist() == [1.0] * 100
    assert middle["page_dies"][[49, 50]].tolist() == [1.0, 0.0]
    assert middle["threefold_rise"][[49, 50]].tolist() == [1.0, 3.0]
    assert middle["nightly_cycle"].min() == pytest.approx(0.2, abs=0.01)
    assert middle["nightly_cycle"].max() == pytest.approx(1.8, abs=0.01)
    assert middle["sawtooth"][[0, 24, 25]].tolist() == [0.0, 2.0, 0.0]
    assert SHAPES["swap"](100, 3, 2)[50].tolist() == [0.25, 1.0, 4.0]


def test_a_crowd_that_bounces_goes_nowhere():
    crowd = Crowd(news().truth())
    still, bounced = (
        crowd.counts(SHAPES["calm"], 3, 40, np.random.default_rng(1), bouncing=many) for many in (0.0, 500.0)
    )
    more = bounced - still
    assert 4000 < more[20:30, 3].sum() < 6000
    more[20:30, 3] = 0
    assert not more.any()


def test_sites_are_sites():
    for make in {one for which in LONG.values() for one in which}:
        site = make().with_page(80.0)
        balance = site.truth().balance()
        assert balance[:2] == pytest.approx([80.0, 320.0])
        assert (site.matrix.sum(0) <= 1).all()
    fitted = news().fitted(np.random.default_rng(2))
    assert fitted.balance().sum() == pytest.approx(news().truth().balance().sum(), rel=0.05)


def test_the_rows_say_what_was_asked():
    calls = []
    rows = run_shapes(SMALL, "tuning", 1, lambda: calls.append(1))
    long = run_long(SMALL, "tuning", 1, lambda: calls.append(1))
    assert len(calls) == steps(SMALL, "tuning")
    assert {(row["shape"], row["method"]) for row in rows} == {(s, m) for s in TOLD for m in METHODS}
    by = {(row["shape"], row["method"]): row for row in rows}
    assert 0.5 < by["calm", "plain"]["error"] < 1.5
    assert by["page_dies", "zeros"]["error"] < 0.3 < by["calm", "zeros"]["error"]
    assert by["threefold_rise", "plain"]["ticks_to_notice"] < 3
    assert by["threefold_rise", "zeros"]["ticks_to_notice"] == 20
    assert by["calm", "navigation"]["ticks_to_notice"] is None
    assert by["nightly_cycle", "plain"]["false_alarms"] is None
    assert [row["relative_error"] for row in long if row["method"] == "zeros"] == pytest.approx([1.0], abs=0.1)


def test_the_command(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(shape_tables.Size, "quick", lambda: SMALL)
    assert main(["reproduce", "shapes", "--quick", "--set", "tuning", "--json", "--out", str(tmp_path)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["set"], told["quick"]) == ("tuning", True)
    assert {"method", "coverage"} <= set(told["rows"][0])
    assert {path.name for path in tmp_path.iterdir()} == {"shapes.csv", "shapes_long.csv", "shapes_coverage_1.html"}


def test_no_such_sites():
    with pytest.raises(InvalidInput, match="tuning, held-out"):
        named("other")
