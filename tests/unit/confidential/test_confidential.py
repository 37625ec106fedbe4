import copy
import json
import logging
import pickle

import numpy as np
import pytest

from hubbub.confidential import Confidential, Counts
from hubbub.errors import ConfidentialLeak, InvalidCounts, UnknownKey
from hubbub.released import Keys, Tick

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
        ([1], InvalidCounts, "each of 2 keys"),
        ([[1, 2]], InvalidCounts, "each of 2 keys"),
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
