"""What a line becomes depends on that line alone, in every format, however the lines are cut into batches."""

from __future__ import annotations

import random
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.collect.sources import AccessLog, CsvLines, JsonLines, ParquetFile
from hubbub.collect.sources.access_log import _cut_escaped

STAMP = b"[01/Mar/2026:00:00:00 +0000]"
LOG = [
    b"1.2.3.4 - - " + STAMP + b' "GET /a HTTP/1.1" 200 1 "-" "Mozilla"',
    b"1.2.3.4 - - " + STAMP + b' "GET /a HTTP/1.1" 200 1',
    b"1.2.3.4 - - " + STAMP + b' "GET /a HTTP/1.1" 200',
    b"1.2.3.4 - - " + STAMP + b' "GET /a HTTP/1.1" 200\r',
    b"1.2.3.4 - bob smith " + STAMP + b' "GET /say \\"hi\\" HTTP/1.1" 200 1 "-" "a \\\\" "more"',
    b"1.2.3.4 - - " + STAMP + b' "GET /a HTTP/1.1" 200 1 "-" 0.003 "Mozilla"',
    b"1.2.3.4 - - " + STAMP + b' "GET /a HTTP/1.1" 200 1 "-" "Mozil',
    b"1.2.3.4 - - " + STAMP + b' "GET /a HTTP/1.1" 200 1 "-" "Mozilla" "extra" 17',
    b"1.2.3.4 - - " + STAMP + b' "GET /a\\x22 HTTP/1.1" 404 - "-" "\\"',
    b"\xc3\xa4 - - " + STAMP + b' "GET /\xc3\xa4 HTTP/1.1" 200 1 "-" "\xf0\x9f\x99\x82"',
    b"\xff\xfe - - " + STAMP + b' "GET /\xe2\x82 HTTP/1.1" 200 1 "-" "\xe2"',
    b"h - - [32/Mar/2026:00:00:00 +0000] " + b'"GET / HTTP/1.1" 200 1',
    STAMP + b' "GET / HTTP/1.1" 200 1',
    b'"' * 60,
    b'\\"' * 40,
    b"[" * 300,
    b"x" * 30_000,
    b"\x00" * 50,
    b"",
    b"\r",
]
_JSON = '{"time":"2026-01-01T00:00:00Z","person":%s,"path":%s,"status":%s}'
NUMBERS = ["5", "5.0", "123.0", "1e5", "1E400", "-0", "-0.0", "0.1", "1" * 400, "01", "+1", ".5", "NaN", "Infinity"]
VALUES = [
    *NUMBERS, "true", "false", "null", "[]", "{}", '{"a":[1,{"b":2}]}', '"a"', '"\\u0061"', '"\\ud83d\\ude42"',
    '"\\ud800"', '"\\udc00x"', '"\\u0000"', '"\\n\\r\\t\\"\\\\"', '"\x00"', '"ä🙂"', '""', "a",
    "[" * 1000, '"' + "x" * 20_000 + '"',
]  # fmt: skip
JSON = [
    *((_JSON % (value, '"/"', "200")).encode() for value in VALUES),
    *((_JSON % ('"a"', value, "200")).encode() for value in VALUES),
    *((_JSON % ('"a"', '"/"', value)).encode() for value in VALUES),
    *(b'{"time":%s,"person":"a","path":"/"}' % value.encode() for value in VALUES),
    b'{"time":"2026-01-01T00:00:00Z","person":"a","person":"b","path":"/","path":"/last"}',
    b'{"time":"2026-01-01T00:00:00Z","person":null,"session":"s","path":false,"key":7}',
    b'{"time":"2026-01-01T00:00:00Z","person":"\xff\xe2\x82","path":"/"}',
    b'{"time":"2026-01-01T00:00:00Z","person":"a","path":"/"}\r',
    b' \t{"time":"2026-01-01T00:00:00Z","person":"a","path":"/"} ',
    b'\xef\xbb\xbf{"time":"2026-01-01T00:00:00Z","person":"a","path":"/"}',
    b'{"time":"2026-01-01T00:00:00Z","person":"a","path":"/"}{}',
    b'{"time":"2026-01-01T00:00:00Z","person":"a","path":"/"',
    b"{", b"}", b"[]", b"null", b"1", b'"text"', b" ", b"", b"\r",
]  # fmt: skip
CSV = [
    b"2026-01-01T00:00:00Z,a,/,200", b"2026-01-01 00:00:00,a,/,200", b"1767225600.5,a,/,200.0", b'0,"a,b",/,',
    b'0,"a,/,200',
    b'0,a",/,200', b'0,"a""b",/,200', b"0,a,/", b"0,a,/,200,", b",,,", b"oops,a,/,200", b"0,,/,200", b"0,a,/,200\r",
    b"0,a\rb,/,200", b'0,"a\rb",/,200', b"0,\x00,/,200", b"0,\xff,/,200", b"1e400,a,/,1e5", b"nan,a,/,x",
    b"inf,a,/,true",
    b"", b"\r", b" ", b'"', b'"' * 99, b"2026-03-29T02:30:00,a,/,200", b"2026-10-25T02:30:00+02:00,a,/,200",
    b"0," + b"x" * 30_000,
]  # fmt: skip

FORMATS = {
    "access log": (AccessLog, LOG),
    "JSON": (JsonLines, JSON),
    "JSON, named": (lambda: JsonLines({"person": "session"}, "Europe/Berlin"), JSON),
    "CSV": (lambda: CsvLines(b"time,person,path,status", zone="Europe/Berlin"), CSV),
}


def changed(line: bytes, at: int, by: bytes) -> bytes:
    return line[:at] + by.replace(b"\n", b"") + line[at + 1 :]


def drawn(known):
    return st.one_of(
        st.sampled_from(known),
        st.binary(max_size=60).map(lambda noise: noise.replace(b"\n", b"")),
        st.builds(changed, st.sampled_from(known), st.integers(0, 140), st.binary(max_size=3)),
    )


def check(make, texts, cuts):
    """Whole, line by line, and in parts: the same events in the same order, the same number of broken lines."""
    alone = [make().parse(text + b"\n") for text in texts]
    rows = [row for events, _ in alone for row in events.rows()]
    bounds = [0, *sorted(cut % (len(texts) + 1) for cut in cuts), len(texts)]
    parser = make()  # one that has seen other lines before
    for parts in ([texts], [texts[a:b] for a, b in pairwise(bounds)]):
        parsed = [parser.parse(b"".join(text + b"\n" for text in part)) for part in parts]
        assert [row for events, _ in parsed for row in events.rows()] == rows
        assert sum(wrong for _, wrong in parsed) == sum(wrong for _, wrong in alone)
        assert {tuple(events.schema.items()) for events, _ in parsed} == {tuple(alone[0][0].schema.items())}


@pytest.mark.parametrize("name", FORMATS)
def test_a_line_is_read_alone(name):
    make, known = FORMATS[name]

    @given(st.lists(drawn(known), min_size=1, max_size=10), st.lists(st.integers(0, 20), max_size=3))
    @settings(max_examples=200, deadline=None)
    def run(texts, cuts):
        check(make, texts, cuts)

    run()


@pytest.mark.parametrize("name", FORMATS)
def test_every_known_line_beside_every_other(name):
    make, known = FORMATS[name]
    dice = random.Random(1)
    for _ in range(5):
        dice.shuffle(known)
        check(make, known, [dice.randrange(100) for _ in range(5)])


def test_one_broken_line_changes_no_count():
    """Beside a broken line `5.0` was somebody else, true was somebody, and the first of two names counted."""
    lines = b"".join((_JSON % (value, '"/"', "200")).encode() + b"\n" for value in ("5.0", "1e5", "true", "7"))
    double = b'{"time":0,"person":"a","person":"b","path":"/"}\n'
    whole, _ = JsonLines().parse(lines + double)
    beside, malformed = JsonLines().parse(lines + double + b"{broken\n")
    assert beside.rows() == whole.rows()
    assert whole["person"].to_list() == ["5.0", "100000.0", "7", "b"]
    assert malformed == 2


def test_both_ways_of_cutting_a_log_line_give_the_same():
    """A line without escaped marks may be cut by either tool."""
    dice = random.Random(2)
    signs = [b'"', b"a", b" ", b"\\", b"\\x22", b"[", b"\xc3\xa4", b"\r", b"\x00"]
    texts = [b"".join(dice.choices(signs, k=dice.randrange(30))) for _ in range(6000)]
    texts = [text for text in texts if b'\\"' not in text]
    series = pl.Series([text.decode() for text in texts])
    groups = _cut_escaped(series)
    for text, row in zip(series, groups.iter_rows(named=True), strict=True):
        parts = text.split('"', 6)
        parts += [None] * (7 - len(parts))
        torn = any(parts[i] is not None and parts[i + 1] is None for i in (1, 3, 5))
        assert row["torn"] == torn, text
        if not torn:
            assert [row[f"f{i}"] for i in range(7)] == parts, text


@given(st.lists(st.tuples(st.sampled_from(["0", "oops", None, "2026-01-01"]), st.sampled_from(["a", None, ""]))))
@settings(max_examples=25, deadline=None)
def test_a_row_of_a_parquet_file_is_read_alone(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("rows")

    def read(some):
        pl.DataFrame(
            [(when, who, "/") for when, who in some],
            schema={"time": pl.String, "person": pl.String, "path": pl.String},
            orient="row",
        ).write_parquet(folder / "rows.parquet")
        with ParquetFile(folder / "rows.parquet") as source:
            batches = list(source)
        return [row for batch in batches for row in batch.events.rows()], sum(batch.malformed for batch in batches)

    alone = [read([row]) for row in rows]
    assert read(rows) == ([row for found, _ in alone for row in found], sum(wrong for _, wrong in alone))
