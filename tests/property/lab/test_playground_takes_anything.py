"""Whatever a page sends, the Playground answers or refuses in a sentence; and what it reads is what was written."""

import csv
import io

from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.errors import HubbubError
from hubbub.lab.playground import Playground

LAB = Playground()

PIECES = (",", ";", "\n", "\r\n", '"', "date", "count", "7", "-1", "2026-01-01", "NaN", "\t", " ", "\ufeff", "1e9")
pieces = st.sampled_from(PIECES)
tables = st.one_of(st.text(max_size=60), st.lists(pieces, max_size=25).map("".join))


@settings(max_examples=300, deadline=None)
@given(tables, st.sampled_from(["refuse", "zero", "predict"]))
def test_any_text_is_read_or_refused(table, gaps):
    try:
        found = LAB.series({"table": table, "gaps": gaps})
    except HubbubError:
        return
    assert len(found["values"]) == found["ticks"]
    assert found["key"] in found["columns"]
    assert all(value is None or value >= 0 for value in found["values"])


counts = st.lists(st.integers(0, 2**52), min_size=1, max_size=30)


@settings(max_examples=100, deadline=None)
@given(counts, st.sampled_from([",", ";", "\t"]), st.booleans())
def test_what_was_written_is_read(values, between, has_names):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=between)
    if has_names:
        writer.writerow(["tick", "flu"])
    writer.writerows([index, value] if has_names else [value] for index, value in enumerate(values))
    assert LAB.series({"table": text.getvalue()})["values"] == values


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
fields = st.sampled_from(
    [
        "sample",
        "table",
        "column",
        "gaps",
        "unit",
        "ticks",
        "epsilon",
        "method",
        "seed",
        "horizon",
        "value",
        "level",
        "length",
        "error",
        "seconds",
    ]
)
asked = st.dictionaries(fields, json_values, max_size=6)
near = st.fixed_dictionaries(
    {"method": st.sampled_from(["lpa", "sample"]), "table": st.just("3\n4\n5\n")},
    optional={
        "unit": st.sampled_from(["user", "event", "session", "window"]) | json_values,
        "ticks": st.integers(-1, 4) | json_values,
        "epsilon": st.sampled_from(["1", "0.01", "0", "20.1", "1e3", "٣"]) | json_values,
        "seed": st.integers(-1, 3) | json_values,
        "horizon": st.integers(-1, 3) | json_values,
    },
)


@settings(max_examples=300, deadline=None)
@given(asked | near, st.sampled_from(["series", "run", "script", "begin", "plan"]))
def test_any_request_is_answered_or_refused(asked, what):
    if what == "plan":
        asked = {**asked, "length": "x"} if "sample" not in asked else asked  # a plan of defaults takes its time
    try:
        answer = getattr(LAB, what)(asked)
        if what in ("run", "plan"):
            answer = list(answer)
        if what == "begin":
            LAB.end(answer["run"])
    except HubbubError:
        return
    assert answer


@settings(max_examples=100, deadline=None)
@given(st.lists(json_values, max_size=4))
def test_any_live_value_is_released_or_refused(values):
    run = LAB.begin({"method": "lpa", "unit": "event"})["run"]
    released = 0
    for value in values:
        try:
            assert LAB.step(run, {"value": value})["tick"] == released
            released += 1
        except HubbubError:
            continue
    LAB.end(run)
