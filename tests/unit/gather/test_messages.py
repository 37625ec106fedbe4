"""Messages are what the golden files say, to the last byte, and nothing else is taken for one.

`PYTHONPATH=src:. python -m tests.unit.gather.test_messages` writes the golden files anew; whoever has to do that has
changed the wire, and changes `VERSION` too.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.errors import InvalidInput
from hubbub.gather import messages
from hubbub.gather.messages import (
    Announcement,
    Asked,
    CheckAnswer,
    CheckRequest,
    Ended,
    OpenRequest,
    Result,
    SealedReport,
    Told,
    Verdicts,
)
from hubbub.gather.opened import Opened
from hubbub.gather.prio3 import Histogram
from hubbub.gather.query import Query

GOLDEN = Path(__file__).parent / "golden_messages"
QUERY, A, B = bytes(range(32)), b"a" * 16, b"b" * 16

COLOURS = Query.plan("colours", Histogram(8), clients=5000, minimum=1250, epsilon="1/3", verify_key=bytes(32))

SAMPLES: list[Any] = [
    Announcement(COLOURS, "prio3", (A + A, B + B), b"public"),
    SealedReport(QUERY, A, b"for the first", b"for the second"),
    CheckRequest(QUERY, (Asked(A, b"sealed", b"told"), Asked(B, b"", b""))),
    CheckAnswer(QUERY, (Told(A, b"told"), Told(B, b"", "report_rejected"))),
    Verdicts(QUERY, (A,), (B,)),
    OpenRequest(QUERY, 1250, bytes(32), b"share"),
    Result(QUERY, Opened("colours", [3, -1], 1250, 5000, 8.5, "A promise.", "")),
    Ended(QUERY, "too_few_reports"),
]
each = pytest.mark.parametrize("message", SAMPLES, ids=lambda m: type(m).__name__)


def file_of(message: Any) -> Path:
    return GOLDEN / f"{type(message).__name__}.hex"


@each
def test_bytes_are_the_golden_ones(message):
    assert message.encode().hex() == file_of(message).read_text().strip()
    again = type(message).decode(bytes.fromhex(file_of(message).read_text()))
    if isinstance(message, Announcement):  # circuits are compared by what they say
        assert (again.query.digest, again.servers, again.public) == (COLOURS.digest, message.servers, message.public)
    else:
        assert again == message


@each
def test_every_cut_is_refused_and_so_is_more(message):
    data = message.encode()
    for end in range(len(data)):
        with pytest.raises(InvalidInput):
            type(message).decode(data[:end])
    with pytest.raises(InvalidInput, match="1 bytes follow"):
        type(message).decode(data + b"x")


@each
def test_other_messages_versions_and_strangers(message):
    data = message.encode()
    with pytest.raises(InvalidInput, match="no message of ours"):
        type(message).decode(b"XXX" + data[3:])
    with pytest.raises(InvalidInput, match="version 2; this program speaks 1"):
        type(message).decode(data[:3] + b"\x02" + data[4:])
    with pytest.raises(InvalidInput, match="kind 9"):
        type(message).decode(data[:4] + b"\x09" + data[5:])


def test_claims_that_cannot_be_true():
    begin = messages.MAGIC + bytes([1, 1]) + QUERY + A
    with pytest.raises(InvalidInput, match="are the most"):
        SealedReport.decode(begin + b"\xff" * 4)
    with pytest.raises(InvalidInput, match="items"):
        CheckRequest.decode(messages.MAGIC + bytes([1, 2]) + QUERY + b"\xff" * 4)
    wrong = CheckAnswer(QUERY, (Told(A, b"", "é" * 3),))
    with pytest.raises(InvalidInput, match="plain letters"):
        CheckAnswer.decode(wrong.encode())
    for text in (b"[]", b"{}", b"nonsense", b'{"query":1}'):
        with pytest.raises(InvalidInput, match="cannot be read"):
            Result.decode(messages.MAGIC + bytes([1, 6]) + QUERY + messages.sized(text))


@given(data=st.binary(max_size=300), kind=st.sampled_from(SAMPLES))
def test_noise_is_refused_in_a_typed_way(data, kind):
    for text in (data, messages.MAGIC + bytes([1, kind.kind]) + data):
        try:
            found = type(kind).decode(text)
        except InvalidInput:
            continue
        assert found.encode() == text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("version", 2), "version 2"),
        (("circuit", "median"), "no query: KeyError"),
        (("field", "Field65"), "no query"),
        (("parameters", {"width": 8}), "no query: TypeError"),
        (("parameters", {"length": 8, "chunk_length": 0}), "cannot be"),
        (("noise", {"kind": "none"}), "no query"),
        (("noise", None), "no query"),
        (("minimum", 10**9), "cannot be"),
        (("more", 1), "does not say what it means"),
    ],
)
def test_announcements_of_what_is_no_query(change, words):
    text = json.dumps(COLOURS.to_dict() | dict([change]))
    data = messages.MAGIC + bytes([1, 0]) + messages.sized(text.encode()) + messages.sized(b"prio3") + A * 4
    with pytest.raises(InvalidInput, match=words):
        Announcement.decode(data + messages.sized(b""))


@pytest.mark.parametrize("text", [b"", b"[]", b"null", b"\xff"])
def test_announcements_of_nothing(text):
    data = messages.MAGIC + bytes([1, 0]) + messages.sized(text) + messages.sized(b"prio3") + A * 4
    with pytest.raises(InvalidInput):
        Announcement.decode(data + messages.sized(b""))


def test_nothing_secret_prints():
    for message in SAMPLES[1:6]:
        assert "told'" not in repr(message)
        assert "sealed'" not in repr(message)


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for sample in SAMPLES:
        file_of(sample).write_text(sample.encode().hex() + "\n")
