"""Series from files as people have them: right answers, or errors that say what to do and never hold a value."""

import io
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

from hubbub.errors import InvalidInput, InvalidParameter, UnknownKey
from hubbub.methods import make_mechanism
from hubbub.privacy import Guarantee, User
from hubbub.released import Keys
from hubbub.series import read_series
from hubbub.series.times import looks_like_time, on_a_grid, read_times

DAY = timedelta(days=1)


def read(text, **more):
    content = text if isinstance(text, bytes) else text.encode()
    return read_series(content, "x.csv", **more)


def parquet(**columns):
    file = io.BytesIO()
    pl.DataFrame(columns).write_parquet(file)
    return file.getvalue()


# ── dates ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("cells", "start", "length"),
    [
        (("2026-01-30", "2026-01-31", "2026-02-01"), datetime(2026, 1, 30), DAY),
        (("2026-01-31T22:00", "2026-01-31T23:00", "2026-02-01T00:00"), datetime(2026, 1, 31, 22), DAY / 24),
        (("2026-01-31 22:00:00", "2026-01-31 23:00:00", "2026-02-01 00:00:00"), datetime(2026, 1, 31, 22), DAY / 24),
        (
            ("2026-10-25T02:00+02:00", "2026-10-25T02:00+01:00", "2026-10-25T03:00+01:00"),
            datetime(2026, 10, 25),
            DAY / 24,
        ),
        (("30.1.2026", "31.1.2026", "1.2.2026"), datetime(2026, 1, 30), DAY),
        (("30/01/2026", "31/01/2026", "01/02/2026"), datetime(2026, 1, 30), DAY),
        (("01/30/2026", "01/31/2026", "02/01/2026"), datetime(2026, 1, 30), DAY),
        (("01/31/2026 11:00 AM", "01/31/2026 12:00 PM", "01/31/2026 01:00 PM"), datetime(2026, 1, 31, 11), DAY / 24),
        (("2026/01/30", "2026/01/31", "2026/02/01"), datetime(2026, 1, 30), DAY),
        (("2025-W52", "2026-W01", "2026-W02"), datetime(2025, 12, 22), 7 * DAY),
        (("20260130", "20260131", "20260201"), datetime(2026, 1, 30), DAY),
        (("1769731200", "1769817600", "1769904000"), datetime(2026, 1, 30), DAY),
        (("1769731200000", "1769817600000", "1769904000000"), datetime(2026, 1, 30), DAY),
    ],
)
def test_dates_in_many_ways(cells, start, length):
    series = read("date,flu\n" + "".join(f"{cell},{5 + i}\n" for i, cell in enumerate(cells)))
    assert series.values.ravel().tolist() == [5, 6, 7]
    assert (series.start, series.length) == (start.replace(tzinfo=UTC), length)
    assert series.tick(2).start == start.replace(tzinfo=UTC) + 2 * length


@pytest.mark.parametrize(
    "cells",
    [
        ("2025-11", "2025-12", "2026-01"),
        ("2025-11-01", "2025-12-01", "2026-01-01"),
        ("2025-11-15", "2025-12-15", "2026-01-15"),
        ("30.11.2025", "31.12.2025", "31.01.2026"),
    ],
)
def test_months_follow_the_calendar(cells):
    series = read("month,flu\n" + "".join(f"{cell},5\n" for cell in cells))
    assert [series.tick(i).start.month for i in range(3)] == [11, 12, 1]
    assert timedelta(days=30) < series.length < timedelta(days=31)
    assert series.months == 1


def test_quarters_and_rows_in_any_order():
    series = read("date,flu\n2026-07-01,3\n2026-01-01,1\n2026-04-01,2\n")
    assert series.values.ravel().tolist() == [1, 2, 3]
    assert series.months == 3


def test_dates_that_can_be_read_in_two_ways_are_asked_about():
    text = "date,flu\n01/02/2026,5\n02/02/2026,6\n"
    with pytest.raises(InvalidInput, match=r"read in two ways.*--dates"):
        read(text)
    assert read(text, dates="day-first").length == DAY
    assert read(text, dates="month-first").months == 1
    assert read("date,flu\n02/02/2026,5\n03/03/2026,6\n").start == datetime(
        2026, 2, 2, tzinfo=UTC
    )  # the same either way
    with pytest.raises(InvalidParameter, match="day-first"):
        read(text, dates="european")
    with pytest.raises(InvalidInput, match="no calendar has"):
        read("date,flu\n31/01/2026,5\n", dates="month-first")


@pytest.mark.parametrize(
    ("cells", "match"),
    [
        (("2026-02-30", "2026-03-01"), "no calendar has"),
        (("31/01/2026", "01/31/2026"), "no calendar has"),
        (("20260230", "20260301"), "no calendar has"),
        (("31.01.2026 25:00", "31.01.2026 26:00"), "no calendar has"),
        (("01/31/2026 13:00 PM", "01/31/2026 02:00 PM"), "no calendar has"),
        (("2026-01-31", "01.02.2026"), "or mixes them"),
        (("2026-01-31T10:00Z", "2026-01-31T11:00"), "others none"),
        (("monday", "tuesday"), "dates or times"),
        (("2026-01-31", "2026-01-31"), "a tick twice"),
        (("31.01.2026", "31.1.2026"), "a time twice"),
        (("2026-01-01", "2026-01-03", "2026-01-06"), "not evenly spaced"),
        (("2026-01-01T00:00:00", "2026-01-01T00:00:01", "2126-01-01T00:00:00"), "ten million"),
        (("2026-01-31", ""), "empty cells"),
    ],
)
def test_dates_that_cannot_be_read(cells, match):
    with pytest.raises(InvalidInput, match=match):
        read("date,flu\n" + "".join(f"{cell},5\n" for cell in cells))


def test_numbers_are_ticks_where_the_column_says_so():
    assert read_times(["20260131", "20260201"], "tick") == [20260131, 20260201]
    assert read_times(["2024", "2025"], "year") == [2024, 2025]
    assert on_a_grid([3, 5], "tick").places == (0, 2)
    assert not looks_like_time("front")


def test_the_first_column_may_have_another_name():
    series = read("observation_date,UNRATE\n2026-01-01,5\n2026-02-01,6\n")
    assert list(series.keys) == ["UNRATE"]
    assert series.months == 1
    assert read("tick,date,flu\n7,2026-01-01,5\n8,2026-01-02,6\n").length == DAY


# ── gaps ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

GAPPED = "date,flu\n2026-01-01,5\n2026-01-02,6\n2026-01-04,7\n"


@pytest.mark.parametrize(
    "text", [GAPPED, "flu\n5\n6\n\n7\n", "flu\n5\n6\nNaN\n7\n", "tick,flu\n0,5\n1,6\n2,n/a\n3,7\n"]
)
def test_a_gap_is_refused_counted_or_predicted(text):
    with pytest.raises(InvalidInput, match=r"has gaps: 1 of 4.*gaps zero.*gaps predict"):
        read(text)
    zeros = read(text, gaps="zero")
    assert zeros.values.ravel().tolist() == [5, 6, 0, 7]
    assert zeros.gaps == 0
    gapped = read(text, gaps="predict")
    assert gapped.present.tolist() == [True, True, False, True]
    assert "1 gap" in repr(gapped)
    releases = list(gapped.released_by(make_mechanism("lpa", gapped.keys, Guarantee.pure(User(horizon=4), 1))))
    assert [r.is_predicted for r in releases] == [False, False, True, False]


def test_gaps_of_some_keys():
    text = "flu,cold\n1,2\n3,\n"
    assert read(text, gaps="zero").values.tolist() == [[1, 2], [3, 0]]
    with pytest.raises(InvalidInput, match="for some keys only"):
        read(text, gaps="predict")
    with pytest.raises(InvalidInput, match="no counts"):
        read("flu,cold\n,\nNaN,\n", gaps="predict")
    with pytest.raises(InvalidParameter, match="`gaps` must be"):
        read(text, gaps="ignore")


# ── files that are not what they say ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "it is empty"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00", "cannot be read as csv"),
        (b"a\x00b,c\n1,2\n", "not text"),
        ("stra\xdfe\n5\n".encode("latin-1"), "cannot be read as csv"),
        (b"<html><body>\n<p>hello, world</p>\n</body></html>\n", "cannot be read as csv|does not hold numbers"),
        (b'{"flu": [1, 2]}\n{"flu": [1, 2]}\n', "does not hold numbers|cannot be read"),
        (b"a,b\n1,2\n1,2,3\n", "cannot be read"),
        (b"date,flu\n", "no counts"),
        (b"date\n2026-01-01\n", "no counts"),
        (b"tick,key,count\n", "no counts"),
        (b"tick,key,count\n0,,5\n", "'key' has empty cells"),
        (b"31337\n77123\n", "no line of names"),
        (b"2026-01-01,31337\n2026-01-02,77123\n", "no line of names"),
        (b"flu,flu\n1,2\n", "one name"),
        (b"flu,\n1,2\n", "without a name"),
        (b",tick,flu\n7,0,2\n", "without a name"),
        (b"date,time,flu\n2026-01-01,10:00,5\n", "both say when"),
        (b"flu\n5\n-31337\n", "negative"),
        (b"flu\n5\n31337.5\n", "fractions"),
        (b"flu\n5\n1e17\n", r"above 2\^52"),
        (b"flu\n5\ninf\n", r"above 2\^52"),
        (b"flu\n5\n99999999999999999999999\n", r"above 2\^52"),
        (b'flu\n5\n"31,337"\n', r"line 3 is the first"),
    ],
)
def test_what_is_refused_tells_no_value(content, match):
    with pytest.raises(InvalidInput, match=match) as refused:
        read(content, gaps="predict")
    chain = refused.value
    while chain is not None:
        assert "31337" not in str(chain)
        assert "77123" not in str(chain)
        chain = None if chain.__suppress_context__ else (chain.__cause__ or chain.__context__)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffdate,flu\n2026-01-01,5\n2026-01-02,6\n",
        "date;flu\n01.01.2026;5\n02.01.2026;6\n",
        "date\tflu\r\n2026-01-01\t5\r\n2026-01-02\t6\r\n\r\n",
        ",flu\n2026-01-01,5\n2026-01-02,6\n",
        "date,flu,\n2026-01-01,5,\n2026-01-02,6,\n",
        "date, flu\n2026-01-01, 5.0\n\n2026-01-02, 6\n\n",
    ],
)
def test_what_spreadsheets_write(text):
    series = read(text)
    assert list(series.keys) == ["flu"]
    assert series.values.ravel().tolist() == [5, 6]
    assert series.length == DAY


def test_one_tick():
    series = read("date,flu\n2026-01-01,5\n")
    assert len(series) == 1
    assert series.tick(0).start is None  # how long a tick is cannot be told from one
    assert repr(series) == "<1 tick, 1 key, confidential>"


def test_parquet_with_typed_columns(tmp_path):
    days = [datetime(2026, 1, day) for day in (1, 2, 4)]
    content = parquet(day=[d.date() for d in days], flu=[5, 6, None])
    with pytest.raises(InvalidInput, match="has gaps: 2 of 4"):
        read_series(content, "x.parquet")
    (tmp_path / "x.parquet").write_bytes(content)
    assert read_series(tmp_path / "x.parquet", gaps="zero").values.ravel().tolist() == [5, 6, 0, 0]
    assert read_series(parquet(when=days, flu=[1.0, 2.0, float("nan")]), "x.parquet", gaps="predict").gaps == 2
    long = read_series(parquet(tick=[0, 1], key=["b", "a"], count=[5, 6]), "x.parquet", gaps="zero")
    assert list(long.keys) == ["a", "b"]
    assert long.values.tolist() == [[0, 5], [6, 0]]
    assert read_series(parquet(flu=[5, 6], cold=[None, None]), "x.parquet", gaps="zero").values.tolist() == [
        [5, 0],
        [6, 0],
    ]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"PAR1 nonsense", "cannot be read as parquet"),
        (parquet(flu=["a", "b"]), "does not hold numbers"),
        (parquet(flu=[True, False]), "does not hold numbers"),
        (parquet(time=[0.5, 1.5], flu=[1, 2]), "neither whole numbers nor dates"),
        (parquet(flu=[-1, 2]), "negative"),
        (parquet(flu=[2**60, 2]), r"above 2\^52"),
    ],
)
def test_parquet_refused(content, match):
    with pytest.raises(InvalidInput, match=match):
        read_series(content, "x.parquet")


def test_a_key_may_be_called_like_a_time():
    assert read("day,night\n5,6\n", keys=Keys(["day", "night"])).values.tolist() == [[5, 6]]
    with pytest.raises(UnknownKey):
        read("day,night\n5,6\n", keys=Keys(["day"]))


def test_content_without_a_name():
    assert read_series(b"flu\n5\n").values.tolist() == [[5]]
    assert read_series(parquet(flu=[5])).values.tolist() == [[5]]
    with pytest.raises(InvalidInput, match="the series cannot be read as csv"):
        read_series(b"")


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "x.csv").mkdir()
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_series(tmp_path / "x.csv")
    with pytest.raises(InvalidInput, match="no file"):
        read_series(tmp_path / "y.csv")


def test_counts_wide_and_long(tmp_path):
    (tmp_path / "wide.csv").write_text("time,front,news\n2026-01-05,5,1\n2026-01-06,6,0\n")
    series = read_series(tmp_path / "wide.csv")
    assert list(series.keys) == ["front", "news"]
    assert series.values.tolist() == [[5, 1], [6, 0]]
    assert read_series(tmp_path / "wide.csv", keys=Keys(["news", "front"])).values.tolist() == [[1, 5], [0, 6]]
    (tmp_path / "long.csv").write_text("tick,key,count\n3,front,5\n3,news,1\n4,front,6\n4,news,0\n")
    assert read_series(tmp_path / "long.csv").values.tolist() == [[5, 1], [6, 0]]


LONG = "tick,key,count\n3,front,5\n3,news,1\n5,front,6\n"


@pytest.mark.parametrize("kind", ["file", "bytes", "mapping", "polars", "pandas"])
def test_a_pair_that_is_not_there_is_a_gap(tmp_path, kind):
    """As it was: a row of tick, key, count that was missing passed for a 0 that was counted."""
    (tmp_path / "long.csv").write_text(LONG)
    table = {"tick": [3, 3, 5], "key": ["front", "news", "front"], "count": [5, 1, 6]}
    source = {
        "file": lambda: tmp_path / "long.csv",
        "bytes": lambda: LONG.encode(),
        "mapping": lambda: table,
        "polars": lambda: pl.DataFrame(table),
        "pandas": lambda: pytest.importorskip("pandas").DataFrame(table),
    }[kind]()
    with pytest.raises(InvalidInput, match=r"has gaps: 3 of 6 counts are not there, the first in tick 1") as caught:
        read_series(source)
    assert "--gaps zero" in caught.value.hint
    zeros = read_series(source, gaps="zero")
    assert zeros.values.tolist() == [[5, 1], [0, 0], [6, 0]]
    assert zeros.gaps == 0
    more = read_series(source, keys=Keys(["front", "news", "blog"]), gaps="zero")
    assert more.values.tolist()[2] == [6, 0, 0]
    with pytest.raises(InvalidInput, match="counts for some keys only"):
        read_series(source, gaps="predict")


def test_a_tick_without_any_row_can_be_predicted():
    series = read_series(f"{LONG}5,news,0\n".encode(), gaps="predict")
    assert (series.values.tolist(), series.gaps) == ([[5, 1], [0, 0], [6, 0]], 1)


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("x.txt", "", "neither"),
        ("x.csv", "", "cannot be read"),
        ("x.csv", "tick\n1\n", "no counts"),
        ("x.csv", "front\nhello\n", "does not hold numbers"),
        ("x.csv", "front,news\n1,\n2,3\n", "has gaps"),
        ("x.csv", "tick,key,count\nnow,front,1\n", "dates or times"),
        ("x.csv", "tick,key,count\n1,front,1\n1,front,2\n", "twice"),
        ("x.csv", "tick,key,count\n1,front,1\n99999999,front,2\n", "ten million"),
    ],
)
def test_counts_refused(tmp_path, name, content, match):
    (tmp_path / name).write_text(content)
    with pytest.raises(InvalidInput, match=match):
        read_series(tmp_path / name)


def test_counts_for_other_keys(tmp_path):
    with pytest.raises(InvalidInput, match="no file"):
        read_series(tmp_path / "x.csv")
    (tmp_path / "x.csv").write_text("front,news\n1,2\n")
    with pytest.raises(UnknownKey):
        read_series(tmp_path / "x.csv", keys=Keys(["front"]))
    with pytest.raises(InvalidInput, match="no column for 'blog'"):
        read_series(tmp_path / "x.csv", keys=Keys(["front", "news", "blog"]))


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "head",
    [
        *("n/a,987654", ",987654", "NA,987654", "null,987654", "-,987654", "NaN,987654", "<5,987654", "date,987654"),
        *('"987,654",3', "987 654,3", "987654*,x", "'987654',x", "x,+987654", "x,987654 [1]", "x,987654 p", "x,-1"),
        *("x;987.654", "x;987'654", "x\t987\u202f654", "x,987_654", 'x,"987,654.5"', "x,1e6", "x,987654\u2020"),
        *('"9,87,654",x', "2026-01-01,n/a", "n/a,-", "987654"),
    ],
)
def test_a_first_line_with_counts_is_no_line_of_names(head):
    between = ";" if ";" in head else "\t" if "\t" in head else ","
    rows = "".join(f"{i}{between}{i}\n" if between in head else f"{i}\n" for i in range(3))
    with pytest.raises(InvalidInput, match="no line of names") as refused:
        read(f"{head}\n{rows}", gaps="zero")
    assert "987" not in str(refused.value)


@pytest.mark.parametrize(
    "head",
    ["2026 cases,week 3", "0-4,65+", "10.0.0.1,10.0.0.2", "h1n1,covid-19", "3a,3b", "<5,5 km", "na,flu", "1.2.3,v2"],
)
def test_names_with_digits_stay_names(head):
    assert list(read(f"{head}\n1,2\n3,4\n").keys) == head.split(",")


def test_numbers_are_names_if_the_caller_says_so():
    assert list(read("10117,10115\n1,2\n", keys=Keys(["10115", "10117"])).values.ravel()) == [2, 1]
    with pytest.raises(InvalidInput, match="no line of names"):
        read("10117,10115\n1,2\n", keys=Keys(["10115", "news"]))


def test_tables_and_parquet_too():
    with pytest.raises(InvalidInput, match="no line of names"):
        read_series(pl.DataFrame({"n/a": [1], "987654": [2]}))
    with pytest.raises(InvalidInput, match="no line of names"):
        read_series(parquet(**{"n/a": [1], "987654": [2]}), "x.parquet")


@pytest.mark.parametrize("name", ["when", "id", "flu"])
def test_a_column_of_days_is_asked_about(name):
    for source in (f"{name},x\n20260131,5\n20260201,6\n".encode(), {name: [20260131, 20260201], "x": [5, 6]}):
        with pytest.raises(InvalidInput, match=r"call it date\..*call it count, or list it in `keys`") as refused:
            read_series(source)
        assert "2026" not in str(refused.value)
        assert read_series(source, keys=Keys([name, "x"])).values[:, 0].tolist() == [20260131, 20260201]


def test_what_is_no_day_or_called_a_count_is_counted():
    assert read("count\n20260131\n20260201\n").values.ravel().tolist() == [20260131, 20260201]
    assert read("flu\n20260131\n20260230\n").values.ravel().tolist() == [20260131, 20260230]
    assert read("date,flu\n20260131,5\n20260201,6\n").start == datetime(2026, 1, 31, tzinfo=UTC)


@pytest.mark.parametrize("cell", ["5.000000000000000001", "4503599627370496.5", "5e-400"])
def test_what_is_nearly_whole_is_a_fraction(cell):
    """As it was: a float rounds it, and it passed for the whole number beside it."""
    with pytest.raises(InvalidInput, match=r"has fractions \(line 3") as caught:
        read(f"flu\n5\n{cell}\n")
    assert cell not in str(caught.value)
    with pytest.raises(InvalidInput, match="has fractions"):
        read_series(pl.DataFrame({"flu": [Decimal("5.000000000000000000001")]}))


def test_whole_numbers_however_they_are_written():
    assert read("flu\n5.0\n1e3\n+7\n5.\n4503599627370496\n2500e-2\n").values.ravel().tolist() == [
        5, 1000, 7, 5, 2**52, 25,
    ]  # fmt: skip


def test_not_a_number_beside_whole_ones_is_a_gap():
    """As it was: refused as cells of several kinds."""
    table = {"flu": [1, float("nan"), 3], "cold": [np.int64(4), np.float32("nan"), 6]}
    with pytest.raises(InvalidInput, match="has gaps: 2 of 6"):
        read_series(table)
    assert read_series(table, gaps="zero").values.tolist() == [[1, 4], [0, 0], [3, 6]]
    assert read_series(table, gaps="predict").gaps == 1


def test_a_tick_of_which_nothing_is_there_stays_a_tick():
    """As it was: in a table without dates, where every list had None, the tick was left out without a word."""
    table = {"flu": [1, None, 3], "cold": [4, None, 6]}
    for source in (table, pl.DataFrame(table)):
        with pytest.raises(InvalidInput, match="has gaps: 2 of 6"):
            read_series(source)
        assert len(read_series(source, gaps="predict")) == 3
