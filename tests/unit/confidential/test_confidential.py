import copy
import json
import logging
import pickle
import sqlite3
from datetime import UTC, datetime, timedelta
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest

from hubbub.collect import Batch, Collector, Replay
from hubbub.collect.bound import Bounded
from hubbub.collect.memory import Memory
from hubbub.collect.rows import Rows
from hubbub.collect.tally import Tally
from hubbub.confidential import Confidential, Counts, Cut
from hubbub.errors import ConfidentialLeak, InvalidCounts, UnknownKey
from hubbub.privacy import Session
from hubbub.released import Grid, Keys, Tick
from hubbub.series import read_series

PLANTED = 777000111
KEYS = Keys(["front", "news"])


@pytest.mark.parametrize(
    "escape",
    [
        pickle.dumps,
        copy.deepcopy,
        np.asarray,
        list,
        bool,
        len,
        lambda secret: secret == PLANTED,
        lambda secret: secret != PLANTED,
        lambda secret: {secret: 1},
        json.dumps,
        float,
        int,
        lambda secret: secret + 1,
        lambda secret: secret < 5,
        vars,
    ],
)
def test_every_implicit_way_out_is_shut(escape):
    with pytest.raises(TypeError) as refused:
        escape(Confidential(PLANTED))
    assert str(PLANTED) not in str(refused.value)


def test_errors_do_not_tell_how_long_a_value_is():
    """As it was: the type of a vector of strings told how many digits the longest one has."""
    said = set()
    for word in ("7", "77777"):
        with pytest.raises(InvalidCounts) as refused:
            Counts.of(KEYS, Tick(0), [word, "1"])
        said.add(str(refused.value))
    assert len(said) == 1


def test_leaks_are_a_privacy_refusal_with_a_hint():
    with pytest.raises(ConfidentialLeak, match="Release it first"):
        pickle.dumps(Confidential(PLANTED))


def test_it_prints_as_confidential(caplog):
    secret = Confidential(PLANTED)
    counts = Counts.of(KEYS, Tick(0), [PLANTED, 1])
    with caplog.at_level(logging.INFO):
        logging.info("%s %r %s", secret, secret, counts)
    shown = [str(secret), repr(secret), f"{secret}", "%s" % secret, repr(counts), str(counts), caplog.text]  # noqa: UP031
    assert all("confidential" in text and str(PLANTED) not in text for text in shown)


def test_reveal_gives_the_value_back():
    assert Confidential(PLANTED).reveal() == PLANTED


def test_counts_from_a_mapping_follow_the_order_of_the_keys():
    counts = Counts.of(KEYS, Tick(0), {"news": 2, "front": 1})
    assert counts.values.reveal().tolist() == [1, 2]


def test_counts_are_a_copy():
    mine = np.array([1, 2])
    counts = Counts.of(KEYS, Tick(0), mine)
    mine[0] = 99
    assert counts.values.reveal().tolist() == [1, 2]


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        ([1, float("nan")], InvalidCounts, "'news' is not a number"),
        ([1, float("inf")], InvalidCounts, "'news' is infinite"),
        ([-1, 2], InvalidCounts, "'front' is negative"),
        ([-1.0, 2], InvalidCounts, "'front' is negative"),
        ([1.5, 2], InvalidCounts, "'front' is a fraction"),
        ([2**53, 2], InvalidCounts, r"above 2\^52"),
        ([2**70, 2], InvalidCounts, r"above 2\^52"),
        ([-(2**70), 2], InvalidCounts, "negative"),
        ([None, 2], InvalidCounts, "not a whole number"),
        (["1", "2"], InvalidCounts, "whole numbers"),
        ([True, False], InvalidCounts, "whole numbers"),
        ([True, 6], InvalidCounts, "'front' is a boolean"),
        ((6, True), InvalidCounts, "'news' is a boolean"),
        ([np.True_, 6.0], InvalidCounts, "'front' is a boolean"),
        ([False, 2**70], InvalidCounts, "not a whole number"),
        ({"front": 6, "news": False}, InvalidCounts, "'news' is a boolean"),
        (np.array([True, 6], dtype=object), InvalidCounts, "not a whole number"),
        ([1], InvalidCounts, "each of 2 keys"),
        ([[1, 2]], InvalidCounts, "each of 2 keys"),
        ({"front": [5], "news": 1}, InvalidCounts, "lists among them"),
        ([[1, 2], 3], InvalidCounts, "lists among them"),
        ({"front": 1}, UnknownKey, "'news' .1 of 2"),
        ({"front": 1, "news": 2, "sports": 3}, UnknownKey, "'sports'"),
    ],
)
def test_bad_counts_are_refused_by_name(values, error, words):
    with pytest.raises(error, match=words):
        Counts.of(KEYS, Tick(0), values)


def test_whole_floats_are_counts():
    assert Counts.of(KEYS, Tick(0), [1.0, 2.0]).values.reveal().dtype == np.int64


def test_errors_never_echo_a_value():
    with pytest.raises(InvalidCounts) as refused:
        Counts.of(KEYS, Tick(0), [PLANTED + 0.5, -PLANTED])
    assert str(PLANTED) not in str(refused.value)
    with pytest.raises(InvalidCounts, match="'front' is a boolean") as refused:
        Counts.of(KEYS, Tick(0), [True, PLANTED])
    assert str(PLANTED) not in str(refused.value)
    assert "True" not in str(refused.value)
    with pytest.raises(InvalidCounts, match="'1,0' is a boolean"):
        Counts.of(Grid(2, 2), Tick(0), [[1, True], [3, 4]])


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def rows():
    """The same two counts, 240 of news and 812 of front, in everything that brings names along."""
    base = sqlite3.connect(":memory:")
    base.row_factory = sqlite3.Row
    frame = pd.DataFrame({"news": [240], "front": [812]})
    yield pd.Series({"news": 240, "front": 812})
    yield frame.iloc[0]
    yield pd.DataFrame({"page": ["news"] * 240 + ["front"] * 812}).value_counts("page").sort_index(ascending=False)
    yield next(frame.itertuples(index=False))
    yield base.execute("SELECT 240 AS news, 812 AS front").fetchone()
    yield {"news": 240, "front": 812}


def test_what_has_names_is_taken_by_name():
    for row in rows():
        assert Counts.of(KEYS, Tick(0), row).values.reveal().tolist() == [812, 240], type(row)
        for other in (Keys(["front", "sports"]), Keys(["front", "news", "sports"]), Keys(["front"])):
            with pytest.raises(UnknownKey):
                Counts.of(other, Tick(0), row)


@pytest.mark.parametrize("values", [[812, 240], (812, 240), np.array([812, 240]), pd.Series([812, 240])])
def test_what_has_none_goes_by_position(values):
    assert Counts.of(KEYS, Tick(0), values).values.reveal().tolist() == [812, 240]


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([PLANTED, 1], index=[PLANTED, 5]),
        pd.Series([0, PLANTED, 1])[1:],
        pd.Series([PLANTED, 1], index=["front", "front"]),
        pd.Series([PLANTED, 1], index=pd.MultiIndex.from_tuples([("front", 1), ("news", 1)])),
    ],
)
def test_labels_that_are_no_names_are_refused_and_not_told(values):
    with pytest.raises(InvalidCounts) as refused:
        Counts.of(KEYS, Tick(0), values)
    assert str(PLANTED) not in str(refused.value)


@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame])
def test_a_table_with_labels_is_refused(made):
    for keys, table in ((KEYS, {"news": [PLANTED], "front": [1]}), (Grid(2, 1), {"1": [PLANTED], "0": [1]})):
        with pytest.raises(InvalidCounts, match="got a table") as refused:
            Counts.of(keys, Tick(0), made(table))
        assert str(PLANTED) not in str(refused.value)
    assert Counts.of(Grid(2, 1), Tick(0), made(table).to_numpy()).values.reveal().tolist() == [PLANTED, 1]


# ── everything that holds what was not released ──────────────────────────────────────────────────────────────────────


def holders():
    day, start = timedelta(days=1), datetime(2026, 1, 1, tzinfo=UTC)
    event = {"time": start, "person": str(PLANTED), "path": "front"}
    batch = Batch.of([event])
    collector = Collector(["front"], Session(max_ticks=2, timeout=day), day, Replay(start, start + 2 * day))
    collector.add(batch)
    tally = Tally(keys=1)
    tally.add(np.array([PLANTED]))
    yield from (batch, collector, tally, collector._bound, Memory.empty(), Bounded(np.array([PLANTED])))
    yield Rows(np.array([PLANTED]), np.array([1]), np.array([1]), np.array([1]))
    yield from (Confidential(PLANTED), Counts.of(KEYS, Tick(0), [PLANTED, 1]), Cut(0, start, {"file": str(PLANTED)}))
    yield read_series({"flu": [PLANTED, 1]})


@pytest.mark.parametrize("held", list(holders()), ids=lambda held: type(held).__name__)
def test_whatever_holds_what_was_not_released_is_not_copied_or_pickled(held):
    ways = [copy.copy, copy.deepcopy, lambda it: it.__getstate__(), lambda it: it.__reduce__()]
    ways += [partial(pickle.dumps, protocol=protocol) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    ways += [lambda it, number=number: it.__reduce_ex__(number) for number in (0, 2, 5)]
    for way in [*ways, lambda it: pickle.dumps([{"held": it}])]:
        with pytest.raises(ConfidentialLeak) as refused:
            way(held)
        assert str(PLANTED) not in str(refused.value)
