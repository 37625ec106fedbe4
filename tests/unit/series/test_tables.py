"""Series from tables that a program holds: the same answers as from files, and errors that never hold a value."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest

from hubbub.errors import InvalidInput
from hubbub.series import read_series

DAYS = [date(2026, 1, 30) + timedelta(days=i) for i in range(3)]
FLU = [5, 6, 7]
START = datetime(2026, 1, 30, tzinfo=UTC)

TABLES = {
    "mapping": {"date": DAYS, "flu": FLU},
    "arrays": {"date": np.array(DAYS, dtype="datetime64[ns]"), "flu": np.array(FLU)},
    "polars": pl.DataFrame({"date": DAYS, "flu": FLU}),
    "lazy": pl.LazyFrame({"date": DAYS, "flu": FLU}),
    "pandas": pd.DataFrame({"date": pd.to_datetime(DAYS), "flu": FLU}),
    "pandas index": pd.DataFrame({"flu": FLU}, index=pd.to_datetime(DAYS)),
    "pandas named index": pd.DataFrame({"flu": FLU}, index=pd.Index(pd.to_datetime(DAYS), name="day")),
    "pandas texts": pd.DataFrame({"date": [f"{day:%d.%m.%Y}" for day in DAYS], "flu": FLU}),
    "pandas zone": pd.DataFrame({"time": pd.to_datetime(DAYS).tz_localize("UTC").tz_convert("Asia/Tokyo"), "flu": FLU}),
    "pandas periods": pd.DataFrame({"day": pd.PeriodIndex(pd.to_datetime(DAYS), freq="D"), "flu": FLU}),
    "pandas columns in a mapping": {"date": pd.Series(pd.to_datetime(DAYS)), "flu": pd.Series(FLU)},
    "long": pl.DataFrame({"date": DAYS, "key": ["flu"] * 3, "count": FLU}),
}


@pytest.mark.parametrize("name", TABLES)
def test_every_kind_of_table(name):
    series = read_series(TABLES[name])
    assert list(series.keys) == ["flu"]
    assert series.values.ravel().tolist() == FLU
    assert (series.start, series.length) == (START, timedelta(days=1))


def test_a_path_may_be_text(tmp_path):
    (tmp_path / "x.csv").write_text("flu\n5\n6\n7\n")
    assert read_series(str(tmp_path / "x.csv")).values.ravel().tolist() == FLU


@pytest.mark.parametrize(
    "table",
    [
        {"flu": [5, None, 7]},
        pl.DataFrame({"flu": [5, None, 7]}),
        pd.DataFrame({"flu": [5, None, 7]}),
        pd.DataFrame({"flu": pd.array([5, None, 7], dtype="Int64")}),
    ],
    ids=["mapping", "polars", "pandas", "pandas nullable"],
)
def test_gaps(table):
    with pytest.raises(InvalidInput, match="the table has gaps: 1 of 3"):
        read_series(table)
    assert read_series(table, gaps="predict").present.tolist() == [True, False, True]
    assert read_series(table, gaps="zero").values.ravel().tolist() == [5, 0, 7]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (7, "cannot be read from int"),
        ({3: [5]}, "name is no text"),
        ({"": [5]}, "name is no text"),
        ({"flu": 31337}, "is no list"),
        ({"flu": "31337"}, "is no list"),
        ({"flu": np.array([[31337]])}, "is no list"),
        ({"flu": [5, 6], "measles": [31337]}, "different lengths"),
        ({"flu": [5, "31337 x"]}, "several kinds"),
        ({"flu": [31337, True]}, "are booleans"),
        ({"flu": [2.0, None, np.False_]}, "are booleans"),
        ({"flu": [True, False]}, "does not hold numbers"),
        (pd.DataFrame({"flu": [31337, True]}, dtype=object), "are booleans"),
        ({"flu": [object()]}, "does not hold numbers|several kinds"),
        ({"flu": [-31337]}, "negative"),
        ({"date": [datetime(2026, 1, 1), pd.NaT], "flu": [5, 6]}, "empty cells"),
        (pd.DataFrame([[5, 6]], columns=["flu", "flu"]), "two columns of one name"),
        (pd.DataFrame({"flu": [5]}, index=pd.MultiIndex.from_tuples([(1, 2)])), "several levels"),
        (pd.DataFrame({"time": [5]}, index=pd.to_datetime(DAYS[:1])), "an index and a column of one name"),
        (pd.DataFrame({31337: [5]}), "name is no text"),
        (pd.DataFrame({"31337": [5], "2026-01-01": [6]}), "no line of names"),
        (pl.DataFrame({"31337": [5]}), "no line of names"),
        (pl.DataFrame(), "holds no counts"),
        ({}, "holds no counts"),
    ],
)
def test_what_is_no_series(table, words):
    with pytest.raises(InvalidInput, match=words) as caught:
        read_series(table)
    assert "31337" not in str(caught.value)
