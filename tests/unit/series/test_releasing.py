"""`hb.release_series` and `hb.detect`: what they give, what they promise, what they refuse before anything is drawn."""

import subprocess
import sys
from datetime import date, timedelta

import polars as pl
import pytest

import hubbub as hb
from hubbub.errors import InvalidInput
from hubbub.released.table import COLUMNS
from hubbub.series import read_released

SECRET = {"flu": [918_273] * 25}


def released(**changes):
    return hb.release_series(
        {"flu": [812, 840, 799], "measles": [3, 0, 1]}, **{"epsilon": 1, "max_ticks": 1, **changes}
    )


def test_a_sequence_of_releases():
    series = released()
    assert (len(series), list(series.keys), series.method, series.measured) == (3, ["flu", "measles"], "adaptive", 3)
    assert [release.tick.index for release in series] == [0, 1, 2]
    assert series[-1] is series[2] is series[1:][1]
    assert series["flu"] == [release["flu"] for release in series]
    assert isinstance(series["flu"][0], hb.Value)
    assert "each person counts once" in series.bound
    with pytest.raises(hb.UnknownKey):
        series["mumps"]


def test_polars_pandas_and_files(tmp_path):
    series = released()
    assert tuple(series.to_polars().columns) == tuple(series.to_pandas().columns) == COLUMNS
    assert series.to_pandas()["value"].tolist() == series.to_polars()["value"].to_list()
    assert series[0].to_pandas()["measurement"].tolist() == series[0].measurements.tolist()
    series.write(tmp_path / "x.parquet")
    assert pl.read_parquet(tmp_path / "x.parquet").equals(series.to_polars())
    assert [one.to_dict() for one in read_released(tmp_path / "x.parquet")] == [one.to_dict() for one in series]
    series.plot(tmp_path / "x.html")
    assert "measles" in (tmp_path / "x.html").read_text()
    with pytest.raises(hb.InvalidInput, match="cannot be written"):
        series.plot(tmp_path / "nowhere" / "x.html")


def test_predicted_ticks_have_no_measurement_in_pandas():
    series = hb.release_series({"flu": [5, None, 7]}, epsilon=1, unit="event", gaps="predict")
    table = series.to_pandas()
    assert table["predicted"].tolist() == [False, True, False]
    assert table["measurement"].isna().tolist() == [False, True, False]
    assert series.sentence == "Method lpa: 2 of 3 ticks were measured, the others predicted."
    assert "predicted" in str(series)
    assert "<td>predicted</td>" in series._repr_html_()


def test_without_pandas_it_is_named():
    code = """
import sys
sys.modules["pandas"] = None
import hubbub as hb
try:
    hb.release_series({"flu": [5]}, epsilon=1).to_pandas()
except hb.MissingExtra as error:
    print(error.hint)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "pip install pandas", done.stderr


@pytest.mark.parametrize(
    ("changes", "refused", "words"),
    [
        ({"epsilon": None}, hb.InvalidParameter, "A budget is"),
        ({"unit": "visitor"}, hb.InvalidParameter, "no unit 'visitor'"),
        ({"unit": hb.Event()}, hb.InvalidParameter, "has its numbers"),
        ({"horizon": 2}, hb.HorizonReached, "Nothing was spent|only 2"),
        ({"method": "smooth"}, hb.InvalidParameter, "no method 'smooth'"),
        ({"options": {"samples": 2}}, hb.InvalidParameter, "about a method"),
        ({"method": "lpa", "options": {"samples": 2}}, hb.InvalidParameter, "no option 'samples'"),
        ({"method": "lpa", "options": {"source": None}}, hb.InvalidParameter, "no option 'source'"),
        ({"method": "lpa", "model": "site.json"}, hb.InvalidParameter, "takes no model"),
        ({"epsilon": 50}, hb.InvalidParameter, "promises practically nothing"),
    ],
)
def test_refused_before_anything_is_drawn(changes, refused, words):
    told = []
    with pytest.raises(refused, match=words):
        released(progress=lambda *step: told.append(step), **changes)
    assert not told


def test_every_kind_of_promise_and_options():
    assert released(epsilon=None, rho="1/10").guarantee.kind == "zcdp"
    assert released(delta="1e-9").guarantee.kind == "approximate"
    assert released(epsilon=50, allow_weak=True).guarantee.epsilon == 50
    assert released(unit=hb.User(max_ticks=1, horizon=52), max_ticks=None).guarantee.unit.horizon == 52
    assert released(horizon=52).guarantee.unit.horizon == 52
    assert released(method="fast", options={"samples": "2"}).measured == 2


def test_progress_is_told_step_by_step():
    told = []
    released(progress=lambda *step: told.append(step))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_a_series_that_was_read_already():
    series = hb.read_series(SECRET)
    assert len(hb.release_series(series, epsilon=1)) == 25
    with pytest.raises(hb.InvalidParameter, match="read already"):
        hb.release_series(series, epsilon=1, gaps="zero")


def test_tables_are_short_and_escaped():
    shown = hb.release_series(SECRET, epsilon=1)._repr_html_()
    assert shown.count("<tr>") == 21  # one of them names the columns
    many = hb.release_series({f"<b>{i}": [i] for i in range(30)}, epsilon=1)
    assert many._repr_html_().count("<tr>") == many[0]._repr_html_().count("<tr>") == 21
    assert "… and 10 more keys" in many._repr_html_()
    assert "… and 10 more keys" in many[0]._repr_html_()
    assert "<b>2" not in many._repr_html_() + many[0]._repr_html_()


def test_an_outbreak_is_found_in_releases_and_in_their_file(tmp_path):
    days = [date(2026, 1, 1) + timedelta(days=i) for i in range(63)]
    series = hb.release_series({"date": days, "flu": [50] * 60 + [900] * 3}, epsilon=1, unit="event", method="lpa")
    alerts = hb.detect(series)
    assert {alert.tick.index for alert in alerts} >= {62}
    assert (alerts.weekdays, alerts.ticks, alerts.too_short) == (True, 63, "")
    assert alerts[0].key == "flu"
    assert alerts[:1] == (alerts[0],)
    assert "more than usual" in alerts._repr_html_()
    series.write(tmp_path / "x.csv")
    assert hb.detect(str(tmp_path / "x.csv")).to_dict() == alerts.to_dict()
    assert not hb.detect(series, "C2", threshold=1e9)  # the control: nothing stands out so far


def test_what_detect_refuses():
    with pytest.raises(hb.InvalidParameter, match="no detector 'C4'"):
        hb.detect(released(), "C4")
    with pytest.raises(hb.InvalidInput, match="no release"):
        hb.detect([])
    assert "needs 30 ticks" in hb.detect(released()).too_short


@pytest.mark.parametrize("counts", [{"flu": [31337] * 20}, [31337] * 20, {}])
def test_alarms_are_sought_in_releases_alone(counts):
    with pytest.raises(InvalidInput, match="Release the counts first") as refused:
        hb.detect(counts)
    assert "31337" not in str(refused.value)


def test_a_release_that_says_almost_nothing_says_so():
    series = hb.release_series({"flu": [3] * 60}, epsilon="0.001")
    assert series.warning.startswith("This release says almost nothing: ")
    assert "coarser ticks" in series.warning
    assert "larger budget" in series.warning
    assert series.warning in str(series)
    assert series.warning in series._repr_html_()
    several = hb.release_series({"flu": [3] * 60, "colds": [2] * 60}, epsilon="0.001", unit="event")
    assert "even of the largest key" in several.warning
    assert "max_ticks" not in several.warning  # an event counts in one tick anyhow
    assert several.warning in str(several)


def test_one_that_says_something_has_no_warning():
    assert hb.release_series({"flu": [100_000] * 30}, epsilon=1).warning == ""
    assert hb.release_series({"flu": [0, 1, 0] * 10}, epsilon=1, unit="event").warning == ""
