"""Messages are what the golden files say, to the last byte, and nothing else is taken for one.

`PYTHONPATH=src:. python -m tests.unit.gather.test_messages` writes the golden files anew; whoever has to do that has
changed the wire, and changes `VERSION` too.
"""

from __future__ import annotations

import json
import tracemalloc
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
from hubbub.gather.noise import GaussianShares, ServersLaplace
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
    for text in (b"[]", b"{}", b"nonsense", b'{"query":1}', b"[" * 100_000, b"\xff"):
        with pytest.raises(InvalidInput, match="cannot be read"):
            result_of(text)


def result_of(text: bytes) -> Result:
    return Result.decode(messages.MAGIC + bytes([1, 6]) + QUERY + messages.sized(text))


@pytest.mark.parametrize(
    "change",
    [
        {"sums": None}, {"sums": 7}, {"sums": ["7"]}, {"sums": [1.5]}, {"sums": [True]}, {"sums": [2**128]},
        {"reports": -1}, {"reports": "1"}, {"reports": None}, {"asked": 1.0}, {"asked": 10**400},
        {"variance": -1.0}, {"variance": float("nan")}, {"variance": float("inf")}, {"variance": "8"}, {"variance": 8},
        {"query": 1}, {"promise": None}, {"attested": []},
    ],
    ids=str,
)  # fmt: skip
def test_results_that_nobody_could_show(change):
    facts = {"query": "q", "sums": [3], "reports": 3, "asked": 4, "variance": 8.0, "promise": "", "attested": ""}
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    assert result_of(text.encode()).opened.values
    with pytest.raises(InvalidInput, match="cannot be read"):
        result_of(json.dumps(facts | change, sort_keys=True, separators=(",", ":")).encode())
    with pytest.raises(InvalidInput, match="in the one way"):
        result_of(json.dumps(facts).encode())


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
        (("noise", ["kind"]), "no query"),
        (("noise", {"kind": ServersLaplace.kind, "epsilon": "1", "sensitivity": 10**4000}), "nothing longer"),
        (("noise", {"kind": GaussianShares.kind, "variance": "1e300", "square_sensitivity": 2, "length": 8,
                    "minimum": 1250, "lying": 1}), "cannot be"),
        (("noise", {"kind": GaussianShares.kind, "variance": "1", "square_sensitivity": 2**999, "length": 2**999,
                    "minimum": 1250, "lying": 1}), "cannot be"),
        (("clients", 2**32), "cannot be"),
        (("name", "x" * 10**6), "nothing longer"),
        (("key", "ff"), "cannot be"),
        (("key", 7), "cannot be"),
        (("parameters", {"length": 8, "chunk_length": 2**24}), "cannot be"),
        (("parameters", {"length": 2**20, "chunk_length": 1024}), "cannot be"),
        (("parameters", {"length": "8" * 10**6, "chunk_length": 4}), "nothing longer"),
    ],
    ids=lambda given: str(given)[:40],
)  # fmt: skip
def test_announcements_of_what_is_no_query(change, words):
    """And little is done before that is found."""
    text = json.dumps(COLOURS.to_dict() | dict([change]), sort_keys=True, separators=(",", ":"))
    tracemalloc.start()
    try:
        with pytest.raises(InvalidInput, match=words):
            announcement_of(text.encode())
        assert tracemalloc.get_traced_memory()[1] < 10 * len(text) + 2**22
    finally:
        tracemalloc.stop()


def announcement_of(text: bytes) -> Announcement:
    data = messages.MAGIC + bytes([1, 0]) + messages.sized(text) + messages.sized(b"prio3") + A * 4
    return Announcement.decode(data + messages.sized(b""))


@pytest.mark.parametrize("text", [b"", b"[]", b"null", b"\xff", b"[" * 100_000])
def test_announcements_of_nothing(text):
    with pytest.raises(InvalidInput):
        announcement_of(text)


@pytest.mark.parametrize("change", [(b":", b": "), (b'"version":1', b'"version":1.0'), (b"colours", b"\\u0063olours")])
def test_a_query_is_written_in_one_way(change):
    """What shares are bound to must not depend on who reads it."""
    text = json.dumps(COLOURS.to_dict(), sort_keys=True, separators=(",", ":")).encode()
    assert announcement_of(text).query.digest == COLOURS.digest
    with pytest.raises(InvalidInput, match="in the one way"):
        announcement_of(text.replace(*change))


def test_nothing_secret_prints():
    for message in SAMPLES[1:6]:
        assert "told'" not in repr(message)
        assert "sealed'" not in repr(message)


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for sample in SAMPLES:
        file_of(sample).write_text(sample.encode().hex() + "\n")
