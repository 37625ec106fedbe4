"""Whatever a file says for a span of time, it is taken, or refused with file and line; there is no traceback."""

from datetime import timedelta
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.errors import InvalidInput
from hubbub.monitor.durations import LONGEST, MOST_TICKS, SHORTEST, duration, ticks_or_duration
from hubbub.monitor.settings import MonitorSettings
from hubbub.monitor.toml import read_toml

SAMPLE = (resources.files("hubbub.monitor") / "sample.toml").read_text()


@pytest.mark.parametrize(
    ("tick", "words"),
    [
        ('"9999999999d"', "longer than a hundred years; got '9999999999d'"),
        ('"36526d"', "longer than a hundred years"),
        ('"0.9ms"', "at least a millisecond"),
        ('"0.0000000001s"', "longer than nothing"),
        ('"0s"', "longer than nothing"),
        ("nan", "not a span of time; got 'nan'"),
        ("inf", "not a span of time"),
        ('"nan s"', "not a span of time"),
        ('"1e400s"', "not a span of time"),
        (f'"{"9" * 400}s"', "not a span of time"),
        ('"٣s"', "not a span of time"),
        ("1979-05-27", "not a span of time"),
        ("[1]", "not a span of time"),
    ],
)
def test_a_tick_that_cannot_be_is_named_with_its_line(tmp_path, tick, words):
    path = tmp_path / "site.toml"
    path.write_text(SAMPLE.replace('tick = "10s"', f"tick = {tick}", 1))
    with pytest.raises(InvalidInput) as refused:
        read_toml(path, MonitorSettings)
    assert "site.toml, line 6: `stream.tick`" in refused.value.message
    assert words in refused.value.message


@pytest.mark.parametrize(
    "table",
    [
        '[collect]\nlateness = "9999999999d"',
        '[collect]\nstay = "9999999999d"',
        '[ranges]\nwindow = "9999999999d"',
        "[ranges]\nwindow = 99999999999999999999",
        "[ranges]\nwindow = nan",
    ],
)
def test_so_is_every_other_span(tmp_path, table):
    path = tmp_path / "site.toml"
    path.write_text(SAMPLE.replace("[store]", f"{table}\n[store]", 1))
    with pytest.raises(InvalidInput, match="line 42"):
        read_toml(path, MonitorSettings)


@given(st.text() | st.integers() | st.floats() | st.booleans() | st.none() | st.timedeltas())
def test_nothing_but_a_span_or_a_refusal_comes_out(given_):
    try:
        found = duration(given_)
    except ValueError:
        return
    assert SHORTEST <= found <= LONGEST


numbers = st.from_regex(r"[0-9]{1,25}(\.[0-9]{1,25})?", fullmatch=True)


@given(numbers, st.sampled_from(["ms", "s", "min", "m", "h", "d", "w", "y", ""]))
def test_so_do_numbers_with_units(number, unit):
    try:
        found = duration(number + unit)
    except ValueError:
        return
    assert SHORTEST <= found <= LONGEST


def test_spans_are_exact():
    assert duration("0.001s") == SHORTEST
    assert duration("36525 d") == LONGEST
    assert duration("0.1h") == timedelta(minutes=6)
    assert duration(timedelta(seconds=3)) == timedelta(seconds=3)
    assert ticks_or_duration(MOST_TICKS) == MOST_TICKS
