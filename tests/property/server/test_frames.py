"""Whatever a tick of a map is like, a browser reads what the server wrote, and nothing that was damaged."""

from __future__ import annotations

import math
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.released import Grid, Release, Tick
from hubbub.server.frames import MARK, STATES, Frame, step_for
from hubbub.server.packing import LARGEST, DamagedFrame, from_varints, opened, sealed, varints

numbers = st.floats(-1e9, 1e12) | st.sampled_from([0.0, math.nan])
errors = st.floats(1e-4, 1e7) | st.sampled_from([0.0, math.inf])


@st.composite
def releases(draw, many=None):
    size = draw(st.integers(1, 40)) if many is None else many
    values = np.array(draw(st.lists(numbers, min_size=size, max_size=size)))
    wrong = np.array(draw(st.lists(errors, min_size=size, max_size=size)))
    lower, upper = values - 2 * wrong, values + 2 * wrong
    tick = Tick(draw(st.integers(0, 2**40)))
    return Release(tick, Grid(size, 1, bounds=(0, 0, 1, 1)), values, wrong, lower, upper)


@given(releases())
def test_a_frame_is_what_was_released_within_its_rounding(release):
    frame = Frame.read(Frame.of(release, {"moment": "noon"}).encode())
    assert frame.tick == release.tick.index
    assert frame.facts == {"moment": "noon"}
    for at in range(len(release.values)):
        value = release.at(at)
        state = STATES[frame.states[at]]
        usual = {"predicted": "measured", "zero": "within_noise" if value.standard_error > 0 else "zero"}
        assert state == usual.get(value.state, value.state)
        if value.has_number:
            assert abs(frame.values[at] - value.value) <= frame.step / 2 * (1 + 1e-9)
            told = frame.standard_errors[at]
            assert told >= value.standard_error * (1 - 1e-9) or value.standard_error > 2e6, "never too small"
            assert told <= max(1.1 * value.standard_error, 0.002)
        else:
            assert not math.isfinite(frame.standard_errors[at])


@given(st.data())
def test_what_changed_leads_to_the_same_frame(data):
    one = data.draw(releases())
    two = data.draw(releases(len(one.values)))
    before, after = Frame.of(one), Frame.of(two)
    read = Frame.read(after.encode(before), before)
    for name in ("codes", "errors", "states"):
        assert np.array_equal(getattr(read, name), getattr(after, name))
    assert (read.tick, read.step) == (after.tick, after.step)


@given(st.lists(st.integers(-LARGEST, LARGEST)), st.binary(max_size=3))
def test_numbers_come_back(numbers, before):
    written = before + varints(np.array(numbers, dtype=np.int64))
    read, end = from_varints(written + b"\x07", len(numbers), len(before))
    assert read.tolist() == numbers
    assert end == len(written)


@given(releases(), st.data())
def test_a_damaged_frame_is_refused(release, data):
    whole = Frame.of(release).encode()
    at = data.draw(st.integers(0, len(whole) - 1))
    changed = bytearray(whole)
    changed[at] ^= data.draw(st.integers(1, 255))
    try:
        read = Frame.read(bytes(changed))
    except DamagedFrame:
        pass
    else:  # a bit in the head of zlib that means nothing
        assert np.array_equal(read.codes, Frame.of(release).codes)
    with pytest.raises(DamagedFrame):
        Frame.read(whole[:at])
    with pytest.raises(DamagedFrame):
        Frame.read(whole + b"\x00")


HEAD = {"tick": 0, "base": None, "step": 1.0, "cells": 1, "limits": [[0, 0]], "others": 0}


@pytest.mark.parametrize(
    "sent",
    [
        sealed(MARK, {}, b""),
        sealed(MARK, {**HEAD, "cells": "two"}, b"\x00\x00\x00"),
        sealed(MARK, {**HEAD, "cells": 2}, varints(np.array([1]))),
        sealed(MARK, HEAD, b"\x00"),
        sealed(MARK, {**HEAD, "others": 1}, b"\x00\x00\x00\x09"),
        sealed(MARK, {**HEAD, "others": 1}, b"\x00\x00\x02\x00"),
        sealed(MARK, {**HEAD, "others": 2}, b"\x00\x00\x00\x00"),
        sealed(MARK, HEAD, b"\xff" * 6 + b"\x00\x00\x00"),
        sealed(MARK, {**HEAD, "tick": 4, "base": 3}, b"\x00\x00\x00"),
        MARK + zlib.compress(b"\x02\x00\x00\x00[]"),
        MARK + zlib.compress(b"\x02"),
        MARK + zlib.compress(b"\x02\x00\x00\x00{x"),
    ],
)
def test_what_cannot_be_a_frame_is_refused(sent):
    with pytest.raises(DamagedFrame):
        Frame.read(sent)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=30), st.floats(0, 1e15))
def test_rounding_stays_within_the_noise_and_within_32_bits(wrong, largest):
    step = step_for(np.array([largest]), np.array(wrong))
    assert largest / step <= LARGEST
    usual = np.quantile([w for w in wrong if w > 0] or [2.0], 0.1)
    assert step <= max(usual / 2, 0.01, 2 * largest / LARGEST) * 1.001


def test_two_parts_that_are_the_same_byte():
    """As it was: the first of them was taken for the last, and ended the stream."""
    sent = sealed(b"TEST", {}, b"\x00", b"\x00")
    head, content, at = opened(b"TEST", sent)
    assert (head, content[at:]) == ({}, b"\x00\x00")
