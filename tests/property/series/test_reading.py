"""Whatever dates are written like and in whatever order rows come, the same series is read."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from hubbub.errors import InvalidInput
from hubbub.series import read_series

FORMATS = {
    "%Y-%m-%d": None,
    "%Y-%m-%dT%H:%M": None,
    "%Y-%m-%d %H:%M:%S": None,
    "%d.%m.%Y": None,
    "%d.%m.%Y %H:%M": None,
    "%m/%d/%Y": "month-first",
    "%d/%m/%Y": "day-first",
    "%m/%d/%Y %I:%M %p": "month-first",
    "%Y%m%d": None,
}
counts = st.lists(st.integers(0, 2**52), min_size=3, max_size=40)


@given(
    counts,
    st.datetimes(datetime(1990, 1, 1), datetime(2060, 1, 1)),
    st.sampled_from(sorted(FORMATS)),
    st.sampled_from([1, 2, 7]),
    st.randoms(use_true_random=False),
)
def test_dates_in_any_way_and_order(values, start, form, days, random):
    start = start.replace(hour=0, minute=0, second=0, microsecond=0)
    rows = [(f"{start + timedelta(days=days * i):{form}}", x) for i, x in enumerate(values)]
    random.shuffle(rows)
    text = "date,flu\n" + "".join(f"{when},{x}\n" for when, x in rows)
    series = read_series(text.encode(), "x.csv", dates=FORMATS[form])
    assert series.values.ravel().tolist() == values
    assert series.start == start.replace(tzinfo=UTC)
    assert series.length == timedelta(days=days)


@given(counts, st.integers(1990, 2060), st.integers(1, 12), st.sampled_from([1, 3, 12]))
def test_months_of_any_step(values, year, month, step):
    months = [12 * year + month - 1 + step * i for i in range(len(values))]
    text = "month,flu\n" + "".join(f"{m // 12}-{m % 12 + 1:02},{x}\n" for m, x in zip(months, values, strict=True))
    series = read_series(text.encode(), "x.csv")
    assert series.values.ravel().tolist() == values
    assert series.months == step
    last = series.tick(len(values) - 1).start
    assert (last.year, last.month) == (months[-1] // 12, months[-1] % 12 + 1)


@given(st.binary(max_size=300), st.sampled_from(["x.csv", "x.parquet"]), st.sampled_from(["refuse", "zero", "predict"]))
def test_any_bytes_are_read_or_refused(content, name, gaps):
    try:
        series = read_series(content, name, gaps=gaps)
    except InvalidInput:
        return
    assert len(series) >= 1
    assert (series.values >= 0).all()


@given(st.text(alphabet='0123456789-/.:,;\nTWabc "', max_size=120))
def test_any_table_like_text_is_read_or_refused(text):
    try:
        series = read_series(text.encode(), "x.csv", gaps="zero")
    except InvalidInput:
        return
    assert series.values.shape == (len(series), len(series.keys))
