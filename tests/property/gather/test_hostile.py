"""Bytes of somebody who wishes us ill: every message is refused in a typed way, or is one message and no other."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.unit.gather.test_messages import SAMPLES, announcement_of, result_of

from hubbub.errors import HubbubError, InvalidInput
from hubbub.gather import Client, Query
from hubbub.gather.messages import Announcement, Result
from hubbub.gather.plan import Plan
from hubbub.gather.planning import planned
from hubbub.gather.prio3 import Count, Histogram, MultihotCountVec, Sum, SumVec

OPENS = datetime(2026, 1, 1, tzinfo=UTC)
NOISES: list[dict[str, Any]] = [
    {"epsilon": "1/3"}, {"rho": "1/7"}, {"epsilon": 1, "lying": 3}, {"share_variance": "3/2", "lying": 3},
]  # fmt: skip
CIRCUITS = [Count(), Sum(9), SumVec(2, 3, 2), Histogram(6), MultihotCountVec(6, 2)]
QUERIES = [
    Query.plan("q", circuit, clients=100, minimum=20, verify_key=bytes(32), **noise)
    for circuit in CIRCUITS
    for noise in NOISES
]

lengths = st.sampled_from([b"\x00" * 4, b"\xff" * 4, b"\x04\x00\x00\x00", b"\x00\x01\x00\x00", b"\x7f\xff\xff\xff"])
numbers = st.one_of(
    st.integers(), st.sampled_from([2**32, 2**53, 2**64, 2**128, 2**999, 10**400, 10**4000, -(2**64)]), st.floats()
)
texts = st.one_of(
    st.text(max_size=8),
    st.sampled_from(["1/0", "1e300", "1e-300", "9" * 4000, "x" * 2000, "\ud800", "0", "-1", "nan", "count", "Field64"]),
    st.sampled_from([query.noise.kind for query in QUERIES]),
    st.sampled_from([circuit.name for circuit in CIRCUITS]),
)
junk = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda one: st.one_of(st.lists(one, max_size=3), st.dictionaries(st.text(max_size=4), one, max_size=3)),
    max_leaves=4,
)


def canonical(facts: Any) -> bytes:
    return json.dumps(facts, sort_keys=True, separators=(",", ":")).encode()


@st.composite
def spoilt(draw: Any) -> tuple[type, bytes]:
    """A good message with bits flipped, parts cut out or put in, and lengths that claim too much."""
    message = draw(st.sampled_from(SAMPLES))
    data = bytearray(message.encode())
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        kind = draw(st.sampled_from(["flip", "cut", "out", "in", "length"]))
        if kind == "flip" and data:
            data[at] ^= 1 << draw(st.integers(0, 7))
        elif kind == "cut":
            del data[at:]
        elif kind == "out":
            del data[at : at + draw(st.integers(1, 8))]
        elif kind == "in":
            data[at:at] = draw(st.binary(min_size=1, max_size=8))
        else:
            data[at : at + 4] = draw(lengths)
    return type(message), bytes(data)


@settings(max_examples=2000)
@given(given=spoilt())
def test_spoilt_messages(given):
    kind, data = given
    try:
        found = kind.decode(data)
    except InvalidInput:
        return
    assert found.encode() == data, "two texts for one message"
    if isinstance(found, Result):
        assert repr(found.opened.values)


@settings(max_examples=1500)
@given(data=st.data(), query=st.sampled_from(QUERIES), value=junk)
def test_queries_that_say_anything(data, query, value):
    """What is read can be used: its promise, its digest, its bounds, and a client's answer to whether it takes part."""
    facts = json.loads(canonical(query.to_dict()))
    inside = data.draw(st.sampled_from([facts, facts["noise"], facts["parameters"]]))
    inside[data.draw(st.sampled_from([*inside, "more"]))] = value
    try:
        text = canonical(facts)
    except ValueError:  # Python writes no number of more than 4,300 digits
        return
    try:
        found = announcement_of(text)
    except InvalidInput:
        return
    assert canonical(found.query.to_dict()) == text
    assert found.query.promise
    assert found.query.largest_sum > 0
    assert found.query.noise.variance(found.query.clients) >= 0
    try:
        Client.of(Announcement(found.query, "prio3", (b"a" * 32, b"b" * 32)), 1000)
    except HubbubError:
        return
    assert found.query.noise.strength <= 1000


PLAN = planned("q", Histogram(4), opens=OPENS, every=timedelta(hours=1), clients=10, minimum=2, epsilon=1)[0]
times = st.sampled_from(["2026-01-01", "9999-12-31T23:59:59+00:00", "0001-01-01T00:00:00+00:00", 1e300, 1e-300, 10**15])


@settings(max_examples=500)
@given(name=st.sampled_from([*json.loads(PLAN.encode()), "more"]), value=st.one_of(junk, times))
@example(name="labels", value=["a"] * 4)
@example(name="opens", value="9999-12-31T23:59:59+00:00")
@example(name="ticks", value=10**6)
@example(name="every", value=1e9)
def test_plans_that_say_anything(name, value):
    """What is read can be used: its rounds, their times, what is announced in each."""
    try:
        text = json.dumps(json.loads(PLAN.encode()) | {name: value}, ensure_ascii=False, indent=1) + "\n"
        data = text.encode()
    except ValueError:  # Python writes no such text, so nobody could send it
        return
    try:
        plan = Plan.decode(data)
    except HubbubError:
        return
    assert plan.encode() == data
    assert plan.opens < plan.closes(0) <= plan.ends(plan.ticks - 1)
    for tick in (0, plan.ticks - 1):
        assert Announcement.decode(plan.announcement(tick).encode()).query.digest == plan.query_of(tick).digest


@pytest.mark.parametrize("text", [b"", b"[" * 100_000, b"{}", b"1", b"\xff"], ids=range(5))
def test_plans_that_are_none(text):
    with pytest.raises(InvalidInput):
        Plan.decode(text)


@settings(max_examples=500)
@given(
    name=st.sampled_from(["query", "sums", "reports", "asked", "variance", "promise", "attested", "more"]), value=junk
)
def test_results_that_say_anything(name, value):
    facts = {"query": "q", "sums": [3], "reports": 3, "asked": 4, "variance": 8.0, "promise": "", "attested": ""}
    try:
        text = canonical(facts | {name: value})
    except ValueError:
        return
    try:
        opened = result_of(text).opened
    except InvalidInput:
        return
    assert all(one.interval for one in opened.values)
    assert Result(bytes(32), opened).encode()
