"""The log parser against noise: it never fails, and no line ever changes what another becomes."""

from __future__ import annotations

import io
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.collect.sources.access_log import AccessLog
from hubbub.collect.sources.json_lines import JsonLines
from hubbub.collect.sources.lines import LineReader

REAL = [
    b'10.2.42.132 - - [01/Mar/2026:00:00:00 +0100] "GET /a.html?ref=3 HTTP/1.1" 200 7956 "https://x/" "Mozilla (X11)"',
    b'h - bob smith [31/Dec/2025:23:59:59 -0500] "POST /form HTTP/1.0" 302 - "-" "curl/8 \\"odd\\" agent"',
    b'::1 - - [28/Feb/2026:12:00:00 +0530] "GET /common HTTP/1.0" 404 12',
    b'1.2.3.4 - - [01/Mar/2026:00:00:00 +0000] "GET /raw space in path HTTP/1.1" 200 1 "-" "\\x22x"\r',
    b'1.2.3.4 - - [01/Mar/2026:00:00:00 +0000] "GET /old" 200 1',
    b'1.2.3.4 - - [99/Mar/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 1',
    b"",
]
lines = st.one_of(
    st.sampled_from(REAL),
    st.binary(max_size=80).map(lambda noise: noise.replace(b"\n", b"")),
    st.tuples(st.sampled_from(REAL), st.integers(0, 130), st.binary(max_size=3)).map(
        lambda change: change[0][: change[1]] + change[2].replace(b"\n", b"") + change[0][change[1] + 1 :]
    ),
)


def together_and_apart(log, texts):
    events, malformed = log.parse(b"".join(text + b"\n" for text in texts))
    single = [log.parse(text + b"\n") for text in texts]
    assert events.rows() == [row for part, _ in single for row in part.rows()]
    assert malformed == sum(wrong for _, wrong in single)
    return events, malformed


@given(st.lists(lines, min_size=1, max_size=12))
@settings(max_examples=150, deadline=None)
def test_each_line_of_a_log_is_read_by_itself(texts):
    events, malformed = together_and_apart(AccessLog(), texts)
    assert events.height + malformed == len(texts)
    assert events.select("time", "person", "path").null_count().sum_horizontal().sum() == 0


def test_real_lines_with_single_bytes_changed():
    """A loop with a fixed seed, for the mistakes that drawn examples rarely make."""
    dice = random.Random(1)
    for _ in range(60):
        texts = []
        for _ in range(40):
            line = bytearray(dice.choice(REAL))
            for _ in range(dice.randrange(3)):
                if line:
                    line[dice.randrange(len(line))] = dice.choice(b'"\\ []\x00\xff\r,;:ab9')
            texts.append(bytes(line))
        together_and_apart(AccessLog(), texts)


def test_what_the_lines_say():
    events, malformed = AccessLog().parse(b"".join(line + b"\n" for line in REAL))
    assert malformed == 2
    assert [str(time) for time in events["time"]] == [
        "2026-02-28 23:00:00+00:00",
        "2026-01-01 04:59:59+00:00",
        "2026-02-28 06:30:00+00:00",
        "2026-03-01 00:00:00+00:00",
        "2026-03-01 00:00:00+00:00",
    ]
    assert events["path"].to_list() == ["/a.html?ref=3", "/form", "/common", "/raw space in path", "/old"]
    assert events["agent"].to_list() == ["Mozilla (X11)", 'curl/8 \\"odd\\" agent', None, "\\x22x", None]
    assert events["status"].to_list() == [200, 302, 404, 200, 200]


objects = st.one_of(
    st.binary(max_size=40).map(lambda noise: noise.replace(b"\n", b"")),
    st.sampled_from(
        [
            b'{"time": "2026-01-01T00:00:00Z", "person": "a", "path": "/"}',
            b'{"ts": 1767225600.5, "ip": "1.1.1.1", "uri": "/x", "status": "200"}',
            b'{"time": "2026-01-01T00:00:00Z", "person": {"a": [1]}, "path": "/"}',
            b'{"time": 1e400, "person": 5, "path": "/"}',
            b"[1, 2]",
            b"[" * 5000,
            b"null",
        ]
    ),
)


@given(st.lists(objects, min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_each_json_line_is_read_by_itself(texts):
    together_and_apart(JsonLines(), texts)


@given(st.lists(st.binary(max_size=30).map(lambda b: b.replace(b"\n", b"x")), max_size=30), st.integers(1, 40))
@settings(max_examples=150, deadline=None)
def test_the_reader_gives_every_line_that_is_not_too_long(texts, block):
    data = b"".join(text + b"\n" for text in texts)
    reader = LineReader(io.BytesIO(data), max_line=12, block=block)
    out = b""
    while lines := reader.read():
        out += lines
    assert out == b"".join(text + b"\n" for text in texts if len(text) <= 12)
    assert reader.oversized == sum(len(text) > 12 for text in texts)
    assert reader.consumed == len(data)
