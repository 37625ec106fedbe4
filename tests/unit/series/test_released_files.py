"""One format: what is written is read again as it was, whatever the kind of file and whoever wrote it."""

import json
import math
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from hubbub.errors import InvalidInput, InvalidParameter
from hubbub.released import Cost, Grid, Keys, Release, Tick
from hubbub.released.table import COLUMNS, SLIPS, csv_of, releases_of, table_of
from hubbub.series import read_released, write_released
from hubbub.series.released_files import KINDS

KEYS = Keys(["front, page", "NA", '"news"', "7"])
START = datetime(2026, 1, 1, 0, 0, 0, 250_000, tzinfo=UTC)


def releases(timed=True, cost=None):
    """Three ticks with a hole between them: measured, predicted, and one of which nothing is known."""
    made = []
    for index, known in ((3, True), (4, False), (9, False)):
        tick = Tick(index, START + index * timedelta(hours=1), timedelta(hours=1)) if timed else Tick(index)
        values = np.array([0.1 + index, 1 / 3, 2e9, -0.0])
        errors = np.full(4, math.inf if index == 9 else 28.2842712474619)
        upper = np.full(4, math.inf) if index == 9 else values + 60
        spent = (cost or Cost(epsilon=Fraction(1, 3))) if known else Cost.nothing()
        measured = (np.array([3, -1, 2**40, 0]), 800.0) if known else (None, None)
        made.append(Release(tick, KEYS, values, errors, values - 60, upper, *measured, spent))
    return made


def same(one, two):
    assert (one.tick, one.keys, one.noise_variance, one.cost) == (two.tick, two.keys, two.noise_variance, two.cost)
    for name in ("values", "standard_errors", "lower", "upper"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert one.is_predicted == two.is_predicted
    if one.measurements is not None:
        np.testing.assert_array_equal(one.measurements, two.measurements)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.parametrize(
    "cost", [Cost(epsilon=Fraction(1, 3)), Cost(rho=Fraction(2, 7)), Cost(rho=Fraction(2, 7), delta=Fraction(1, 10**9))]
)
def test_what_was_written_is_read_as_it_was(tmp_path, kind, timed, cost):
    made = releases(timed, cost)
    write_released(tmp_path / f"out{kind}", made)
    again = read_released(tmp_path / f"out{kind}")
    assert len(again) == len(made) == len(read_released(str(tmp_path / f"out{kind}")))
    for one, two in zip(made, again, strict=True):
        same(one, two)


def test_the_columns_are_those_that_the_documents_list():
    assert tuple(table_of(releases()).columns) == COLUMNS
    slipping = table_of(releases(cost=Cost(rho=Fraction(1), delta=Fraction(1, 9))))
    assert tuple(slipping.columns) == (*COLUMNS, SLIPS)
    assert slipping[SLIPS].unique(maintain_order=True).to_list() == ["1/9", "0"]
    assert releases()[0].to_polars().height == 4
    assert table_of([]).height == 0


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda t: t.drop("noise_variance"), "no column 'noise_variance'"),
        (lambda t: t.drop("key"), "no column 'key'"),
        (lambda t: t.head(0), "one row for each"),
        (lambda t: t.head(5), "one row for each"),
        (lambda t: pl.concat([t, t]), "one row for each"),
        (lambda t: t.reverse(), "one row for each"),
        (lambda t: t.with_columns(tick=pl.lit(None, pl.Int64)), "one row for each"),
        (lambda t: t.with_columns(key=pl.lit(None, pl.String)), "one row for each"),
        (lambda t: pl.concat([t.head(4), t[4:8].reverse(), t[8:]]), "cells"),
        (lambda t: t.with_columns(value=pl.lit("many")), "cells"),
        (lambda t: t.with_columns(start=pl.lit("yesterday")), "cells"),
        (lambda t: t.with_columns(start=pl.lit(None, pl.Datetime("us", "UTC"))), "cells"),
        (lambda t: t.with_columns(epsilon=pl.lit("1/0")), "cells"),
        (lambda t: t.with_columns(epsilon=pl.lit("1"), rho=pl.lit("1")), "cells"),
        (lambda t: t.with_columns(delta=pl.lit("1")), "cells"),
        (lambda t: t.with_columns(epsilon=pl.lit(None, pl.String)), "cells"),
        (lambda t: t.with_columns(noise_variance=pl.Series(range(12), dtype=pl.Float64)), "cells"),
        (lambda t: t.with_columns(measurement=pl.Series([None, *range(11)], dtype=pl.Int64)), "cells"),
        (lambda t: t.with_columns(measurement=pl.lit(None, pl.Int64)), "cells"),
    ],
)
@pytest.mark.parametrize("text", [False, True])
def test_other_tables_are_refused(change, match, text):
    table = change(table_of(releases()))
    if text:
        timed = table.with_columns(start=pl.lit(START)) if table["start"].dtype == pl.String else table
        table = pl.read_csv(csv_of(timed).encode(), infer_schema=False).with_columns(start=table["start"])
    with pytest.raises(InvalidInput, match=match):
        releases_of(table, "x.csv")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"releases": []}',
        '{"releases": [5]}',
        '{"releases": [{"tick": 0}]}',
    ],
)
def test_other_json_is_refused(tmp_path, content):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(InvalidInput, match="does not hold releases"):
        read_released(tmp_path / "x.json")


def test_json_of_two_streams_or_out_of_order_is_refused(tmp_path):
    one, two, _ = (release.to_dict() for release in releases())
    other = {**two, "keys": two["keys"][:2]}
    for wrong in ([two, one], [one, one], [one, other]):
        (tmp_path / "x.json").write_text(json.dumps({"releases": wrong}))
        with pytest.raises(InvalidInput, match="in order"):
            read_released(tmp_path / "x.json")


def test_files_that_are_none(tmp_path):
    for name in ("x.csv", "x.txt"):
        with pytest.raises(InvalidInput, match="no released file"):
            read_released(tmp_path / name)
    for kind in (".csv", ".parquet", ".arrow"):
        (tmp_path / f"x{kind}").write_bytes(b"\xff\x00\x00PNG")
        with pytest.raises(InvalidInput, match="does not hold releases"):
            read_released(tmp_path / f"x{kind}")
    with pytest.raises(InvalidInput, match="none of"):
        write_released(tmp_path / "x.xlsx", releases())
    with pytest.raises(InvalidInput, match="cannot be written"):
        write_released(tmp_path / "nowhere" / "x.csv", releases())


@pytest.mark.parametrize("kind", KINDS)
def test_a_grid_is_read_again_from_json_and_its_names_from_tables(tmp_path, kind):
    one = np.arange(6.0)
    write_released(tmp_path / f"out{kind}", [Release(Tick(0), Grid(3, 2), one, one, one, one)])
    (again,) = read_released(tmp_path / f"out{kind}")
    assert again.keys == (Grid(3, 2) if kind == ".json" else Keys(list(Grid(3, 2))))
    assert again["2,1"].value == 5


def test_rows_that_are_not_those_of_the_domain_are_refused(tmp_path):
    one = np.arange(6.0)
    facts = Release(Tick(0), Grid(3, 2), one, one, one, one).to_dict()
    for rows in (facts["keys"][::-1], facts["keys"][:-1]):
        with pytest.raises(InvalidParameter, match=r"not those of its domain, Grid\(3 x 2\)"):
            Release.from_dict({**facts, "keys": rows})
